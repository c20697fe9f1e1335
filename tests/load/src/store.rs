use std::{ffi::OsString, path::Path, str::FromStr};

/// A store that the servers know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Store {
    /// In memory, gone at the end.
    Memory,
    /// On fjall, in a folder of its own.
    Fjall,
    /// On sled, in a folder of its own.
    Sled,
    /// In a database that a connection string leads to.
    Postgres(String),
}

impl FromStr for Store {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            None if text == "fjall" => Ok(Self::Fjall),
            None if text == "sled" => Ok(Self::Sled),
            Some(("postgres", url)) if !url.is_empty() => Ok(Self::Postgres(url.to_owned())),
            _ => Err("expected memory, fjall, sled or postgres:URL".to_owned()),
        }
    }
}

impl Store {
    /// Returns its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Fjall => "fjall",
            Self::Sled => "sled",
            Self::Postgres(_) => "postgres",
        }
    }

    /// Returns what a server is told, with the folder for those that have one.
    pub(crate) fn at(&self, folder: &Path) -> OsString {
        let mut at = OsString::from(self.name());
        match self {
            Self::Memory => {}
            Self::Fjall | Self::Sled => {
                at.push(":");
                at.push(folder);
            }
            Self::Postgres(url) => {
                at.push(":");
                at.push(url);
            }
        }
        at
    }
}
