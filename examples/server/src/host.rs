use accrue::{AccountId, Billing, store::MemoryStore};
use accrue_fjall::FjallStore;
use accrue_http::{Api, FixedKey};
use accrue_sled::SledStore;

use crate::{Options, StoreAt};

/// What a server serves: the engine, and the API over it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    billing: Billing,
    api: Api,
}

/// Why a host cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder of a store on fjall cannot be used.
    #[error(transparent)]
    Fjall(accrue_fjall::OpenError),
    /// The folder of a store on sled cannot be used.
    #[error(transparent)]
    Sled(accrue_sled::OpenError),
}

/// The account that the key of the API is for.
const ACCOUNT: &str = "default";

impl Host {
    /// Opens the store that the options name.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened.
    pub fn open(options: &Options) -> Result<Self, OpenError> {
        let billing = match &options.store {
            StoreAt::Memory => Billing::with_system(MemoryStore::new()),
            StoreAt::Fjall(folder) => {
                Billing::with_system(FjallStore::open(folder).map_err(OpenError::Fjall)?)
            }
            StoreAt::Sled(folder) => {
                Billing::with_system(SledStore::open(folder).map_err(OpenError::Sled)?)
            }
        };
        let account = AccountId::parse(ACCOUNT).expect("the name of the account is one");
        let key = FixedKey::new(options.api_key.as_str(), account);
        let api = Api::builder(billing.clone(), key).base_path(options.base_path.as_str()).build();
        Ok(Self::new(billing, api))
    }

    /// Makes a host of an engine and its API.
    #[must_use]
    pub const fn new(billing: Billing, api: Api) -> Self {
        Self { billing, api }
    }

    /// Returns the engine.
    #[must_use]
    pub const fn billing(&self) -> &Billing {
        &self.billing
    }

    /// Returns the API.
    #[must_use]
    pub const fn api(&self) -> &Api {
        &self.api
    }

    /// Tells whether the store answers.
    pub async fn is_healthy(&self) -> bool {
        self.billing.next_deadline().await.is_ok()
    }
}
