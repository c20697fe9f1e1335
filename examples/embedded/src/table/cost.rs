use accrue::Decimal;
use comfy_table::{Cell, Table};

use super::{
    number::{aligned, grouped},
    right, table,
};
use crate::{CustomerCost, CustomerReport};

/// Shows what some customers owe, price by price, and what all of them do.
pub(super) fn cost(shown: &[CustomerReport], all: &[CustomerReport]) -> Table {
    let prices = all.first().map(|customer| customer.cost.lines.as_slice()).unwrap_or_default();
    let names = prices.iter().map(|line| line.price.as_str());
    let mut table = table(["customer"].into_iter().chain(names).chain(["total", "alerts"]));

    let amounts = (0..prices.len()).map(|place| {
        column(shown, all, |cost| {
            cost.lines.get(place).map(|line| line.amount.clone()).unwrap_or_default()
        })
    });
    let total = column(shown, all, |cost| cost.total.clone());
    let columns: Vec<_> = amounts.chain([total]).collect();

    let customers = shown.iter().map(|customer| customer.external_customer_id.as_str());
    let alerts = shown.iter().map(|customer| customer.alerts.len());
    let in_all = all.iter().map(|customer| customer.alerts.len()).sum::<usize>();
    let rows = customers.chain(["total"]).zip(alerts.chain([in_all])).enumerate();
    for (place, (customer, alerts)) in rows {
        let amounts = columns.iter().filter_map(|column| column.get(place)).map(right);
        let cells = [Cell::new(customer)].into_iter().chain(amounts);
        table.add_row(cells.chain([right(grouped(alerts))]));
    }
    table
}

/// Returns one amount of each customer that is shown, and last what all have of it.
fn column(
    shown: &[CustomerReport],
    all: &[CustomerReport],
    amount: impl Fn(&CustomerCost) -> Decimal,
) -> Vec<String> {
    let amount = |customer: &CustomerReport| amount(&customer.cost);
    let total = all.iter().map(amount).fold(Decimal::zero(), |sum, amount| sum + amount);
    let column: Vec<_> = shown.iter().map(amount).chain([total]).collect();
    aligned(&column)
}
