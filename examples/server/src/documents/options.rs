use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use accrue::{Entropy as _, SystemEntropy};
use clap::Args;

use super::link::{self, LinkKey};

/// Links for customers, who need no API key: documents of invoices, and a portal.
#[derive(Args, Clone, Debug, Default)]
pub struct LinkOptions {
    /// Makes documents of invoices, at addresses that begin with this one: the server's, as customers reach it
    ///
    /// `invoice_pdf` and the like are links then that nobody can guess, below `/documents`. Whoever has one
    /// needs no API key. Without the option they are null.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub documents: Option<String>,

    /// Makes sessions of customers in a portal: its address, which tokens are appended to
    ///
    /// What is found there is not part of this server. Without the option there are no sessions.
    #[arg(long, value_name = "ADDRESS", value_parser = beginning)]
    pub portal: Option<String>,

    /// A file with the key that links are made with
    ///
    /// It is made where it is missing. Links are good for as long as the key is the same; without a file
    /// until the server ends.
    #[arg(long, value_name = "FILE")]
    pub link_key_file: Option<PathBuf>,

    /// Who bills: name and address, in lines that a semicolon ends
    #[arg(long, value_name = "LINES", requires = "documents")]
    pub seller: Option<String>,
}

/// Why there are no links.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinksError {
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

const EXPECTED: &str = "expected an address, as in https://billing.example.com";

/// So much of a file tells whether there is a key in it: one with an end of line, and one byte more.
const FILE_BYTES: u64 = 67;

impl LinkOptions {
    /// Returns the key: that of the file, or a new one.
    pub(crate) fn key(&self) -> Result<LinkKey, LinksError> {
        let Some(file) = &self.link_key_file else { return Ok(new_key()) };
        let unusable = |source| LinksError::Unusable { file: file.clone(), source };
        match File::open(file) {
            Ok(found) => {
                let mut text = String::new();
                found.take(FILE_BYTES).read_to_string(&mut text).map_err(unusable)?;
                let key = link::bytes(text.trim_end()).and_then(|key| key.try_into().ok());
                key.map(LinkKey).ok_or_else(|| LinksError::NoKey { file: file.clone() })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let key = new_key();
                write(file, &key).map_err(unusable)?;
                Ok(key)
            }
            Err(error) => Err(unusable(error)),
        }
    }
}

fn new_key() -> LinkKey {
    let mut key = [0; 32];
    SystemEntropy.fill(&mut key);
    LinkKey(key)
}

fn write(path: &Path, LinkKey(key): &LinkKey) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let text: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(file, "{text}")?;
    file.sync_all()
}

/// Reads an address that links begin with.
fn address(text: &str) -> Result<String, String> {
    match text.contains(['?', '#']) {
        true => Err(EXPECTED.to_owned()),
        false => beginning(text),
    }
}

/// Reads an address, or the beginning of one.
fn beginning(text: &str) -> Result<String, String> {
    let is_one = ["http://", "https://"].iter().any(|scheme| {
        text.strip_prefix(scheme).is_some_and(|rest| !rest.trim_end_matches('/').is_empty())
    });
    let is_plain = text.bytes().all(|of| of.is_ascii_graphic() && !b"\"<>".contains(&of));
    match is_one && is_plain {
        true => Ok(text.to_owned()),
        false => Err(EXPECTED.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let options = LinkOptions { link_key_file: Some(file.clone()), ..Default::default() };
        let first = options.key().unwrap().0;
        assert_eq!(options.key().unwrap().0, first);
        std::fs::write(&file, "short").unwrap();
        let error = options.key().unwrap_err().to_string();
        assert!(error.contains("expected 64 hexadecimal digits"), "{error}");
        assert_ne!(LinkOptions::default().key().unwrap().0, first);
    }

    #[test]
    fn an_address_has_a_scheme_and_no_query() {
        for right in ["http://127.0.0.1:8080", "https://billing.example.com/x/"] {
            assert_eq!(address(right).as_deref(), Ok(right));
        }
        for wrong in ["", "billing.example.com", "https://", "ftp://x", "https://x?y", "http://x y"]
        {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
