use std::{
    convert::Infallible,
    env,
    ffi::OsString,
    fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::Args;

/// The environment variable that the API key may come from.
const VARIABLE: &str = "ACCRUE_API_KEY";

/// The longest file that is read for a key, in bytes: what is longer is no key.
const FILE_BYTES: u64 = 4_096;

/// Where the API key comes from that the server is started with. With none of these, those are good
/// that are kept in the store.
#[derive(Args, Clone, Debug, Default)]
pub struct ApiKeyOptions {
    /// An API key for the one account `default`: for development, since `ps` shows it to everybody on
    /// the machine
    ///
    /// API keys that are kept in the store (`keys issue`) are good beside it, each for its account.
    #[arg(long, value_name = "KEY")]
    api_key: Option<Text>,

    /// The file that holds the API key for the account `default`; `-` is standard input
    ///
    /// Instead of it, the environment variable ACCRUE_API_KEY may hold the key. With neither, the API
    /// keys are good that are kept in the store.
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,
}

/// Why there is no API key, though one was named. None of it shows what was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiKeyError {
    /// More than one source is named.
    #[error("the API key is given by {0} and by {1}: expected one of them")]
    Twice(&'static str, &'static str),
    /// A file cannot be read.
    #[error("the API key cannot be read from {file}")]
    Unreadable {
        /// Which.
        file: String,
        /// Why not.
        source: io::Error,
    },
    /// What was found is no key.
    #[error("the API key of {origin} {wrong}")]
    Wrong {
        /// Where it was found.
        origin: String,
        /// What is wrong with it.
        wrong: &'static str,
    },
}

impl ApiKeyOptions {
    /// Reads the key from the one source that is named, if one is.
    ///
    /// # Errors
    ///
    /// Where several are named, or one that has no key.
    pub fn read(&self) -> Result<Option<ApiKey>, ApiKeyError> {
        self.read_with(env::var_os(VARIABLE), io::stdin())
    }

    fn read_with(
        &self,
        variable: Option<OsString>,
        input: impl Read,
    ) -> Result<Option<ApiKey>, ApiKeyError> {
        let (key, file) = ("--api-key", "--api-key-file");
        match (&self.api_key, &self.api_key_file, variable) {
            (None, None, None) => Ok(None),
            (Some(Text(text)), None, None) => ApiKey::parse(text.as_bytes(), key).map(Some),
            (None, None, Some(text)) => ApiKey::parse(text.as_encoded_bytes(), VARIABLE).map(Some),
            (None, Some(path), None) => read_file(path, input).map(Some),
            (Some(_), Some(_), _) => Err(ApiKeyError::Twice(key, file)),
            (Some(_), None, Some(_)) => Err(ApiKeyError::Twice(key, VARIABLE)),
            (None, Some(_), Some(_)) => Err(ApiKeyError::Twice(file, VARIABLE)),
        }
    }
}

fn read_file(path: &Path, input: impl Read) -> Result<ApiKey, ApiKeyError> {
    let is_input = path == Path::new("-");
    let file = if is_input { "standard input".into() } else { path.display().to_string() };
    let mut found = Vec::new();
    let read = match is_input {
        true => input.take(FILE_BYTES).read_to_end(&mut found),
        false => File::open(path).and_then(|file| file.take(FILE_BYTES).read_to_end(&mut found)),
    };
    if let Err(source) = read {
        return Err(ApiKeyError::Unreadable { file, source });
    }
    // Editors and `echo` end a file with a line.
    let line = found.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    ApiKey::parse(line.unwrap_or(&found), &file)
}

/// What clients show to be let in. Nothing shows it that is not asked to.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    fn parse(bytes: &[u8], origin: &str) -> Result<Self, ApiKeyError> {
        let wrong = |wrong| ApiKeyError::Wrong { origin: origin.to_owned(), wrong };
        if bytes.is_empty() {
            return Err(wrong("is empty"));
        }
        let text = str::from_utf8(bytes).ok();
        let text = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic()));
        let text = text.ok_or_else(|| wrong("has more than visible ASCII characters"))?;
        match u64::try_from(text.len()).is_ok_and(|length| length < FILE_BYTES) {
            true => Ok(Self(text.to_owned())),
            false => Err(wrong("is too long")),
        }
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

/// A key that is not yet judged: what judges arguments shows those that are wrong.
#[derive(Clone)]
struct Text(String);

impl FromStr for Text {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Text(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chain;

    fn options(key: Option<&str>, file: Option<&Path>) -> ApiKeyOptions {
        let api_key = key.map(|key| Text(key.to_owned()));
        ApiKeyOptions { api_key, api_key_file: file.map(Path::to_owned) }
    }

    fn of_file(content: &[u8]) -> Result<ApiKey, ApiKeyError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, content).unwrap();
        let read = options(None, Some(&path)).read_with(None, io::empty());
        read.map(|key| key.unwrap())
    }

    #[track_caller]
    fn refused<T: fmt::Debug>(found: Result<T, ApiKeyError>, expected: &str) {
        let error = Chain(&found.unwrap_err()).to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn each_source_gives_the_key() {
        let input = || &b"secret\n"[..];
        let dash = Path::new("-");
        let variable = || Some(OsString::from("secret"));
        for (options, variable) in [
            (options(Some("secret"), None), None),
            (options(None, None), variable()),
            (options(None, Some(dash)), None),
        ] {
            let key = options.read_with(variable, input()).unwrap().unwrap();
            assert_eq!(key.as_str(), "secret");
        }
        assert_eq!(options(None, None).read_with(None, input()).unwrap(), None);
    }

    #[test]
    fn a_file_may_end_with_a_line() {
        for content in ["secret", "secret\n", "secret\r\n"] {
            assert_eq!(of_file(content.as_bytes()).unwrap().as_str(), "secret");
        }
    }

    #[test]
    fn a_key_is_visible() {
        let wrong = "has more than visible ASCII characters";
        for content in ["sec ret", " secret", "secret\n\n", "secret\nsecret\n", "s\u{e4}cret", "\0"]
        {
            refused(of_file(content.as_bytes()), wrong);
            refused(options(Some(content), None).read_with(None, io::empty()), wrong);
        }
        refused(of_file(b"\xff"), wrong);
        for content in ["", "\n", "\r\n"] {
            refused(of_file(content.as_bytes()), "is empty");
        }
        refused(options(Some(""), None).read_with(None, io::empty()), "--api-key is empty");
        let variable = Some(OsString::new());
        refused(options(None, None).read_with(variable, io::empty()), "ACCRUE_API_KEY is empty");
        refused(of_file(&[b'k'; 5_000]), "is too long");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let missing = options(None, Some(Path::new("/missing/key"))).read_with(None, io::empty());
        refused(missing, "cannot be read from /missing/key: No such file");
        let folder = tempfile::tempdir().unwrap();
        let folder = options(None, Some(folder.path())).read_with(None, io::empty());
        refused(folder, "Is a directory");
    }

    #[test]
    fn there_is_one_source() {
        let variable = || Some(OsString::from("secret"));
        let file = Some(Path::new("key"));
        for (options, variable, expected) in [
            (options(Some("secret"), file), None, "--api-key and by --api-key-file"),
            (options(Some("secret"), None), variable(), "--api-key and by ACCRUE_API_KEY"),
            (options(None, file), variable(), "--api-key-file and by ACCRUE_API_KEY"),
            (options(Some("secret"), file), variable(), "expected one of them"),
        ] {
            refused(options.read_with(variable, io::empty()), expected);
        }
    }

    #[test]
    fn nothing_shows_a_key_that_is_not_asked_to() {
        let options = options(Some("secret"), None);
        assert!(!format!("{options:?}").contains("secret"));
        let key = options.read_with(None, io::empty());
        assert!(!format!("{key:?}").contains("secret"));
    }
}
