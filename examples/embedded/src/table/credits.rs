use accrue::credit::EntryKind;
use comfy_table::{Cell, Table};

use super::{NOTHING, column, right, table};
use crate::{CustomerReport, FiredAlert};

/// Shows what some customers were given, what their usage has drawn and what is left, and the same
/// of all customers.
pub(super) fn credits(shown: &[CustomerReport], all: &[CustomerReport]) -> Table {
    let mut table = table(["customer", "given", "drawn", "balance", "alerts that fired"]);
    let given = |of: &CustomerReport| of.credits.moved_by(EntryKind::Increment);
    let drawn = |of: &CustomerReport| -of.credits.moved_by(EntryKind::Decrement);
    let columns = [
        column(shown, all, given),
        column(shown, all, drawn),
        column(shown, all, |of| of.credits.balance.clone()),
    ];
    let customers = shown.iter().map(|of| (of.external_customer_id.as_str(), fired(of)));
    let rows = customers.chain([("total", String::new())]).enumerate();
    for (place, (customer, fired)) in rows {
        let amounts = columns.iter().filter_map(|column| column.get(place)).map(right);
        table.add_row([Cell::new(customer)].into_iter().chain(amounts).chain([Cell::new(fired)]));
    }
    table
}

/// Names the alerts on the credits of a customer, in the order in which they fired.
fn fired(customer: &CustomerReport) -> String {
    let fired: Vec<_> = customer.alerts.iter().filter_map(FiredAlert::on_credits).collect();
    if fired.is_empty() { NOTHING.to_owned() } else { fired.join(", ") }
}
