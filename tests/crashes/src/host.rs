//! A host without a server, on a durable store.

use std::{path::Path, str::FromStr, sync::Arc};

use accrue::{
    Account, AccountId, Billing, ManualClock, PageRequest, SeededEntropy, Timestamp, store::Store,
    webhook::Message,
};
use accrue_fjall::FjallStore;
use accrue_http::{Api, FixedKey};
use accrue_sled::SledStore;
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use pollster::block_on;
use serde_json::Value;

const TOKEN: &str = "key";

/// Which store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `accrue-fjall`
    Fjall,
    /// `accrue-sled`
    Sled,
}

impl Kind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Sled => "sled",
        }
    }

    /// Opens the store in a folder.
    ///
    /// # Panics
    ///
    /// If it does not open.
    #[must_use]
    pub fn open(self, folder: &Path) -> Arc<dyn Store> {
        self.try_open(folder).expect("no other process has the store")
    }

    /// Opens the store in a folder, unless another process has it.
    pub(crate) fn try_open(self, folder: &Path) -> Option<Arc<dyn Store>> {
        match self {
            Self::Fjall => match FjallStore::open(folder) {
                Err(error) if error.is_locked() => None,
                opened => Some(Arc::new(opened.expect("the store opens"))),
            },
            Self::Sled => match SledStore::open(folder) {
                Err(error) if error.is_locked() => None,
                opened => Some(Arc::new(opened.expect("the store opens"))),
            },
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = [Self::Fjall, Self::Sled].into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| format!("no such store: {name}"))
    }
}

/// What a request was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) is_replayed: bool,
}

/// The engine and the API.
#[derive(Clone, Debug)]
pub struct Host {
    pub(crate) billing: Billing,
    pub(crate) account: Account,
    api: Api,
}

/// The time of a process: each has a minute.
pub(crate) fn minute(process: u64) -> String {
    format!("2026-03-10T{:02}:{:02}:00Z", 9 + process / 60, process % 60)
}

impl Host {
    /// Begins on a store. No two processes of one folder draw the same ids.
    #[must_use]
    pub fn on(store: Arc<dyn Store>, seed: u64, process: u64) -> Self {
        let clock = ManualClock::at(Timestamp::parse(&minute(process)).unwrap());
        let billing = Billing::new(store, clock, SeededEntropy::new(seed ^ (process << 32)));
        let id = AccountId::parse("acme").unwrap();
        let api = Api::builder(billing.clone(), FixedKey::new(TOKEN, id.clone())).build();
        Self { account: billing.account(id), billing, api }
    }

    /// Asks under a key.
    pub(crate) fn post(&self, path: &str, key: &str, body: &str) -> Answer {
        let request = Request::post(path).header("authorization", format!("Bearer {TOKEN}"));
        let request = request.header("idempotency-key", key);
        self.send(request.body(Full::from(body.to_owned())).unwrap())
    }

    /// Looks for what is listed in the answer.
    pub(crate) fn search(&self, path: &str, body: &Value) -> Vec<Value> {
        let request = Request::post(path).header("authorization", format!("Bearer {TOKEN}"));
        let answer = self.send(request.body(Full::from(body.to_string())).unwrap());
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let page: Value = serde_json::from_str(&answer.body).unwrap();
        page["data"].as_array().unwrap().clone()
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let request = Request::get(path).header("authorization", format!("Bearer {TOKEN}"));
        let answer = self.send(request.body(Full::default()).unwrap());
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// Reads a list to its end.
    pub(crate) fn list(&self, path: &str) -> Vec<Value> {
        let (mut rows, mut next) = (Vec::new(), path.to_owned());
        loop {
            let page = self.get(&next);
            rows.extend(page["data"].as_array().unwrap().iter().cloned());
            let Some(cursor) = page["pagination_metadata"]["next_cursor"].as_str() else {
                return rows;
            };
            next = format!("{path}&cursor={cursor}");
        }
    }

    fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        let response = block_on(self.api.handle(request));
        Answer {
            status: response.status().as_u16(),
            is_replayed: response.headers().contains_key("idempotent-replayed"),
            body: String::from_utf8(response.into_body().to_vec()).unwrap(),
        }
    }

    /// Applies everything that is due.
    pub(crate) fn tick(&self) {
        while block_on(self.billing.tick(100)).unwrap().more {}
    }

    /// Reads all messages, and leaves them where they are.
    pub(crate) fn waiting(&self) -> Vec<Message> {
        let (mut all, mut page) = (Vec::new(), PageRequest::first_of_messages(1_000).unwrap());
        loop {
            let found = block_on(self.account.list_messages(&page)).unwrap();
            all.extend(found.data);
            let Some(cursor) = found.next_cursor else { return all };
            page = page.after(cursor);
        }
    }
}
