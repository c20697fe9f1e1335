use std::str::FromStr;

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
