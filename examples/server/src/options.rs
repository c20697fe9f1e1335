use std::{fmt, net::SocketAddr, path::PathBuf, str::FromStr};

use clap::Parser;

/// Serves the billing API.
///
/// Requests go below the base path, with `Authorization: Bearer KEY`. `GET /healthz` needs no key: it
/// answers 200 while the store answers. SIGINT and SIGTERM let requests in flight finish.
#[derive(Clone, Debug, Parser)]
#[command(version)]
pub struct Options {
    /// The address and port to listen on; port 0 takes a free one
    ///
    /// Standard output says which it became: `listening on http://127.0.0.1:8080/v1`.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080", value_parser = address)]
    pub listen: SocketAddr,

    /// Where everything is stored
    ///
    /// `memory`, gone at the end, or `fjall:DIR` or `sled:DIR` with a folder, which is made where it
    /// is missing.
    #[arg(long, value_name = "memory|fjall:DIR|sled:DIR", default_value = "memory")]
    pub store: StoreAt,

    /// The path that the API is served below
    #[arg(long, value_name = "PATH", default_value = "/v1")]
    pub base_path: BasePath,

    /// The API key that clients send, for the one account `default`
    #[arg(long, value_name = "KEY")]
    pub api_key: ApiKey,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = || "expected an address and a port, as in 127.0.0.1:8080".to_owned();
    text.parse().map_err(|_| expected())
}

/// Where everything is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAt {
    /// In memory, gone at the end.
    Memory,
    /// On fjall, in a folder.
    Fjall(PathBuf),
    /// On sled, in a folder.
    Sled(PathBuf),
}

impl FromStr for StoreAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            Some(("fjall", folder)) if !folder.is_empty() => Ok(Self::Fjall(folder.into())),
            Some(("sled", folder)) if !folder.is_empty() => Ok(Self::Sled(folder.into())),
            _ => Err("expected `memory`, `fjall:DIR` or `sled:DIR`".to_owned()),
        }
    }
}

impl fmt::Display for StoreAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::Fjall(folder) => write!(f, "fjall:{}", folder.display()),
            Self::Sled(folder) => write!(f, "sled:{}", folder.display()),
        }
    }
}

/// The path that the API is served below: empty, or from a slash to no slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasePath(String);

impl BasePath {
    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BasePath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        let segments = match text.trim_end_matches('/') {
            "" => "",
            path => path.strip_prefix('/').unwrap_or("/"),
        };
        let is_path = segments.is_empty()
            || segments
                .split('/')
                .all(|segment| !segment.is_empty() && segment.chars().all(is_plain));
        match is_path {
            true => Ok(Self(text.trim_end_matches('/').to_owned())),
            false => Err("expected a path of letters, digits and -._~, as in /v1".to_owned()),
        }
    }
}

/// What clients show to be let in.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ApiKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(Self(text.to_owned())),
            false => Err("expected visible ASCII characters without spaces".to_owned()),
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Options, String> {
        let all = ["server"].iter().chain(arguments);
        Options::try_parse_from(all).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn refused(arguments: &[&str], expected: &str) {
        let error = parsed(arguments).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn only_the_key_is_needed() {
        let options = parsed(&["--api-key", "secret"]).unwrap();
        assert_eq!(options.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(options.store, StoreAt::Memory);
        assert_eq!(options.base_path.as_str(), "/v1");
        assert_eq!(options.api_key.as_str(), "secret");
        assert!(!format!("{options:?}").contains("secret"));
        refused(&[], "--api-key <KEY>");
    }

    #[test]
    fn an_address_has_a_port() {
        let options = parsed(&["--api-key", "k", "--listen", "[::1]:0"]).unwrap();
        assert_eq!(options.listen.to_string(), "[::1]:0");
        for wrong in ["8080", "127.0.0.1", "127.0.0.1:65536", "localhost", ""] {
            refused(&["--api-key", "k", "--listen", wrong], "expected an address and a port");
        }
    }

    #[test]
    fn a_store_is_in_memory_or_in_a_folder() {
        let at = |store| parsed(&["--api-key", "k", "--store", store]).unwrap().store;
        assert_eq!(at("fjall:a b:c"), StoreAt::Fjall("a b:c".into()));
        assert_eq!(at("sled:a b:c"), StoreAt::Sled("a b:c".into()));
        for wrong in ["sled", "sled:", "fjall", "fjall:", "memory:", "Memory", "postgres:x", ""] {
            let expected = "expected `memory`, `fjall:DIR` or `sled:DIR`";
            refused(&["--api-key", "k", "--store", wrong], expected);
        }
    }

    #[test]
    fn a_base_path_is_plain() {
        let base_path =
            |text| Ok::<_, String>(parsed(&["--api-key", "k", "--base-path", text])?.base_path);
        for (text, expected) in [
            ("", ""),
            ("/", ""),
            ("/v1", "/v1"),
            ("/v1/", "/v1"),
            ("/billing/v1.2", "/billing/v1.2"),
        ] {
            assert_eq!(base_path(text).unwrap().as_str(), expected, "{text}");
        }
        for wrong in ["v1", "//v1", "/v1//x", "/{x}", "/a b", "/v1?", "/v1#", "/%31", "/ü"] {
            assert!(base_path(wrong).unwrap_err().contains("expected a path"), "{wrong}");
        }
    }

    #[test]
    fn a_key_is_visible() {
        for wrong in ["", "a b", "ä", "a\n"] {
            refused(&["--api-key", wrong], "expected visible ASCII characters");
        }
    }
}
