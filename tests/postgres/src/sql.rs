use tokio_postgres::{Client, NoTls};

/// Runs statements, one after the other.
pub fn execute(connection: &str, statements: &[&str]) {
    ask(connection, async |client| {
        for statement in statements {
            client.batch_execute(statement).await.unwrap();
        }
    });
}

/// Asks for one number.
#[must_use]
pub fn number(connection: &str, sql: &str) -> i64 {
    ask(connection, async |client| client.query_one(sql, &[]).await.unwrap().get(0))
}

/// Connects, asks, and waits until the connection has ended.
fn ask<T>(connection: &str, question: impl AsyncFnOnce(&Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(connection, NoTls).await.unwrap();
        let ended = tokio::spawn(connection);
        let answer = question(&client).await;
        drop(client);
        drop(ended.await);
        answer
    })
}
