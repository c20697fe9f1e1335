use accrue::Decimal;
use comfy_table::{Cell, Table};

use super::{figure, table};
use crate::{
    CustomerReport,
    setup::{METRICS, Total},
};

/// Shows what some customers used, and what all of them did.
pub(super) fn usage(shown: &[CustomerReport], all: &[CustomerReport]) -> Table {
    let metrics = METRICS.iter().map(|metric| metric.name);
    let mut table = table(["customer"].into_iter().chain(metrics));
    for customer in shown {
        let figures = customer.metrics.values().map(figure);
        table.add_row([Cell::new(&customer.external_customer_id)].into_iter().chain(figures));
    }
    let totals = METRICS.iter().enumerate().map(|(place, metric)| {
        let figures = all.iter().filter_map(|customer| customer.metrics.values().nth(place)?);
        figure(total(metric.total, figures).as_ref())
    });
    table.add_row([Cell::new("total")].into_iter().chain(totals));
    table
}

fn total<'a>(total: Total, figures: impl Iterator<Item = &'a Decimal>) -> Option<Decimal> {
    match total {
        Total::Sum => Some(figures.cloned().fold(Decimal::zero(), |sum, figure| sum + figure)),
        Total::Largest => figures.max().cloned(),
        Total::Unknown => None,
    }
}
