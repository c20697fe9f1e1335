use std::sync::Arc;

use accrue::store::{StoreError, Turn, Turns};
use async_trait::async_trait;
use deadpool_postgres::{Object, Timeouts};
use tokio::runtime::Handle;
use tokio_postgres::{Error, error::SqlState};

use crate::{encode::lock, failure::Failure, shared::Shared, store::PostgresStore};

const WAIT: &str = "SELECT pg_advisory_lock($1)";
const GIVE_BACK: &str = "SELECT pg_advisory_unlock($1)";

/// Each turn is a lock of a session, which ends with its connection.
#[async_trait]
impl Turns for PostgresStore {
    /// Waits on one of [a few connections](crate::PostgresOptions::turns) for it: none where all of them are in use.
    async fn take(&self, place: u16) -> Result<Option<Turn>, StoreError> {
        let shared = Arc::clone(&self.shared);
        self.run(async move { shared.turn(place).await }).await
    }
}

/// Connection that has the lock of a place.
struct Keeper {
    client: Option<Object>,
    number: i64,
    handle: Handle,
}

impl Shared {
    async fn turn(&self, place: u16) -> Result<Option<Turn>, Failure> {
        // Whoever finds none free goes on without: waiting here would hold up what the lock is for.
        let Ok(client) = self.turns.timeout_get(&Timeouts::wait_millis(0)).await else {
            return Ok(None);
        };
        let number = lock(&place.to_be_bytes(), self.seed);
        let locked = async {
            let statement = client.prepare_cached(WAIT).await?;
            client.query(&statement, &[&number]).await
        };
        let locked = locked.await;
        if locked.as_ref().is_err_and(has_no_locks) {
            return Ok(None);
        }
        let keeper = Keeper { client: Some(client), number, handle: Handle::current() };
        locked.map_err(|error| Failure::of_statement("there is no turn to be had", error))?;
        Ok(Some(Turn::new(keeper)))
    }
}

/// Tells whether a database has no such locks: it has no turns either.
fn has_no_locks(error: &Error) -> bool {
    let none = [SqlState::UNDEFINED_FUNCTION, SqlState::INSUFFICIENT_PRIVILEGE];
    error.code().is_some_and(|code| none.contains(code))
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        let number = self.number;
        self.handle.spawn(async move {
            let unlocked = async {
                let statement = client.prepare_cached(GIVE_BACK).await?;
                client.query(&statement, &[&number]).await
            };
            if unlocked.await.is_err() {
                // The lock ends with its connection.
                drop(Object::take(client));
            }
        });
    }
}
