use super::*;

fn address(text: &str) -> IpAddr {
    text.parse().expect(text)
}

/// Networks that are not public: first and last address, and their neighbours where those are public.
const SPECIAL: &[(&str, &str, Option<&str>, Option<&str>)] = &[
    ("0.0.0.0", "0.255.255.255", None, Some("1.0.0.0")),
    ("10.0.0.0", "10.255.255.255", Some("9.255.255.255"), Some("11.0.0.0")),
    ("100.64.0.0", "100.127.255.255", Some("100.63.255.255"), Some("100.128.0.0")),
    ("127.0.0.0", "127.255.255.255", Some("126.255.255.255"), Some("128.0.0.0")),
    ("169.254.0.0", "169.254.255.255", Some("169.253.255.255"), Some("169.255.0.0")),
    ("172.16.0.0", "172.31.255.255", Some("172.15.255.255"), Some("172.32.0.0")),
    ("192.0.0.0", "192.0.0.255", Some("191.255.255.255"), Some("192.0.1.0")),
    ("192.0.2.0", "192.0.2.255", Some("192.0.1.255"), Some("192.0.3.0")),
    ("192.88.99.0", "192.88.99.255", Some("192.88.98.255"), Some("192.88.100.0")),
    ("192.168.0.0", "192.168.255.255", Some("192.167.255.255"), Some("192.169.0.0")),
    ("198.18.0.0", "198.19.255.255", Some("198.17.255.255"), Some("198.20.0.0")),
    ("198.51.100.0", "198.51.100.255", Some("198.51.99.255"), Some("198.51.101.0")),
    ("203.0.113.0", "203.0.113.255", Some("203.0.112.255"), Some("203.0.114.0")),
    ("224.0.0.0", "239.255.255.255", Some("223.255.255.255"), None),
    ("240.0.0.0", "255.255.255.255", None, None),
    // Unspecified, loopback, compatible: all of ::/96.
    ("::", "::ffff:ffff", None, None),
    // NAT64, and for a network's own use.
    ("64:ff9b::", "64:ff9b::ffff:ffff", None, None),
    ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", None, None),
    // Discarded.
    ("100::", "100::ffff:ffff:ffff:ffff", None, None),
    // All before 2000::/3.
    ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, Some("2000::")),
    // Protocols, and of these Teredo, benchmarks, both ORCHID.
    (
        "2001::",
        "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
        Some("2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        Some("2001:200::"),
    ),
    ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", None, None),
    ("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ("2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    (
        "2001:db8::",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        Some("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff"),
        Some("2001:db9::"),
    ),
    (
        "2002::",
        "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        Some("2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        Some("2003::"),
    ),
    (
        "3fff::",
        "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
        Some("3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        Some("3fff:1000::"),
    ),
    // All behind 2000::/3, and of these segment routing, unique local, link local, site local, multicast.
    (
        "4000::",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        Some("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        None,
    ),
    ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
];

#[test]
fn networks_of_special_purposes_are_not_public() {
    let check = |text: &str, expect: bool| {
        assert_eq!(Reach::public().allows(address(text)), expect, "{text}");
        assert!(Reach::everything().allows(address(text)), "{text}");
        if let IpAddr::V4(v4) = address(text) {
            let mapped = v4.to_ipv6_mapped();
            assert_eq!(Reach::public().allows(mapped.into()), expect, "{mapped}");
            assert!(!Reach::public().allows(compatible(v4)), "compatible {text}");
        }
    };
    for (first, last, before, behind) in SPECIAL {
        check(first, false);
        check(last, false);
        before.iter().chain(behind).for_each(|neighbour| check(neighbour, true));
    }
}

/// The table is complete: whatever is in none of its networks is public.
#[test]
fn all_other_addresses_are_public() {
    let special = SPECIAL.iter().map(|(first, last, ..)| (address(first), address(last)));
    let special: Vec<_> = special.collect();
    let is_special = |address: IpAddr| {
        let mut of_kind = special.iter().filter(|(first, _)| first.is_ipv4() == address.is_ipv4());
        of_kind.any(|(first, last)| (*first..=*last).contains(&address))
    };
    let check = |address: IpAddr| {
        assert_eq!(Reach::public().allows(address), !is_special(address), "{address}");
    };
    for high in 0..=u16::MAX {
        for low in [0, 1, 0x7fff, 0x8000, 0xffff] {
            check(Ipv4Addr::from_bits(u32::from(high) << 16 | low).into());
        }
        for next in [0, 1, 2, 0x1ff, 0x200, 0xdb8, 0xfff, 0x1000, 0xffff] {
            check(Ipv6Addr::new(high, next, 0, 0, 0, 0, 1, 1).into());
        }
    }
}

#[test]
fn addresses_that_lead_to_another_are_not_public() {
    for text in [
        "::127.0.0.1",
        "::8.8.8.8",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:169.254.169.254",
        "::ffff:0.0.0.0",
        "::ffff:0:127.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::8.8.8.8",
        "64:ff9b:1::10.0.0.1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "2001:0:102:304::80ff:fffe",
        "fe80::5efe:127.0.0.1",
        // Metadata of a cloud, over IPv6.
        "fd00:ec2::254",
        "fd20:ce::254",
        "100.100.100.200",
    ] {
        assert!(!Reach::public().allows(address(text)), "{text}");
    }
    for text in ["::ffff:8.8.8.8", "2606:4700::1111", "2a00:1450::1"] {
        assert!(Reach::public().allows(address(text)), "{text}");
    }
}

#[test]
fn networks_are_allowed_by_prefix() {
    let check = |network: &str, inside: &[&str], outside: &[&str]| {
        let reach = Reach::public().allowing(network).unwrap();
        inside.iter().for_each(|text| assert!(reach.allows(address(text)), "{network} {text}"));
        outside.iter().for_each(|text| assert!(!reach.allows(address(text)), "{network} {text}"));
        assert!(reach.allows(address("8.8.8.8")));
        assert!(!reach.allows_plain_http());
    };
    check(
        "10.0.0.0/8",
        &["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"],
        &["127.0.0.1", "::10.1.2.3", "64:ff9b::10.1.2.3", "a00::"],
    );
    check("172.16.0.0/13", &["172.16.0.0", "172.23.255.255"], &["172.24.0.0", "172.31.0.0"]);
    check("127.0.0.1", &["127.0.0.1", "::ffff:127.0.0.1"], &["127.0.0.2", "::1"]);
    check("127.0.0.1/32", &["127.0.0.1"], &["127.0.0.0", "127.0.0.2"]);
    check("0.0.0.0/0", &["0.0.0.0", "255.255.255.255", "::ffff:10.0.0.1"], &["::", "::1"]);
    check("fd00::/8", &["fd00::", "fdff::1"], &["fc00::", "fe00::"]);
    check("fd12:3456::/33", &["fd12:3456:7fff::"], &["fd12:3456:8000::"]);
    check("::1", &["::1"], &["::", "::2", "127.0.0.1", "::ffff:127.0.0.1"]);
    check("::/0", &["::1", "fd00::1", "::10.0.0.1"], &["10.0.0.1", "::ffff:10.0.0.1"]);
    check("::ffff:10.0.0.1", &["10.0.0.1", "::ffff:10.0.0.1"], &["10.0.0.2"]);
    check("::ffff:10.0.0.0/104", &["10.0.0.0", "::ffff:10.255.255.255"], &["127.0.0.1"]);
}

#[test]
fn networks_add_up() {
    let reach = Reach::public().allowing("10.0.0.0/8").unwrap().allowing("fd00::/8").unwrap();
    assert!(reach.allows(address("10.0.0.1")) && reach.allows(address("fd00::1")));
    assert!(!reach.allows(address("192.168.0.1")));
    assert_eq!(Reach::everything().allowing("10.0.0.0/8").unwrap(), Reach::everything());
}

#[test]
fn what_is_no_network_is_refused() {
    let check = |text: &str, because: &str| {
        let error = Reach::public().allowing(text).unwrap_err();
        assert_eq!(error.violations().first().unwrap().field, "network");
        assert!(error.to_string().contains(because), "{text}: {error}");
    };
    for text in [
        "",
        "/",
        "/8",
        "10",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/+8",
        "10.0.0.0/-1",
        "10.0.0.0/8/8",
        "10.0.0.0/255.0.0.0",
        "10.0.0/8",
        "010.0.0.0/8",
        "fd00::/129",
        "[fd00::]/8",
        "fe80::1%eth0",
        " 10.0.0.0/8",
        "example.com",
        "localhost",
    ] {
        check(text, "expected a network");
    }
    for text in
        ["10.0.0.1/8", "10.0.0.0/4", "0.0.0.1/0", "fd00::1/127", "::1/0", "::ffff:0.0.0.0/80"]
    {
        check(text, "expected no bits");
    }
}

#[test]
fn plain_http_goes_with_everything() {
    assert!(Reach::everything().allows_plain_http());
    assert!(!Reach::public().allows_plain_http());
    assert_eq!(Reach::default(), Reach::public());
}

fn compatible(address: Ipv4Addr) -> IpAddr {
    Ipv6Addr::from_bits(u128::from(address.to_bits())).into()
}
