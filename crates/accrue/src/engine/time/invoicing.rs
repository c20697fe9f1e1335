//! Invoices of subscriptions, boundary by boundary: drafts that are made, and issued (invoicing 4, 6).

use crate::{
    Error, InvoiceId, PriceId, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{self, invoice_lines, invoices, outbox, prices},
        time::{crediting, due, issuing, squaring, taxing},
    },
    invoice::{Invoice, InvoiceLine, InvoiceSource, InvoiceStatus, TaxAnswer, Terms},
    price::PriceClass,
    schema::CustomerHead,
    subscription::{Draft, InvoicingStep, SubscriptionEntry},
    webhook::Body,
};

/// Number of steps that an operation takes for a subscription that it changes.
const AT_ONCE: usize = 16;

/// Takes what time brings the invoices of a subscription at an instant.
pub(in crate::engine) async fn take(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    step: InvoicingStep,
    at: Timestamp,
) -> Result<(), Error> {
    match step {
        InvoicingStep::Pass => pass(tx, entry, at).await,
        InvoicingStep::Issue(draft) => {
            if let Some(invoicing) = &mut entry.invoicing {
                invoicing.drafts.retain(|of| of.id != draft.id);
            }
            let mut invoice = invoices::draft(tx, entry.subscription.customer_id, draft.id).await?;
            if is_automatic(tx, entry).await? {
                return issue(tx, entry, invoice, None, at).await.map(|_| ());
            }
            // It was turned off since: somebody issues it, whenever that is.
            invoice.will_auto_issue = false;
            invoices::save(tx, InvoiceStatus::Draft, &invoice).await
        }
    }
}

/// Lets the boundary of the last draft pass, and makes that of the next one.
async fn pass(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    at: Timestamp,
) -> Result<(), Error> {
    let is_automatic = is_automatic(tx, entry).await?;
    let Some(invoicing) = &mut entry.invoicing else { return Ok(()) };
    let Some(draft) = invoicing.upcoming().copied() else { return Ok(()) };
    invoicing.passed = Some(draft.boundary);
    if is_automatic != draft.is_automatic {
        let customer_id = entry.subscription.customer_id;
        let mut invoice = invoices::draft(tx, customer_id, draft.id).await?;
        invoice.will_auto_issue = is_automatic;
        invoices::save(tx, InvoiceStatus::Draft, &invoice).await?;
    }
    let Some(invoicing) = &mut entry.invoicing else { return Ok(()) };
    if !is_automatic {
        // Somebody issues it, whenever that is.
        invoicing.drafts.retain(|of| of.id != draft.id);
    }
    let customer_id = entry.subscription.customer_id;
    let invoice = invoices::draft(tx, customer_id, draft.id).await?;
    let only_takes_back = prices::card(tx, entry).await?.only_takes_back(draft.boundary);
    if only_takes_back && invoice.by_hand.is_empty() {
        if !is_automatic {
            credit_alone(tx, entry, invoice, at).await?;
        }
    } else {
        let body = Body::InvoiceDateElapsed { invoice_id: draft.id, invoice_date: draft.boundary };
        outbox::tell(tx, entry.subscription.customer_id, at, body).await?;
    }
    follow(tx, entry, at).await
}

/// Makes the draft of the next boundary, in place of one whose boundary is the next no longer.
pub(in crate::engine) async fn follow(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    at: Timestamp,
) -> Result<(), Error> {
    let Some(invoicing) = &entry.invoicing else { return Ok(()) };
    let card = prices::card(tx, entry).await?;
    let next = card.next_due(invoicing.passed);
    let upcoming = invoicing.upcoming().copied();
    let has_usage = |boundary| card.has_usage_due(boundary);
    if let Some(draft) = upcoming {
        if next == Some(draft.boundary) && draft.has_usage == has_usage(draft.boundary) {
            return Ok(());
        }
        let invoice = invoices::draft(tx, entry.subscription.customer_id, draft.id).await?;
        if !invoice.by_hand.is_empty() {
            // It goes to the next boundary with its lines by hand; where there is none, it stays.
            let boundary = next.unwrap_or(draft.boundary);
            let made_at = if next.is_some() { at } else { draft.made_at };
            let has_usage = has_usage(boundary);
            return move_to(tx, entry, invoice, Draft { boundary, made_at, has_usage, ..draft })
                .await;
        }
        invoices::remove(tx, &invoice).await?;
    }
    let draft = match next {
        Some(boundary) => Some(make(tx, entry, boundary, has_usage(boundary), at).await?),
        None => None,
    };
    if let Some(invoicing) = &mut entry.invoicing {
        invoicing.drafts.retain(|of| upcoming.is_none_or(|draft| draft.id != of.id));
        invoicing.drafts.extend(draft);
    }
    Ok(())
}

/// Moves the draft of the next boundary to another one.
async fn move_to(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    mut invoice: Invoice,
    draft: Draft,
) -> Result<(), Error> {
    let grace = rows::account::account_entry(tx).await?.configuration.grace_period;
    invoice.invoice_date = draft.boundary;
    invoice.eligible_to_issue_at = Some(draft.eligible_at(grace));
    invoices::save(tx, InvoiceStatus::Draft, &invoice).await?;
    let drafts = entry.invoicing.iter_mut().flat_map(|of| &mut of.drafts);
    drafts.filter(|of| of.id == draft.id).for_each(|of| *of = draft);
    Ok(())
}

/// Lets boundaries up to now pass, and issues what has no usage: fees in advance of a life that begins, or
/// of a change. What has usage is issued by whoever applies transitions.
pub(in crate::engine) async fn bill_at_once(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
) -> Result<(), Error> {
    let now = tx.now;
    let grace = rows::account::account_entry(tx).await?.configuration.grace_period;
    for _ in 0..AT_ONCE {
        match entry.next_invoicing(grace).filter(|(at, _)| *at <= now) {
            Some((_, InvoicingStep::Issue(draft))) if draft.has_usage => break,
            Some((_, step)) => take(tx, entry, step, now).await?,
            None => break,
        }
    }
    Ok(())
}

/// Makes the draft of a boundary that has passed, to be billed anew, with lines by hand of what was billed.
pub(super) async fn make_passed(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    boundary: Timestamp,
    by_hand: &[InvoiceLine],
) -> Result<(), Error> {
    let now = tx.now;
    let has_usage = prices::card(tx, entry).await?.has_usage_due(boundary);
    let draft = make(tx, entry, boundary, has_usage, now).await?;
    if !by_hand.is_empty() {
        let customer_id = entry.subscription.customer_id;
        let mut invoice = invoices::draft(tx, customer_id, draft.id).await?;
        let ids: Vec<_> = by_hand.iter().map(|line| line.price_id).collect();
        let prices = prices::prices_of_lines(tx, &ids).await?;
        let mut new = Vec::with_capacity(prices.len());
        for line in by_hand {
            let price = prices.iter().find(|of| of.id == line.price_id);
            let price = price.ok_or_else(|| Error::corrupt("a line has no price"))?;
            let id = PriceId::generate(now, tx.entropy());
            new.push(invoice.take_over(line, price, id, now));
        }
        let guard = tx.guard::<CustomerHead>(customer_id).await?;
        invoice_lines::put_prices(tx, &guard, &new)?;
        invoices::save_lines_by_hand(tx, &invoice).await?;
    }
    let body = Body::InvoiceDateElapsed { invoice_id: draft.id, invoice_date: boundary };
    outbox::tell(tx, entry.subscription.customer_id, now, body).await?;
    // Where it is not issued by itself, somebody issues it, whenever that is.
    if let Some(invoicing) = entry.invoicing.as_mut().filter(|_| draft.is_automatic) {
        invoicing.drafts.push(draft);
        invoicing.drafts.sort_by_key(|of| of.boundary);
    }
    Ok(())
}

async fn make(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    boundary: Timestamp,
    has_usage: bool,
    at: Timestamp,
) -> Result<Draft, Error> {
    let of = &entry.subscription;
    let account = rows::account::account_entry(tx).await?;
    let books = invoices::books(tx, of.customer_id).await?;
    let of_plan = rows::plans::carried_of(tx, of).await?;
    let terms = Terms::new(&of.carried, &of_plan, &books.entry.customer, &account.configuration);
    let id = InvoiceId::generate(at, tx.entropy());
    let invoice = Invoice::draft(id, of, boundary, terms, &books.receivables, at);
    let mut invoice = invoice.with_memo_of(&account.configuration);
    let is_automatic = invoice.will_auto_issue;
    let draft = Draft { id, boundary, made_at: at, has_usage, is_automatic };
    invoice.eligible_to_issue_at = Some(draft.eligible_at(account.configuration.grace_period));
    invoices::put_new(tx, &invoice).await?;
    invoices::save_books(tx, &books, None).await?;
    Ok(draft)
}

/// Tells whether drafts of a subscription are issued by themselves.
pub(in crate::engine) async fn is_automatic(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<bool, Error> {
    let of = &entry.subscription;
    let books = invoices::books(tx, of.customer_id).await?;
    let of_plan = rows::plans::carried_of(tx, of).await?;
    let account = rows::account::account_entry(tx).await?;
    let customer = &books.entry.customer;
    let terms = Terms::new(&of.carried, &of_plan, customer, &account.configuration);
    Ok(terms.auto_issuance())
}

/// Credits what a draft takes back of fees that were billed, where nothing else is on it: nobody has to issue
/// that.
async fn credit_alone(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    mut invoice: Invoice,
    at: Timestamp,
) -> Result<(), Error> {
    let taken_back = show_as_billed(tx, entry, &mut invoice).await?;
    if let Some(since) = taken_back.filter(|_| invoice.lines.is_empty()) {
        invoices::remove(tx, &invoice).await?;
        crediting::settle(tx, entry, since, at).await?;
    }
    Ok(())
}

/// Issues a draft, and returns it; one that is to be taxed waits for that first. What is taken back of fees
/// that were billed in advance is credited; where nothing else is due there is no invoice (invoicing 10.6).
pub(in crate::engine) async fn issue(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    mut invoice: Invoice,
    taxes: Option<TaxAnswer<'_>>,
    at: Timestamp,
) -> Result<Invoice, Error> {
    if invoice.source == InvoiceSource::Partial {
        invoice.show_made_lines();
        issue_partial(tx, entry, &mut invoice, taxes, at).await?;
        return Ok(invoice);
    }
    let taken_back = show_as_billed(tx, entry, &mut invoice).await?;
    if let Some(since) = taken_back
        && invoice.lines.is_empty()
        && invoice.will_auto_issue
    {
        invoices::remove(tx, &invoice).await?;
        crediting::settle(tx, entry, since, at).await?;
        return Ok(invoice);
    }
    let prepaid = invoices::books(tx, invoice.customer_id).await?.receivables.prepaid;
    if prepaid.is_some() && is_of_fees_in_advance(tx, &invoice).await? {
        invoice.prepaid = prepaid;
    }
    if !taxing::settles(tx, &mut invoice, taxes, at).await? {
        return Ok(invoice);
    }
    let of_plan = rows::plans::carried_of(tx, &entry.subscription).await?;
    let terms = [&entry.subscription.carried, &of_plan];
    issuing::issue(tx, &mut invoice, terms, at).await?;
    Box::pin(squaring::square(tx, entry, &invoice, at)).await?;
    // What a later boundary took back while it was a draft is credited now.
    let passed = entry.invoicing.as_ref().and_then(|of| of.passed);
    let is_late = passed.is_some_and(|passed| invoice.invoice_date < passed);
    match taken_back.or_else(|| is_late.then_some(invoice.invoice_date)) {
        None => Ok(invoice),
        Some(since) => {
            crediting::settle(tx, entry, since, at).await?;
            // One of its own lines may be credited.
            invoices::invoice(tx, invoice.id).await
        }
    }
}

/// Tells whether an invoice is of fees in advance alone: payable now, once it is issued (subscriptions 4.4).
pub(in crate::engine) async fn is_of_fees_in_advance(
    tx: &mut Transaction<'_>,
    invoice: &Invoice,
) -> Result<bool, Error> {
    let ids: Vec<_> = invoice.lines.iter().map(|line| line.price_id).collect();
    let prices = prices::prices_of_lines(tx, &ids).await?;
    Ok(!prices.is_empty()
        && prices.iter().all(|price| price.charge.is_of(PriceClass::FixedInAdvance)))
}

/// Issues a threshold invoice with the lines that it shows.
pub(super) async fn issue_partial(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    invoice: &mut Invoice,
    taxes: Option<TaxAnswer<'_>>,
    at: Timestamp,
) -> Result<(), Error> {
    let of_plan = rows::plans::carried_of(tx, &entry.subscription).await?;
    let terms = [&entry.subscription.carried, &of_plan];
    if issuing::issue_shown(tx, invoice, terms, taxes, at).await? {
        squaring::square(tx, entry, invoice, at).await?;
    }
    Ok(())
}

/// Shows a draft as it is billed: without what it takes back of fees that were billed in advance. Returns the
/// instant from which it does.
pub(in crate::engine) async fn show_as_billed(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    invoice: &mut Invoice,
) -> Result<Option<Timestamp>, Error> {
    show(tx, entry, invoice).await?;
    crediting::take_off(tx, entry, invoice).await
}

/// Shows a draft as of now: its lines with what they come to, and when it may be issued.
pub(in crate::engine) async fn show(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    invoice: &mut Invoice,
) -> Result<(), Error> {
    let grace = rows::account::account_entry(tx).await?.configuration.grace_period;
    let (boundary, made_at) = (invoice.invoice_date, invoice.created_at);
    let has_usage = prices::card(tx, entry).await?.has_usage_due(boundary);
    let draft = Draft { id: invoice.id, boundary, made_at, has_usage, is_automatic: true };
    invoice.eligible_to_issue_at = Some(draft.eligible_at(grace));
    let mut drafts = entry.invoicing.iter().flat_map(|of| &of.drafts);
    if drafts.any(|of| of.id == invoice.id) {
        invoice.will_auto_issue = is_automatic(tx, entry).await?;
    }
    invoice.show_with_lines_by_hand(due::lines(tx, entry, invoice.id, boundary).await?);
    Ok(())
}
