//! A clock that stands still until a client moves it.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use accrue::{AccountId, Billing, PageRequest, webhook::SentMessageFilter};
use accrue_servers_tests::{Answer, Client, Framework, Server};
use serde_json::{Value, json};

const START: [&str; 4] = ["--manual-clock", "2026-03-01T00:00:00Z", "--api-key", Server::KEY];

/// Starts a server of each kind with these arguments, and runs a test against it and its engine.
fn each(arguments: &[&str], test: impl Fn(&mut Client, &Billing)) {
    for framework in Framework::ALL {
        eprintln!("{framework:?}");
        let host = Server::open(arguments).unwrap();
        let billing = host.billing().clone();
        let server = Server::serve(framework, host).unwrap();
        test(&mut Client::new(server.address()), &billing);
        server.end().unwrap();
    }
}

fn body(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"))
}

fn put(client: &mut Client, body: &str) -> Answer {
    client.send("PUT", "/v1/clock", &[], body.as_bytes()).unwrap()
}

fn move_to(client: &mut Client, instant: &str) -> Answer {
    put(client, &json!({"now": instant}).to_string())
}

#[track_caller]
fn shows(answer: &Answer, expected: &str) {
    assert_eq!((answer.status, body(answer)), (200, json!({"now": expected})));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[track_caller]
fn refused(answer: &Answer, expected: &str) {
    let error = body(answer);
    assert_eq!((answer.status, &error["status"]), (400, &json!(400)), "{answer:?}");
    let kind = error["type"].as_str().unwrap();
    assert!(kind.ends_with("#400-request-validation-errors"), "{kind}");
    let errors = error["validation_errors"].to_string();
    assert!(errors.contains(expected), "{errors}");
}

#[test]
fn clients_12_the_clock_is_moved_forward_only() {
    each(&START, |client, billing| {
        let get = |client: &mut Client| client.send("GET", "/v1/clock", &[], b"").unwrap();
        shows(&get(client), "2026-03-01T00:00:00.000000+00:00");
        shows(&move_to(client, "2026-03-01T13:00:00.5+01:00"), "2026-03-01T12:00:00.500000+00:00");
        // An instant may come as bare text, and what was not answered is sent again.
        shows(&put(client, "2026-03-01T12:00:00.5Z\n"), "2026-03-01T12:00:00.500000+00:00");
        shows(&move_to(client, "2026-03-01T12:00:00.5Z"), "2026-03-01T12:00:00.500000+00:00");
        let back = "/now: found 2026-03-01T12:00:00.499999Z, expected \
                    2026-03-01T12:00:00.500000Z or later";
        refused(&move_to(client, "2026-03-01T12:00:00.499999Z"), back);
        shows(&get(client), "2026-03-01T12:00:00.500000+00:00");
        assert_eq!(billing.now().to_string(), "2026-03-01T12:00:00.500000Z");
        assert_eq!(billing.clock_lag(), None);
    });
}

#[test]
fn what_is_no_instant_moves_nothing() {
    each(&START, |client, billing| {
        let expected = "expected an instant, or an object";
        for wrong in ["", "{", "[]", "{}", r#"{"now": 1}"#, r#"{"now": null}"#, r#""2027""#] {
            refused(&put(client, wrong), expected);
        }
        let more = r#"{"now": "2026-04-01T00:00:00Z", "then": 1}"#;
        refused(&put(client, more), expected);
        for wrong in ["", "tomorrow", "2026-04-01", "9999-01-01T00:00:00Z"] {
            refused(&move_to(client, wrong), "/now: ");
        }
        assert_eq!(billing.now().to_string(), "2026-03-01T00:00:00.000000Z");
    });
}

#[test]
fn clients_12_it_is_moved_by_whom_a_key_lets_in() {
    each(&START, |client, billing| {
        let ping = client.send_with("GET", "/v1/ping", &[], b"").unwrap();
        let length = ("content-length", "33");
        let instant = br#"{"now": "2026-04-01T00:00:00Z"}  "#;
        for headers in [&[length][..], &[length, ("authorization", "Bearer wrong")]] {
            for method in ["GET", "PUT"] {
                let answer = client.send_with(method, "/v1/clock", headers, instant).unwrap();
                assert_eq!(answer, ping, "{method}");
            }
        }
        assert_eq!(ping.status, 401);
        assert_eq!(billing.now().to_string(), "2026-03-01T00:00:00.000000Z");
    });
}

#[test]
fn another_method_is_404() {
    each(&START, |client, _| {
        for method in ["POST", "PATCH", "DELETE", "OPTIONS"] {
            let answer = client.send(method, "/v1/clock", &[], b"").unwrap();
            assert_eq!(answer.status, 404, "{method}");
        }
        let head = client.send("HEAD", "/v1/clock", &[], b"").unwrap();
        assert_eq!((head.status, &*head.body), (200, ""));
    });
}

#[test]
fn it_is_below_the_base_path_and_at_the_root() {
    each(&[&START[..], &["--base-path", "/billing/v1"]].concat(), |client, _| {
        let mut status = |target| client.send("GET", target, &[], b"").unwrap().status;
        let found =
            ["/billing/v1/clock", "/v1/clock", "/clock", "/billing/v1/clock/"].map(&mut status);
        assert_eq!(found, [200, 404, 200, 404]);
    });
    each(&[&START[..], &["--base-path", ""]].concat(), |client, _| {
        assert_eq!(client.send("GET", "/clock", &[], b"").unwrap().status, 200);
    });
}

#[test]
fn without_the_option_there_is_no_clock() {
    each(&["--api-key", Server::KEY], |client, _| {
        for method in ["GET", "PUT"] {
            let clock = client.send(method, "/v1/clock", &[], b"").unwrap();
            let nothing = client.send(method, "/v1/nothing", &[], b"").unwrap();
            assert_eq!((clock.status, &clock), (404, &nothing), "{method}");
        }
    });
}

#[test]
fn no_quota_stands_still_with_it() {
    each(&START, |client, _| {
        for _ in 0..50 {
            let answer = client.send("GET", "/v1/subscriptions/x/usage", &[], b"").unwrap();
            assert_eq!(answer.status, 404);
        }
    });
    // Where one is asked for, it comes back as the clock is moved.
    each(&[&START[..], &["--rate-limit", "live"]].concat(), |client, _| {
        let usage = "/v1/subscriptions/x/usage";
        while client.send("GET", usage, &[], b"").unwrap().status != 429 {}
        shows(&move_to(client, "2026-03-01T00:01:00Z"), "2026-03-01T00:01:00.000000+00:00");
        assert_eq!(client.send("GET", usage, &[], b"").unwrap().status, 404);
    });
}

/// A client of one account.
struct Tenant<'a> {
    client: &'a mut Client,
    key: &'a str,
}

impl Tenant<'_> {
    #[track_caller]
    fn send(&mut self, method: &str, target: &str, body: &str, expected: u16) -> Value {
        let (key, length) = (format!("Bearer {}", self.key), body.len().to_string());
        let headers = [("authorization", &*key), ("content-length", &length)];
        let answer = self.client.send_with(method, target, &headers, body.as_bytes()).unwrap();
        assert_eq!(answer.status, expected, "{answer:?}");
        serde_json::from_str(&answer.body).unwrap()
    }

    #[track_caller]
    fn post(&mut self, target: &str, body: &Value) -> Value {
        self.send("POST", target, &body.to_string(), 201)
    }

    /// Sells tokens and seats by the month to a customer who has credits until the 20th, and an alert
    /// on them. Returns the id of the subscription.
    fn subscribe(&mut self) -> String {
        let ada = json!({
            "name": "Ada", "email": "a@example.com", "external_customer_id": "ada",
        });
        self.post("/v1/customers", &ada);
        let item = self.post("/v1/items", &json!({"name": "Model"}));
        let metric = json!({
            "name": "Tokens", "description": null, "item_id": item["id"],
            "sql": "SELECT sum(tokens) FROM events",
        });
        let metric = self.post("/v1/metrics", &metric);
        let usage = json!({
            "name": "Tokens", "item_id": item["id"], "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": "0.5"}, "billable_metric_id": metric["id"],
        });
        let plan = json!({
            "name": "Pro", "currency": "USD", "external_plan_id": "pro",
            "prices": [{"price": usage}],
        });
        self.post("/v1/plans", &plan);
        let alert = json!({"type": "credit_balance_depleted", "currency": "USD"});
        self.post("/v1/alerts/external_customer_id/ada", &alert);
        let credits = json!({
            "entry_type": "increment", "amount": 100, "currency": "USD",
            "expiry_date": "2026-03-20T00:00:00Z",
        });
        self.post("/v1/customers/external_customer_id/ada/credits/ledger_entry", &credits);
        let subscription = json!({
            "external_customer_id": "ada", "external_plan_id": "pro",
            "start_date": "2026-03-01T00:00:00Z", "end_date": "2026-05-01T00:00:00Z",
        });
        let subscription = self.post("/v1/subscriptions", &subscription);
        subscription["id"].as_str().unwrap().to_owned()
    }
}

/// The types of the messages of an account: of those that wait, and of those that endpoints would be sent, if there were any.
fn messages(billing: &Billing, account: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let account = billing.account(AccountId::parse(account).unwrap());
    runtime.block_on(async {
        let page = PageRequest::first_of_messages(1_000).unwrap();
        let waiting = account.list_messages(&page).await.unwrap().data;
        let page = PageRequest::first(100).unwrap();
        let sent = account.list_sent_messages(&SentMessageFilter::default(), &page).await.unwrap();
        let waiting = waiting.iter().map(|message| message.message_type().to_owned());
        waiting.chain(sent.data.into_iter().map(|message| message.message_type)).collect()
    })
}

#[test]
fn clients_12_what_time_brings_is_done_for_all_accounts_when_it_answers() {
    let accounts = ["--account", "acme", "--api-key", "a", "--account", "other", "--api-key", "b"];
    each(&[&START[..], &accounts].concat(), |client, billing| {
        let ids = ["a", "b"].map(|key| Tenant { client, key }.subscribe());
        let event = json!({
            "idempotency_key": "1", "event_name": "call", "external_customer_id": "ada",
            "timestamp": "2026-03-01T00:00:00Z", "properties": {"tokens": 30},
        });
        let event = json!({"events": [event]}).to_string();
        Tenant { client, key: "a" }.send("POST", "/v1/ingest", &event, 200);
        shows(&move_to(client, "2026-04-02T00:00:00Z"), "2026-04-02T00:00:00.000000+00:00");
        // Nobody has touched them since.
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let next = runtime.block_on(billing.next_deadline()).unwrap();
        assert!(next.is_some_and(|next| next > billing.now()), "{next:?}");
        for account in ["acme", "other"] {
            let found = messages(billing, account);
            assert!(found.iter().any(|kind| kind.contains("depleted")), "{found:?}");
        }
        for (key, id, total) in [("a", &ids[0], "15.00"), ("b", &ids[1], "0.00")] {
            let mut tenant = Tenant { client, key };
            let path = format!("/v1/subscriptions/{id}");
            let found = tenant.send("GET", &path, "", 200);
            let period = "2026-04-01T00:00:00.000000+00:00";
            assert_eq!(found["current_billing_period_start_date"], period, "{found}");
            let march = "timeframe_start=2026-03-01T00:00:00Z&timeframe_end=2026-04-01T00:00:00Z";
            let costs =
                tenant.send("GET", &format!("{path}/costs?{march}&view_mode=cumulative"), "", 200);
            assert_eq!(costs["data"][0]["subtotal"], total);
            let invoices =
                tenant.send("GET", &format!("/v1/invoices?subscription_id={id}"), "", 200);
            assert_eq!(invoices["data"][0]["subtotal"], total, "{invoices}");
        }
        move_to(client, "2026-05-01T00:00:00Z");
        for (key, id) in [("a", &ids[0]), ("b", &ids[1])] {
            let found =
                Tenant { client, key }.send("GET", &format!("/v1/subscriptions/{id}"), "", 200);
            assert_eq!(found["status"], "ended", "{found}");
        }
    });
}
