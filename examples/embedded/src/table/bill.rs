#[cfg(test)]
mod tests;

use std::fmt::{self, Display};

use accrue::{
    Decimal, Fraction, Timeframe,
    invoice::{Invoice, InvoiceLine, LineAdjustment},
    price::{Adjustment, Discount, Part, PartOf},
};
use comfy_table::{Cell, Table};

use super::{day, number::aligned, number::grouped, right, table};
use crate::{Bill, Money};

impl Display for Bill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { customer, invoice } = self;
        writeln!(f, "Invoice {}", invoice.invoice_number)?;
        writeln!(f, "to           {}, {}", customer.name, customer.email)?;
        let dates = [
            ("date", Some(invoice.invoice_date)),
            ("issued", invoice.issued_at),
            ("due", invoice.due_date),
            ("paid", invoice.paid_at),
        ];
        for (what, at) in dates.into_iter().filter_map(|(what, at)| Some((what, at?))) {
            writeln!(f, "{what:<12} {}", day(at))?;
        }
        if let Some(memo) = &invoice.memo {
            writeln!(f, "memo         {memo}")?;
        }
        write!(f, "{}", table_of(invoice))
    }
}

/// What stands in one row: what is not known of it stands nowhere.
#[derive(Default)]
struct Item {
    period: Option<Timeframe>,
    name: String,
    quantity: Option<Decimal>,
    unit_price: Option<Decimal>,
    /// What they come to together, not rounded.
    exact: Option<Decimal>,
    /// What is added up.
    amount: Option<Decimal>,
}

fn table_of(invoice: &Invoice) -> Table {
    let code = invoice.currency.code();
    let mut table = table(["service period", "item", "quantity", "unit price", "exact", code]);
    let mut items: Vec<_> = invoice.lines.iter().flat_map(|line| items_of(line, invoice)).collect();
    let mut period = None;
    for item in &mut items {
        // The lines of one period follow each other.
        if item.period == period {
            item.period = None;
        } else if item.period.is_some() {
            period = item.period;
        }
    }
    items.push(Item::default());
    items.extend(sums(invoice));
    let exact = aligned(items.iter().filter_map(|item| item.exact.as_ref()));
    let mut exact = exact.into_iter();
    for item in items {
        let Item { period, name, quantity, unit_price, .. } = item;
        let number = |number: Option<Decimal>| right(number.map(grouped).unwrap_or_default());
        let exact = item.exact.and_then(|_| exact.next());
        let amount = item.amount.map(|amount| Money { amount, currency: invoice.currency });
        let days = period.map(|of| format!("{} – {}", day(of.start()), day(of.end())));
        table.add_row([
            Cell::new(days.unwrap_or_default()),
            Cell::new(name),
            number(quantity),
            number(unit_price),
            right(exact.unwrap_or_default()),
            right(amount.map(grouped).unwrap_or_default()),
        ]);
    }
    table
}

/// Returns a line, and below it what it is made of and what is put on it or taken off.
fn items_of(line: &InvoiceLine, invoice: &Invoice) -> Vec<Item> {
    let is_money = line.currency.currency() == Some(invoice.currency);
    let unit = if is_money { String::new() } else { format!(", in {}", line.currency.as_str()) };
    let (unit_price, parts) = match line.parts.as_slice() {
        [Part { of: PartOf::Whole, unit_amount, .. }] => (Some(unit_amount.clone()), &[][..]),
        parts => (None, parts),
    };
    let of_line = Item {
        period: Some(line.period),
        name: format!("{}{unit}", line.name),
        quantity: Some(line.quantity.clone()),
        unit_price,
        exact: (!line.parts.is_empty()).then(|| line.parts.iter().map(|of| &of.amount).sum()),
        // What is in another unit comes to money once all is taken off.
        amount: Some(if is_money { &line.subtotal } else { &line.amount }.clone()),
    };
    let parts = parts.iter().filter(|part| !part.quantity.is_zero()).map(|part| Item {
        name: format!("  {}", part_name(&part.of)),
        quantity: Some(part.quantity.clone()),
        unit_price: Some(part.unit_amount.clone()),
        exact: Some(part.amount.clone()),
        ..Item::default()
    });
    let adjustments = line.adjustments.iter().map(|of| (adjustment_name(of), of.amount.clone()));
    let credits = ("prepaid".to_owned(), -line.credits_applied.clone());
    let credits = Some(credits).filter(|(_, amount)| !amount.is_zero());
    let moved = adjustments.chain(credits).map(|(name, amount)| {
        let item = Item { name: format!("  {name}"), ..Item::default() };
        if is_money {
            Item { amount: Some(amount), ..item }
        } else {
            Item { exact: Some(amount), ..item }
        }
    });
    [of_line].into_iter().chain(parts).chain(moved).collect()
}

fn sums(invoice: &Invoice) -> impl Iterator<Item = Item> {
    let Invoice { subtotal, total, amount_due, .. } = invoice;
    let sums = [
        ("subtotal", subtotal.clone()),
        ("adjustments, prepaid", total - subtotal),
        ("total", total.clone()),
        ("from the balance", amount_due - total),
        ("amount due", amount_due.clone()),
    ];
    let sum = |(name, amount): (&str, _)| Item {
        name: name.to_owned(),
        amount: Some(amount),
        ..Item::default()
    };
    sums.into_iter().map(sum)
}

fn part_name(of: &PartOf) -> String {
    match of {
        PartOf::Tier { first_unit, last_unit: None } => format!("above {}", grouped(first_unit)),
        PartOf::Tier { first_unit, last_unit: Some(last_unit) } if first_unit.is_zero() => {
            format!("up to {}", grouped(last_unit))
        }
        PartOf::Tier { first_unit, last_unit: Some(last_unit) } => {
            format!("above {} to {}", grouped(first_unit), grouped(last_unit))
        }
        PartOf::Cell { dimension_values } => {
            let values = dimension_values.iter().map(|value| value.as_deref().unwrap_or("none"));
            values.collect::<Vec<_>>().join(", ")
        }
        PartOf::DefaultCell => "all others".to_owned(),
        _ => "all".to_owned(),
    }
}

fn adjustment_name(of: &LineAdjustment) -> String {
    let percent = |of: &Fraction| grouped(Decimal::from(100) * of.as_decimal());
    let name = match &of.adjustment {
        Adjustment::Discount(Discount::Usage(units)) => format!("{} units free", grouped(units)),
        Adjustment::Discount(Discount::Percentage(of)) => format!("{} % off", percent(of)),
        Adjustment::Discount(_) => "discount".to_owned(),
        Adjustment::Minimum(least) => format!("minimum of {}", grouped(least)),
        Adjustment::Maximum(most) => format!("maximum of {}", grouped(most)),
        _ => "adjustment".to_owned(),
    };
    if of.is_invoice_level() { format!("{name}, of several prices") } else { name }
}
