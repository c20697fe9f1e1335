//! A process that delivers the messages of a store, beside another one.

use std::{
    collections::VecDeque,
    fmt, fs,
    io::{Write as _, stdin, stdout},
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    thread,
    time::Duration,
};

use accrue::{
    Account, AccountId, Billing, Clock, CustomerId, Email, IdempotencyKey, Name, PageRequest,
    SystemEntropy, Timestamp,
    customer::{CustomerUpdate, NewCustomer},
    schema,
    store::Store,
    webhook::{DeliveryOrder, EndpointUrl, NewEndpoint, Reach, WebhookKey},
};
use accrue_http::{Api, FixedKey};
use accrue_postgres::PostgresStore;
use accrue_webhooks::{HyperTransport, Timer as _, TokioTimer, Worker};
use pollster::block_on;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::{Kind, host::minute, life::wait};

/// How often somebody looks whether the store is free.
pub(crate) const PAUSE: Duration = Duration::from_millis(5);
/// Customers of a process whose messages come up in turn.
const CUSTOMERS: usize = 4;
/// Messages of each: of its creation, and of edits.
const MESSAGES: usize = 6;

/// The endpoints: where each is, behind the address of the receiver, and in which order it is sent messages.
pub(crate) const ENDPOINTS: [(&str, DeliveryOrder); 2] =
    [("", DeliveryOrder::FirstAttempts), ("/strict", DeliveryOrder::Strict)];

/// Where messages are stored.
#[derive(Clone, Debug)]
pub enum Place {
    /// In a folder: one of the processes has it, and the other waits for it.
    Folder(Kind),
    /// In a database of PostgreSQL, by its connection string: both have it.
    Database(String),
}

impl Place {
    /// The name of its store.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Folder(kind) => kind.name(),
            Self::Database(_) => "postgres",
        }
    }

    fn try_open(&self, folder: &Path) -> Option<Arc<dyn Store>> {
        match self {
            Self::Folder(kind) => kind.try_open(folder),
            Self::Database(connection) => {
                let migrated = block_on(PostgresStore::migrate(connection, schema::TABLES));
                migrated.expect("the tables can be made");
                let opened = block_on(PostgresStore::open(connection));
                Some(Arc::new(opened.expect("the database can be opened")))
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(kind) => f.write_str(kind.name()),
            Self::Database(connection) => write!(f, "postgres:{connection}"),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("postgres:") {
            Some(connection) => Ok(Self::Database(connection.to_owned())),
            None => text.parse().map(Self::Folder),
        }
    }
}

/// Clock of all processes of a folder, kept in a file beside it: a minute passes with each that is killed at its work, so that
/// what it had taken can be taken over.
#[derive(Debug)]
pub(crate) struct Minutes(PathBuf);

impl Minutes {
    pub(crate) fn beside(folder: &Path) -> Self {
        Self(folder.with_extension("minute"))
    }

    pub(crate) fn set(&self, minute: usize) {
        let new = self.0.with_extension("next");
        fs::write(&new, minute.to_string()).unwrap();
        fs::rename(&new, &self.0).unwrap();
    }
}

impl Clock for Minutes {
    fn now(&self) -> Timestamp {
        let text = fs::read_to_string(&self.0).unwrap();
        Timestamp::parse(&minute(text.parse().unwrap())).unwrap()
    }
}

/// Delivers messages as `crash-deliverer` does, until the process is killed.
///
/// It waits for the store, and says `opened` and the secrets of the endpoints. With `go` on the standard input it makes
/// messages, and says of each `made`, the customer and which of its messages it is; with `settle` it makes no more, and says
/// `settled` once nothing is left to deliver.
///
/// # Panics
///
/// If the store cannot be used.
pub fn deliver(place: &Place, folder: &Path, url: &str) {
    let (sender, commands) = unbounded_channel();
    thread::spawn(move || {
        for line in stdin().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let store = loop {
        match place.try_open(folder) {
            Some(store) => break store,
            None => wait(PAUSE),
        }
    };
    let billing = Billing::new(store, Minutes::beside(folder), SystemEntropy);
    let account = billing.account(AccountId::parse("acme").unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let key = WebhookKey::new(&[7; 32]).unwrap();
        say("opened", &endpoints(&account, url, &key).await.join(" "));
        let api = Api::builder(billing.clone(), FixedKey::new("key", account.id().clone())).build();
        let transport = HyperTransport::new(Reach::everything());
        tokio::spawn(Worker::new(billing, api, transport, key).run(TokioTimer));
        work(&account, commands).await;
    });
}

/// Creates the endpoints, once for all processes, and returns their secrets.
async fn endpoints(account: &Account, url: &str, key: &WebhookKey) -> Vec<String> {
    let mut secrets = Vec::new();
    for (path, order) in ENDPOINTS {
        let url = EndpointUrl::parse(&format!("{url}{path}"), &Reach::everything()).unwrap();
        let once = IdempotencyKey::parse(format!("endpoint{path}")).unwrap();
        let mut new = NewEndpoint::new(url);
        new.order = order;
        let created = account.create_webhook_endpoint(new).keyed(once).await.unwrap();
        secrets.push(created.outcome.secret(key, account.id()).reveal().to_string());
    }
    secrets
}

/// Does what it is told.
async fn work(account: &Account, mut commands: UnboundedReceiver<String>) {
    let (mut is_making, mut customers) = (false, VecDeque::new());
    loop {
        let command = match is_making {
            true => commands.try_recv().ok(),
            false => Some(commands.recv().await.expect("nobody tells what to do any more")),
        };
        match command.as_deref() {
            Some("go") => is_making = true,
            Some(_) => {
                is_making = false;
                settle(account).await;
                say("settled", "");
            }
            None => make_one(account, &mut customers).await,
        }
    }
}

/// Creates a customer, or edits the one whose turn it is.
async fn make_one(account: &Account, customers: &mut VecDeque<(CustomerId, usize)>) {
    let next = if customers.len() < CUSTOMERS { None } else { customers.pop_front() };
    let number = next.map_or(1, |(_, before)| before + 1);
    let name = Name::parse(format!("Ada {number}")).unwrap();
    let id = match next {
        None => {
            let new = NewCustomer::new(name, Email::parse("ada@example.com").unwrap());
            account.create_customer(new).await.unwrap().id
        }
        Some((id, _)) => {
            let update = CustomerUpdate { name: Some(name), ..CustomerUpdate::default() };
            account.update_customer(id, update).await.unwrap().id
        }
    };
    if number < MESSAGES {
        customers.push_back((id, number));
    }
    say("made", &format!("{id} {number}"));
}

/// Waits until nothing is left to deliver.
async fn settle(account: &Account) {
    loop {
        let waiting = account.list_messages(&PageRequest::default()).await.unwrap().data;
        let next = account.billing().next_endpoint_turn().await.unwrap();
        if waiting.is_empty() && next.is_none() {
            return;
        }
        TokioTimer.wait(PAUSE).await;
    }
}

fn say(what: &str, more: &str) {
    writeln!(stdout(), "{what} {more}").expect("whoever started it listens");
}
