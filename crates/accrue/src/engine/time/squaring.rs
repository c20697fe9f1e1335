//! Squares ledgers of credits with the lines of an invoice that is issued (invoicing 7.3).

use std::collections::BTreeSet;

use crate::{
    Decimal, Description, Error, PricingUnit, Timeframe, Timestamp,
    alert::Cause,
    credit::{Charge, Charged, Returned},
    engine::{
        kernel::Transaction,
        rows::{ledgers, prices},
        time::{balances, drawing, due},
    },
    invoice::{Invoice, InvoiceSource},
    limits,
    rating::{RateCard, RatedInterval},
    subscription::SubscriptionEntry,
    time::INSTANT,
};

/// Usage that an invoice charges, with its unit and the start of its period, in the order of its lines.
type AllCharged = Vec<(PricingUnit, Timestamp, Charged)>;

/// Squares what usage has drawn with what an invoice charges, which was issued: what it bills of the overdraft
/// is settled, and what adjustments have spared goes back.
pub(super) async fn square(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    invoice: &Invoice,
    at: Timestamp,
) -> Result<(), Error> {
    let card = prices::card(tx, entry).await?;
    let usage = card.intervals.iter().filter(|of| of.price.charge.is_usage());
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
        let mut spared = Vec::new();
        for (_, start, charged) in all.iter().filter(|(of, ..)| *of == unit) {
            let Some(drawn) = drawn.get_mut(start) else { continue };
            drawing::add_missing(tx, &mut ledger.book, drawn).await?;
            let goes_back = ledger.book.settle(charged, drawn, &mut overdrawn, &mut returned);
            spared.push((*start, charged.price, goes_back));
        }
        // What goes back may pay the overdraft off in place of a block that was deleted: first all is settled.
        for (start, price, amount) in spared.iter().filter(|(.., amount)| !amount.is_zero()) {
            let Some(drawn) = drawn.get_mut(start) else { continue };
            ledger.book.hand_back_spared(*price, amount, drawn, &mut returned);
        }
        if returned.is_nothing() {
            continue;
        }
        let subscription_id = entry.subscription.id;
        let drawn = drawn.into_iter().map(|(start, drawn)| ((subscription_id, start), drawn));
        ledger.drawn.extend(drawn);
        ledger.book.book_returned(returned, at);
        // The balance has not fallen: whoever has more to buy does so with the next thing that moves it.
        ledger.bought = limits::TOP_UPS_AT_ONCE;
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
    let date = invoice.invoice_date;
    let charged = |of: &RatedInterval, start: Timestamp, charge: Charge| {
        let RatedInterval { price, in_force, .. } = of;
        if !price.charge.is_usage() {
            return None;
        }
        let unit = card.invoiced_in.into();
        let is_billed = price.worth_in(&unit, card.invoiced_in).is_some();
        let charged = Charged { price: *in_force, charge, is_billed, date };
        Some((price.currency.clone(), start, charged))
    };
    if invoice.source == InvoiceSource::Partial {
        let mut all = AllCharged::new();
        for line in &invoice.lines {
            let price = line.in_force();
            let own = card.intervals.iter().find(|of| of.in_force == price);
            let Some(of) = own else { continue };
            let start = line.period.start();
            let drawn =
                due::drawn_in(tx, entry, &of.price.currency, std::iter::once(start)).await?;
            let before = drawn.get(&start).map(|of| of.billed_by(price, date));
            let made = &line.adjusted_subtotal - &line.credits_applied - before.unwrap_or_default();
            all.extend(charged(of, start, Charge::Made(made.max(Decimal::zero()))));
        }
        return Ok(all);
    }
    let due = due::due(tx, entry, date).await?;
    let before = Timeframe::nothing_at(date.saturating_sub(INSTANT)).until(date);
    let lines = due.lines.iter().zip(due.adjusted()).filter_map(|(line, adjusted)| {
        let of = card.intervals.get(line.interval)?;
        let is_whole = of.periods_in(before).contains(&line.period);
        let charge = if is_whole { Charge::Whole(adjusted) } else { Charge::SoFar(adjusted) };
        charged(of, line.period.start(), charge)
    });
    Ok(lines.collect())
}

fn said(invoice: &Invoice) -> Result<Description, Error> {
    let text = format!("invoice {}", invoice.invoice_number);
    Description::parse(text).map_err(|_| Error::corrupt("a number of an invoice is no text"))
}
