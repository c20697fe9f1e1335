//! What falls due at a boundary of a subscription, with what was used and drawn (invoicing 6, 7).

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    Decimal, Error, InvoiceId, PricingUnit, Timeframe, Timestamp,
    credit::Drawn,
    engine::{
        kernel::Transaction,
        rows::{self, credit_notes, invoices, ledgers, prices, totals},
    },
    invoice::{self, Charges, DrawnCredits, InvoiceLine, InvoiceSource, InvoiceStatus},
    rating::{Due, RateCard, RatedInterval},
    schema::{self, CustomerHead},
    subscription::{InForce, PeriodKey, Subscription, SubscriptionEntry},
    time::INSTANT,
    usage::{Figures, Total},
};

/// Amounts that invoices have billed within periods, by price with its lane and start of the period.
pub(super) type PartiallyInvoiced = BTreeMap<(InForce, Timestamp), Decimal>;

/// Computes the lines of what falls due at a boundary, as of now, and the sum of their subtotals.
pub(super) async fn lines(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    invoice_id: InvoiceId,
    boundary: Timestamp,
) -> Result<(Vec<InvoiceLine>, Decimal), Error> {
    let card = prices::card(tx, entry).await?;
    let before = Timeframe::nothing_at(boundary.saturating_sub(INSTANT)).until(boundary);
    let periods = card.usage_periods(before).into_keys();
    let periods = periods.chain(card.deferred_to(boundary).into_keys());
    let start = periods.map(|period| period.start()).min().filter(|_| card.has_usage_due(boundary));
    let partially_invoiced = partially_invoiced(tx, entry, start, boundary).await?;
    lines_less(tx, entry, invoice_id, boundary, partially_invoiced).await
}

/// Computes the lines of what falls due at a boundary, less what was billed before.
async fn lines_less(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    invoice_id: InvoiceId,
    boundary: Timestamp,
    partially_invoiced: PartiallyInvoiced,
) -> Result<(Vec<InvoiceLine>, Decimal), Error> {
    let card = prices::card(tx, entry).await?;
    let due = due(tx, entry, boundary).await?;
    let drawn = drawn(tx, entry, &card, &due).await?;
    let adjustments = &entry.subscription.adjustment_intervals;
    let charges = Charges { invoice_id, card: &card, due, adjustments, drawn, partially_invoiced };
    let (mut lines, subtotal) = invoice::lines(&charges);
    break_down(tx, &card, &mut lines).await?;
    Ok((lines, subtotal))
}

/// Rates what falls due at a boundary, as of now.
pub(super) async fn due(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    boundary: Timestamp,
) -> Result<Due, Error> {
    let card = prices::card(tx, entry).await?;
    let mut used: BTreeMap<Timeframe, Total> = BTreeMap::new();
    let before = Timeframe::nothing_at(boundary.saturating_sub(INSTANT)).until(boundary);
    for (period, key) in card.rated_periods(before) {
        if period.end() <= boundary {
            used.insert(period, total(tx, entry, &card, period, key).await?);
        } else if card.has_inner_boundaries() {
            let so_far = Timeframe::nothing_at(period.start()).until(boundary);
            used.insert(period, summed(tx, entry, &card, so_far).await?);
        }
    }
    for (period, key) in card.deferred_to(boundary) {
        used.insert(period, total(tx, entry, &card, period, key).await?);
    }
    let used = |period: Timeframe, _| used.get(&period).map(Cow::Borrowed);
    Ok(card.due(&used, boundary))
}

/// Breaks the usage of lines down by the properties that their prices name (invoicing 6.1).
async fn break_down(
    tx: &mut Transaction<'_>,
    card: &RateCard,
    lines: &mut [InvoiceLine],
) -> Result<(), Error> {
    for line in lines {
        let interval = card.interval_of(line.in_force(), line.period.start());
        let Some(RatedInterval { price, filter, source, .. }) = interval else { continue };
        let Some(key) = &price.invoice_grouping_key else { continue };
        let Some(grouping) = price.grouping_meter(filter.as_ref(), 0) else { continue };
        let meters = rows::metrics::meters(tx).await?;
        let metrics = price.charge.metric_id().into_iter().collect();
        let meters = meters.only(&metrics, &grouping.parts());
        let total = rows::sources::total_of(tx, source, &meters, line.period).await?;
        let are_alike = !price.charge.model().is_divided();
        line.break_down(key, are_alike, Figures::broken_down(price, &grouping, &total));
    }
    Ok(())
}

/// Returns what a period adds up to. Of one that was over before the subscription was made, or that was
/// left behind, nobody keeps a total: it is summed up.
async fn total(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    card: &RateCard,
    period: Timeframe,
    key: PeriodKey,
) -> Result<Total, Error> {
    let of = &entry.subscription;
    let known = totals::total(tx, entry, key).await?;
    if !known.is_empty() && of.created_at <= period.start() {
        return Ok(known);
    }
    summed(tx, entry, card, period).await
}

/// Sums up what was used in a timeframe, whatever its period has come to.
async fn summed(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    card: &RateCard,
    period: Timeframe,
) -> Result<Total, Error> {
    let of = &entry.subscription;
    let version = rows::plans::plan_version_of(tx, entry).await?;
    let meters = &version.priced_of(entry).meters;
    let meters = rows::metrics::meters(tx).await?.only(&card.metrics(), meters);
    rows::sources::total_between(tx, of, &meters, period).await
}

/// Sums up what usage has drawn of credits, by the start of its period and its price. Paid for is what was drawn
/// from blocks that were given, and what these have paid off of the overdraft since.
pub(super) async fn drawn(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    card: &RateCard,
    due: &Due,
) -> Result<BTreeMap<(Timestamp, InForce), DrawnCredits>, Error> {
    let mut found = BTreeMap::new();
    let used = usage_of(card, due);
    let units: BTreeSet<_> = used.iter().map(|of| of.unit).collect();
    for unit in units {
        let own = || used.iter().filter(|of| of.unit == unit);
        let drawn = drawn_in(tx, entry, unit, own().map(|of| of.period.start())).await?;
        if drawn.is_empty() {
            continue;
        }
        let customer = entry.subscription.customer_id;
        let Some(book) = ledgers::book(tx, customer, unit).await? else { continue };
        let mut overdrawn = book.overdrawn();
        for UsageDue { period, price, .. } in own() {
            let Some(drawn) = drawn.get(&period.start()) else { continue };
            let paid = drawn.of(*price) - book.unpaid(drawn, *price, &mut overdrawn);
            let billed = drawn.billed_by(*price, period.end());
            found.insert((period.start(), *price), DrawnCredits { paid, billed });
        }
    }
    Ok(found)
}

/// Usage that falls due.
struct UsageDue<'c> {
    unit: &'c PricingUnit,
    period: Timeframe,
    price: InForce,
}

/// Lists usage that falls due, in the order of its lines.
fn usage_of<'c>(card: &'c RateCard, due: &Due) -> Vec<UsageDue<'c>> {
    let lines = due.lines.iter().filter_map(|line| {
        let RatedInterval { price, in_force, .. } = card.intervals.get(line.interval)?;
        let usage = UsageDue { unit: &price.currency, period: line.period, price: *in_force };
        price.charge.is_usage().then_some(usage)
    });
    lines.collect()
}

/// Reads what periods of usage have drawn from a ledger, by their starts.
pub(super) async fn drawn_in(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    unit: &PricingUnit,
    starts: impl Iterator<Item = Timestamp>,
) -> Result<BTreeMap<Timestamp, Drawn>, Error> {
    let Subscription { id, customer_id, .. } = entry.subscription;
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let mut found = BTreeMap::new();
    for start in starts.collect::<BTreeSet<_>>() {
        let drawn = guard.get(tx, &schema::drawn(tx.account, id, start, unit)).await?;
        found.extend(drawn.map(|drawn| (start, drawn)));
    }
    Ok(found)
}

/// Sums up what threshold invoices, and invoices of inner boundaries, have billed from an instant up to a
/// boundary: less what was credited of them, and without those that are void. A draft of an earlier
/// boundary counts with what it comes to, so that nothing depends on which is issued first.
pub(super) async fn partially_invoiced(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    from: Option<Timestamp>,
    boundary: Timestamp,
) -> Result<PartiallyInvoiced, Error> {
    let mut sums = PartiallyInvoiced::new();
    let card = prices::card(tx, entry).await?;
    let has_threshold = entry.invoicing.as_ref().is_some_and(|of| of.reached.is_some());
    let has_any = has_threshold || card.has_inner_boundaries();
    let Some(from) = from.filter(|_| has_any) else { return Ok(sums) };
    let (of, customer) = (&entry.subscription, entry.subscription.customer_id);
    for mut invoice in invoices::of_subscription_from(tx, of, from).await? {
        let is_partial = invoice.source == InvoiceSource::Partial;
        let is_earlier =
            invoice.invoice_date < boundary || is_partial && invoice.invoice_date == boundary;
        if !is_earlier || invoice.status == InvoiceStatus::Void {
            continue;
        }
        if is_partial {
            invoice.show_made_lines();
        } else if invoice.status == InvoiceStatus::Draft {
            let (id, date) = (invoice.id, invoice.invoice_date);
            invoice.show(lines_less(tx, entry, id, date, sums.clone()).await?);
        }
        let credited = credit_notes::lines_that_count(tx, customer, &invoice.credit_notes).await?;
        for line in &invoice.lines {
            let taken = credited.iter().filter(|of| of.invoice_line_id == line.id);
            let taken: Decimal = taken.map(|of| of.taken_of_amount()).sum();
            let sum = sums.entry((line.in_force(), line.period.start())).or_default();
            *sum += &line.amount - &taken;
        }
    }
    Ok(sums)
}
