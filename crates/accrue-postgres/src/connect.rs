use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::{
    Connect, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime,
};
use tokio::task::JoinHandle;
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Error, SimpleQueryMessage, Socket,
    config::TargetSessionAttrs, error::DbError, tls::TlsStream,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{
    error::{Cause, OpenError},
    options::{Isolation, Loss, PostgresOptions},
};

/// What a plan may do: one that was made while the table was small would read all of it later.
const PLANNER: &str = "SET plan_cache_mode = force_generic_plan; SET jit = off; \
    SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; \
    SET enable_mergejoin = off; ";
const SETTINGS: &str = "SELECT current_setting('synchronous_commit'), current_setting('fsync')";

/// How long it takes at most until a connection can be used.
const CREATE: Duration = Duration::from_secs(15);
/// After these a server that says nothing is given up, where the connection string names no other times.
const CONNECT: Duration = Duration::from_secs(5);
const UNACKNOWLEDGED: Duration = Duration::from_secs(15);
const KEEPALIVE_IDLE: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;

/// The idle time that tokio-postgres has where none was chosen.
const KEEPALIVE_UNSET: Duration = Duration::from_secs(2 * 60 * 60);

/// How many commits of this store were told of before their standby had them, since somebody canceled the
/// wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct CanceledWaits(Arc<AtomicU64>);

impl CanceledWaits {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn note(&self, notice: &DbError) {
        // Its text is in the server's language, its function is not.
        if notice.routine() == Some("SyncRepWaitForLSN") {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Makes the pool of connections, none of which is open as yet.
pub(crate) fn pool(
    options: &PostgresOptions,
    waits: CanceledWaits,
    connections: usize,
) -> Result<Pool, OpenError> {
    let config = config(&options.connection)?;
    let dial = Dial { tls: options.connector()?, waits };
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_connect(config, dial, recycling);
    let (settings, loss) = (settings(options.isolation), options.loss);
    let prepare = Hook::async_fn(move |client, _| {
        let settings = settings.clone();
        Box::pin(async move {
            let messages = client.simple_query(&settings).await.map_err(HookError::Backend)?;
            check(&messages, loss).map_err(HookError::message)
        })
    });
    let pool = Pool::builder(manager)
        .max_size(connections)
        .runtime(Runtime::Tokio1)
        .create_timeout(Some(CREATE))
        .post_create(prepare)
        .build();
    Ok(pool.map_err(Cause::Build)?)
}

fn config(connection: &str) -> Result<Config, OpenError> {
    let mut config: Config = connection.parse().map_err(Cause::Connection)?;
    if config.get_target_session_attrs() == TargetSessionAttrs::Any {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    if config.get_application_name().is_none() {
        config.application_name("accrue");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(UNACKNOWLEDGED);
    }
    if config.get_keepalives_idle() == KEEPALIVE_UNSET {
        config.keepalives_idle(KEEPALIVE_IDLE);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(KEEPALIVE_INTERVAL);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(KEEPALIVE_RETRIES);
    }
    Ok(config)
}

fn settings(isolation: Isolation) -> String {
    let level = match isolation {
        Isolation::Locks => "read committed",
        Isolation::Serializable => "serializable",
    };
    format!("{PLANNER}SET default_transaction_isolation = '{level}'; {SETTINGS}")
}

/// Refuses a server that may lose what it confirms: at each connection, since another may have taken its
/// place.
fn check(messages: &[SimpleQueryMessage], loss: Loss) -> Result<(), String> {
    let row = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let row = row.ok_or_else(|| "the server does not say how it confirms commits".to_owned())?;
    let [commit, fsync] = [0, 1].map(|column| row.get(column).unwrap_or_default());
    if loss == Loss::Accepted {
        return Ok(());
    }
    if !["on", "remote_apply"].contains(&commit) {
        return Err(format!("synchronous_commit is {commit}, expected on or remote_apply"));
    }
    if fsync != "on" {
        return Err(format!("fsync is {fsync}, expected on"));
    }
    Ok(())
}

/// Opens connections, and listens to what their servers say besides answers.
struct Dial {
    tls: MakeRustlsConnect,
    waits: CanceledWaits,
}

type Dialed<'a> =
    Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + 'a>>;

impl Connect for Dial {
    fn connect(&self, config: &Config) -> Dialed<'_> {
        let config = config.clone();
        Box::pin(async move {
            let (client, connection) = config.connect(self.tls.clone()).await?;
            Ok((client, tokio::spawn(listen(connection, self.waits.clone()))))
        })
    }
}

async fn listen<S>(mut connection: Connection<Socket, S>, waits: CanceledWaits)
where
    S: TlsStream + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notice(notice) = message {
            waits.note(&notice);
        }
    }
}
