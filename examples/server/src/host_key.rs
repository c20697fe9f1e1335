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
    /// secret. Where nothing is said it lies beside the folder of the store, as `DIR.key`; with a store in memory
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
        let Some(file) = self.key_file.clone().or_else(|| beside(store)) else {
            return Ok(HostKey::new());
        };
        let unusable = |source| KeyError::Unusable { file: file.clone(), source };
        match File::open(&file) {
            Ok(found) => {
                let mut text = String::new();
                found.take(FILE_BYTES).read_to_string(&mut text).map_err(unusable)?;
                let key = bytes(text.trim_end()).and_then(|key| key.try_into().ok());
                key.map(HostKey).ok_or_else(|| KeyError::NoKey { file: file.clone() })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let key = HostKey::new();
                key.write(&file).map_err(unusable)?;
                Ok(key)
            }
            Err(error) => Err(unusable(error)),
        }
    }
}

/// Returns the file of the key that belongs to a store.
fn beside(store: &StoreAt) -> Option<PathBuf> {
    let folder = store.folder()?;
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

    fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = File::create_new(path)?;
        let text: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(file, "{text}")?;
        file.sync_all()
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
        let nested = StoreAt::Sled(folder.path().join("no/folder"));
        let error = KeyOptions::default().key(&nested).unwrap_err().to_string();
        assert!(error.contains("cannot use"), "{error}");
    }
}
