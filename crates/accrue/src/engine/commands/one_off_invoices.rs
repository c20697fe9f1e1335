//! One-off invoices, and lines by hand.

use crate::{
    Error, InvoiceId, InvoiceLineId, PriceId,
    customer::{AttributeValue, PreviousAttributes},
    engine::{
        Account, Call,
        commands::invoices::{current_invoice, show},
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, invoice_lines, invoices, outbox},
        time::{current, invoicing, one_off},
    },
    invoice::{Invoice, InvoiceLine, LineSubject, LinesEdit, NewInvoice, NewInvoiceLine, Terms},
    schema::CustomerHead,
    webhook::Body,
};

impl Account {
    /// Makes a one-off invoice (invoicing 9.1): it is issued at once where that is asked for and its date is
    /// today or before, and else a draft.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such customer or item, or
    /// the discount names a price; [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the
    /// customer is invoiced in another currency, the due date is before the date that it bears, or the discount
    /// is of units; [`RequestValidation`](crate::ErrorKind::RequestValidation) where it has no lines or more
    /// than [200](crate::limits::LINES_BY_HAND), a line ends before it starts, its date is more than a year
    /// ahead, or something is out of bounds.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, CivilDate, Currency, Decimal, Email, Name, Timestamp};
    /// # use accrue::{customer::NewCustomer, item::NewItem, store::MemoryStore};
    /// use accrue::invoice::{InvoiceStatus, NewInvoice, NewOneOffLine};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let item = account.create_item(NewItem::new(Name::parse("Setup")?)).await?;
    /// let date = Timestamp::parse("2026-03-01T00:00:00Z")?;
    /// let mut new = NewInvoice::new(ada.id, Currency::parse("USD")?, date);
    /// new.lines.push(NewOneOffLine {
    ///     name: Name::parse("Setup")?,
    ///     item_id: item.id,
    ///     start_date: CivilDate::parse("2026-03-01")?,
    ///     end_date: CivilDate::parse("2026-03-02")?,
    ///     quantity: Decimal::from(3),
    ///     unit_amount: Decimal::parse("19.99")?,
    /// });
    /// let invoice = account.create_invoice(new).await?;
    /// assert_eq!(invoice.status, InvoiceStatus::Draft);
    /// assert_eq!(invoice.total, Decimal::parse("59.97")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_invoice(&self, new: NewInvoice) -> Call<Invoice> {
        Call::new(self, Op::new("create_invoice", new, |tx, new| create_invoice(tx, new)))
    }

    /// Adds a line to a draft by hand (invoicing 9.6), and returns it as it is before discounts over the
    /// invoice.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such invoice or item;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the invoice is no draft, or has
    /// [200](crate::limits::LINES_BY_HAND) lines by hand;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the quantity is not above zero, the
    /// amount has more digits than the currency, or the line ends before it starts.
    pub fn create_invoice_line(&self, id: InvoiceId, new: NewInvoiceLine) -> Call<InvoiceLine> {
        Call::new(
            self,
            Op::new("create_invoice_line", (id, new), |tx, (id, new)| create_line(tx, *id, new)),
        )
    }

    /// Removes a line by hand from a draft (invoicing 9.6).
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such invoice, or it has no
    /// such line; [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the invoice is no draft,
    /// or the line is of a subscription.
    pub fn delete_invoice_line(&self, id: InvoiceId, line: InvoiceLineId) -> Call<()> {
        Call::new(
            self,
            Op::new("delete_invoice_line", (id, line), |tx, (id, line)| {
                delete_line(tx, *id, *line)
            }),
        )
    }
}

#[boxed]
async fn create_invoice(tx: &mut Transaction<'_>, new: &NewInvoice) -> Result<Invoice, Stop> {
    let customer = rows::customers::customer(tx, &new.customer).await?;
    current::current_head(tx, customer.id).await?;
    let mut books = invoices::books(tx, customer.id).await?;
    for line in &new.lines {
        rows::items::item(tx, line.item_id).await?;
    }
    let filters = new.discount.as_ref().map(|of| of.filters.as_slice()).unwrap_or_default();
    rows::prices::check_filters(tx, filters).await?;
    let id = InvoiceId::generate(tx.now, tx.entropy());
    let customer = &mut books.entry.customer;
    let account = rows::account::account_entry(tx).await?;
    let terms = Terms::of_customer(customer, &account.configuration);
    let price_id = || PriceId::generate(tx.now, tx.entropy());
    let decided = new.clone().decide(id, customer, terms, &books.receivables, price_id, tx.now)?;
    let (invoice, prices) = decided;
    let mut invoice = invoice.with_memo_of(&account.configuration);
    if customer.currency.is_none() {
        customer.currency = Some(invoice.currency);
        rows::customers::put(tx, &books.entry).await?;
    }
    invoices::save_books(tx, &books, None).await?;
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    invoice_lines::put_prices(tx, &guard, &prices)?;
    invoices::put_new(tx, &invoice).await?;
    if invoice.is_to_be_issued() {
        one_off::issue(tx, &mut invoice, None, tx.now).await?;
    }
    show(tx, &mut invoice).await?;
    Ok(invoice)
}

#[boxed]
async fn create_line(
    tx: &mut Transaction<'_>,
    id: InvoiceId,
    new: &NewInvoiceLine,
) -> Result<InvoiceLine, Stop> {
    let mut invoice = current_invoice(tx, id).await?;
    invoice.check_takes_lines()?;
    let before = figures(tx, &mut invoice).await?;
    let customer = rows::customers::customer(tx, &invoice.customer_id.into()).await?;
    let subject = match &new.subject {
        LineSubject::Item(id) => (*id, rows::items::item(tx, *id).await?.name),
        LineSubject::ItemNamed(id, name) => (rows::items::item(tx, *id).await?.id, name.clone()),
        LineSubject::Named(name) => (rows::items::item_named(tx, name).await?.id, name.clone()),
    };
    let price_id = PriceId::generate(tx.now, tx.entropy());
    let price = new.clone().decide(&mut invoice, subject, price_id, &customer.timezone, tx.now)?;
    let line = invoice.by_hand.last().cloned();
    let line = line.ok_or_else(|| Error::corrupt("a line by hand is missing"))?;
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    invoice_lines::put_prices(tx, &guard, [&price])?;
    save(tx, &mut invoice, before, LinesEdit::Added { line_id: line.id }).await?;
    Ok(line)
}

#[boxed]
async fn delete_line(
    tx: &mut Transaction<'_>,
    id: InvoiceId,
    line: InvoiceLineId,
) -> Result<(), Stop> {
    let mut invoice = current_invoice(tx, id).await?;
    let before = figures(tx, &mut invoice).await?;
    let (place, line) = invoice.remove_by_hand(line)?;
    let guard = tx.guard::<CustomerHead>(invoice.customer_id).await?;
    let price = invoice_lines::price(tx, &guard, line.price_id).await?;
    invoice_lines::delete_prices(tx, &guard, [price.id])?;
    let edit = LinesEdit::Removed { line: line.into(), price: price.into(), place };
    save(tx, &mut invoice, before, edit).await?;
    if let Some(subscription) = invoice.subscription_id.filter(|_| invoice.lines.is_empty()) {
        // Nothing falls due on the draft, and it was kept for its lines alone.
        let mut entry = rows::subscriptions::subscription_entry(tx, subscription).await?;
        invoicing::follow(tx, &mut entry, tx.now).await?;
        rows::subscriptions::save_subscription(tx, &entry).await?;
    }
    Ok(())
}

/// Shows a draft, and returns what it comes to.
async fn figures(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
) -> Result<[(&'static str, String); 3], Error> {
    show(tx, invoice).await?;
    let places = invoice.currency.places();
    let Invoice { subtotal, total, amount_due, .. } = &invoice;
    let figures = [("subtotal", subtotal), ("total", total), ("amount_due", amount_due)];
    Ok(figures.map(|(name, figure)| (name, figure.with_places(places))))
}

/// Writes a draft whose lines by hand have changed, and tells of what they came to before.
async fn save(
    tx: &mut Transaction<'_>,
    invoice: &mut Invoice,
    before: [(&'static str, String); 3],
    edit: LinesEdit,
) -> Result<(), Error> {
    invoices::save_lines_by_hand(tx, invoice).await?;
    let after = figures(tx, invoice).await?;
    let changed = before.into_iter().zip(after).filter(|(before, after)| before != after);
    let previous_attributes: PreviousAttributes = changed
        .map(|((name, figure), _)| (name.to_owned(), AttributeValue::Text(Some(figure))))
        .collect();
    let body =
        Body::InvoiceEdited { invoice_id: invoice.id, previous_attributes, lines: Some(edit) };
    outbox::tell(tx, invoice.customer_id, tx.now, body).await
}
