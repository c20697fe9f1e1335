use comfy_table::{Cell, Table};

use super::{column, number::grouped, right, table};
use crate::{CustomerReport, cost::CostLine};

/// Shows what some customers owe in USD, price by price, and what all of them do.
pub(super) fn cost(shown: &[CustomerReport], all: &[CustomerReport]) -> Table {
    let prices = all.first().map(|customer| customer.cost.lines.as_slice()).unwrap_or_default();
    let in_usd = prices.iter().enumerate().filter(|(_, line)| line.counts());
    let names = in_usd.clone().map(|(_, line)| line.price.as_str());
    let mut table = table(["customer"].into_iter().chain(names).chain(["total", "alerts"]));

    let amount = |line: &CostLine| line.amount.clone();
    let amounts = in_usd.map(|(place, _)| {
        column(shown, all, |of| of.cost.lines.get(place).map(amount).unwrap_or_default())
    });
    let total = column(shown, all, |of| of.cost.total.clone());
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
