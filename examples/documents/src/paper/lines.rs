use accrue::{
    Currency, Decimal, Timeframe, Zone,
    invoice::{Invoice, InvoiceLine, LineAdjustment, TaxAmount},
    price::{Adjustment, Discount, Part, PartOf},
};

use super::{Entry, Figure};
use crate::words;

/// Returns the rows of an invoice.
pub(super) fn of_invoice(invoice: &Invoice, zone: &Zone) -> Vec<Entry> {
    invoice.lines.iter().map(|line| of_line(line, invoice.currency, zone)).collect()
}

fn of_line(line: &InvoiceLine, currency: Currency, zone: &Zone) -> Entry {
    let own = |amount: &Decimal| words::own(amount, &line.currency, currency);
    let mut changes: Vec<_> =
        line.adjustments.iter().map(|of| Figure::new(adjustment(of), own(&of.amount))).collect();
    if !line.credits_applied.is_zero() {
        changes.push(Figure::new("Prepaid credits", own(&-&line.credits_applied)));
    }
    if !line.partially_invoiced.is_zero() {
        let before = words::amount(&-&line.partially_invoiced, currency);
        changes.push(Figure::new("Invoiced before", before));
    }
    let amount = own(&line.subtotal);
    let total = words::amount(&line.amount, currency);
    let is_changed = !changes.is_empty() || total != amount;
    Entry {
        name: line.name.to_string(),
        period: period(line.period, zone),
        quantity: words::number(&line.quantity),
        amount,
        parts: parts(line, currency),
        changes,
        total: is_changed.then_some(total),
    }
}

/// Writes a service period by its first day and its last.
pub(super) fn period(period: Timeframe, zone: &Zone) -> String {
    let last = period.end().saturating_sub(std::time::Duration::from_micros(1));
    let [first, last] = [period.start(), last].map(|at| words::day(at, zone));
    if first == last || period.start() == period.end() {
        return first;
    }
    format!("{first} \u{2013} {last}")
}

/// Sums taxes up by what they are called and their rates, in the order of the lines.
pub(super) fn taxes<'a>(
    all: impl Iterator<Item = &'a TaxAmount>,
    currency: Currency,
) -> Vec<Figure> {
    let mut sums: Vec<(String, Decimal)> = Vec::new();
    for tax in all {
        let rate = tax.percentage.as_ref().map(|rate| format!(" {} %", words::number(rate)));
        let title = format!("{}{}", tax.description.as_str(), rate.unwrap_or_default());
        match sums.iter_mut().find(|(of, _)| *of == title) {
            Some((_, sum)) => *sum += &tax.amount,
            None => sums.push((title, tax.amount.clone())),
        }
    }
    sums.into_iter().map(|(title, sum)| Figure::new(title, words::amount(&sum, currency))).collect()
}

/// Names an adjustment.
pub(super) fn adjustment(of: &LineAdjustment) -> String {
    let percent = |fraction: &Decimal| words::number(&(fraction * &Decimal::from(100)));
    match &of.adjustment {
        Adjustment::Discount(Discount::Usage(units)) => {
            format!("Discount of {} units", words::number(units))
        }
        Adjustment::Discount(Discount::Percentage(off)) => {
            format!("Discount of {} %", percent(off.as_decimal()))
        }
        Adjustment::Discount(_) => "Discount".to_owned(),
        Adjustment::Minimum(_) => "Minimum charge".to_owned(),
        Adjustment::Maximum(_) => "Maximum charge".to_owned(),
        _ => "Adjustment".to_owned(),
    }
}

/// Returns the parts that a line is made of, each with what a unit costs; values of a property may cost
/// different amounts.
fn parts(line: &InvoiceLine, currency: Currency) -> Vec<[String; 3]> {
    let row = |(part, amount): (&Part, Decimal)| {
        let name = match &part.of {
            PartOf::Group { .. } => name(part),
            _ => format!("{} at {}", name(part), words::number(&part.unit_amount)),
        };
        let amount = words::own(&amount, &line.currency, currency);
        [name, words::number(&part.quantity), amount]
    };
    line.sub_lines().into_iter().map(row).collect()
}

fn name(part: &Part) -> String {
    match &part.of {
        PartOf::Tier { first_unit, last_unit: Some(last) } => {
            format!("{} to {}", words::number(first_unit), words::number(last))
        }
        PartOf::Tier { first_unit, last_unit: None } => {
            format!("Above {}", words::number(first_unit))
        }
        PartOf::Cell { dimension_values } => {
            let words = dimension_values.iter().map(|of| of.as_deref().unwrap_or("none"));
            words.collect::<Vec<_>>().join(", ")
        }
        PartOf::Group { key, value } => {
            format!("{key}: {}", value.as_deref().unwrap_or("none"))
        }
        _ => "Other".to_owned(),
    }
}
