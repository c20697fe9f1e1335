use std::{
    convert::Infallible,
    fmt,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    str::FromStr,
};

use super::ApiKeyError;
use crate::options::api_key::{ApiKey, KEY_BYTES};

/// Where a key comes from, and its place on the command line.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) place: usize,
    pub(super) origin: Origin,
}

#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// The argument itself.
    Argument(Text),
    /// The content of a file; of standard input where it is `-`.
    File(PathBuf),
}

impl Origin {
    /// Returns the argument that names it.
    pub(super) const fn flag(&self) -> &'static str {
        match self {
            Self::Argument(_) => "--api-key",
            Self::File(_) => "--api-key-file",
        }
    }
}

impl Source {
    pub(super) fn read(&self, input: &mut impl Read) -> Result<ApiKey, ApiKeyError> {
        match &self.origin {
            Origin::Argument(Text(text)) => ApiKey::parse(text.as_bytes(), self.origin.flag()),
            Origin::File(path) => read_file(path, input),
        }
    }
}

/// So much of a file tells whether there is a key in it: one with an end of line, and one byte more.
const FILE_BYTES: u64 = KEY_BYTES + 3;

fn read_file(path: &Path, input: &mut impl Read) -> Result<ApiKey, ApiKeyError> {
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

/// A key that is not yet judged: what judges arguments shows those that are wrong.
#[derive(Clone)]
pub(super) struct Text(pub(super) String);

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
