//! Figures of lines: exact from step to step, shown rounded column by column (invoicing 7.1, 7.5).

use std::collections::BTreeMap;

use super::{InvoiceLine, LineAdjustment};
use crate::{
    Decimal, InvoiceId, InvoiceLineId, PricingUnit, Timestamp,
    price::round_lines,
    rating::{Due, DueLine, Earlier, RateCard},
    subscription::{AdjustmentInterval, InForce},
};

/// What an invoice charges.
#[derive(Clone, Debug)]
pub(crate) struct Charges<'a> {
    pub(crate) invoice_id: InvoiceId,
    pub(crate) card: &'a RateCard,
    pub(crate) due: Due,
    pub(crate) adjustments: &'a [AdjustmentInterval],
    /// What usage has drawn of prepaid credits, by the start of the period and price.
    pub(crate) drawn: BTreeMap<(Timestamp, InForce), DrawnCredits>,
    /// Amounts that threshold invoices have billed of usage, by price with its lane and start of the period.
    pub(crate) partially_invoiced: BTreeMap<(InForce, Timestamp), Decimal>,
}

/// Prepaid credits that the usage of a price has drawn in a billing period.
#[derive(Clone, Debug)]
pub(crate) struct DrawnCredits {
    /// Those that were paid for.
    pub(crate) paid: Decimal,
    /// Those beyond, which invoices within the period have billed.
    pub(crate) billed: Decimal,
}

/// A column of figures: of each line the exact one in its own unit, and what is shown of it in the
/// currency of the invoice.
#[derive(Clone)]
struct Column {
    exact: Vec<Decimal>,
    shown: Vec<Decimal>,
}

/// Makes the lines of an invoice, and returns them with the sum of their subtotals.
pub(crate) fn lines(charges: &Charges<'_>) -> (Vec<InvoiceLine>, Decimal) {
    let Charges { card, due, .. } = charges;
    let currency = PricingUnit::from(card.invoiced_in);
    let places = card.invoiced_in.places();
    let prices: Vec<_> = due
        .lines
        .iter()
        .filter_map(|line| card.intervals.get(line.interval))
        .map(|of| &of.price)
        .collect();
    let column = |exact: Vec<Decimal>, before: fn(&Earlier) -> &Decimal| {
        let lines = exact.iter().zip(&prices).zip(&due.lines);
        let converted = lines.map(|((amount, price), line)| {
            price.invoiced(amount, before(&line.before), card.invoiced_in)
        });
        Column { shown: round_lines(&converted.collect::<Vec<_>>(), places), exact }
    };
    // What a line shows of the way from one column to the next.
    let is_invoiced = |place: usize| prices.get(place).is_some_and(|of| of.currency == currency);
    let figure = |column: &Column, place: usize| {
        let of = if is_invoiced(place) { &column.shown } else { &column.exact };
        of.get(place).cloned().unwrap_or_default()
    };

    let subtotals =
        column(due.lines.iter().map(|line| line.subtotal.clone()).collect(), |before| {
            &before.subtotal
        });
    let mut current = subtotals.clone();
    let mut adjusted: Vec<Vec<LineAdjustment>> = vec![Vec::new(); due.lines.len()];
    for step in &due.steps {
        let exact = current.exact.iter().enumerate().map(|(place, of)| match step.by.get(&place) {
            Some(by) => of + by,
            None => of.clone(),
        });
        let next = column(exact.collect(), |before| &before.total);
        let of = charges.adjustments.iter().find(|of| of.id == step.adjustment);
        for (place, line) in adjusted.iter_mut().enumerate() {
            let amount = figure(&next, place) - figure(&current, place);
            // Another line's share of a minor unit may move to this one.
            let is_shown = step.by.contains_key(&place) || !amount.is_zero();
            line.extend(of.filter(|_| is_shown).map(|of| LineAdjustment {
                id: of.id,
                start_date: Some(of.start_date),
                scope: of.scope.clone(),
                adjustment: of.adjustment.clone(),
                coupon_id: of.coupon_id,
                price_ids: of.price_ids.iter().copied().collect(),
                amount,
                is_of_invoice: false,
            }));
        }
        current = next;
    }
    let credits = credits_of_lines(charges, &current.exact);
    let left: Vec<_> = current.exact.iter().zip(&credits).map(|(of, paid)| of - paid).collect();
    let paid = column(left, |before| &before.total);

    let mut adjusted = adjusted.into_iter();
    let lines = due.lines.iter().zip(&prices).enumerate().map(|(place, (line, price))| {
        let credits_applied = figure(&current, place) - figure(&paid, place);
        let interval = charges.card.intervals.get(line.interval);
        let in_force = interval.map_or(InForce::from(price.id), |of| of.in_force);
        let partially = charges.partially_invoiced.get(&(in_force, line.period.start()));
        let partially_invoiced = partially.filter(|_| price.charge.is_usage()).cloned();
        let partially_invoiced = partially_invoiced.unwrap_or_default();
        let left = paid.shown.get(place).cloned().unwrap_or_default();
        let usage = interval.filter(|_| price.charge.is_usage());
        InvoiceLine {
            id: line.id(charges),
            price_id: price.id,
            lane: in_force.lane,
            name: price.name.clone(),
            currency: price.currency.clone(),
            quantity: line.quantity.clone(),
            period: line.period,
            subtotal: figure(&subtotals, place),
            adjustments: adjusted.next().unwrap_or_default(),
            adjusted_subtotal: figure(&current, place),
            credits_applied,
            amount: left - &partially_invoiced,
            partially_invoiced,
            tax_amounts: Vec::new(),
            parts: line.parts.clone(),
            filter: usage.and_then(|of| of.filter.clone()),
            usage_customers: usage.and_then(|of| of.source.usage_customers().cloned()),
        }
    });
    (lines.collect(), subtotals.shown.iter().sum())
}

/// Returns the prepaid credits that pay for each line: at most what it comes to.
fn credits_of_lines(charges: &Charges<'_>, adjusted: &[Decimal]) -> Vec<Decimal> {
    let lines = charges.due.lines.iter().zip(adjusted);
    let credits = lines.map(|(line, amount)| {
        let usage = charges.card.intervals.get(line.interval);
        let usage = usage.filter(|of| of.price.charge.is_usage());
        let drawn = usage.and_then(|of| charges.drawn.get(&(line.period.start(), of.in_force)));
        let credits = drawn.map(|of| (amount - &of.billed).min(of.paid.clone()));
        credits.unwrap_or_default().max(Decimal::zero())
    });
    credits.collect()
}

impl DueLine {
    fn id(&self, charges: &Charges<'_>) -> InvoiceLineId {
        let of = charges.card.intervals.get(self.interval).map(|of| of.in_force);
        let [start, end] =
            [self.period.start(), self.period.end()].map(|at| at.micros().to_be_bytes());
        let price = of.map(|of| *of.price.as_bytes()).unwrap_or_default();
        let mut names = vec![price.as_slice(), &start, &end];
        let lane = of.map(|of| of.lane).filter(|lane| !lane.is_first());
        let lane = lane.map(|lane| lane.number().to_be_bytes());
        names.extend(lane.iter().map(<[u8; 4]>::as_slice));
        InvoiceLineId::part_of(charges.invoice_id.as_bytes(), &names)
    }
}
