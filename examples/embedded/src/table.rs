//! What a person reads at the end.

use std::fmt::{self, Display};

use accrue::Decimal;
use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::{
    CustomerReport, FiredAlert, Outcome,
    setup::{METRICS, Total},
};

/// How many customers are shown; the report has them all.
const SHOWN_CUSTOMERS: usize = 40;

const NOTHING: &str = "–";

impl Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, trace, store, .. } = self;
        let all = &report.customers;
        let events = counted(report.events, "event");
        let of = counted(all.len(), "customer");
        writeln!(f, "{events} of {of} from {trace}, stored {store}")?;
        let shown = all.get(..SHOWN_CUSTOMERS).unwrap_or(all);
        writeln!(f, "\nUsage\n{}", usage_table(shown, all))?;
        match alerts_table(shown) {
            table if table.is_empty() => writeln!(f, "\nAlerts\nnone of these customers has any")?,
            table => writeln!(f, "\nAlerts\n{table}")?,
        }
        if all.len() > shown.len() {
            let hidden = counted(all.len() - shown.len(), "customer");
            writeln!(f, "\nnot shown: {hidden}, which --report FILE writes too")?;
        }
        writeln!(f)?;
        self.summary(f)
    }
}

impl Outcome {
    fn summary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, messages, .. } = self;
        let second = report.second_pass;
        let yes_or_no = |yes| if yes { "yes" } else { "no" };
        writeln!(
            f,
            "first pass   {} in {:.3} s: {} events per second, {} messages so far",
            counted(report.events, "event"),
            report.took.as_secs_f64(),
            grouped(report.events_per_second()),
            grouped(messages - second.messages),
        )?;
        writeln!(
            f,
            "second pass  {} ingested, {} duplicates, {} messages, nothing changed: {}",
            grouped(second.ingested),
            grouped(second.duplicates),
            grouped(second.messages),
            yes_or_no(self.second_pass_is_same),
        )?;
        if let Some(same) = self.reopened_is_same {
            writeln!(f, "reopened     same figures after reopening: {}", yes_or_no(same))?;
        }
        Ok(())
    }
}

fn usage_table(shown: &[CustomerReport], all: &[CustomerReport]) -> Table {
    let metrics = METRICS.iter().map(|metric| metric.name);
    let mut table = table(["customer"].into_iter().chain(metrics).chain(["alerts"]));
    for customer in shown {
        let figures = customer.metrics.values().map(figure);
        let cells = [Cell::new(&customer.external_customer_id)].into_iter().chain(figures);
        table.add_row(cells.chain([right(grouped(customer.alerts.len()))]));
    }
    let totals = METRICS.iter().enumerate().map(|(place, metric)| {
        let figures = all.iter().filter_map(|customer| customer.metrics.values().nth(place)?);
        figure(total(metric.total, figures).as_ref())
    });
    let alerts = all.iter().map(|customer| customer.alerts.len()).sum::<usize>();
    let cells = [Cell::new("total")].into_iter().chain(totals).chain([right(grouped(alerts))]);
    table.add_row(cells.collect::<Vec<_>>());
    table
}

fn alerts_table(shown: &[CustomerReport]) -> Table {
    let mut table = table(["customer", "usage of", "threshold", "before → after", "event", "at"]);
    for customer in shown {
        for alert in &customer.alerts {
            let FiredAlert { value_before, value_after, event, at, .. } = alert;
            let event = event.as_ref().map_or(NOTHING, |event| event.as_str());
            table.add_row([
                Cell::new(&customer.external_customer_id),
                Cell::new(alert.metric.unwrap_or(alert.alert_type)),
                figure(alert.threshold.as_ref()),
                right(format!("{} → {}", grouped(value_before), grouped(value_after))),
                right(event),
                Cell::new(at),
            ]);
        }
    }
    table
}

fn table(header: impl IntoIterator<Item = &'static str>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_header(header);
    table
}

fn total<'a>(total: Total, figures: impl Iterator<Item = &'a Decimal>) -> Option<Decimal> {
    match total {
        Total::Sum => Some(figures.cloned().fold(Decimal::zero(), |sum, figure| sum + figure)),
        Total::Largest => figures.max().cloned(),
        Total::Unknown => None,
    }
}

fn figure(figure: Option<&Decimal>) -> Cell {
    right(figure.map_or_else(|| NOTHING.to_owned(), grouped))
}

fn right(text: impl Display) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

/// Writes a number with its thousands apart.
fn grouped(number: impl Display) -> String {
    let text = number.to_string();
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        let digits_left = whole.len() - place;
        let after_digit = grouped.ends_with(|last: char| last.is_ascii_digit());
        if digits_left % 3 == 0 && after_digit {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let check = |text: &str, expect: &str| assert_eq!(grouped(text), expect);
        check("0", "0");
        check("999", "999");
        check("1000", "1,000");
        check("-100000", "-100,000");
        check("1234567.1234", "1,234,567.1234");
    }
}
