//! The API keys that a server is started with, and the accounts that they are for.

mod flags;
mod source;
#[cfg(test)]
mod tests;

use std::{
    env,
    ffi::OsString,
    io::{self, Read},
};

use accrue::AccountId;

use self::source::Source;
use super::ApiKey;

/// The environment variable that an API key may come from.
const VARIABLE: &str = "ACCRUE_API_KEY";

/// The account of the keys that no account is named for.
const ACCOUNT: &str = "default";

/// Where the API keys come from that the server is started with. With none of these, those are good
/// that are kept in the store.
#[derive(Clone, Debug, Default)]
pub struct ApiKeyOptions(Vec<Named>);

/// An account, and the keys that follow it on the command line.
#[derive(Clone, Debug)]
struct Named {
    account: AccountId,
    sources: Vec<Source>,
}

/// API keys that a server is started with, each with its account: no key is of two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedKeys(Vec<(AccountId, ApiKey)>);

/// Why there are no API keys, though some were named. None of it shows what was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiKeyError {
    /// Arguments and the environment name keys.
    #[error("API keys are given by {0} and by {1}: expected one of them")]
    Twice(&'static str, &'static str),
    /// An account is named, and no key for it.
    #[error("no API key follows --account {0}: expected --api-key KEY or --api-key-file FILE")]
    Missing(AccountId),
    /// One key cannot tell two accounts apart.
    #[error("the accounts {0} and {1} have the same API key: expected keys of their own")]
    Shared(AccountId, AccountId),
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
    /// Reads the keys that are named: by arguments, or by the environment.
    ///
    /// # Errors
    ///
    /// Where both name some, an account has none, two accounts have the same, or what is named is no
    /// key.
    pub fn read(&self) -> Result<FixedKeys, ApiKeyError> {
        self.read_with(env::var_os(VARIABLE), &mut io::stdin())
    }

    fn read_with(
        &self,
        variable: Option<OsString>,
        input: &mut impl Read,
    ) -> Result<FixedKeys, ApiKeyError> {
        let mut keys = FixedKeys::default();
        for Named { account, sources } in &self.0 {
            if sources.is_empty() {
                return Err(ApiKeyError::Missing(account.clone()));
            }
            for source in sources {
                if variable.is_some() {
                    return Err(ApiKeyError::Twice(source.origin.flag(), VARIABLE));
                }
                keys.insert(account, source.read(input)?)?;
            }
        }
        if let Some(text) = variable {
            keys.insert(&default_account(), ApiKey::parse(text.as_encoded_bytes(), VARIABLE)?)?;
        }
        Ok(keys)
    }
}

impl FixedKeys {
    /// Returns each with its account.
    pub fn iter(&self) -> impl Iterator<Item = (&AccountId, &ApiKey)> {
        self.0.iter().map(|(account, key)| (account, key))
    }

    /// Tells whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn insert(&mut self, account: &AccountId, key: ApiKey) -> Result<(), ApiKeyError> {
        match self.0.iter().find(|(_, other)| *other == key) {
            Some((other, _)) if other != account => {
                Err(ApiKeyError::Shared(other.clone(), account.clone()))
            }
            Some(_) => Ok(()),
            None => {
                self.0.push((account.clone(), key));
                Ok(())
            }
        }
    }
}

fn default_account() -> AccountId {
    AccountId::parse(ACCOUNT).expect("the name of the account is one")
}
