//! Invoices equal what an independent script computes, and what the report says that things cost.

use std::{fmt::Write as _, path::Path};

use accrue::price::round_lines;
use embedded::{CustomerReport, Report, Trace};

use crate::{
    oracle,
    runs::{csv, durable, real_trace, report},
};

#[test]
fn the_invoices_of_the_trace_equal_an_independent_computation_and_the_costs() {
    let Some(trace) = real_trace() else { return };
    let folder = tempfile::tempdir().unwrap();
    let durable = durable(folder.path());
    for store in ["memory"].into_iter().chain(durable.iter().map(String::as_str)) {
        check_invoices(&report([&trace, "--invoices", "--store", store]), trace.as_ref(), 8);
    }
}

#[test]
fn the_invoices_of_the_sample_equal_an_independent_computation_and_the_costs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sample.csv");
    std::fs::write(&file, csv(&Trace::sample())).unwrap();
    for (number, customers, batch) in [(1, "1", "1000"), (3, "3", "7"), (8, "8", "500")] {
        let store = folder.path().join(customers);
        for store in ["memory".to_owned()].into_iter().chain(durable(&store)) {
            let arguments = ["--invoices", "--customers", customers, "--batch", batch];
            let report = report(arguments.into_iter().chain(["--store", &store]));
            check_invoices(&report, &file, number);
        }
    }
}

/// Checks the invoices of usage that lies in the first billing period. Nothing else that is reported
/// changes with them.
fn check_invoices(report: &Report, trace: &Path, customers: u64) {
    assert_eq!(oracle::told(report), oracle::expected(trace, customers));
    assert_eq!(oracle::told_invoices(report), oracle::expected_invoices(trace, customers));
    for customer in &report.customers {
        check_costs(customer, 1);
    }
}

/// Checks that the invoice at a place has the lines and the total of the reported cost, rounded once.
fn check_costs(customer: &CustomerReport, place: usize) {
    let CustomerReport { invoices, cost, .. } = customer;
    let invoice = invoices.get(place).expect("it was issued");
    let in_usd = || cost.lines.iter().filter(|line| line.currency.as_str() == "USD");
    let exact: Vec<_> = in_usd().map(|line| line.amount.clone()).collect();
    let owed = in_usd().zip(round_lines(&exact, 2)).filter(|(_, amount)| !amount.is_zero());
    let owed: Vec<_> =
        owed.map(|(line, amount)| (line.price.clone(), line.quantity.clone(), amount)).collect();
    let billed = invoice.lines.iter();
    let billed: Vec<_> = billed
        .map(|line| (line.price.clone(), line.quantity.clone(), line.amount.amount.clone()))
        .collect();
    assert_eq!(billed, owed);
    assert_eq!(invoice.total.amount, cost.total.round(2));
}

/// A trace of two billing periods: the report has the cost of the second one, which is on the third
/// invoice. Whoever is behind when the trace ends is applied before it comes again.
#[test]
fn usage_of_both_periods_is_invoiced_each_on_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sparse.csv");
    let mut text = "TIMESTAMP,ContextTokens,GeneratedTokens\n".to_owned();
    for day in 1..=31 {
        writeln!(text, "2026-01-{day:02} 12:00:00.000000,10000,1000").unwrap();
    }
    for day in 1..=28 {
        writeln!(text, "2026-02-{day:02} 12:00:00.000000,10000,1000").unwrap();
    }
    std::fs::write(&file, text).unwrap();
    let run = |customers| {
        let arguments = ["--store", "memory", "--invoices", "--customers", customers];
        report([file.to_str().unwrap()].into_iter().chain(arguments))
    };
    let one = run("1");
    let expect = "\
customer-0
  monthly fee: 1 for 20.00
  subtotal 20.00, total 20.00, due 20.00
  monthly fee: 1 for 20.00
  output tokens: 31000 for 0.31
  input tokens: 310000 for 0.31
  subtotal 20.62, total 20.62, due 20.62
  monthly fee: 1 for 20.00
  output tokens: 28000 for 0.28
  input tokens: 280000 for 0.28
  subtotal 20.56, total 20.56, due 20.56
";
    assert_eq!(oracle::told_invoices(&one), expect);
    for report in [one, run("3"), run("40")] {
        for customer in report.customers {
            check_costs(&customer, 2);
        }
    }
}

/// The form of a part of the report, which others read.
#[test]
fn the_report_has_the_invoices_with_money_in_cents() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.csv");
    let row = "2026-01-31 00:00:00,7,400000";
    std::fs::write(&file, format!("TIMESTAMP,ContextTokens,GeneratedTokens\n{row}\n")).unwrap();
    let path = file.to_str().unwrap();
    let report = report([path, "--store", "memory", "--customers", "2", "--invoices"]);
    let json = serde_json::to_value(&report).unwrap();
    let line = |price, quantity, amount| serde_json::json!({"price": price, "quantity": quantity, "amount": amount});
    let fee = || line("monthly fee", "1", "20.00");
    let of_fee = || {
        serde_json::json!({
            "lines": [fee()], "subtotal": "20.00", "total": "20.00", "amount_due": "20.00"
        })
    };
    let of_usage = serde_json::json!({
        "lines": [fee(), line("output tokens", "400000", "3.10")],
        "subtotal": "23.10", "total": "23.10", "amount_due": "23.10",
    });
    let used = serde_json::json!([of_fee(), of_usage, of_fee()]);
    assert_eq!(json["customers"][0]["invoices"], used);
    let not_used = serde_json::json!([of_fee(), of_fee(), of_fee()]);
    assert_eq!(json["customers"][1]["invoices"], not_used);
}
