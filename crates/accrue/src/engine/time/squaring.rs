//! Squares ledgers of credits with the lines of an invoice that is issued (invoicing 7.3).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    Description, Error, PriceId, PricingUnit, Timeframe, Timestamp,
    alert::Cause,
    credit::{Charged, Returned},
    engine::{
        kernel::Transaction,
        rows::{ledgers, prices},
        time::{balances, drawing, due},
    },
    invoice::{Invoice, InvoiceSource},
    price::Price,
    rating::RateCard,
    subscription::SubscriptionEntry,
    time::INSTANT,
};

/// Usage that an invoice charges, by its unit, the start of its period and its price.
type AllCharged = BTreeMap<(PricingUnit, Timestamp, PriceId), Charged>;

/// Squares what usage has drawn with what an invoice charges, which was issued: what it bills of the overdraft
/// is settled, and what adjustments have spared goes back.
pub(super) async fn square(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    invoice: &Invoice,
    at: Timestamp,
) -> Result<(), Error> {
    let card = prices::card(tx, entry).await?;
    let usage = card.intervals.iter().filter(|of| !of.price.charge.is_fixed());
    let units: BTreeSet<_> = usage.map(|of| of.price.currency.clone()).collect();
    let mut all = None;
    for unit in units {
        let starts = invoice.lines.iter().map(|line| line.period.start());
        let mut drawn = due::drawn_in(tx, entry, &unit, starts).await?;
        if drawn.is_empty() {
            continue;
        }
        let customer = entry.subscription.customer_id;
        let Some(mut ledger) = ledgers::ledger(tx, customer, &unit).await? else { continue };
        let all = match &mut all {
            Some(all) => all,
            none => none.insert(all_charged(tx, entry, &card, invoice).await?),
        };
        let before = ledger.book.balance().cloned();
        let mut overdrawn = ledger.book.overdrawn();
        let mut returned = Returned::said(said(invoice)?);
        for ((_, start, _), charged) in all.iter().filter(|((of, ..), _)| *of == unit) {
            let Some(drawn) = drawn.get_mut(start) else { continue };
            drawing::add_missing(tx, &mut ledger.book, drawn).await?;
            ledger.book.square(charged, drawn, &mut overdrawn, &mut returned);
        }
        if returned.is_nothing() {
            continue;
        }
        let subscription_id = entry.subscription.id;
        let drawn = drawn.into_iter().map(|(start, drawn)| ((subscription_id, start), drawn));
        ledger.drawn.extend(drawn);
        ledger.book.book_returned(returned, at);
        let cause = Cause::Subscription { subscription_id };
        balances::judge_at(tx, &mut ledger, before, &cause, at).await?;
        ledgers::save_ledgers(tx, customer, std::iter::once(&ledger)).await?;
    }
    Ok(())
}

/// Lists the usage that an invoice charges: of a boundary exactly, of a threshold as its lines say.
async fn all_charged(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    card: &RateCard,
    invoice: &Invoice,
) -> Result<AllCharged, Error> {
    let charged = |price: Option<&Arc<Price>>, period: Timeframe, adjusted, is_last| {
        let price = price.filter(|of| !of.charge.is_fixed())?;
        let unit = card.invoiced_in.into();
        let is_billed = price.worth_in(&unit, card.invoiced_in).is_some();
        let key = (price.currency.clone(), period.start(), price.id);
        Some((key, Charged { price_id: price.id, adjusted, is_billed, is_last }))
    };
    if invoice.source == InvoiceSource::Partial {
        let lines = invoice.lines.iter().filter_map(|line| {
            let price = card.intervals.iter().map(|of| &of.price).find(|of| of.id == line.price_id);
            charged(price, line.period, line.adjusted_subtotal.clone(), false)
        });
        return Ok(lines.collect());
    }
    let due = due::due(tx, entry, invoice.invoice_date).await?;
    let before = Timeframe::nothing_at(invoice.invoice_date.saturating_sub(INSTANT));
    let whole = card.usage_periods(before.until(invoice.invoice_date));
    let lines = due.lines.iter().zip(due.adjusted()).filter_map(|(line, adjusted)| {
        let price = card.intervals.get(line.interval).map(|of| &of.price);
        charged(price, line.period, adjusted, whole.contains_key(&line.period))
    });
    Ok(lines.collect())
}

fn said(invoice: &Invoice) -> Result<Description, Error> {
    let text = format!("invoice {}", invoice.invoice_number);
    Description::parse(text).map_err(|_| Error::corrupt("a number of an invoice is no text"))
}
