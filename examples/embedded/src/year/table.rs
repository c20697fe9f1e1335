use std::fmt::{self, Display};

use accrue::{Decimal, Timeframe};
use comfy_table::{Cell, Table};

use super::{CustomerYear, Month, Year, plot::Plot, setup::LOW};
use crate::{
    FiredAlert,
    table::{NOTHING, aligned, counted, grouped, right, table},
};

impl Display for Year {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { customers, weeks, .. } = self;
        let events = counted(self.events, "event");
        writeln!(f, "{events} of {} in 2026", counted(customers.len(), "customer"))?;
        writeln!(f, "Credits: low at {LOW}, empty, back above zero. Cost: at or above so much.")?;
        for customer in customers {
            let CustomerYear { external_customer_id, timezone, months, .. } = customer;
            writeln!(f, "\n{external_customer_id}, {}\n{}", timezone.name(), table_of(months))?;
        }
        let plot = |f: &mut fmt::Formatter<'_>, what: &str, values: Vec<Decimal>| {
            writeln!(f, "\n{what}\n{}", Plot(values))
        };
        let balance = weeks.iter().map(|week| week.balance.clone()).collect();
        plot(f, "Credits left of all customers, at the end of each week", balance)?;
        let cost = weeks.iter().map(|week| week.cost.clone()).collect();
        plot(f, "Cost of all customers, in USD, week by week", cost)?;
        let (messages, applied) = (counted(self.messages, "message"), grouped(self.applied));
        writeln!(f, "\n{messages}; time alone was applied {applied} times")
    }
}

const HEADER: [&str; 8] =
    ["month", "requests", "USD", "given", "drawn", "expired", "left", "alerts that fired"];

fn table_of(months: &[Month]) -> Table {
    let mut table = table(HEADER);
    let column = |amount: fn(&Month) -> &Decimal| aligned(months.iter().map(amount));
    let columns = [
        column(|month| &month.requests),
        column(|month| &month.cost),
        column(|month| &month.granted),
        column(|month| &month.drawn),
        column(|month| &month.expired),
        column(|month| &month.balance),
    ];
    for (place, month) in months.iter().enumerate() {
        let amounts = columns.iter().filter_map(|column| column.get(place)).map(right);
        let cells = [Cell::new(name(month.timeframe))].into_iter().chain(amounts);
        table.add_row(cells.chain([Cell::new(fired(&month.alerts))]));
    }
    table
}

/// Returns the year and the month: the one in which its middle lies, which is the same in UTC.
fn name(month: Timeframe) -> String {
    let middle = month.start().saturating_add(std::time::Duration::from_secs(14 * 24 * 60 * 60));
    middle.to_string().chars().take("2026-01".len()).collect()
}

/// Names what fired in the order in which it did first, and how often where that is more than once.
fn fired(alerts: &[FiredAlert]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for alert in alerts {
        let what = named(alert);
        match counts.iter_mut().find(|(other, _)| *other == what) {
            Some((_, count)) => *count += 1,
            None => counts.push((what, 1)),
        }
    }
    if counts.is_empty() {
        return NOTHING.to_owned();
    }
    let times = |(what, count)| if count == 1 { what } else { format!("{what} ×{count}") };
    counts.into_iter().map(times).collect::<Vec<_>>().join(", ")
}

fn named(alert: &FiredAlert) -> String {
    match alert.alert_type {
        "credit_balance_dropped" => "low".to_owned(),
        "credit_balance_depleted" => "empty".to_owned(),
        "credit_balance_recovered" => "back".to_owned(),
        _ => {
            let threshold = alert.threshold.as_ref().map(|threshold| format!(" {threshold}"));
            "cost".to_owned() + &threshold.unwrap_or_default()
        }
    }
}
