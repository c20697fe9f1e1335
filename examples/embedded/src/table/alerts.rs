use comfy_table::{Cell, Table};

use super::{NOTHING, figure, number::aligned, right, table};
use crate::{CustomerReport, FiredAlert};

/// Shows the alerts of some customers, to the second: the report has their instants whole.
pub(super) fn alerts(shown: &[CustomerReport]) -> Table {
    let header = ["customer", "alert on", "threshold", "before → after", "event", "at (UTC)"];
    let mut table = table(header);
    for customer in shown {
        for alert in &customer.alerts {
            let FiredAlert { value_before, value_after, event, at, .. } = alert;
            let event = event.as_ref().map_or(NOTHING, |event| event.as_str());
            let at = at.to_string();
            table.add_row([
                Cell::new(&customer.external_customer_id),
                Cell::new(watched(alert)),
                figure(alert.threshold.as_ref()),
                right(aligned([value_before, value_after]).join(" → ")),
                right(event),
                Cell::new(at.split_once('.').map_or(at.as_str(), |(second, _)| second)),
            ]);
        }
    }
    table
}

fn watched(alert: &FiredAlert) -> &str {
    match alert.alert_type {
        "cost_exceeded" => "cost in USD",
        _ if alert.on_credits().is_some() => "credits left",
        other => alert.metric.unwrap_or(other),
    }
}
