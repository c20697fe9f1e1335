//! Invoices of boundaries that other terms bill otherwise (subscriptions 2.7).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Decimal, Error, PriceId, Timeframe, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{credit_notes, invoices, prices},
        time::{crediting, due, invoicing, voiding},
    },
    invoice::{Credit, CreditNoteReason, CreditNoteSource, Invoice, InvoiceSource, InvoiceStatus},
    limits,
    price::BillingMode,
    subscription::SubscriptionEntry,
    time::INSTANT,
};

/// Bills the boundaries anew that have passed, where terms that are others since an instant bill them otherwise.
///
/// What was issued is void where nobody has paid for it, and credited as a whole where somebody has; a draft
/// follows the terms. Fees in advance that come to less are credited.
///
/// # Errors
///
/// A constraint violation where one of them is synced or about to be, or there are too many.
pub(in crate::engine) async fn rebill(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    entry: &mut SubscriptionEntry,
    since: Timestamp,
) -> Result<(), Error> {
    let passed = entry.invoicing.as_ref().and_then(|of| of.passed);
    let Some(passed) = passed else { return Ok(()) };
    let mut fees = prices::card(tx, entry).await?.in_advance_between(since, since.max(passed));
    for (price, start) in
        prices::card(tx, before).await?.in_advance_between(since, since.max(passed))
    {
        let known = fees.entry(price).or_insert(start);
        *known = start.min(*known);
    }
    let short = crediting::take_back_notes(tx, entry, &fees).await?;
    let intervals = [before, &*entry].into_iter().flat_map(|of| &of.subscription.price_intervals);
    let charged: BTreeSet<_> = intervals.map(|of| of.price_id).collect();
    let from = fees.values().copied().chain([since]).min().unwrap_or(since);
    for boundary in boundaries(tx, before, entry, from, passed).await? {
        let (were, are) =
            (charges(tx, before, boundary).await?, charges(tx, entry, boundary).await?);
        if are_others(&were, &are, &short) {
            let bills = !are.is_empty();
            bill_anew(tx, entry, boundary, (bills, &charged)).await?;
        }
    }
    crediting::credit_cut(tx, entry, &fees, since).await
}

/// Returns the boundaries of old or new terms from one instant up to another.
async fn boundaries(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    after: &SubscriptionEntry,
    from: Timestamp,
    until: Timestamp,
) -> Result<BTreeSet<Timestamp>, Error> {
    let mut found = BTreeSet::new();
    for entry in [before, after] {
        let card = prices::card(tx, entry).await?;
        let mut last = from.saturating_sub(INSTANT);
        while let Some(next) = card.next_due(Some(last)).filter(|next| *next <= until) {
            last = next;
            found.insert(next);
            if found.len() > limits::REWOUND {
                let most = limits::REWOUND;
                let detail = format!("more than {most} billing periods would be billed anew");
                return Err(Error::constraint(detail));
            }
        }
    }
    Ok(found)
}

/// Charge that falls due: when in its period, for how much of it, and what it comes to.
#[derive(Debug, PartialEq, Eq)]
struct Charge {
    mode: BillingMode,
    period: Timeframe,
    quantity: Decimal,
    amount: Decimal,
}

/// Returns what falls due at a boundary, by price and start of its period.
async fn charges(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    boundary: Timestamp,
) -> Result<BTreeMap<(PriceId, Timestamp), Charge>, Error> {
    let card = prices::card(tx, entry).await?;
    let due = due::due(tx, entry, boundary).await?;
    let adjusted = due.adjusted();
    let charges = due.lines.into_iter().zip(adjusted).filter_map(|(line, amount)| {
        let price = &card.intervals.get(line.interval)?.price;
        let mode = price.charge.billing_mode();
        let charge = Charge { mode, period: line.period, quantity: line.quantity, amount };
        Some(((price.id, line.period.start()), charge))
    });
    Ok(charges.collect())
}

/// Tells whether a boundary has to be billed anew: something in arrears is another, or a fee in advance comes to
/// more than before and than what was billed for it.
fn are_others(
    were: &BTreeMap<(PriceId, Timestamp), Charge>,
    are: &BTreeMap<(PriceId, Timestamp), Charge>,
    short: &BTreeSet<PriceId>,
) -> bool {
    let keys: BTreeSet<_> = were.keys().chain(are.keys()).collect();
    keys.into_iter().any(|key| {
        let (old, new) = (were.get(key), are.get(key));
        let mode = new.or(old).map(|of| of.mode);
        if mode == Some(BillingMode::InArrear) {
            return old != new;
        }
        let none = Decimal::zero();
        let amount = |of: Option<&Charge>| of.map_or(none.clone(), |of| of.amount.clone());
        amount(old) < amount(new) && short.contains(&key.0)
    })
}

/// Takes back what was issued for a boundary, and makes a draft of what it bills now; one that there is follows
/// the terms. What somebody has made void is not billed by itself.
async fn bill_anew(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    boundary: Timestamp,
    (bills, charged): (bool, &BTreeSet<PriceId>),
) -> Result<(), Error> {
    let found = invoices::of_subscription_from(tx, &entry.subscription, boundary).await?;
    let own =
        |of: &Invoice| of.invoice_date == boundary && of.source == InvoiceSource::Subscription;
    let (mut is_billed, mut is_taken_back, mut by_hand) = (false, false, Vec::new());
    for mut invoice in found.into_iter().filter(own) {
        match invoice.status {
            InvoiceStatus::Draft if bills || !invoice.by_hand.is_empty() => is_billed = true,
            InvoiceStatus::Draft => {
                invoices::remove(tx, &invoice).await?;
                let drafts = entry.invoicing.iter_mut().map(|of| &mut of.drafts);
                drafts.for_each(|drafts| drafts.retain(|of| of.id != invoice.id));
            }
            InvoiceStatus::Void => is_billed = true,
            _ if invoice.is_unpaid() => {
                let lines = invoice.lines.iter().filter(|line| !charged.contains(&line.price_id));
                by_hand.extend(lines.cloned());
                voiding::take_back(tx, &mut invoice).await?;
                is_taken_back = true;
            }
            InvoiceStatus::Paid => {
                credit_charges(tx, invoice, charged).await?;
                is_taken_back = true;
            }
            status => {
                let (number, status) = (&invoice.invoice_number, status.name());
                let detail = format!("{number} of {boundary} is {status}, and stays");
                return Err(Error::constraint(detail));
            }
        }
    }
    let has_usage = prices::card(tx, entry).await?.has_usage_due(boundary);
    let drafts = entry.invoicing.iter_mut().flat_map(|of| &mut of.drafts);
    drafts.filter(|of| of.boundary == boundary).for_each(|of| of.has_usage = has_usage);
    if is_taken_back && !by_hand.is_empty() || bills && (is_taken_back || !is_billed) {
        invoicing::make_passed(tx, entry, boundary, &by_hand).await?;
    }
    Ok(())
}

/// Credits what is left of the charges of an invoice that somebody has paid for. Its lines by hand stay.
async fn credit_charges(
    tx: &mut Transaction<'_>,
    invoice: Invoice,
    charged: &BTreeSet<PriceId>,
) -> Result<(), Error> {
    let customer = invoice.customer_id;
    let before = credit_notes::lines_that_count(tx, customer, &invoice.credit_notes).await?;
    let lines = invoice.lines.iter().filter(|line| charged.contains(&line.price_id));
    let left = lines.map(|line| (line, invoice.left_of(line, &before)));
    let left = left.filter(|(_, share)| !share.total().is_zero());
    let credits: Vec<_> = left.map(|(line, share)| Credit::of(line, line.period, share)).collect();
    if credits.is_empty() {
        return Ok(());
    }
    let why = (CreditNoteSource::Change, CreditNoteReason::OrderChange, None);
    let now = tx.now;
    crediting::credit(tx, invoice, credits, why, now).await.map(|_| ())
}
