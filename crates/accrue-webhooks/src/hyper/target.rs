//! Where a request goes, by its URL.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use accrue::webhook::Reach;
use http::{Uri, uri::Scheme};

use crate::Refusal;

/// Where a request goes. An address that the URL names is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
    pub(super) protection: Protection,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Name(String),
    Address(IpAddr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protection {
    Tls,
    Plain,
}

impl Target {
    /// Parses a URL, and judges what can be told without resolving its name.
    pub(super) fn parse(url: &Uri, reach: &Reach) -> Result<Self, Refusal> {
        let (protection, usual_port) = match url.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => (Protection::Tls, 443),
            Some(scheme) if *scheme == Scheme::HTTP && reach.allows_plain_http() => {
                (Protection::Plain, 80)
            }
            _ => return Err(Refusal::NotHttps),
        };
        let authority = url.authority().ok_or(Refusal::Host)?;
        if authority.as_str().contains('@') {
            return Err(Refusal::User);
        }
        let host = Host::parse(authority.host())?;
        let port = match authority.port_u16() {
            Some(port @ 1..) => port,
            None if authority.as_str() == authority.host() => usual_port,
            _ => return Err(Refusal::Host),
        };
        match host {
            Host::Address(address) if !reach.allows(address) => Err(Refusal::NotAllowed(address)),
            host => Ok(Self { host, port, protection }),
        }
    }
}

impl Host {
    /// Parses a host. Forms of an address that readers take for different ones are refused: a resolver would
    /// take 0177.0.0.1, 127.1 and 2130706433 for 127.0.0.1.
    fn parse(text: &str) -> Result<Self, Refusal> {
        if let Some(inner) = text.strip_prefix('[') {
            let address = inner.strip_suffix(']').and_then(|inner| inner.parse::<Ipv6Addr>().ok());
            return address.map(|address| Self::Address(address.into())).ok_or(Refusal::Host);
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
            || last.get(..2).is_some_and(|first| first.eq_ignore_ascii_case("0x"));
        if is_number || name.len() > 253 || !name.split('.').all(is_label) {
            return Err(Refusal::Host);
        }
        Ok(Self::Name(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use accrue::webhook::EndpointUrl;

    use super::*;

    #[track_caller]
    fn check(url: &str, reach: &Reach, expect: Result<(&str, u16, Protection), Refusal>) {
        let found = Target::parse(&url.parse().unwrap(), reach);
        let expect = expect.map(|(host, port, protection)| {
            let host = host.parse().map_or_else(|_| Host::Name(host.into()), Host::Address);
            Target { host, port, protection }
        });
        assert_eq!(found, expect, "{url}");
    }

    #[test]
    fn webhooks_targets_are_names_and_allowed_addresses() {
        use Protection::{Plain, Tls};
        let (public, everything) = (Reach::public(), Reach::everything());
        check("https://hooks.example.com/a?b", &public, Ok(("hooks.example.com", 443, Tls)));
        check("https://HOOKS.example.com:8443", &public, Ok(("HOOKS.example.com", 8443, Tls)));
        check("https://example.com./", &public, Ok(("example.com.", 443, Tls)));
        check(
            "https://a_b.xn--bcher-kva.example/",
            &public,
            Ok(("a_b.xn--bcher-kva.example", 443, Tls)),
        );
        check("https://8.8.8.8/", &public, Ok(("8.8.8.8", 443, Tls)));
        check("https://[2606:4700::1111]:444/", &public, Ok(("2606:4700::1111", 444, Tls)));
        check("http://localhost:9000/", &everything, Ok(("localhost", 9000, Plain)));
        check("http://127.0.0.1/", &everything, Ok(("127.0.0.1", 80, Plain)));
    }

    #[test]
    fn webhooks_targets_of_other_forms_are_refused() {
        for url in [
            "https://2130706433/",
            "https://0177.0.0.1/",
            "https://0x7f.1/",
            "https://0x7f000001/",
            "https://127.1/",
            "https://127.0.0.1./",
            "https://1.2.3.4.5/",
            "https://example.0x1/",
            "https://256.256.256.256/",
            "https://a..b/",
            "https://exa%6dple.com/",
            "https://127.0.0.1%2f.example.com/",
            "https://exa$mple.com/",
            "https://[fe80::1%25eth0]/",
            "https://[v1.a]/",
            "https://example.com:0/",
            "https://example.com:/",
            "https://example.com:65536/",
        ] {
            // No request has an address that its parser refuses, and no endpoint one that is refused here.
            if url.parse::<Uri>().is_ok() {
                check(url, &Reach::everything(), Err(Refusal::Host));
                check(url, &Reach::public(), Err(Refusal::Host));
            }
            assert!(EndpointUrl::parse(url, &Reach::everything()).is_err(), "{url}");
        }
    }

    #[test]
    fn webhooks_targets_have_no_user_and_no_other_scheme() {
        let (public, everything) = (Reach::public(), Reach::everything());
        check("https://user@example.com/", &public, Err(Refusal::User));
        check("https://a:b@example.com/", &everything, Err(Refusal::User));
        check("https://example.com@127.0.0.1/", &everything, Err(Refusal::User));
        check("http://example.com/", &public, Err(Refusal::NotHttps));
        check("ftp://example.com/", &everything, Err(Refusal::NotHttps));
        check("/path", &everything, Err(Refusal::NotHttps));
        check("example.com:443", &everything, Err(Refusal::NotHttps));
        let network = Reach::public().allowing("10.0.0.0/8").unwrap();
        check("http://10.0.0.1/", &network, Err(Refusal::NotHttps));
        check("https://10.0.0.1/", &network, Ok(("10.0.0.1", 443, Protection::Tls)));
    }
}
