use std::{
    fmt,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use accrue::{Billing, ManualClock, SystemEntropy, store::MemoryStore};
use accrue_fjall::FjallStore;
use accrue_sled::SledStore;

use crate::{
    Error,
    options::{Engine, StoreAt},
};

/// The folder that a run makes anew when it is not asked for another.
const FOLDER: &str = "target/embedded-fjall";
/// What a run holds while the folder is its own.
const LOCK: &str = "target/embedded-fjall.lock";

/// Where the store lives, empty when the run begins.
#[derive(Debug)]
pub(crate) enum Home {
    Memory,
    Folder { engine: Engine, path: PathBuf, _lock: Option<File> },
}

impl Home {
    /// Finds an empty place for the store.
    pub(crate) fn prepare(store: Option<&StoreAt>) -> Result<Self, Error> {
        match store {
            Some(StoreAt::Memory) => Ok(Self::Memory),
            Some(StoreAt::Folder(engine, path)) => given(*engine, path),
            None => made_anew(),
        }
    }

    /// Opens the store in it, with what it holds.
    pub(crate) fn open(&self, clock: &ManualClock) -> Result<Billing, Error> {
        Ok(match self {
            Self::Memory => Billing::new(MemoryStore::new(), clock.clone(), SystemEntropy),
            Self::Folder { engine: Engine::Fjall, path, .. } => {
                Billing::new(FjallStore::open(path)?, clock.clone(), SystemEntropy)
            }
            Self::Folder { engine: Engine::Sled, path, .. } => {
                Billing::new(SledStore::open(path)?, clock.clone(), SystemEntropy)
            }
        })
    }

    /// Tells whether what it holds is still there once it was closed.
    pub(crate) const fn is_durable(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("in memory"),
            Self::Folder { engine, path, .. } => write!(f, "with {engine} in {}", path.display()),
        }
    }
}

fn given(engine: Engine, path: &Path) -> Result<Home, Error> {
    let failed = |source| Error::Folder { path: path.to_owned(), source };
    fs::create_dir_all(path).map_err(failed)?;
    if fs::read_dir(path).map_err(failed)?.next().is_some() {
        return Err(Error::Occupied { path: path.to_owned() });
    }
    Ok(Home::Folder { engine, path: path.to_owned(), _lock: None })
}

fn made_anew() -> Result<Home, Error> {
    let path = PathBuf::from(FOLDER);
    let failed = |source| Error::Folder { path: path.clone(), source };
    fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(failed)?;
    let lock = File::create(LOCK).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(Error::InUse { path }),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    fs::create_dir_all(&path).map_err(failed)?;
    Ok(Home::Folder { engine: Engine::Fjall, path, _lock: Some(lock) })
}
