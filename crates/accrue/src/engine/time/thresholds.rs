//! Threshold invoices: what usage has come to within a period, billed before its end (invoicing 15).

use std::collections::BTreeSet;

use crate::{
    CustomerId, Decimal, Error, InvoiceId, Timeframe, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{self, invoices, outbox, period_groups, prices, subscriptions},
        time::{due, invoicing},
    },
    invoice::{self, Charges, Invoice, InvoiceSource, Terms},
    period::Periods,
    schema::CustomerHead,
    subscription::{Reached, SubscriptionEntry},
    webhook::Body,
};

/// Bills what the usage of a subscription has come to, where that reaches its threshold. Credits that it
/// has drawn are written already.
pub(in crate::engine) async fn bill(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    periods: &Periods,
    evaluated: Decimal,
) -> Result<(), Error> {
    let Some(threshold) = periods.threshold.clone() else { return Ok(()) };
    let mut entry = written(tx, customer, periods).await?;
    let subscription_id = entry.subscription.id;
    let invoice = made(tx, &entry, periods).await?;
    let is_made = invoice.total > Decimal::zero();
    let upcoming = entry.invoicing.as_ref().and_then(|of| of.upcoming()).map(|draft| draft.id);
    let invoice_id = if is_made { Some(invoice.id) } else { upcoming };
    if let Some(invoicing) = &mut entry.invoicing {
        let start = threshold.period.start();
        invoicing.reached = Some(Reached { start, evaluated: evaluated.clone() });
    }
    subscriptions::save_subscription(tx, &entry).await?;
    if let Some(invoice_id) = invoice_id {
        let body = Body::InvoicingThresholdExceeded {
            subscription_id,
            evaluated_amount: evaluated,
            invoicing_threshold: threshold.amount,
            invoice_id,
            threshold_invoice_created: is_made,
        };
        outbox::tell(tx, customer, tx.now, body).await?;
    }
    if is_made {
        issue_or_keep(tx, &entry, invoice).await?;
    }
    Ok(())
}

/// Reads a subscription as this commit has it by now.
async fn written(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    periods: &Periods,
) -> Result<SubscriptionEntry, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let id = periods.subscription_id;
    let found = subscriptions::subscriptions_under(tx, &[(&guard, id)]).await?;
    let found = found.into_iter().flatten().next();
    found.ok_or_else(|| Error::corrupt("a subscription that is used is missing"))
}

/// Makes the invoice of what usage has come to by now.
async fn made(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    periods: &Periods,
) -> Result<Invoice, Error> {
    let (of, now) = (&entry.subscription, tx.now);
    let card = prices::card(tx, entry).await?;
    let mut periods = periods.clone();
    period_groups::know_all(tx, of.customer_id, &mut periods).await?;
    let used = |period: Timeframe, to: Timestamp| periods.used(period, to);
    let due = card.so_far(&used, now);
    let starts: BTreeSet<_> = due.lines.iter().map(|line| line.period.start()).collect();
    let id = InvoiceId::generate(now, tx.entropy());
    let drawn = due::drawn(tx, entry, &card, &due).await?;
    let partially_invoiced =
        due::partially_invoiced(tx, entry, starts.first().copied(), now).await?;
    let adjustments = &of.adjustment_intervals;
    let charges =
        Charges { invoice_id: id, card: &card, due, adjustments, drawn, partially_invoiced };
    // What it comes to by a property is on the invoice of the period: figures of this batch are not written yet.
    let lines = invoice::lines(&charges);

    let books = invoices::books(tx, of.customer_id).await?;
    let of_plan = rows::plans::carried_of(tx, of).await?;
    let account = rows::account::account_entry(tx).await?;
    let terms = Terms::new(&of.carried, &of_plan, &books.entry.customer, &account.configuration);
    let invoice = Invoice::draft(id, of, now, terms, &books.receivables, now);
    let mut invoice = invoice.with_memo_of(&account.configuration);
    invoice.source = InvoiceSource::Partial;
    invoice.eligible_to_issue_at = Some(now);
    invoice.show(lines);
    invoices::save_books(tx, &books, None).await?;
    Ok(invoice)
}

/// Issues an invoice that was made, or keeps it with its lines for somebody to issue.
async fn issue_or_keep(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    mut invoice: Invoice,
) -> Result<(), Error> {
    let now = tx.now;
    // Its lines stay, for as long as it waits for somebody or for its tax.
    invoice.by_hand.clone_from(&invoice.lines);
    invoices::put_new(tx, &invoice).await?;
    if !invoice.will_auto_issue {
        return Ok(());
    }
    invoicing::issue_partial(tx, entry, &mut invoice, None, now).await
}
