use accrue::{AccountId, Billing, store::MemoryStore};
use accrue_fjall::FjallStore;
use accrue_http::{Api, FixedKey};
use accrue_sled::SledStore;

use crate::{ConnectionBounds, Connections, Options, StoreAt, process};

/// What a server serves: the engine, and the API over it, to so many connections. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    billing: Billing,
    api: Api,
    connections: Connections,
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
    pub fn new(billing: Billing, api: Api) -> Self {
        let bounds = ConnectionBounds::default().within(process::open_files());
        Self { billing, api, connections: Connections::new(bounds) }
    }

    /// Bounds the connections; by [`ConnectionBounds::default`] where nothing is said.
    #[must_use]
    pub fn connection_bounds(self, bounds: ConnectionBounds) -> Self {
        Self { connections: Connections::new(bounds), ..self }
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

    /// Returns the connections.
    #[must_use]
    pub const fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Tells whether the store answers.
    pub async fn is_healthy(&self) -> bool {
        self.billing.next_deadline().await.is_ok()
    }
}
