//! What a person reads at the end.

mod alerts;
mod backfill;
mod bill;
mod cost;
mod credits;
mod number;
mod usage;

use std::fmt::{self, Display};

use accrue::{Decimal, Timestamp};
use comfy_table::{Cell, CellAlignment, Table};

pub(crate) use self::number::{aligned, grouped};
use crate::{Bill, Money, Outcome};

/// How many customers are shown; the report has them all.
const SHOWN_CUSTOMERS: usize = 40;
/// How many figures are named that are not what they have to be.
const SHOWN_DIFFERENCES: usize = 40;

pub(crate) const NOTHING: &str = "–";

/// A line under the header and between the columns, and no border: it has to fit 100 columns.
const LINES: &str = "     ═╪ ┆          ";

impl Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { report, trace, store, .. } = self;
        let all = &report.customers;
        let events = counted(report.events, "event");
        let of = counted(all.len(), "customer");
        writeln!(f, "{events} of {of} from {trace}, stored {store}")?;
        let shown = all.get(..SHOWN_CUSTOMERS).unwrap_or(all);
        writeln!(f, "\nUsage\n{}", usage::usage(shown, all))?;
        writeln!(f, "\nCost of the billing period, in USD\n{}", cost::cost(shown, all))?;
        writeln!(f, "\nCredits\n{}", credits::credits(shown, all))?;
        match alerts::alerts(shown) {
            table if table.is_empty() => writeln!(f, "\nAlerts\nnone of these customers has any")?,
            table => writeln!(f, "\nAlerts\n{table}")?,
        }
        if let Some(bill) = &self.bill {
            writeln!(f, "\n{bill}")?;
        }
        if let Some(backfill) = &report.backfill {
            let table = backfill::backfill(backfill, shown.len());
            let title = "Lost, backfilled two days later and reverted: USD, credits";
            writeln!(f, "\n{title}\n{table}")?;
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
        if let Some(Bill { invoice, .. }) = &self.bill {
            let invoices = || report.customers.iter().flat_map(|of| &of.invoices);
            let amount = invoices().map(|of| &of.total.amount).sum();
            let (count, money) = (invoices().count(), Money { amount, currency: invoice.currency });
            let code = invoice.currency.code();
            writeln!(f, "invoiced     {} {code} on {}", grouped(money), counted(count, "invoice"))?;
        }
        let (Some(loss), Some(backfill)) = (&self.loss, &report.backfill) else { return Ok(()) };
        let [start, end] = [loss.timeframe.start(), loss.timeframe.end()].map(minute);
        let lost = counted(backfill.events_ingested, "event");
        writeln!(f, "lost         {lost}, from {start} to {end}")?;
        let (same, same_again) = (loss.reflected.is_empty(), loss.reverted.is_empty());
        writeln!(f, "backfilled   same figures as without the loss: {}", yes_or_no(same))?;
        writeln!(f, "reverted     same figures as with the loss: {}", yes_or_no(same_again))?;
        for difference in loss.reflected.iter().chain(&loss.reverted).take(SHOWN_DIFFERENCES) {
            writeln!(f, "  {difference}")?;
        }
        Ok(())
    }
}

pub(crate) fn table<'a>(header: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_preset(LINES).set_header(header);
    table
}

/// Returns one amount of each customer that is shown, and last what all have of it.
fn column<T>(shown: &[T], all: &[T], amount: impl Fn(&T) -> Decimal) -> Vec<String> {
    let total = all.iter().map(&amount).sum();
    let column: Vec<_> = shown.iter().map(&amount).chain([total]).collect();
    aligned(&column)
}

fn figure(figure: Option<&Decimal>) -> Cell {
    right(figure.map_or_else(|| NOTHING.to_owned(), grouped))
}

pub(crate) fn right(text: impl Display) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Writes an instant without its seconds.
fn minute(instant: Timestamp) -> String {
    instant.to_string().chars().take("2026-01-01T00:00".len()).collect()
}

/// Writes the day of an instant, in UTC.
fn day(instant: Timestamp) -> String {
    instant.to_string().chars().take("2026-01-01".len()).collect()
}

pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}
