//! What the report says equals what an independent script computes, however events are cut into
//! batches, and on every store.

mod oracle;

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Parser as _;
use embedded::{Options, Report, SecondPass, Standing, Trace, run};
use indicatif::ProgressBar;

/// Runs the example, and returns its report without the one thing that differs from run to run.
fn report<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Report {
    let arguments = ["embedded"].into_iter().chain(arguments);
    let options = Options::try_parse_from(arguments).expect("arguments that it takes");
    let outcome = run(&options, &ProgressBar::hidden()).expect("a run without an error");
    outcome.verdict().expect("nothing changes");
    Report { took: Duration::ZERO, ..outcome.report }
}

fn on(store: &str) -> [String; 2] {
    ["--store".to_owned(), store.to_owned()]
}

/// Finds the real trace, which the project does not ship.
#[expect(clippy::disallowed_methods, reason = "the trace lies outside of the project")]
#[expect(clippy::print_stdout, reason = "a test that passes without it says so")]
fn real_trace() -> Option<String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/llm_conversation_trace.csv");
    let path = std::env::var("ACCRUE_TRACE").map_or(beside, PathBuf::from);
    if path.is_file() {
        return Some(path.to_str().expect("a path in UTF-8").to_owned());
    }
    println!("passed over: no trace at {}, set ACCRUE_TRACE", path.display());
    None
}

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

#[test]
fn what_was_lost_of_the_trace_comes_back_to_the_last_digit() {
    let Some(trace) = real_trace() else { return };
    let folder = tempfile::tempdir().unwrap();
    let [fjall, sled] = durable(folder.path());
    for arguments in [
        ["--store", "memory", "--customers", "8"],
        ["--store", &fjall, "--batch", "1000"],
        ["--store", &sled, "--batch", "1000"],
    ] {
        let report = report([trace.as_str(), "--backfill"].into_iter().chain(arguments));
        let lost = ["2023-11-16T18:45", "2023-11-16T19:00"];
        assert_eq!(check_backfill(&report, trace.as_ref(), 8, lost), 5_852);
    }
}

/// The form of a part of the report, which others read.
#[test]
fn the_report_of_a_backfill_has_where_customers_stand() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.csv");
    let rows = ["2026-03-01 00:14:59,7,400000", "2026-03-01 00:15:00,8,1"];
    let header = "TIMESTAMP,ContextTokens,GeneratedTokens";
    std::fs::write(&file, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
    let path = file.to_str().unwrap();
    let report = report([path, "--store", "memory", "--customers", "1", "--backfill"]);
    let standing = |metrics: [Option<&str>; 5], amounts: [&str; 3], total, balance| {
        let [requests, input, output, largest, distinct] = metrics;
        let line = |price, currency, quantity, amount| {
            serde_json::json!({
                "price": price, "currency": currency, "quantity": quantity, "amount": amount
            })
        };
        let [of_output, of_input, of_requests] = amounts;
        serde_json::json!({
            "external_customer_id": "customer-0",
            "metrics": {
                "requests": requests,
                "input tokens": input,
                "output tokens": output,
                "largest request": largest,
                "distinct output sizes": distinct,
            },
            "cost": {
                "lines": [
                    line("monthly fee", "USD", Some("1"), "20"),
                    line("output tokens", "USD", output, of_output),
                    line("input tokens", "USD", input, of_input),
                    line("requests", "credits", requests, of_requests),
                ],
                "total": total,
            },
            "balance": balance,
        })
    };
    let one = ["1", "8", "1", "8", "1"].map(Some);
    let one = standing(one, ["0.00001", "0.000008", "0.0025"], "20.000018", "4.9975");
    let both = ["2", "15", "400001", "8", "2"].map(Some);
    let both = standing(both, ["3.100005", "0.000015", "0.005"], "23.10002", "4.995");
    let json = serde_json::to_value(&report).unwrap();
    let expected = serde_json::json!({
        "events_ingested": 1, "lost": [one], "reflected": [both], "reverted": [one],
    });
    assert_eq!(json["backfill"], expected);
}

/// Where nothing was lost, a backfill of nothing changes nothing; where everything was, nobody has
/// used anything.
#[test]
fn nothing_or_everything_may_be_lost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.csv");
    let check = |at: &str, expect: u64, lost: &str| {
        let text = format!("TIMESTAMP,ContextTokens,GeneratedTokens\n{at},7,400000\n");
        std::fs::write(&file, text).unwrap();
        let path = file.to_str().unwrap();
        let report = report([path, "--store", "memory", "--customers", "2", "--backfill"]);
        let backfill = report.backfill.unwrap();
        assert_eq!(backfill.events_ingested, expect);
        let [of, _] = backfill.lost.try_into().unwrap();
        assert_eq!(of.cost.total.to_string(), lost);
        let [of, _] = backfill.reflected.try_into().unwrap();
        assert_eq!(of.cost.total.to_string(), "23.100007");
    };
    check("2026-03-01 00:00:00", 0, "23.100007");
    check("1970-01-01 00:14:59", 1, "20");
}

/// A loss of the last month, found in this one: the cost is that of the billing period that goes on
/// by then, the credits are drawn for both.
#[test]
fn a_loss_of_a_billing_period_that_ended_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.csv");
    let mut text = "TIMESTAMP,ContextTokens,GeneratedTokens\n".to_owned();
    for day in 1..=30 {
        writeln!(text, "2026-01-{day:02} 12:00:00,10,1").unwrap();
    }
    text += "2026-01-31 11:50:00,10,1\n2026-01-31 12:05:00,10,1\n";
    std::fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let report = report([path, "--store", "memory", "--customers", "1", "--backfill"]);
    let backfill = report.backfill.unwrap();
    assert_eq!(backfill.events_ingested, 1);
    let stands = |all: Vec<Standing>| {
        let [of] = all.try_into().unwrap();
        let figures = [of.metrics.values().next().flatten().unwrap(), &of.cost.total, &of.balance];
        figures.map(ToString::to_string)
    };
    let lost = ["31", "20", "4.9225"].map(str::to_owned);
    assert_eq!(stands(backfill.lost), lost);
    assert_eq!(stands(backfill.reflected), ["32", "20", "4.92"].map(str::to_owned));
    assert_eq!(stands(backfill.reverted), lost);
}

#[test]
fn what_was_lost_of_the_sample_comes_back_to_the_last_digit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sample.csv");
    std::fs::write(&file, csv(&Trace::sample())).unwrap();
    for (number, customers) in [(1, "1"), (3, "3"), (8, "8")] {
        for batch in ["7", "1000"] {
            let store = folder.path().join(format!("{customers}-{batch}"));
            for store in ["memory".to_owned()].into_iter().chain(durable(&store)) {
                let arguments = ["--backfill", "--customers", customers, "--batch", batch];
                let report = report(arguments.into_iter().chain(["--store", &store]));
                let lost = ["2026-03-02T09:15", "2026-03-02T09:30"];
                assert_eq!(check_backfill(&report, &file, number, lost), 667);
            }
        }
    }
}

/// Checks what a report says of a backfill: with it as computed from the whole trace, before it and
/// once it was reverted from the trace without what was lost.
fn check_backfill(report: &Report, trace: &Path, customers: u64, lost: [&str; 2]) -> u64 {
    let backfill = report.backfill.as_ref().expect("it was asked for");
    let whole = oracle::expected(trace, customers);
    assert_eq!(oracle::told(report), whole);
    assert_eq!(oracle::told_of(&backfill.reflected), oracle::standings(&whole));
    let rest = oracle::expected_without(trace, customers, lost);
    assert_eq!(oracle::told_of(&backfill.lost), oracle::standings(&rest));
    assert_eq!(backfill.reverted, backfill.lost);
    assert_ne!(backfill.reflected, backfill.lost);
    backfill.events_ingested
}

fn csv(trace: &Trace) -> String {
    let mut text = "TIMESTAMP,ContextTokens,GeneratedTokens\n".to_owned();
    for row in trace.rows() {
        writeln!(text, "{},{},{}", row.at, row.input_tokens, row.output_tokens)
            .expect("a string takes it");
    }
    text
}

/// A store of each kind that lasts, in a folder.
fn durable(folder: &Path) -> [String; 2] {
    ["fjall", "sled"].map(|engine| format!("{engine}:{}", folder.join(engine).display()))
}
