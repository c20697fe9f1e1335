//! An independent computation of what a report must say, by awk, and the same text of a report.

use std::{fmt::Write as _, path::Path, process::Command};

use embedded::{FiredAlert, Report};

/// Computes from a trace what the report must say.
pub(crate) fn expected(trace: &Path, customers: u64) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/oracle.awk");
    let output = Command::new("awk")
        .arg("-v")
        .arg(format!("customers={customers}"))
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
        write!(text, "{}", customer.external_customer_id).expect("a string takes it");
        for figure in customer.metrics.values() {
            write!(text, " {}", figure.expect("every customer has events"))
                .expect("a string takes it");
        }
        text.push('\n');
        for line in &customer.cost.lines {
            let (price, quantity) = (&line.price, &line.quantity);
            writeln!(text, "  {price}: {quantity} for {} {}", line.amount, line.currency.as_str())
                .expect("a string takes it");
        }
        writeln!(text, "  total: {}", customer.cost.total).expect("a string takes it");
        for entry in &customer.credits.ledger {
            let (kind, after) = (entry.entry_type.name(), &entry.ending_balance);
            writeln!(text, "  {kind} {} to {after}", entry.amount).expect("a string takes it");
        }
        writeln!(text, "  balance: {}", customer.credits.balance).expect("a string takes it");
        for alert in &customer.alerts {
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

fn watched(alert: &FiredAlert) -> &'static str {
    match (alert.alert_type, alert.metric) {
        ("usage_exceeded", Some(metric)) => metric,
        ("cost_exceeded", None) => "cost",
        ("credit_balance_dropped", None) => "credits dropped",
        ("credit_balance_depleted", None) => "credits depleted",
        _ => "what the script knows nothing of",
    }
}
