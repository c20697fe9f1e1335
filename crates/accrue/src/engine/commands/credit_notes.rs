//! Credit notes: made and taken back by hand, look-up and lists.

use crate::{
    CreditNoteId, Error, Page, PageRequest,
    engine::{
        Account, Call,
        commands::invoices::{Named, named_customer},
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, credit_notes, invoices, lists::Walk},
        time::{crediting, current, purchases},
    },
    invoice::{CreditNote, CreditNoteFilter, CreditNoteSource, NewCreditNote},
    limits,
    page::{Listing, Position},
    schema::{self, Index},
};

impl Account {
    /// Credits lines of an invoice (invoicing 10.2): of one that is to be paid less is, and what one that
    /// is paid was worth goes to the customer's balance.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where no line is given or one twice, an
    /// amount is not above zero or has more digits than the currency, or only some lines have days;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such line;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the lines are of several invoices,
    /// less is left of one than the amount, the invoice is neither issued nor paid, or it has
    /// [500](crate::limits::CREDIT_NOTES) credit notes.
    pub fn create_credit_note(&self, new: NewCreditNote) -> Call<CreditNote> {
        Call::new(self, Op::new("create_credit_note", new, |tx, new| create(tx, new)))
    }

    /// Makes a credit note void (invoicing 10.5): the invoice and the balance are as if it had not been made. Where the
    /// invoice was paid meanwhile, the customer's balance owes the difference.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it or its invoice is void, or a
    /// payment of the invoice is under way.
    pub fn void_credit_note(&self, id: CreditNoteId) -> Call<CreditNote> {
        Call::new(self, Op::new("void_credit_note", id, |tx, id| void(tx, *id)))
    }

    /// Returns a credit note (invoicing 10.5).
    pub async fn fetch_credit_note(&self, id: CreditNoteId) -> Result<CreditNote, Error> {
        credit_notes::credit_note(&mut self.reading(), id).await
    }

    /// Lists credit notes, void ones too, newest first (invoicing 10.5).
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the filter names more than
    /// [100](crate::limits::FILTERED_CUSTOMERS) customers, or the cursor is none of this list.
    pub async fn list_credit_notes(
        &self,
        filter: &CreditNoteFilter,
        page: &PageRequest,
    ) -> Result<Page<CreditNote>, Error> {
        let listing =
            Listing { name: "credit_notes", account: self.id(), filter: format!("{filter:?}") };
        let mut tx = self.reading();
        let named = named_customer(&mut tx, &filter.customers, filter.subscription).await?;
        let indexes = match named {
            Named::One(id) => vec![Index::credit_notes_of_customer(tx.account, id)],
            Named::Anyone => vec![Index::credit_notes(tx.account)],
            Named::Nobody => Vec::new(),
        };
        let mut walk = Walk::merged(listing, &indexes, filter.created, page)?;
        let account = tx.account;
        let slot = |at: &Position| {
            schema::credit_note(account, CreditNoteId::from_bytes(schema::id_at(at)))
        };
        let passes = |entry: schema::CreditNoteEntry| {
            let subscription = entry.note.subscription_id;
            (filter.subscription.is_none() || filter.subscription == subscription).then_some(entry)
        };
        let Page { data, next_cursor } = walk.run(&mut tx, slot, passes).await?;
        let mut notes = Vec::with_capacity(data.len());
        for entry in data {
            notes.push(credit_notes::peek_lines(&tx, entry).await?);
        }
        Ok(Page { data: notes, next_cursor })
    }
}

#[boxed]
async fn create(tx: &mut Transaction<'_>, new: &NewCreditNote) -> Result<CreditNote, Stop> {
    new.check()?;
    let mut lines = new.lines.iter().map(|line| line.invoice_line_id);
    let first = lines.next().ok_or_else(|| Error::corrupt("a credit note has no line"))?;
    let invoice = invoices::invoice_of_line(tx, first).await?;
    for line in lines.filter(|line| invoice.lines.iter().all(|of| of.id != *line)) {
        // It is of another invoice, or of none.
        invoices::invoice_of_line(tx, line).await?;
    }
    current::current_head(tx, invoice.customer_id).await?;
    invoice.check_credit()?;
    if invoice.credit_notes.len() >= limits::CREDIT_NOTES {
        let most = limits::CREDIT_NOTES;
        return Err(Error::constraint(format!("the invoice has {most} credit notes")).into());
    }
    let customer = rows::customers::customer(tx, &invoice.customer_id.into()).await?;
    let before =
        credit_notes::lines_that_count(tx, invoice.customer_id, &invoice.credit_notes).await?;
    let credits = new.decide(&invoice, &before, &customer.timezone)?;
    let why = (CreditNoteSource::Hand, new.reason, new.memo.clone());
    let note = crediting::credit(tx, invoice, credits, why, tx.now).await?;
    let invoice = invoices::invoice(tx, note.invoice_id).await?;
    purchases::follow(tx, &invoice, tx.now).await?;
    Ok(note)
}

#[boxed]
async fn void(tx: &mut Transaction<'_>, id: CreditNoteId) -> Result<CreditNote, Stop> {
    let mut note = credit_notes::credit_note(tx, id).await?;
    current::current_head(tx, note.customer_id).await?;
    let invoice = invoices::invoice(tx, note.invoice_id).await?;
    invoice.check_no_payment()?;
    crediting::void(tx, &mut note, invoice, tx.now).await?;
    Ok(note)
}
