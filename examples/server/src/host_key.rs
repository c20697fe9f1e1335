//! The key of a server: what it is computed from that nobody else may make.

use std::{
    ffi::OsString,
    fmt,
    fs::File,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use accrue::{Entropy as _, SystemEntropy};
use clap::Args;

use crate::StoreAt;

/// Where the key of a server comes from.
#[derive(Args, Clone, Debug, Default)]
pub struct KeyOptions {
    /// A file with the key that links and the secrets of webhook endpoints are computed from
    ///
    /// It is made where it is missing. With another key no link is good any more, and every endpoint has another
    /// secret: keep it with the store. Where nothing is said it lies beside the folder of the store, as `DIR.key`; with a store in memory
    /// the key is gone at the end too.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}

/// 32 random bytes, which links and secrets are computed from, each in a way of its own.
#[derive(Clone)]
pub(crate) struct HostKey(pub(crate) [u8; 32]);

impl fmt::Debug for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostKey(..)")
    }
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file cannot be read or made.
    #[error("cannot use {}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Several servers of a database have one key.
    #[error(
        "a database has no folder with a key beside it: say with --key-file where the key lies, the same for each server"
    )]
    Database,
    /// The folder of the store has no name that one beside it could be made of.
    #[error("the folder {} has no name of its own: say with --key-file where its key lies", .0.display())]
    Nameless(PathBuf),
    /// There is something else in the file.
    #[error("found something else in {}, expected 64 hexadecimal digits", file.display())]
    NoKey {
        /// The file.
        file: PathBuf,
    },
}

/// So much of a file tells whether there is a key in it: one with an end of line, and one byte more.
const FILE_BYTES: u64 = 67;

impl KeyOptions {
    /// Returns the key: that of the file, or a new one.
    pub(crate) fn key(&self, store: &StoreAt) -> Result<HostKey, KeyError> {
        let file = match (&self.key_file, store.folder()) {
            (Some(file), _) => file.clone(),
            (None, Some(folder)) => {
                beside(folder).ok_or_else(|| KeyError::Nameless(folder.into()))?
            }
            (None, None) if *store == StoreAt::Memory => return Ok(HostKey::new()),
            (None, None) => return Err(KeyError::Database),
        };
        let unusable = |source| KeyError::Unusable { file: file.clone(), source };
        let found = match File::open(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                HostKey::new().write(&file).map_err(unusable)?;
                // Another process may have been first.
                File::open(&file)
            }
            found => found,
        };
        let mut text = String::new();
        found.and_then(|of| of.take(FILE_BYTES).read_to_string(&mut text)).map_err(unusable)?;
        let key = bytes(text.trim_end()).and_then(|key| key.try_into().ok());
        key.map(HostKey).ok_or_else(|| KeyError::NoKey { file: file.clone() })
    }
}

/// Returns the file of the key that belongs to the store in a folder.
fn beside(folder: &Path) -> Option<PathBuf> {
    let mut name = OsString::from(folder.file_name()?);
    name.push(".key");
    Some(folder.with_file_name(name))
}

impl HostKey {
    pub(crate) fn new() -> Self {
        let mut key = [0; 32];
        SystemEntropy.fill(&mut key);
        Self(key)
    }

    /// Makes the file whole, unless there is one.
    fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let text: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(file, "{text}")?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(path) {
            Ok(_) => File::open(folder)?.sync_all(),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error.error),
        }
    }
}

/// Reads bytes as two digits each.
pub(crate) fn bytes(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|of| of.is_ascii_hexdigit());
    let pairs = (0..text.len()).step_by(2).map(|at| text.get(at..at + 2));
    is_hex.then(|| pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let options = KeyOptions { key_file: Some(file.clone()) };
        let first = options.key(&StoreAt::Memory).unwrap().0;
        assert_eq!(options.key(&StoreAt::Memory).unwrap().0, first);
        std::fs::write(&file, "short").unwrap();
        let error = options.key(&StoreAt::Memory).unwrap_err().to_string();
        assert!(error.contains("expected 64 hexadecimal digits"), "{error}");
        assert_ne!(KeyOptions::default().key(&StoreAt::Memory).unwrap().0, first);
    }

    #[test]
    fn a_store_has_its_key_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = StoreAt::Fjall(folder.path().join("data"));
        let first = KeyOptions::default().key(&store).unwrap().0;
        assert_eq!(KeyOptions::default().key(&store).unwrap().0, first);
        assert!(folder.path().join("data.key").exists());
        for folder in ["/", "..", "."] {
            let store = StoreAt::Fjall(folder.into());
            let error = KeyOptions::default().key(&store).unwrap_err().to_string();
            assert!(error.contains("say with --key-file"), "{error}");
        }
        let nested = StoreAt::Sled(folder.path().join("no/folder"));
        let error = KeyOptions::default().key(&nested).unwrap_err().to_string();
        assert!(error.contains("cannot use"), "{error}");
    }
}
