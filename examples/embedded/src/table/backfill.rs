use accrue::Decimal;
use comfy_table::{Cell, Table};

use super::{column, right, table};
use crate::{BackfillReport, Standing};

/// Shows what some customers owe and have left, and what all do: with a loss, with the backfill, and
/// once that was reverted.
pub(super) fn backfill(report: &BackfillReport, shown: usize) -> Table {
    let stages = [&report.lost, &report.reflected, &report.reverted];
    let columns = |amount: fn(&Standing) -> Decimal| {
        stages.map(|all| column(all.get(..shown).unwrap_or(all), all, amount))
    };
    let cost = columns(|of| of.cost.total.clone());
    let balance = columns(|of| of.balance.clone());
    let stages = ["backfilled", "reverted"];
    let header = ["customer", "cost: lost"].into_iter().chain(stages);
    let mut table = table(header.chain(["balance: lost"]).chain(stages));
    let customers = report.lost.iter().take(shown).map(|of| of.external_customer_id.as_str());
    for (place, customer) in customers.chain(["total"]).enumerate() {
        let amounts = cost.iter().chain(&balance).filter_map(|column| column.get(place));
        table.add_row([Cell::new(customer)].into_iter().chain(amounts.map(right)));
    }
    table
}
