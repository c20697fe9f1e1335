use std::{
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use accrue::{
    Account, AccountId, ApiKeyId, Error, ListFilter, Name, PageRequest,
    api_key::{ApiKey, IssuedApiKey},
    limits::{API_KEY_OVERLAP_DAYS, PAGE_ROWS},
};
use clap::{Args, Subcommand};

use crate::{OneLine, StoreAt, StoreOpenError};

/// What is done with the API keys of an account.
#[derive(Clone, Debug, Subcommand)]
pub enum KeysCommand {
    /// Issues an API key, and shows its token, which nothing shows again
    ///
    /// The token alone goes to standard output. The store is made where there is none.
    Issue {
        /// Whose.
        #[command(flatten)]
        of: Of,
        /// What the key is for
        #[arg(long, value_name = "NAME", value_parser = name)]
        name: Name,
    },
    /// Lists the API keys of an account, newest first, revoked ones too
    List {
        /// Whose.
        #[command(flatten)]
        of: Of,
    },
    /// Gives an API key a new token, and shows it
    Rotate {
        /// Whose.
        #[command(flatten)]
        of: Of,
        /// The id of the key
        #[arg(long, value_name = "ID")]
        id: ApiKeyId,
        /// For how many hours more the token before is good; 0 to 720
        #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = overlap())]
        overlap_hours: u64,
    },
    /// Revokes an API key: none of its tokens is good any more
    Revoke {
        /// Whose.
        #[command(flatten)]
        of: Of,
        /// The id of the key
        #[arg(long, value_name = "ID")]
        id: ApiKeyId,
    },
}

/// Whose keys.
#[derive(Args, Clone, Debug)]
pub struct Of {
    /// The store that the keys are kept in
    #[arg(long, value_name = "fjall:DIR|sled:DIR|postgres:URL")]
    store: StoreAt,
    /// The account that the keys are for
    #[arg(long, value_name = "NAME", value_parser = account)]
    account: AccountId,
}

fn name(text: &str) -> Result<Name, String> {
    Name::parse(text).map_err(|error| error.to_string())
}

fn account(text: &str) -> Result<AccountId, String> {
    AccountId::parse(text).map_err(|error| error.to_string())
}

fn overlap() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(..=API_KEY_OVERLAP_DAYS.saturating_mul(24))
}

/// Why nothing was done with API keys, or nobody was told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// What is in memory is gone at the end, and in no other process.
    #[error(
        "a store in memory keeps no API keys: expected `fjall:DIR`, `sled:DIR` or `postgres:URL`"
    )]
    Memory,
    /// There is nothing in the folder.
    #[error("there is no store in {}: `keys issue` makes one", .0.display())]
    Missing(PathBuf),
    /// A server has the store open.
    #[error("one process at a time uses a store: stop the server first")]
    Locked(#[source] StoreOpenError),
    /// It cannot be opened.
    #[error(transparent)]
    Open(StoreOpenError),
    /// The engine refused, or failed.
    #[error(transparent)]
    Engine(#[from] Error),
    /// What was done could not be said.
    #[error("it is done, but cannot be shown")]
    Output(#[from] io::Error),
}

impl KeysCommand {
    /// Does it. What a program reads goes to `out`, the rest to `notes`.
    pub(crate) async fn run(
        &self,
        out: &mut impl Write,
        notes: &mut impl Write,
    ) -> Result<(), KeysError> {
        match self {
            Self::Issue { of, name } => {
                let issued = of.open().await?.issue_api_key(name.clone()).await?;
                show_token(&issued, out)?;
                writeln!(notes, "issued {}: its token is shown this once", line(&issued.key))?;
            }
            Self::List { of } => list(&of.open_existing().await?, out).await?,
            Self::Rotate { of, id, overlap_hours } => {
                let overlap = Duration::from_secs(overlap_hours.saturating_mul(60 * 60));
                let issued = of.open_existing().await?.rotate_api_key(*id, overlap).await?;
                show_token(&issued, out)?;
                writeln!(notes, "rotated {}: its token is shown this once", line(&issued.key))?;
            }
            Self::Revoke { of, id } => {
                let key = of.open_existing().await?.revoke_api_key(*id).await?;
                writeln!(notes, "revoked {}", line(&key))?;
            }
        }
        Ok(())
    }
}

impl Of {
    async fn open(&self) -> Result<Account, KeysError> {
        if self.store == StoreAt::Memory {
            return Err(KeysError::Memory);
        }
        let billing = self.store.open().await.map_err(|error| match error.is_locked() {
            true => KeysError::Locked(error),
            false => KeysError::Open(error),
        })?;
        Ok(billing.account(self.account.clone()))
    }

    /// Opens a store that is there: a folder that is misspelt is not made.
    async fn open_existing(&self) -> Result<Account, KeysError> {
        match self.store.folder().filter(|folder| !folder.exists()) {
            Some(missing) => Err(KeysError::Missing(missing.to_owned())),
            None => self.open().await,
        }
    }
}

fn show_token(issued: &IssuedApiKey, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", issued.token.reveal())
}

async fn list(account: &Account, out: &mut impl Write) -> Result<(), KeysError> {
    let mut page = Some(PageRequest::first(PAGE_ROWS)?);
    while let Some(request) = page {
        let keys = account.list_api_keys(&ListFilter::default(), &request).await?;
        for key in &keys.data {
            writeln!(out, "{}", line(key))?;
        }
        page = keys.next_cursor.map(|cursor| request.after(cursor));
    }
    Ok(())
}

/// Writes a key on one line: id, since when, whether it is good, what for.
fn line(key: &ApiKey) -> String {
    let state = match (key.revoked_at, key.rotated_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) => format!("rotated {at}"),
        (None, None) => "good".to_owned(),
    };
    format!("{}  issued {}  {state}  {}", key.id, key.created_at, OneLine(&key.name))
}
