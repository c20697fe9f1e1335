//! Invoices: look-up, lists, and what is done to one by hand.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    CustomerId, Error, IdOr, InvoiceId, Page, PageRequest, SubscriptionId,
    customer::AttributeValue,
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, invoices, lists::Walk, outbox},
        time::{collecting, current, invoicing, one_off, purchases, voiding},
    },
    invoice::{
        Invoice, InvoiceFilter, InvoiceSource, InvoiceStatus, InvoiceUpdate, Payment, TaxAnswer,
    },
    limits,
    page::{Listing, Position},
    schema::{self, Index},
    webhook::Body,
};

impl Account {
    /// Returns an invoice (invoicing 9.3): a draft with the figures of now.
    pub async fn fetch_invoice(&self, id: InvoiceId) -> Result<Invoice, Error> {
        let find = |mut tx| async move {
            let found = shown(&mut tx, id).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Returns the draft of the next boundary of a subscription, with the figures of now (invoicing 9.3): where
    /// nothing falls due any more, the last one that is not issued.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such subscription, or
    /// nothing is left to invoice.
    pub async fn upcoming_invoice(&self, subscription: SubscriptionId) -> Result<Invoice, Error> {
        let find = |mut tx| async move {
            let found = upcoming(&mut tx, subscription).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Lists invoices, those with the newest date first (invoicing 9.2).
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the filter names more than
    /// [100](crate::limits::FILTERED_CUSTOMERS) customers, or the cursor is none of this list;
    /// [`TooManyResults`](crate::ErrorKind::TooManyResults) where more than
    /// [10,000](crate::limits::RESULT_ROWS) invoices would have to be looked at for one page.
    pub async fn list_invoices(
        &self,
        filter: &InvoiceFilter,
        page: &PageRequest,
    ) -> Result<Page<Invoice>, Error> {
        let listing =
            Listing { name: "invoices", account: self.id(), filter: format!("{filter:?}") };
        let mut tx = self.reading();
        let indexes = indexes(&mut tx, filter).await?;
        let mut walk = Walk::merged(listing, &indexes, filter.invoice_date, page)?;
        let (mut found, mut looked_at) = (Vec::new(), 0_usize);
        while !walk.is_full(&found) {
            let places = walk.next(&tx).await?;
            if places.is_empty() {
                break;
            }
            for batch in places.chunks(limits::PAGE_ROWS.saturating_add(1)) {
                if walk.is_full(&found) {
                    break;
                }
                looked_at = looked_at.saturating_add(batch.len());
                if looked_at > limits::RESULT_ROWS {
                    let most = limits::RESULT_ROWS;
                    return Err(Error::too_many(format!(
                        "more than {most} invoices would have to be looked at: a narrower filter helps"
                    )));
                }
                found.extend(invoices_at(&mut tx, batch, filter).await?);
            }
        }
        Ok(walk.page(found))
    }

    /// Changes the metadata of an invoice, or when a draft is to be paid, or the date of a one-off draft
    /// (invoicing 9.4). One that is issued by itself is issued at once where its date has come by that.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where something other than its
    /// metadata is given and it is no draft, the due date is before the date that it bears, or a date is given
    /// and a subscription dates it; [`RequestValidation`](crate::ErrorKind::RequestValidation) where both net
    /// terms and a due date are given, the date is more than a year ahead, or the metadata is out of bounds.
    pub fn update_invoice(&self, id: InvoiceId, update: InvoiceUpdate) -> Call<Invoice> {
        Call::new(
            self,
            Op::new("update_invoice", (id, update), |tx, (id, update)| {
                update_invoice(tx, *id, update)
            }),
        )
    }

    /// Issues a draft that is not issued by itself (invoicing 9.5). Where it is to be taxed, it waits for its
    /// tax, and is issued by what [reports](Self::report_taxes) that.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is no draft, is issued by
    /// itself, or may not be issued yet.
    pub fn issue_invoice(&self, id: InvoiceId) -> Call<Invoice> {
        Call::new(self, Op::new("issue_invoice", id, |tx, id| issue_invoice(tx, *id)))
    }

    /// Issues a draft of fees alone, and is [`issue_invoice`](Self::issue_invoice) else: what the published API
    /// calls synchronous (invoicing 4.4).
    ///
    /// # Errors
    ///
    /// Those of [`issue_invoice`](Self::issue_invoice);
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where a line is of usage.
    pub fn issue_invoice_of_fees(&self, id: InvoiceId) -> Call<Invoice> {
        Call::new(
            self,
            Op::new("issue_invoice_of_fees", id, |tx, id| issue_invoice_of_fees(tx, *id)),
        )
    }

    /// Marks an invoice as paid by other means (invoicing 8.5).
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is neither issued nor synced.
    pub fn mark_invoice_paid(&self, id: InvoiceId, payment: Payment) -> Call<Invoice> {
        Call::new(
            self,
            Op::new("mark_invoice_paid", (id, payment), |tx, (id, payment)| {
                mark_invoice_paid(tx, *id, payment)
            }),
        )
    }

    /// Makes an invoice void (invoicing 8.6): what it took of the customer's balance comes back.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is not issued, or a payment
    /// is under way.
    pub fn void_invoice(&self, id: InvoiceId) -> Call<Invoice> {
        Call::new(self, Op::new("void_invoice", id, |tx, id| void_invoice(tx, *id)))
    }
}

/// Returns an invoice where there is one: a draft with the figures of now.
#[boxed]
pub(in crate::engine) async fn found(
    tx: &mut Transaction<'_>,
    id: InvoiceId,
) -> Result<Option<Invoice>, Error> {
    match shown(tx, id).await {
        Ok(invoice) => Ok(Some(invoice)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

#[boxed]
async fn shown(tx: &mut Transaction<'_>, id: InvoiceId) -> Result<Invoice, Error> {
    let mut invoice = invoices::invoice(tx, id).await?;
    show(tx, &mut invoice).await?;
    Ok(invoice)
}

/// Computes what a draft shows.
pub(super) async fn show(tx: &mut Transaction<'_>, invoice: &mut Invoice) -> Result<(), Error> {
    if invoice.source == InvoiceSource::Partial {
        invoice.show_made_lines();
        return Ok(());
    }
    match (invoice.status, invoice.subscription_id) {
        (InvoiceStatus::Draft, Some(subscription)) => {
            let entry = rows::subscriptions::subscription_entry(tx, subscription).await?;
            invoicing::show(tx, &entry, invoice).await
        }
        (InvoiceStatus::Draft, None) => {
            one_off::follow_issuance(tx, invoice).await?;
            invoice.show_lines_by_hand();
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Computes what a draft shows as it is billed: without what it takes back of fees.
pub(super) async fn show_as_billed(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
) -> Result<(), Error> {
    let Some(subscription) = invoice.subscription_id else { return show(tx, invoice).await };
    if invoice.source == InvoiceSource::Partial {
        return show(tx, invoice).await;
    }
    let entry = rows::subscriptions::subscription_entry(tx, subscription).await?;
    invoicing::show_as_billed(tx, &entry, invoice).await.map(|_| ())
}

#[boxed]
async fn upcoming(tx: &mut Transaction<'_>, id: SubscriptionId) -> Result<Invoice, Error> {
    let entry = rows::subscriptions::subscription_entry(tx, id).await?;
    let draft = entry.invoicing.as_ref().and_then(|of| of.upcoming().or_else(|| of.drafts.last()));
    if let Some(draft) = draft {
        return shown(tx, draft.id).await;
    }
    // Nothing falls due any more: one that waits for somebody to issue it is the last.
    let of = &entry.subscription;
    let mut invoices = invoices::heads_from(tx, of.customer_id, of.start_date).await?;
    invoices.retain(|invoice| {
        let is_draft = invoice.status == InvoiceStatus::Draft;
        is_draft
            && invoice.subscription_id == Some(id)
            && invoice.source == InvoiceSource::Subscription
    });
    let last = invoices.last().map(|invoice| invoice.id);
    shown(tx, last.ok_or_else(|| Error::not_found("upcoming invoice of subscription", id))?).await
}

/// Whose rows pass a filter.
pub(super) enum Named {
    Anyone,
    One(CustomerId),
    Nobody,
}

/// Returns whose rows pass a filter: whatever names are given must be one customer's, that of the
/// subscription too.
pub(super) async fn named_customer(
    tx: &mut Transaction<'_>,
    customers: &[IdOr<CustomerId>],
    subscription: Option<SubscriptionId>,
) -> Result<Named, Error> {
    let (count, most) = (customers.len(), limits::FILTERED_CUSTOMERS);
    if count > most {
        let message = format!("found {count} customers, expected at most {most}");
        return Err(Error::invalid("customers", message));
    }
    let mut ids = Vec::new();
    if let Some(id) = subscription {
        let entry = rows::subscriptions::subscription_entry(tx, id).await;
        ids.push(entry.map(|entry| entry.subscription.customer_id));
    }
    for named in customers {
        ids.push(rows::customers::customer(tx, named).await.map(|customer| customer.id));
    }
    let mut found = Named::Anyone;
    for id in ids {
        found = match (id, found) {
            (Ok(id), Named::Anyone) => Named::One(id),
            (Ok(id), Named::One(known)) if known == id => Named::One(id),
            (Err(error), _) if !error.is_not_found() => return Err(error),
            _ => return Ok(Named::Nobody),
        };
    }
    Ok(found)
}

/// Returns the narrowest indexes that name all that passes a filter.
#[boxed]
async fn indexes(tx: &mut Transaction<'_>, filter: &InvoiceFilter) -> Result<Vec<Index>, Error> {
    use InvoiceStatus::{Issued, Paid, Synced};

    match named_customer(tx, &filter.customers, filter.subscription).await? {
        Named::One(id) => return Ok(vec![Index::invoices_of_customer(tx.account, id)]),
        Named::Nobody => return Ok(Vec::new()),
        Named::Anyone => {}
    }
    let statuses = match filter.statuses.as_slice() {
        [] => &[Issued, Paid, Synced],
        named => named,
    };
    let statuses: BTreeSet<_> = statuses.iter().copied().collect();
    Ok(statuses.into_iter().map(|of| Index::invoices_of_status(tx.account, of)).collect())
}

/// Reads the invoices at some places, and keeps those that pass and whose customers are not deleted.
#[boxed]
async fn invoices_at(
    tx: &mut Transaction<'_>,
    places: &[Position],
    filter: &InvoiceFilter,
) -> Result<Vec<(Position, Invoice)>, Error> {
    let account = tx.account;
    let slot = |at: &Position| schema::invoice(account, InvoiceId::from_bytes(schema::id_at(at)));
    let slots: Vec<_> = places.iter().map(slot).collect();
    let rows = places.iter().zip(tx.peek(&slots).await?);
    let rows: Vec<_> = rows.filter_map(|(at, row)| Some((*at, row?))).collect();
    let ids: BTreeSet<_> = rows.iter().map(|(_, of)| of.invoice.customer_id).collect();
    let slots: Vec<_> = ids.iter().map(|id| schema::customer(account, *id)).collect();
    let entries = ids.into_iter().zip(tx.peek(&slots).await?);
    let there = entries.filter_map(|(id, entry)| Some((id, entry?)));
    let there = there.filter(|(_, entry)| entry.deleted_at.is_none());
    let zones: BTreeMap<_, _> = there.map(|(id, entry)| (id, entry.customer.timezone)).collect();
    let mut found = Vec::new();
    for (at, entry) in rows {
        let Some(zone) = zones.get(&entry.invoice.customer_id) else { continue };
        if !filter.may_pass(&entry.invoice, zone, tx.now) {
            continue;
        }
        if entry.invoice.status == InvoiceStatus::Draft {
            let mut invoice = invoices::peek_lines(tx, entry).await?;
            match show(tx, &mut invoice).await {
                Ok(()) if filter.passes_total(&invoice) => found.push((at, invoice)),
                Ok(()) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        } else if filter.passes_total(&entry.invoice) {
            found.push((at, invoices::peek_lines(tx, entry).await?));
        }
    }
    Ok(found)
}

/// Returns an invoice whose customer is applied.
pub(super) async fn current_invoice(
    tx: &mut Transaction<'_>,
    id: InvoiceId,
) -> Result<Invoice, Stop> {
    let invoice = invoices::invoice(tx, id).await?;
    current::current_head(tx, invoice.customer_id).await?;
    Ok(invoice)
}

#[boxed]
async fn update_invoice(
    tx: &mut Transaction<'_>,
    id: InvoiceId,
    update: &InvoiceUpdate,
) -> Result<Invoice, Stop> {
    let before = current_invoice(tx, id).await?;
    let customer = rows::customers::customer(tx, &before.customer_id.into()).await?;
    let mut invoice = update.clone().decide(before.clone(), &customer.timezone, tx.now)?;
    if invoice != before {
        invoices::save(tx, before.status, &invoice).await?;
        let mut previous_attributes = crate::customer::PreviousAttributes::new();
        if invoice.metadata != before.metadata {
            let metadata = AttributeValue::Metadata(before.metadata);
            previous_attributes.insert("metadata".to_owned(), metadata);
        }
        if invoice.net_terms != before.net_terms {
            let days = before.net_terms.map(|days| days.to_string());
            previous_attributes.insert("net_terms".to_owned(), AttributeValue::Json(days));
        }
        if invoice.custom_due_date != before.custom_due_date {
            let date = before.custom_due_date.map(|at| at.to_string());
            previous_attributes.insert("due_date".to_owned(), AttributeValue::Text(date));
        }
        let body = Body::InvoiceEdited { invoice_id: id, previous_attributes, lines: None };
        outbox::tell(tx, invoice.customer_id, tx.now, body).await?;
    }
    one_off::follow_issuance(tx, &mut invoice).await?;
    if invoice.is_to_be_issued() {
        // Its date has come by that.
        one_off::issue(tx, &mut invoice, None, tx.now).await?;
    }
    show(tx, &mut invoice).await?;
    Ok(invoice)
}

#[boxed]
async fn issue_invoice(tx: &mut Transaction<'_>, id: InvoiceId) -> Result<Invoice, Stop> {
    let mut invoice = current_invoice(tx, id).await?;
    show(tx, &mut invoice).await?;
    invoice.check_issue(tx.now)?;
    issue_draft(tx, invoice, None).await
}

#[boxed]
async fn issue_invoice_of_fees(tx: &mut Transaction<'_>, id: InvoiceId) -> Result<Invoice, Stop> {
    let mut invoice = current_invoice(tx, id).await?;
    show(tx, &mut invoice).await?;
    let ids: Vec<_> = invoice.lines.iter().map(|line| line.price_id).collect();
    let prices = rows::prices::prices_of_lines(tx, &ids).await?;
    if let Some(usage) = prices.iter().find(|price| !price.charge.is_fixed()) {
        let detail = format!("{} is usage, which is not issued synchronously", usage.name);
        return Err(Error::constraint(detail).into());
    }
    issue_invoice(tx, id).await
}

/// Issues a draft, with taxes where these are known; one that is to be taxed waits for that first.
pub(super) async fn issue_draft(
    tx: &mut Transaction<'_>,
    mut invoice: Invoice,
    taxes: Option<TaxAnswer<'_>>,
) -> Result<Invoice, Stop> {
    let mut issued = if let Some(subscription) = invoice.subscription_id {
        let mut entry = rows::subscriptions::subscription_entry(tx, subscription).await?;
        let issued = invoicing::issue(tx, &mut entry, invoice, taxes, tx.now).await?;
        rows::subscriptions::save_subscription(tx, &entry).await?;
        issued
    } else {
        one_off::issue(tx, &mut invoice, taxes, tx.now).await?;
        invoice
    };
    if issued.awaits_tax() {
        show(tx, &mut issued).await?;
    }
    Ok(issued)
}

#[boxed]
async fn mark_invoice_paid(
    tx: &mut Transaction<'_>,
    id: InvoiceId,
    payment: &Payment,
) -> Result<Invoice, Stop> {
    let mut invoice = current_invoice(tx, id).await?;
    let before = invoice.status;
    invoice.mark_paid(payment, tx.now)?;
    let Payment { received_at, external_id, notes } = payment.clone();
    let body = Body::InvoiceMarkedAsPaid {
        invoice_id: id,
        payment_received_date: received_at,
        external_id,
        notes,
    };
    outbox::tell(tx, invoice.customer_id, tx.now, body).await?;
    collecting::conclude(tx, &mut invoice, tx.now).await?;
    invoices::save(tx, before, &invoice).await?;
    let now = tx.now;
    purchases::follow(tx, &invoice, now).await?;
    Ok(invoice)
}

#[boxed]
async fn void_invoice(tx: &mut Transaction<'_>, id: InvoiceId) -> Result<Invoice, Stop> {
    let mut invoice = current_invoice(tx, id).await?;
    voiding::void(tx, &mut invoice).await?;
    purchases::follow_void(tx, &invoice).await?;
    Ok(invoice)
}
