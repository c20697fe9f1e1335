//! Invoices that an end in the past takes back (invoicing 6.2).

use crate::{
    Error, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{invoices, prices},
        time::voiding,
    },
    invoice::{Invoice, InvoiceSource, InvoiceStatus},
    limits,
    subscription::SubscriptionEntry,
    time::INSTANT,
};

/// Takes back what was invoiced from the end of a subscription on, which lies in the past: what was issued is
/// void, drafts are gone, and the boundary of the end is billed anew. A draft of that very boundary stays,
/// which follows the terms.
///
/// # Errors
///
/// A constraint violation where somebody has paid for one of them, it is synced or about to be, or there are too many.
pub(in crate::engine) async fn rewind(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    end: Timestamp,
) -> Result<(), Error> {
    let Some(invoicing) = &entry.invoicing else { return Ok(()) };
    let (passed, upcoming) = (invoicing.passed, invoicing.upcoming().map(|draft| draft.id));
    let before = end.saturating_sub(INSTANT);
    let card = prices::card(tx, entry).await?;
    let closes = card.next_due(Some(before)) == Some(end);
    let has_usage = card.has_usage_due(end);

    let mut later = invoices::of_subscription_from(tx, &entry.subscription, end).await?;
    later.retain(|of| !of.is_taken_back);
    let is_open = |of: &InvoiceStatus| matches!(of, InvoiceStatus::Draft | InvoiceStatus::Void);
    let issued = later.iter().filter(|of| !is_open(&of.status)).count();
    if issued > limits::REWOUND {
        let most = limits::REWOUND;
        let detail = format!("{issued} invoices are dated {end} or later, at most {most}");
        return Err(Error::constraint(detail));
    }
    let closing =
        |of: &Invoice| closes && of.invoice_date == end && of.source == InvoiceSource::Subscription;
    let (mut kept, mut is_billed_anew) = (None, false);
    for mut invoice in later {
        match invoice.status {
            // Its boundary has not passed: it goes to that of the end, or goes.
            InvoiceStatus::Draft if Some(invoice.id) == upcoming => {}
            // What somebody has made void is not billed by itself.
            InvoiceStatus::Draft | InvoiceStatus::Void if closing(&invoice) => kept = Some(end),
            InvoiceStatus::Void => {}
            InvoiceStatus::Draft => {
                invoices::remove(tx, &invoice).await?;
                let drafts = entry.invoicing.iter_mut().map(|of| &mut of.drafts);
                drafts.for_each(|drafts| drafts.retain(|of| of.id != invoice.id));
            }
            _ if invoice.is_unpaid() => {
                is_billed_anew |= closing(&invoice);
                voiding::take_back(tx, &mut invoice).await?;
            }
            status => {
                let Invoice { invoice_number, invoice_date, .. } = &invoice;
                let status = status.name();
                let detail = format!("{invoice_number} of {invoice_date} is {status}, and stays");
                return Err(Error::constraint(detail));
            }
        }
    }
    if let Some(of) = &mut entry.invoicing {
        let kept = kept.filter(|_| !is_billed_anew);
        of.passed = kept.or_else(|| passed.map(|passed| passed.min(before)));
        of.drafts
            .iter_mut()
            .filter(|of| of.boundary == end)
            .for_each(|of| of.has_usage = has_usage);
    }
    Ok(())
}
