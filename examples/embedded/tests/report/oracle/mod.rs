//! An independent computation of what a report must say, by awk, and the same text of a report.

use std::{fmt::Write as _, path::Path, process::Command};

use embedded::{
    BilledLine, CustomerCost, CustomerReport, Figures, FiredAlert, InvoiceReport, Report, Standing,
};

/// Computes from a trace what the report must say.
pub(crate) fn expected(trace: &Path, customers: u64) -> String {
    computed(trace, customers, &[])
}

/// Computes what it must say without the rows from one instant to another.
pub(crate) fn expected_without(trace: &Path, customers: u64, lost: [&str; 2]) -> String {
    let [from, until] = lost;
    computed(trace, customers, &[("lost_from", from), ("lost_until", until)])
}

/// Computes the invoices that it must have.
pub(crate) fn expected_invoices(trace: &Path, customers: u64) -> String {
    computed(trace, customers, &[("invoices", "1")])
}

fn computed(trace: &Path, customers: u64, variables: &[(&str, &str)]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/oracle/oracle.awk");
    let variables =
        variables.iter().flat_map(|(name, value)| ["-v".to_owned(), format!("{name}={value}")]);
    let output = Command::new("awk")
        .arg("-v")
        .arg(format!("customers={customers}"))
        .args(variables)
        .arg("-f")
        .args([&script, trace])
        .output()
        .expect("awk runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("awk writes text")
}

/// Writes what a report says as the script does.
pub(crate) fn told(report: &Report) -> String {
    let mut text = String::new();
    for customer in &report.customers {
        let CustomerReport { external_customer_id, metrics, cost, credits, alerts, .. } = customer;
        text += &used_and_owed(external_customer_id, metrics, cost);
        for entry in &credits.ledger {
            let (kind, after) = (entry.entry_type.name(), &entry.ending_balance);
            writeln!(text, "  {kind} {} to {after}", entry.amount).expect("a string takes it");
        }
        writeln!(text, "  balance: {}", credits.balance).expect("a string takes it");
        for alert in alerts {
            let threshold = alert.threshold.as_ref().map(ToString::to_string);
            writeln!(
                text,
                "  {} {}: {} to {} by {} at {}",
                watched(alert),
                threshold.as_deref().unwrap_or("-"),
                alert.value_before,
                alert.value_after,
                alert.event.as_ref().expect("an event made it fire"),
                alert.at,
            )
            .expect("a string takes it");
        }
    }
    text
}

/// Writes the invoices of a report as the script does.
pub(crate) fn told_invoices(report: &Report) -> String {
    let mut text = String::new();
    for customer in &report.customers {
        writeln!(text, "{}", customer.external_customer_id).expect("a string takes it");
        for InvoiceReport { lines, subtotal, total, amount_due } in &customer.invoices {
            for BilledLine { price, quantity, amount } in lines {
                writeln!(text, "  {price}: {quantity} for {amount}").expect("a string takes it");
            }
            writeln!(text, "  subtotal {subtotal}, total {total}, due {amount_due}")
                .expect("a string takes it");
        }
    }
    text
}

/// Writes where customers stand as the script does.
pub(crate) fn told_of(standings: &[Standing]) -> String {
    let told = |of: &Standing| {
        let used_and_owed = used_and_owed(&of.external_customer_id, &of.metrics, &of.cost);
        format!("{used_and_owed}  balance: {}\n", of.balance)
    };
    standings.iter().map(told).collect()
}

/// Leaves of what the script says only where customers stand: no entries and no alerts.
pub(crate) fn standings(expected: &str) -> String {
    let lines = expected.lines().filter(|line| !line.contains(" to "));
    lines.map(|line| format!("{line}\n")).collect()
}

fn used_and_owed(customer: &str, metrics: &Figures, cost: &CustomerCost) -> String {
    let mut text = customer.to_owned();
    for figure in metrics.values() {
        write!(text, " {}", figure.expect("every customer has events")).expect("a string takes it");
    }
    text.push('\n');
    for line in &cost.lines {
        let (price, quantity) = (&line.price, &line.quantity);
        writeln!(text, "  {price}: {quantity} for {} {}", line.amount, line.currency.as_str())
            .expect("a string takes it");
    }
    writeln!(text, "  total: {}", cost.total).expect("a string takes it");
    text
}

fn watched(alert: &FiredAlert) -> &'static str {
    match (alert.alert_type, alert.metric) {
        ("usage_exceeded", Some(metric)) => metric,
        ("cost_exceeded", None) => "cost",
        ("credit_balance_dropped", None) => "credits dropped",
        ("credit_balance_depleted", None) => "credits depleted",
        _ => "what the script knows nothing of",
    }
}
