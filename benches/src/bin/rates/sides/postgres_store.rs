use std::sync::Arc;

use accrue::{Account, store::Store};
use accrue_benches::Outcome;
use accrue_postgres::{PostgresOptions, PostgresStore};
use pollster::block_on;
use postgres::{Client, NoTls};

use crate::source::Source;

/// Makes the tables of a store anew, and returns the account as so many processes have it: each with connections and
/// copies of its own, and waiting for its turn where it has lost a race.
pub(crate) fn open(server: &str, processes: usize, source: &mut Source) -> Outcome<Vec<Account>> {
    let schema = format!("accrue_rates_{processes}");
    let gone = format!("DROP SCHEMA IF EXISTS {schema}, {schema}_views CASCADE");
    Client::connect(server, NoTls)?.batch_execute(&gone)?;
    let options = PostgresOptions::new(server).schema(schema);
    block_on(options.clone().migrate(accrue::schema::TABLES))?;
    let open = || Ok(Arc::new(block_on(options.clone().open())?));
    let stores = (0..processes).map(|_| open()).collect::<Outcome<Vec<_>>>()?;
    let handles =
        stores.iter().map(|store| -> Arc<dyn Store> { Arc::<PostgresStore>::clone(store) });
    let accounts = source.accounts_in(handles.collect())?;
    for (account, store) in accounts.iter().zip(stores) {
        if processes > 1 {
            // All clones of a handle are one.
            drop(account.billing().clone().taking_turns(store));
        }
    }
    Ok(accounts)
}
