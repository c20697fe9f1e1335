//! What a process does until it is killed.

use std::thread;

use pollster::block_on;
use serde_json::{Value, json};

use crate::{
    dice::Dice,
    host::{Host, minute},
    told::{self, Asked},
};

/// How many threads work, each on a customer of its own and on one that all share.
const THREADS: u64 = 4;

/// The customer whose events come in backfills.
pub(crate) const LATE: &str = "late";

/// Works, and tells of each step: before a request is made, and before the next one is made after
/// its answer.
pub fn work(host: &Host, seed: u64, process: u64, say: impl Fn(&str) + Sync) {
    let worker = Worker { host, seed, process, say: &say };
    worker.set_up();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let worker = &worker;
            scope.spawn(move || worker.run(thread));
        }
    });
}

/// Makes what [`work`] begins with.
pub(crate) fn set_up(host: &Host) {
    Worker { host, seed: 0, process: 0, say: &|_: &str| {} }.set_up();
}

struct Worker<'a, S> {
    host: &'a Host,
    seed: u64,
    process: u64,
    say: &'a S,
}

impl<S: Fn(&str) + Sync> Worker<'_, S> {
    fn ask(&self, path: &str, key: &str, body: &Value) -> Value {
        let body = body.to_string();
        let asked = Asked { key: key.to_owned(), path: path.to_owned(), body };
        (self.say)(&asked.line());
        let answer = self.host.post(path, key, &asked.body);
        (self.say)(&told::answered(key, answer.status, &answer.body));
        serde_json::from_str(&answer.body).unwrap()
    }

    /// What every process begins with, under the same keys: only the first one makes it.
    fn set_up(&self) {
        let item = self.ask("/v1/items", "item", &json!({"name": "item"}));
        let metric = json!({
            "name": "Tokens", "description": null, "item_id": item["id"],
            "sql": "SELECT sum(tokens) FROM events",
        });
        let metric = self.ask("/v1/metrics", "metric", &metric);
        let price = json!({
            "name": "Tokens", "item_id": item["id"], "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": "0.5"}, "billable_metric_id": metric["id"],
        });
        let plan = json!({
            "name": "Pro", "currency": "USD", "external_plan_id": "pro",
            "prices": [{"price": price}],
        });
        self.ask("/v1/plans", "plan", &plan);
        let own = (0..THREADS).map(own);
        for customer in own.chain(["shared", LATE].map(str::to_owned)) {
            self.set_up_customer(&customer, &metric["id"]);
        }
    }

    fn set_up_customer(&self, customer: &str, metric: &Value) {
        let new = json!({
            "name": customer, "email": "a@example.com", "external_customer_id": customer,
        });
        self.ask("/v1/customers", &format!("customer-{customer}"), &new);
        let new = json!({
            "external_customer_id": customer, "external_plan_id": "pro",
            "start_date": "2026-03-01T00:00:00Z",
        });
        let key = format!("subscription-{customer}");
        let subscription = self.ask("/v1/subscriptions", &key, &new);
        if customer == LATE {
            return;
        }
        let thresholds: Vec<_> = (1..=100).map(|nth| json!({"value": nth * 20})).collect();
        let new = json!({
            "type": "usage_exceeded", "metric_id": metric, "thresholds": thresholds,
        });
        let path = format!("/v1/alerts/subscription_id/{}", subscription["id"].as_str().unwrap());
        self.ask(&path, &format!("alert-{customer}"), &new);
    }

    fn run(&self, thread: u64) {
        let mut dice = Dice::new(self.seed ^ (self.process << 16) ^ (thread << 8));
        for step in 0_u64.. {
            let key = format!("{}-{thread}-{step}", self.process);
            let of_all = dice.below(2) == 0;
            let customer = if of_all { "shared".to_owned() } else { own(thread) };
            match dice.below(20) {
                0..=5 => self.credit(&key, &customer, 1 + dice.below(9)),
                6 | 7 => drop(self.ask("/v1/items", &key, &json!({"name": key}))),
                8..=10 if thread == 0 => self.deliver(),
                _ if thread == 0 && step == 5 => self.backfill(&key, &mut dice),
                _ => drop(self.ask("/v1/ingest", &key, &self.events(&key, &customer, &mut dice))),
            }
        }
    }

    fn events(&self, key: &str, customer: &str, dice: &mut Dice) -> Value {
        let event = |nth: usize| {
            json!({
                "idempotency_key": format!("{key}-{nth}"),
                "event_name": "completion",
                "timestamp": minute(self.process),
                "external_customer_id": customer,
                "properties": {"tokens": 1 + dice.below(9)},
            })
        };
        let count = 1 + Dice::new(self.seed ^ u64::try_from(key.len()).unwrap()).below(4);
        json!({"events": (0..count).map(event).collect::<Vec<_>>()})
    }

    fn credit(&self, key: &str, customer: &str, amount: usize) {
        let path = format!("/v1/customers/external_customer_id/{customer}/credits/ledger_entry");
        let entry = json!({"entry_type": "increment", "amount": amount, "description": key});
        self.ask(&path, key, &entry);
    }

    /// Reads messages and acknowledges them, as one who delivers them does.
    fn deliver(&self) {
        let page = accrue::PageRequest::first_of_messages(10).unwrap();
        let messages = block_on(self.host.account.list_messages(&page)).unwrap().data;
        let ids: Vec<_> = messages.iter().map(|message| message.id.to_string()).collect();
        for (message, id) in messages.iter().zip(&ids) {
            (self.say)(&told::seen(id, &serde_json::to_value(&message.body).unwrap()));
        }
        (self.say)(&told::acknowledging(&ids));
        let places = messages.iter().map(|message| message.place);
        block_on(self.host.account.acknowledge(places).into_future()).unwrap();
        (self.say)(&told::acknowledged(&ids));
    }

    /// Events of an hour of the day before, one hour for each process.
    fn backfill(&self, key: &str, dice: &mut Dice) {
        let hour = self.process % 20;
        let at = |hour: u64, minute: u64| format!("2026-03-09T{hour:02}:{minute:02}:00Z");
        let new = json!({
            "timeframe_start": at(hour, 0), "timeframe_end": at(hour + 1, 0),
            "external_customer_id": LATE, "replace_existing_events": false,
        });
        let backfill = self.ask("/v1/events/backfills", &format!("{key}-open"), &new);
        let id = backfill["id"].as_str().unwrap();
        let mut events = self.events(key, LATE, dice);
        for event in events["events"].as_array_mut().unwrap() {
            event["timestamp"] = json!(at(hour, 30));
        }
        let path = format!("/v1/ingest?backfill_id={id}");
        self.ask(&path, &format!("{key}-fill"), &events);
        let path = format!("/v1/events/backfills/{id}/close");
        self.ask(&path, &format!("{key}-close"), &Value::Null);
    }
}

/// The customer of a thread.
pub(crate) fn own(thread: u64) -> String {
    format!("own-{thread}")
}
