//! What was lost comes back, and is gone again once the backfill is reverted.

use std::{fmt::Write as _, path::Path};

use embedded::{Report, Standing, Trace};

use crate::{
    oracle,
    runs::{csv, durable, real_trace, report},
};

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
