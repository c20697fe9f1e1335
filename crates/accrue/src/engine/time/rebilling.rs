//! Invoices of boundaries that other terms bill otherwise (subscriptions 2.7).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Decimal, Error, Timeframe, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{invoices, prices},
        time::{
            crediting::{self, FeeCycle},
            due, invoicing, voiding,
        },
    },
    invoice::{Invoice, InvoiceLine, InvoiceSource, InvoiceStatus},
    limits,
    price::BillingMode,
    rating::RatedInterval,
    subscription::{InForce, Reached, SubscriptionEntry},
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
    if let Some(since) = entry.subscription.usage_differs_since(&before.subscription) {
        take_back_thresholds(tx, entry, since).await?;
    }
    let passed = entry.invoicing.as_ref().and_then(|of| of.passed);
    let Some(passed) = passed else { return Ok(()) };
    let mut fees = prices::card(tx, entry).await?.in_advance_between(since, since.max(passed));
    let were = prices::card(tx, before).await?.in_advance_between(since, since.max(passed));
    for (price, start) in were {
        let known = fees.entry(price).or_insert(start);
        *known = start.min(*known);
    }
    let from = fees.values().copied().chain([since]).min().unwrap_or(since);
    let mut waiting = boundaries(tx, before, entry, from, passed).await?;
    loop {
        let short = crediting::take_back_notes(tx, entry, &fees).await?;
        let mut billed = Vec::new();
        for boundary in &waiting {
            let found = Found::read(tx, before, entry, *boundary).await?;
            if found.is_other(&short) {
                found.bill_anew(tx, entry).await?;
                billed.push(*boundary);
            }
        }
        if billed.is_empty() {
            break;
        }
        // What is taken back may have billed a fee that is due at another one now.
        waiting.retain(|boundary| !billed.contains(boundary));
    }
    crediting::credit_cut(tx, entry, &fees, since).await
}

/// Takes back threshold invoices of usage that is not charged in the period that they have billed (invoicing 15): what
/// has come about since then is counted anew.
async fn take_back_thresholds(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    since: Timestamp,
) -> Result<(), Error> {
    let reached = entry.invoicing.as_ref().and_then(|of| of.reached.clone());
    let Some(reached) = reached else { return Ok(()) };
    let card = prices::card(tx, entry).await?;
    let is_charged = |line: &InvoiceLine| {
        let (start, end) = (line.period.start(), line.period.end());
        let own = card.intervals.iter().filter(|of| of.in_force == line.in_force());
        let mut periods = own.flat_map(|of| of.periods_in(line.period));
        periods.any(|period| period.start() == start && end <= period.end())
    };
    let mut is_taken_back = false;
    for mut invoice in invoices::of_subscription_from(tx, &entry.subscription, since).await? {
        let lines = if invoice.lines.is_empty() { &invoice.by_hand } else { &invoice.lines };
        if invoice.source != InvoiceSource::Partial || lines.iter().all(is_charged) {
            continue;
        }
        match invoice.status {
            InvoiceStatus::Void => continue,
            InvoiceStatus::Draft => invoices::remove(tx, &invoice).await?,
            InvoiceStatus::Paid if !invoice.is_unpaid() => {
                let by_hand = prices::by_hand(tx, &invoice.lines).await?;
                crediting::credit_lines(tx, invoice, |line| !by_hand.contains(&line.price_id))
                    .await?;
            }
            _ => voiding::take_back(tx, &mut invoice).await?,
        }
        is_taken_back = true;
    }
    if let Some(invoicing) = entry.invoicing.as_mut().filter(|_| is_taken_back) {
        invoicing.reached = Some(Reached { evaluated: Decimal::zero(), ..reached });
    }
    Ok(())
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
    cycle: FeeCycle,
    quantity: Decimal,
    amount: Decimal,
}

/// What falls due at a boundary, by price and start of its period.
type Charges = BTreeMap<(InForce, Timestamp), Charge>;

async fn charges(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    boundary: Timestamp,
) -> Result<Charges, Error> {
    let card = prices::card(tx, entry).await?;
    let due = due::due(tx, entry, boundary).await?;
    let adjusted = due.adjusted();
    let charges = due.lines.into_iter().zip(adjusted).filter_map(|(line, amount)| {
        let RatedInterval { price, in_force, .. } = card.intervals.get(line.interval)?;
        let cycle = card.cycle_of(price.id, line.period.start());
        let (mode, period) = (price.charge.billing_mode(), line.period);
        let charge = Charge { mode, period, cycle, quantity: line.quantity, amount };
        Some(((*in_force, line.period.start()), charge))
    });
    Ok(charges.collect())
}

/// What there is at a boundary.
struct Found {
    boundary: Timestamp,
    were: Charges,
    are: Charges,
    /// Invoices of it.
    invoices: Vec<Invoice>,
}

impl Found {
    async fn read(
        tx: &mut Transaction<'_>,
        before: &SubscriptionEntry,
        after: &SubscriptionEntry,
        boundary: Timestamp,
    ) -> Result<Self, Error> {
        let were = charges(tx, before, boundary).await?;
        let are = charges(tx, after, boundary).await?;
        let mut invoices =
            invoices::of_subscription_from(tx, &after.subscription, boundary).await?;
        invoices.retain(|of| {
            of.invoice_date == boundary
                && of.source == InvoiceSource::Subscription
                && !of.is_taken_back
        });
        Ok(Self { boundary, were, are, invoices })
    }

    /// Tells whether it has to be billed anew: something in arrears is another, or a fee in advance comes to more
    /// than what was billed for its cycle.
    fn is_other(&self, short: &BTreeSet<FeeCycle>) -> bool {
        let keys: BTreeSet<_> = self.were.keys().chain(self.are.keys()).collect();
        let is_other = |key: &(InForce, Timestamp)| {
            let (old, new) = (self.were.get(key), self.are.get(key));
            match new.or(old).map(|of| of.mode) {
                Some(BillingMode::InArrear) => old != new,
                _ => {
                    let is_short = new.is_some_and(|of| short.contains(&of.cycle));
                    is_short && (old != new || self.invoices.is_empty())
                }
            }
        };
        keys.into_iter().any(is_other)
    }

    /// Takes back what was issued, and makes a draft of what is due now; one that there is follows the terms. What
    /// somebody has made void is not billed by itself.
    async fn bill_anew(
        self,
        tx: &mut Transaction<'_>,
        entry: &mut SubscriptionEntry,
    ) -> Result<(), Error> {
        let Self { boundary, are, invoices, .. } = self;
        let bills = !are.is_empty();
        let (mut is_billed, mut is_taken_back, mut by_hand) = (false, false, Vec::new());
        for mut invoice in invoices {
            match invoice.status {
                InvoiceStatus::Draft if bills || !invoice.by_hand.is_empty() => is_billed = true,
                InvoiceStatus::Draft => {
                    invoices::remove(tx, &invoice).await?;
                    let drafts = entry.invoicing.iter_mut().map(|of| &mut of.drafts);
                    drafts.for_each(|drafts| drafts.retain(|of| of.id != invoice.id));
                }
                InvoiceStatus::Void => is_billed = true,
                _ if invoice.is_unpaid() => {
                    let own = prices::by_hand(tx, &invoice.lines).await?;
                    let lines = invoice.lines.iter().filter(|line| own.contains(&line.price_id));
                    by_hand.extend(lines.cloned());
                    voiding::take_back(tx, &mut invoice).await?;
                    is_taken_back = true;
                }
                InvoiceStatus::Paid => {
                    let own = prices::by_hand(tx, &invoice.lines).await?;
                    crediting::credit_lines(tx, invoice, |line| !own.contains(&line.price_id))
                        .await?;
                    is_taken_back = true;
                }
                status => {
                    let (number, status) = (&invoice.invoice_number, status.name());
                    let detail = format!("{number} of {boundary} is {status}, and stays");
                    return Err(Error::constraint(detail));
                }
            }
        }
        // What is due at none any more may be so again, where it ends then.
        if let Some(of) =
            entry.invoicing.as_mut().filter(|of| !bills && of.passed == Some(boundary))
        {
            of.passed = Some(boundary.saturating_sub(INSTANT));
        }
        let has_usage = prices::card(tx, entry).await?.has_usage_due(boundary);
        let drafts = entry.invoicing.iter_mut().flat_map(|of| &mut of.drafts);
        drafts.filter(|of| of.boundary == boundary).for_each(|of| of.has_usage = has_usage);
        if is_taken_back && !by_hand.is_empty() || bills && (is_taken_back || !is_billed) {
            invoicing::make_passed(tx, entry, boundary, &by_hand).await?;
        }
        Ok(())
    }
}
