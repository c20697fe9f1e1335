use std::fmt::{self, Display};

use accrue::{Decimal, Timeframe};
use comfy_table::{Cell, Table};

use super::{
    Books, CustomerYear, Month, Year,
    plot::{Axis, Plot},
    setup::LOW,
};
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
        let plot = |f: &mut fmt::Formatter<'_>, what: &str, axis, values: Vec<Decimal>| {
            writeln!(f, "\n{what}\n{}", Plot { values, axis })
        };
        let balance = weeks.iter().map(|week| week.balance.clone()).collect();
        plot(f, "Credits left of all customers, at the end of each week", Axis::Weeks, balance)?;
        let cost = weeks.iter().map(|week| week.cost.clone()).collect();
        plot(f, "Cost of all customers, in USD, week by week", Axis::Weeks, cost)?;
        let books = self.books();
        let months = customers.first().map(|of| of.months.as_slice()).unwrap_or_default();
        let table = table_of_books(months, &books);
        writeln!(f, "\nInvoices, credit notes and payments of all customers, in USD\n{table}")?;
        let revenue = books.into_iter().map(|of| of.revenue).collect();
        plot(
            f,
            "Revenue of all customers, in USD: what was charged for each month",
            Axis::Months,
            revenue,
        )?;
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

const BOOKS: [&str; 8] = [
    "month",
    "invoices",
    "invoiced",
    "credit notes",
    "credited",
    "payments",
    "paid",
    "open at its end",
];

/// Shows what was invoiced, credited and paid in each month, what was open at its end, and the year.
fn table_of_books(months: &[Month], books: &[Books]) -> Table {
    let mut table = table(BOOKS);
    let open = books.last().map(|of| of.open.clone()).unwrap_or_default();
    let year = Books { open, ..books.iter().sum() };
    let rows = || books.iter().chain([&year]);
    let count = |of: fn(&Books) -> usize| rows().map(of).map(grouped).collect();
    let amount = |of: fn(&Books) -> &Decimal| aligned(rows().map(of));
    let columns: [Vec<String>; 7] = [
        count(|of| of.invoices),
        amount(|of| &of.invoiced),
        count(|of| of.credit_notes),
        amount(|of| &of.credited),
        count(|of| of.payments),
        amount(|of| &of.paid),
        amount(|of| &of.open),
    ];
    let names = months.iter().map(|month| name(month.timeframe));
    for (place, name) in names.chain(["2026".to_owned()]).enumerate() {
        let cells = columns.iter().filter_map(|column| column.get(place)).map(right);
        table.add_row([Cell::new(name)].into_iter().chain(cells));
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
