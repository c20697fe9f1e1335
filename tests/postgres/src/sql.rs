use tokio_postgres::{Client, Error, NoTls};

/// Runs statements, one after the other.
pub fn execute(connection: &str, statements: &[&str]) {
    ask(connection, async |client| {
        for statement in statements {
            client.batch_execute(statement).await.unwrap();
        }
    });
}

/// Runs statements on a server that may end.
///
/// # Errors
///
/// What the server or the lost connection said.
pub fn try_execute(connection: &str, statements: &str) -> Result<(), Error> {
    try_ask(connection, async |client| client.batch_execute(statements).await)
}

/// Asks for one number.
#[must_use]
pub fn number(connection: &str, sql: &str) -> i64 {
    ask(connection, async |client| client.query_one(sql, &[]).await.unwrap().get(0))
}

/// Connects, asks, and waits until the connection has ended.
fn ask<T>(connection: &str, question: impl AsyncFnOnce(&Client) -> T) -> T {
    try_ask(connection, async |client| Ok(question(client).await)).unwrap()
}

fn try_ask<T>(
    connection: &str,
    question: impl AsyncFnOnce(&Client) -> Result<T, Error>,
) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(connection, NoTls).await?;
        let ended = tokio::spawn(connection);
        let answer = question(&client).await;
        drop(client);
        drop(ended.await);
        answer
    })
}
