//! What falls due at a boundary of a subscription, with what was used and drawn (invoicing 6, 7).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    CustomerId, Decimal, Error, InvoiceId, PriceId, PricingUnit, Timeframe, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{self, credit_notes, invoices, periods, prices},
    },
    invoice::{self, Charges, InvoiceLine, InvoiceSource, InvoiceStatus},
    meter::CellId,
    rating::RateCard,
    schema::{self, CustomerHead},
    subscription::{Applied, PeriodKey, Subscription, SubscriptionEntry},
    time::INSTANT,
    usage::Total,
};

/// Amounts that invoices have billed within periods, by price and start of the period.
pub(super) type PartiallyInvoiced = BTreeMap<(PriceId, Timestamp), Decimal>;

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
    let mut used: BTreeMap<Timeframe, Total> = BTreeMap::new();
    let before = Timeframe::nothing_at(boundary.saturating_sub(INSTANT)).until(boundary);
    for (period, key) in card.usage_periods(before) {
        if period.end() == boundary {
            used.insert(period, total(tx, entry, &card, period, key).await?);
        } else if card.has_inner_boundaries() {
            let so_far = Timeframe::nothing_at(period.start()).until(boundary);
            used.insert(period, summed(tx, entry, &card, so_far).await?);
        }
    }
    let figure = |period: Timeframe, _, cell: CellId| used.get(&period)?.figure(cell);
    let due = card.due(&figure, boundary);
    let starts: BTreeSet<_> = used.keys().map(|period| period.start()).collect();
    let drawn = drawn(tx, entry, &card, starts.into_iter()).await?;
    let adjustments = &entry.subscription.adjustment_intervals;
    let charges = Charges { invoice_id, card: &card, due, adjustments, drawn, partially_invoiced };
    let (mut lines, subtotal) = invoice::lines(&charges);
    break_down(tx, entry.subscription.customer_id, &card, &mut lines).await?;
    Ok((lines, subtotal))
}

/// Breaks the usage of lines down by the properties that their prices name (invoicing 6.1).
async fn break_down(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    card: &RateCard,
    lines: &mut [InvoiceLine],
) -> Result<(), Error> {
    for line in lines {
        let mut prices = card.intervals.iter().map(|of| &of.price);
        let price = prices.find(|price| price.id == line.price_id);
        let Some(price) = price else { continue };
        let Some(key) = &price.invoice_grouping_key else { continue };
        let Some(grouping) = price.grouping_meter(0) else { continue };
        let meters = rows::metrics::meters(tx).await?;
        let meters = meters.only(&price.charge.metric_id().into_iter().collect(), &[grouping.id]);
        let running = rows::figures::running_between(tx, customer, &meters, line.period).await?;
        let groups = running.groups.iter().map(|(_, group)| {
            let used = |cell| running.total.figure(cell);
            (group.first().cloned().flatten(), price.charge.rate_group(&grouping, group, used))
        });
        line.break_down(key, groups);
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
    let known = periods::total(tx, entry, key).await?;
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
    let meters = rows::plans::plan_version_of(tx, entry).await?.meters.clone();
    let meters = rows::metrics::meters(tx).await?.only(&card.metrics(), &meters);
    rows::figures::total_between(tx, of.customer_id, &meters, period).await
}

/// Sums up the credits that periods of usage have drawn from blocks that were given, not from the
/// overdraft, by the start of the period, less what invoices of others that began with it have applied.
pub(super) async fn drawn(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    card: &RateCard,
    starts: impl Iterator<Item = Timestamp>,
) -> Result<BTreeMap<(Timestamp, PricingUnit), Decimal>, Error> {
    let Subscription { id, customer_id, .. } = entry.subscription;
    let units: BTreeSet<_> = card.intervals.iter().map(|of| &of.price.currency).collect();
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let mut sums = BTreeMap::new();
    for start in starts {
        for unit in &units {
            let slot = schema::drawn(tx.account, id, start, unit);
            let Some(drawn) = guard.get(tx, &slot).await? else { continue };
            for (block, amount) in drawn.shares() {
                let block = guard.get(tx, &schema::credit_block(tx.account, *block)).await?;
                if block.is_none_or(|of| !of.block.is_overdraft()) {
                    *sums.entry((start, (*unit).clone())).or_default() += amount;
                }
            }
        }
    }
    for Applied { start, unit, amount } in entry.invoicing.iter().flat_map(|of| &of.applied) {
        if let Some(sum) = sums.get_mut(&(*start, unit.clone())) {
            *sum -= amount;
        }
    }
    Ok(sums)
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
            let sum = sums.entry((line.price_id, line.period.start())).or_default();
            *sum += &line.amount - &taken;
        }
    }
    Ok(sums)
}
