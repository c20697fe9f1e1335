//! Addresses of endpoints (subscriptions 10.1).

// `core::net` has addresses, and no sockets.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Reach;
use crate::{Error, limits};

/// Address of an endpoint: of https and a public host, where the [`Reach`] of the host allows no more.
///
/// It is in plain letters and one of the forms that every reader takes for the same: a name, or an address as
/// `192.0.2.1` or `[2001:db8::1]`. Where a name leads is judged when it is connected to.
///
/// ```
/// use accrue::webhook::{EndpointUrl, Reach};
///
/// let url = EndpointUrl::parse("https://hooks.example.com/billing", &Reach::public())?;
/// assert_eq!(url.as_str(), "https://hooks.example.com/billing");
/// for other in ["http://hooks.example.com", "https://127.0.0.1", "https://2130706433", "https://a@b.com"] {
///     assert!(EndpointUrl::parse(other, &Reach::public()).is_err(), "{other}");
/// }
/// # Ok::<(), accrue::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EndpointUrl(String);

impl EndpointUrl {
    /// Parses an address.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) of `url`, which says what is wrong with it.
    pub fn parse(text: &str, reach: &Reach) -> Result<Self, Error> {
        match judge(text, reach) {
            Ok(()) => Ok(Self(text.to_owned())),
            Err(message) => Err(Error::invalid("url", message)),
        }
    }

    /// Returns its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn judge(text: &str, reach: &Reach) -> Result<(), String> {
    let most = limits::URL_CHARS;
    if text.len() > most {
        return Err(format!("found {} bytes, expected at most {most}", text.len()));
    }
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    if !text.bytes().all(is_plain) {
        return Err(
            "expected letters of a URL: others are percent-encoded, names in their ASCII form"
                .into(),
        );
    }
    let rest = match text.strip_prefix("https://") {
        Some(rest) => rest,
        None if reach.allows_plain_http() => {
            text.strip_prefix("http://").ok_or("expected https:// or http://")?
        }
        None => return Err("expected https://".into()),
    };
    if rest.contains('#') {
        return Err("found a fragment, expected none".into());
    }
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("found a user, expected none".into());
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_port = |port: &str| {
        port.bytes().all(|byte| byte.is_ascii_digit())
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    if port.is_some_and(|port| !is_port(port)) {
        return Err("expected a port of 1 to 65535".into());
    }
    judge_host(host, reach)
}

fn judge_host(host: &str, reach: &Reach) -> Result<(), String> {
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        let address = address.parse::<Ipv6Addr>().map_err(|_| "expected an IPv6 address in [ ]")?;
        return judge_address(address.into(), reach);
    }
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    if host.len() > 253 || !host.split('.').all(is_label) {
        return Err("expected the name of a host".into());
    }
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last.get(..2).is_some_and(|first| first.eq_ignore_ascii_case("0x"));
    if is_number {
        let address = host.parse::<Ipv4Addr>();
        let address = address.map_err(|_| "expected four numbers in an IPv4 address")?;
        return judge_address(address.into(), reach);
    }
    if !host.contains('.') && !reach.allows_plain_http() {
        return Err("expected a public name, such as hooks.example.com".into());
    }
    Ok(())
}

fn judge_address(address: IpAddr, reach: &Reach) -> Result<(), String> {
    match reach.allows(address) {
        true => Ok(()),
        false => Err(format!("{address} is no public address")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_10_1_1_https_to_a_public_host() {
        for url in [
            "https://hooks.example.com/billing?a=b%20c",
            "https://HOOKS.example.com:8443",
            "https://8.8.8.8/",
            "https://[2606:4700::1111]:443/",
            "https://xn--bcher-kva.example/",
        ] {
            EndpointUrl::parse(url, &Reach::public()).unwrap();
        }
        for (url, because) in [
            ("", "https"),
            ("hooks.example.com", "https"),
            ("http://hooks.example.com", "https"),
            ("HTTPS://hooks.example.com", "https"),
            ("https://", "name of a host"),
            ("https:///path", "name of a host"),
            ("https://a..b.com", "name of a host"),
            ("https://example.com.", "name of a host"),
            ("https://exa mple.com", "letters"),
            ("https://bücher.example", "letters"),
            ("https://example.com/\\@evil", "letters"),
            ("https://example.com#a", "fragment"),
            ("https://a:b@example.com", "user"),
            ("https://example.com:0", "port"),
            ("https://example.com:65536", "port"),
            ("https://example.com:+80", "port"),
            ("https://localhost", "public name"),
            ("https://127.0.0.1", "no public address"),
            ("https://10.1.2.3:8080/", "no public address"),
            ("https://169.254.169.254/latest", "no public address"),
            ("https://0.0.0.0", "no public address"),
            ("https://[::1]", "no public address"),
            ("https://[::ffff:127.0.0.1]", "no public address"),
            ("https://[fd00::1]", "no public address"),
            ("https://[::1", "name of a host"),
            ("https://[nine]", "IPv6"),
            ("https://2130706433", "four numbers"),
            ("https://0x7f.1", "four numbers"),
            ("https://0x7f000001", "four numbers"),
            ("https://0177.0.0.1", "four numbers"),
            ("https://127.1", "four numbers"),
            ("https://1.2.3.4.5", "four numbers"),
        ] {
            let error = EndpointUrl::parse(url, &Reach::public()).unwrap_err();
            assert!(error.to_string().contains(because), "{url}: {error}");
        }
        let long = format!("https://example.com/{}", "a".repeat(limits::URL_CHARS));
        EndpointUrl::parse(&long, &Reach::public()).unwrap_err();
    }

    #[test]
    fn subscriptions_10_1_the_host_may_allow_more() {
        for url in ["http://localhost:9000/hook", "http://127.0.0.1:9000", "https://[::1]/"] {
            EndpointUrl::parse(url, &Reach::everything()).unwrap();
        }
        EndpointUrl::parse("ftp://localhost", &Reach::everything()).unwrap_err();
        let network = Reach::public().allowing("10.0.0.0/8").unwrap();
        EndpointUrl::parse("https://10.1.2.3/", &network).unwrap();
        EndpointUrl::parse("https://192.168.1.1/", &network).unwrap_err();
    }
}
