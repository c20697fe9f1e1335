mod rows;

use accrue::customer::Customer;
use accrue_benches::Outcome;
use postgres::{Client, NoTls, Statement};

use self::rows::{EventRow, EventRows, RequestRows, system_time};
use super::{Name, Side, Statements};
use crate::{
    measure::in_full,
    race::Caller,
    source::{PAGE, Round, Source, check},
};

/// PostgreSQL, and the SQL that one would write for the same: a connection for each caller.
pub(crate) struct Postgres {
    statements: Statements,
    connections: Vec<Connection>,
}

struct Connection {
    client: Client,
    request: Statement,
    event: Statement,
    totals: Statement,
    whole: Statement,
    fetch: Statement,
    page: Statement,
}

/// What the metrics are called that have an alert each.
const WATCHED: [&str; 2] = ["requests", "output tokens"];

impl Postgres {
    /// Makes the tables anew, with the customers and their alerts.
    pub(crate) fn open(
        server: &str,
        statements: Statements,
        callers: u64,
        source: &Source,
    ) -> Outcome<Self> {
        let schema = match statements {
            Statements::Many => "accrue_rates_many",
            Statements::One => "accrue_rates_one",
        };
        let connect = || -> Outcome<Client> {
            let found = Client::connect(server, NoTls);
            found.map_err(|error| format!("PostgreSQL at {server:?}: {}", in_full(&error)).into())
        };
        let mut client = connect()?;
        client
            .batch_execute(&include_str!("postgres/schema.sql").replace("accrue_rates", schema))?;
        fill(&mut client, &source.customers()?)?;
        let connections = (0..callers).map(|_| {
            let mut client = connect()?;
            client.batch_execute(&format!("SET search_path TO {schema}"))?;
            Connection::new(client)
        });
        Ok(Self { statements, connections: connections.collect::<Outcome<_>>()? })
    }
}

impl Side for Postgres {
    fn name(&self) -> Name {
        Name::Postgres(self.statements)
    }

    fn callers<'a>(&'a mut self, round: &Round) -> Outcome<Vec<Caller<'a>>> {
        let statements = self.statements;
        let callers = self.connections.iter_mut().zip(&round.requests);
        let caller = |(connection, requests): (&'a mut Connection, &Vec<_>)| {
            let requests: Vec<_> = requests.iter().map(RequestRows::new).collect::<Outcome<_>>()?;
            let caller: Caller<'a> = Box::new(move || {
                requests.iter().try_for_each(|request| connection.run(request, statements))
            });
            Ok(caller)
        };
        callers.map(caller).collect()
    }
}

impl Connection {
    fn new(mut client: Client) -> Outcome<Self> {
        let mut prepare = |sql: &str| client.prepare(sql);
        let newest = format!(
            "SELECT document::text FROM customers ORDER BY created_at DESC, id DESC LIMIT {}",
            // One more tells whether there is another page.
            PAGE + 1
        );
        Ok(Self {
            request: prepare(include_str!("postgres/request.sql"))?,
            event: prepare(include_str!("postgres/event.sql"))?,
            totals: prepare(include_str!("postgres/totals.sql"))?,
            whole: prepare(include_str!("postgres/one_statement.sql"))?,
            fetch: prepare("SELECT document::text FROM customers WHERE id = $1")?,
            page: prepare(&newest)?,
            client,
        })
    }

    fn run(&mut self, request: &RequestRows, statements: Statements) -> Outcome<()> {
        match request {
            RequestRows::Ingest { key, answer, events, columns } => {
                let new = match statements {
                    Statements::Many => self.ingest_each(key, answer, events)?,
                    Statements::One => self.ingest_all(key, answer, columns)?,
                };
                check("new events", new, events.len())
            }
            RequestRows::Fetch(id) => {
                let row = self.client.query_one(&self.fetch, &[id])?;
                let document: &str = row.try_get(0)?;
                check("empty documents", usize::from(document.is_empty()), 0)
            }
            RequestRows::Page => {
                let rows = self.client.query(&self.page, &[])?;
                check("customers", rows.len(), PAGE + 1)
            }
        }
    }

    /// Answers how many events were new.
    fn ingest_each(&mut self, key: &str, answer: &str, events: &[EventRow]) -> Outcome<usize> {
        let mut transaction = self.client.transaction()?;
        if transaction.execute(&self.request, &[&key, &answer])? == 0 {
            return Ok(0);
        }
        let mut new = 0;
        for EventRow { key, customer, name, at, properties, output_tokens, input_tokens } in events
        {
            let event = transaction.execute(&self.event, &[key, customer, name, at, properties])?;
            if event == 0 {
                continue;
            }
            transaction.execute(&self.totals, &[customer, at, output_tokens, input_tokens])?;
            new += 1;
        }
        transaction.commit()?;
        Ok(new)
    }

    /// The same in one statement, which is a transaction of its own.
    fn ingest_all(&mut self, key: &str, answer: &str, events: &EventRows) -> Outcome<usize> {
        let EventRows { keys, customers, names, at, properties } = events;
        let parameters: &[&(dyn postgres::types::ToSql + Sync)] =
            &[&key, &answer, keys, customers, names, at, properties];
        let row = self.client.query_one(&self.whole, parameters)?;
        Ok(usize::try_from(row.try_get::<_, i64>(0)?)?)
    }
}

fn fill(client: &mut Client, customers: &[Customer]) -> Outcome<()> {
    let mut transaction = client.transaction()?;
    for customer in customers {
        let external = customer.external_customer_id.as_ref().map(ToString::to_string);
        transaction.execute(
            "INSERT INTO customers VALUES ($1, $2, $3, $4::text::jsonb)",
            &[
                &customer.id.to_string(),
                &external,
                &system_time(customer.created_at)?,
                &serde_json::to_string(customer)?,
            ],
        )?;
        for metric in WATCHED {
            // As far away as in the workload.
            transaction
                .execute("INSERT INTO thresholds VALUES ($1, $2, 1e20)", &[&external, &metric])?;
        }
    }
    transaction.commit()?;
    // What its own daemon would do in a moment.
    client.batch_execute("ANALYZE customers; ANALYZE thresholds")?;
    Ok(())
}
