//! What the report says equals what an independent script computes, however events are cut into
//! batches, and on every store.

mod backfill;
mod invoices;
mod oracle;
mod runs;

use std::fmt::Write as _;

use embedded::{SecondPass, Trace};

use crate::runs::{csv, durable, on, real_trace, report};

#[test]
fn the_report_of_the_trace_equals_an_independent_computation() {
    let Some(trace) = real_trace() else { return };
    let expected = oracle::expected(trace.as_ref(), 8);
    let folder = tempfile::tempdir().unwrap();
    let durable = durable(folder.path());
    for store in ["memory"].into_iter().chain(durable.iter().map(String::as_str)) {
        let report = report([&trace, "--store", store]);
        assert_eq!(oracle::told(&report), expected, "{store}");
        assert_eq!((report.events, report.duplicates), (19_366, 0));
        let second_pass = SecondPass { ingested: 0, duplicates: 19_366, messages: 0 };
        assert_eq!(report.second_pass, second_pass);
        let total = |place| {
            let figures =
                report.customers.iter().filter_map(|of| of.metrics.values().nth(place)?);
            figures.cloned().reduce(|sum, figure| sum + figure).unwrap().to_string()
        };
        assert_eq!([0, 1, 2].map(total), ["19366", "22361870", "4088665"]);
        let cost = report.customers.iter().map(|of| of.cost.total.clone());
        let cost = cost.reduce(|sum, total| sum + total).unwrap();
        assert_eq!(cost.to_string(), "211.605195");
    }
}

#[test]
fn the_outcome_of_the_trace_does_not_depend_on_batches() {
    let Some(trace) = real_trace() else { return };
    let expected = oracle::expected(trace.as_ref(), 8);
    let folder = tempfile::tempdir().unwrap();
    let durable = durable(folder.path());
    let durable = durable.iter().map(|store| (store.as_str(), "1000"));
    for (store, batch) in [("memory", "1"), ("memory", "1000")].into_iter().chain(durable) {
        let report = report([&trace, "--store", store, "--batch", batch]);
        assert_eq!(oracle::told(&report), expected, "batches of {batch}, {store}");
    }
}

#[test]
fn the_first_customer_of_the_trace_is_the_one_of_the_report_format() {
    let Some(trace) = real_trace() else { return };
    let first = "\
customer-0 2421 2804825 513666 7650 377
  monthly fee: 1 for 20 USD
  output tokens: 513666 for 3.66833 USD
  input tokens: 2804825 for 2.804825 USD
  requests: 2421 for 6.0525 credits
  total: 26.473155
  increment 5 to 5
  decrement -5 to 0
  decrement -1.0525 to -1.0525
  balance: -1.0525
  cost 21: 20.996569 to 21.002248 by row-2160 at 2023-11-16T18:23:25.516030Z
  output tokens 100000: 99884 to 100269 by row-3064 at 2023-11-16T18:26:28.297756Z
  cost 22.5: 22.499114 to 22.500126 by row-5744 at 2023-11-16T18:35:04.581487Z
  requests 1000: 999 to 1000 by row-7992 at 2023-11-16T18:41:02.576323Z
  credits dropped 2.5: 2.5025 to 2.5 by row-7992 at 2023-11-16T18:41:02.576323Z
  output tokens 250000: 249806 to 250205 by row-8520 at 2023-11-16T18:42:22.636901Z
  credits dropped 1: 1.0025 to 1 by row-12792 at 2023-11-16T18:51:50.943571Z
  cost 25: 24.999165 to 25.002311 by row-14168 at 2023-11-16T18:55:45.898014Z
  output tokens 400000: 399971 to 400139 by row-15920 at 2023-11-16T19:00:53.935177Z
  credits depleted -: 0.0025 to 0 by row-15992 at 2023-11-16T19:01:06.025358Z
customer-1 ";
    let told = oracle::told(&report([&trace, "--store", "memory"]));
    assert!(told.starts_with(first), "{told}");
}

#[test]
fn the_outcome_of_the_sample_does_not_depend_on_batches_or_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sample.csv");
    std::fs::write(&file, csv(&Trace::sample())).unwrap();
    // A commit of a durable store takes its time: not each of them takes each batch.
    for (number, customers, on_disk) in [(1, "1", "1000"), (3, "3", "1"), (8, "8", "7")] {
        let sample = |store: &str, batch| {
            let [flag, store] = on(store);
            report([&flag, &store, "--customers", customers, "--batch", batch])
        };
        let first = sample("memory", "500");
        assert_eq!(oracle::told(&first), oracle::expected(&file, number));
        for batch in ["1", "7", "1000"] {
            assert_eq!(sample("memory", batch), first, "{customers} customers, {batch}");
        }
        for store in durable(&folder.path().join(customers)) {
            assert_eq!(sample(&store, on_disk), first, "{customers} customers, {on_disk}, {store}");
        }
    }
}

#[test]
fn the_sample_shows_alerts_of_every_kind_and_a_customer_without_any() {
    let told = |customers| report(["--store", "memory", "--customers", customers]).customers;
    let alerts = told("8").iter().map(|customer| customer.alerts.len()).collect::<Vec<_>>();
    assert_eq!(alerts, [0, 1, 1, 2, 2, 2, 2, 4]);
    let [all] = told("1").try_into().unwrap();
    let has = |kind, metric| {
        all.alerts.iter().any(|alert| (alert.alert_type, alert.metric) == (kind, metric))
    };
    assert!(has("usage_exceeded", Some("requests")));
    assert!(has("usage_exceeded", Some("output tokens")));
    assert!(has("cost_exceeded", None));
    assert!(has("credit_balance_dropped", None));
    assert!(has("credit_balance_depleted", None));
}

#[test]
fn a_customer_without_events_has_no_largest_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.csv");
    std::fs::write(
        &file,
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2026-03-01 00:00:00,7,400000\n",
    )
    .unwrap();
    let path = file.to_str().unwrap();
    let report = report([path, "--store", "memory", "--customers", "2"]);
    let json = serde_json::to_value(&report).unwrap();
    let cost = |lines: [(&str, &str); 3], total: &str| {
        let line = |price, currency, (quantity, amount)| {
            serde_json::json!({
                "price": price, "currency": currency, "quantity": quantity, "amount": amount
            })
        };
        let [output, input, requests] = lines;
        let lines = [
            line("monthly fee", "USD", ("1", "20")),
            line("output tokens", "USD", output),
            line("input tokens", "USD", input),
            line("requests", "credits", requests),
        ];
        serde_json::json!({"lines": lines, "total": total})
    };
    let entry = |entry_type, amount, ending_balance| {
        serde_json::json!({
            "entry_type": entry_type, "amount": amount, "ending_balance": ending_balance
        })
    };
    let expected = serde_json::json!({
        "events": 1,
        "duplicates": 0,
        "seconds": 0.0,
        "second_pass": {"ingested": 0, "duplicates": 1, "messages": 0},
        "customers": [
            {
                "external_customer_id": "customer-0",
                "metrics": {
                    "requests": "1",
                    "input tokens": "7",
                    "output tokens": "400000",
                    "largest request": "7",
                    "distinct output sizes": "1",
                },
                "alerts": [{
                    "type": "usage_exceeded",
                    "metric": "output tokens",
                    "threshold": "400000",
                    "value_before": "0",
                    "value_after": "400000",
                    "event": "row-0",
                    "at": "2026-03-01T00:00:00.000000Z",
                }, {
                    "type": "cost_exceeded",
                    "metric": null,
                    "threshold": "22.5",
                    "value_before": "20",
                    "value_after": "23.100007",
                    "event": "row-0",
                    "at": "2026-03-01T00:00:00.000000Z",
                }],
                "cost": cost([("400000", "3.1"), ("7", "0.000007"), ("1", "0.0025")], "23.100007"),
                "balance": "4.9975",
                "ledger": [entry("increment", "5", "5"), entry("decrement", "-0.0025", "4.9975")],
            },
            {
                "external_customer_id": "customer-1",
                "metrics": {
                    "requests": "0",
                    "input tokens": "0",
                    "output tokens": "0",
                    "largest request": null,
                    "distinct output sizes": "0",
                },
                "alerts": [],
                "cost": cost([("0", "0"); 3], "20"),
                "balance": "5",
                "ledger": [entry("increment", "5", "5")],
            },
        ],
    });
    assert_eq!(json, expected);
}

/// A trace with days between its rows is cut so that none of them comes too late: two by two here,
/// so that an entry of the ledger has what two of them draw. The cost is that of the billing period
/// in which it ends.
#[test]
fn a_sparse_trace_is_taken_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sparse.csv");
    let mut text = "TIMESTAMP,ContextTokens,GeneratedTokens\n".to_owned();
    for day in 1..=31 {
        writeln!(text, "2026-01-{day:02} 12:00:00.000000,10,1").unwrap();
    }
    for day in 1..=28 {
        writeln!(text, "2026-02-{day:02} 12:00:00.000000,10,1").unwrap();
    }
    std::fs::write(&file, text).unwrap();
    let report = report([file.to_str().unwrap(), "--store", "memory", "--customers", "1"]);
    let mut expected = "\
customer-0 59 590 59 10 1
  monthly fee: 1 for 20 USD
  output tokens: 28 for 0.00028 USD
  input tokens: 280 for 0.00028 USD
  requests: 28 for 0.07 credits
  total: 20.00056
  increment 5 to 5
"
    .to_owned();
    let fraction =
        |thousandths: u32| format!("4.{thousandths:03}").trim_end_matches('0').to_owned();
    for pair in 1..=29 {
        writeln!(expected, "  decrement -0.005 to {}", fraction(1_000 - 5 * pair)).unwrap();
    }
    expected += "  decrement -0.0025 to 4.8525\n  balance: 4.8525\n";
    assert_eq!(oracle::told(&report), expected);
}
