//! Invoices, credit notes and balances, row by row as they are committed.

use std::collections::{BTreeMap, BTreeSet};

use accrue::invoice::{
    BalanceAction, BalanceDirection, BalanceTransaction, CreditNote, CreditNoteEffect, Invoice,
    InvoiceLine, InvoiceSource, InvoiceStatus, PaymentAttempt, PaymentFailure,
};
use bigdecimal::BigDecimal;
use serde_json::Value;

use super::{Tenant, figures::Span};
use crate::{model::At, world::big};

/// An invoice, as it was last committed.
#[derive(Clone, Debug)]
pub(in crate::sim) struct Bill {
    pub(in crate::sim) customer: At,
    pub(in crate::sim) invoice: Invoice,
    /// Numbers of the transactions of the balance that are its own, and its credit notes.
    transactions: Vec<u64>,
    notes: Vec<String>,
    /// What was due when somebody said that it was paid, if somebody did.
    pub(in crate::sim) marked: Option<BigDecimal>,
}

/// The books of an account.
#[derive(Debug, Default)]
pub(in crate::sim) struct Books {
    /// By id.
    pub(in crate::sim) bills: BTreeMap<String, Bill>,
    /// By id of the invoice, and row by row. Drafts have those by hand.
    lines: BTreeMap<String, BTreeMap<Vec<u8>, Vec<InvoiceLine>>>,
    pub(in crate::sim) notes: BTreeMap<String, CreditNote>,
    /// Those that somebody has asked to be made void.
    pub(in crate::sim) notes_to_void: BTreeSet<String>,
    /// By customer, oldest first.
    pub(in crate::sim) transactions: BTreeMap<At, Vec<BalanceTransaction>>,
    /// Those that have ended, by their rows.
    attempts: BTreeMap<Vec<u8>, PaymentAttempt>,
    /// By customer: what its numbers begin with, and how many invoices and notes have one.
    numbers: BTreeMap<At, (String, [u64; 2])>,
}

/// What a request does to an invoice or a balance.
#[derive(Clone, Debug)]
pub(in crate::sim) enum Deed {
    Issue { invoice: String },
    Pay { invoice: String },
    MarkPaid { invoice: String },
    Void { invoice: String },
    Note { invoice: String, amount: BigDecimal },
    Balance { customer: At, amount: i64 },
    OneOff { total: i64 },
}

/// The rows of invoices in a commit: the table, the key behind the account, and the document.
pub(in crate::sim) type BillRow<'a> = (&'static str, &'a [u8], Option<Value>);

/// The tables that they are of.
pub(in crate::sim) const BILL_TABLES: [&str; 5] =
    ["balance_transaction", "credit_note", "invoice", "invoice_lines", "payment_attempt"];

/// Bytes of an id in a key.
const ID_BYTES: usize = 16;

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|error| format!("{error}: {value}"))
}

fn id_in(key: &[u8]) -> Result<String, String> {
    let id = key.first_chunk::<ID_BYTES>().ok_or("a key without an id")?;
    Ok(super::uuid(*id))
}

impl Books {
    /// The lines of an invoice, as they were committed.
    pub(in crate::sim) fn lines(&self, invoice: &str) -> Vec<InvoiceLine> {
        let rows = self.lines.get(invoice).into_iter().flat_map(BTreeMap::values);
        rows.flatten().cloned().collect()
    }

    /// The invoices of a customer.
    pub(in crate::sim) fn bills_of(&self, customer: At) -> impl Iterator<Item = &Bill> {
        self.bills.values().filter(move |bill| bill.customer == customer)
    }

    /// Tells whether an invoice was credited as a whole.
    pub(in crate::sim) fn is_credited(&self, invoice: &str) -> bool {
        let Some(bill) = self.bills.get(invoice) else { return false };
        let notes = bill.notes.iter().filter_map(|id| self.notes.get(id));
        let notes = notes.filter(|note| note.voided_at.is_none()).map(|note| big(&note.total));
        notes
            .reduce(|sum, of| sum + of)
            .is_some_and(|credited| credited == big(&bill.invoice.total))
    }

    /// Tells whether somebody has made a note of an invoice void.
    pub(in crate::sim) fn has_note_void_by_hand(&self, invoice: &str) -> bool {
        let notes = self.bills.get(invoice).into_iter().flat_map(|bill| &bill.notes);
        let mut notes = notes.filter(|id| self.notes_to_void.contains(*id));
        notes.any(|id| self.notes.get(id).is_some_and(|note| note.voided_at.is_some()))
    }

    /// What was accepted of a request is in the rows of its commit. The answer has this id.
    pub(in crate::sim) fn check_deed(&self, deed: &Deed, id: &str) -> Result<(), String> {
        let bill = |of: &str| self.bills.get(of).ok_or_else(|| format!("no invoice {of}"));
        let is_done = match deed {
            Deed::Issue { invoice } => bill(invoice)?.invoice.status != InvoiceStatus::Draft,
            Deed::Pay { invoice } => bill(invoice)?.invoice.payment_started_at.is_some(),
            Deed::MarkPaid { invoice } => bill(invoice)?.marked.is_some(),
            Deed::Void { invoice } => bill(invoice)?.invoice.status == InvoiceStatus::Void,
            Deed::Note { invoice, amount } => self.notes.get(id).is_some_and(|note| {
                (note.invoice_id.to_string(), big(&note.total)) == (invoice.clone(), amount.clone())
            }),
            Deed::Balance { customer, amount } => {
                let last = self.transactions.get(customer).and_then(|all| all.last());
                last.is_some_and(|last| last.id.to_string() == id && moves(last) == *amount)
            }
            // What a draft comes to is computed when it is read.
            Deed::OneOff { total } => match &bill(id)?.invoice {
                of if of.status == InvoiceStatus::Draft => of.source == InvoiceSource::OneOff,
                of => big(&of.total) == *total,
            },
        };
        if is_done { Ok(()) } else { Err(format!("{deed:?} is accepted as {id}, and not done")) }
    }

    /// A transaction begins where the one before it ended, and is not made twice.
    fn book(&mut self, customer: At, made: BalanceTransaction) -> Result<(), String> {
        let all = self.transactions.entry(customer).or_default();
        let balance = all.last().map_or_else(BigDecimal::default, |of| big(&of.ending_balance));
        let number = u64::try_from(all.len()).unwrap() + 1;
        let (from, to) = (big(&made.starting_balance), big(&made.ending_balance));
        if (made.number, &from) != (number, &balance) {
            return Err(format!("transaction {made:?} is not number {number} from {balance}"));
        }
        if &to - &from != moves(&made) {
            return Err(format!("transaction {made:?} ends elsewhere"));
        }
        all.push(made);
        Ok(())
    }

    /// An attempt to pay has ended, once; one that nobody told of may succeed still.
    fn attempt(
        &mut self,
        key: &[u8],
        attempt: PaymentAttempt,
        happened: &mut Vec<&'static str>,
    ) -> Result<(), String> {
        let known = self.attempts.get(key);
        let may_end = known.is_none_or(|known| {
            let is_late = known.failure == Some(PaymentFailure::NotReported) && attempt.succeeded;
            known.id == attempt.id && (known == &attempt || is_late)
        });
        if !may_end {
            return Err(format!("the attempt {known:?} becomes {attempt:?}"));
        }
        let is_new = known != Some(&attempt);
        happened.extend(match attempt.failure {
            Some(PaymentFailure::Declined) if is_new => Some("payment declined"),
            Some(PaymentFailure::NotReported) if is_new => Some("payment not told"),
            None if is_new && known.is_some() => Some("payment told late"),
            _ => None,
        });
        self.attempts.insert(key.to_vec(), attempt);
        Ok(())
    }

    /// A number is given once, and none is left out.
    fn number(&mut self, customer: At, text: &str, is_note: bool) -> Result<(), String> {
        let (prefix, number) = text.rsplit_once('-').ok_or("a number without a prefix")?;
        let prefix = if is_note { prefix.strip_suffix("-CN").unwrap_or("") } else { prefix };
        let first = || (prefix.to_owned(), [0, 0]);
        let (known, counts) = self.numbers.entry(customer).or_insert_with(first);
        let count = &mut counts[usize::from(is_note)];
        *count += 1;
        match (known.as_str(), number.parse()) == (prefix, Ok(*count)) {
            true => Ok(()),
            false => Err(format!("the number {text} is not {known} with the number {count}")),
        }
    }

    /// What is due of an invoice that was issued is its total with its own moves of the balance, less its
    /// credit notes.
    fn check_due(&self, id: &str) -> Result<(), String> {
        let bill = &self.bills[id];
        let lines = self.lines(id);
        let tax = lines.iter().flat_map(|line| &line.tax_amounts).map(|tax| big(&tax.amount));
        let sum = lines.iter().map(|line| big(&line.amount)).chain(tax).sum::<BigDecimal>();
        let total = big(&bill.invoice.total);
        if sum != total {
            return Err(format!("an invoice comes to {total}, its lines to {sum}: {bill:?}"));
        }
        let notes = bill.notes.iter().map(|note| {
            let note = self.notes.get(note).ok_or_else(|| format!("no credit note {note}"))?;
            let counts = note.effect == CreditNoteEffect::Adjustment && note.voided_at.is_none();
            Ok(if counts { big(&note.total) } else { BigDecimal::default() })
        });
        let notes = notes.sum::<Result<BigDecimal, String>>()?;
        let made = self.transactions.get(&bill.customer).map_or(&[][..], Vec::as_slice);
        let own = bill.transactions.iter().map(|number| {
            let at = usize::try_from(*number).unwrap().checked_sub(1);
            let made = at.and_then(|at| made.get(at)).ok_or("a transaction that there is not")?;
            if made.invoice_id != Some(bill.invoice.id) {
                return Err("a transaction of another invoice");
            }
            Ok(if self.moves_due(made) { moves(made) } else { BigDecimal::default() })
        });
        let own = own.sum::<Result<BigDecimal, _>>()?;
        let (due, expected) = (big(&bill.invoice.amount_due), total - notes + own);
        if due != expected || due < BigDecimal::default() {
            return Err(format!("{due} is due, expected {expected}: {bill:?}"));
        }
        if bill.invoice.status == InvoiceStatus::Issued && due == BigDecimal::default() {
            return Err(format!("nothing is due of what is not paid: {bill:?}"));
        }
        Ok(())
    }

    /// Whether a transaction counts for what is due of its invoice: not the refunds of what was paid.
    fn moves_due(&self, made: &BalanceTransaction) -> bool {
        let is_adjusted = made.credit_note_id.is_none_or(|note| {
            let note = self.notes.get(&note.to_string());
            note.is_some_and(|note| note.effect == CreditNoteEffect::Adjustment)
        });
        match made.action {
            BalanceAction::AppliedToInvoice | BalanceAction::SmallInvoiceCarryover => true,
            BalanceAction::CreditNoteApplied | BalanceAction::CreditNoteVoided => is_adjusted,
            _ => false,
        }
    }
}

/// By how much a transaction moves the balance: up in the customer's favour.
pub(in crate::sim) fn moves(made: &BalanceTransaction) -> BigDecimal {
    match made.direction {
        BalanceDirection::Increment => big(&made.amount),
        BalanceDirection::Decrement => -big(&made.amount),
    }
}

/// Tells whether nobody has paid for a bill with money: the balance has, or there was nothing to pay.
fn is_free(bill: &Bill) -> bool {
    bill.invoice.payment_received_at.is_none() && bill.marked.is_none()
}

/// What never changes of an invoice that was issued.
fn frozen(of: &Invoice) -> impl PartialEq + use<> {
    let ids = (of.id, of.customer_id, of.subscription_id, of.source, of.currency);
    let dates = (of.created_at, of.invoice_date, of.issued_at, of.due_date);
    let figures = (of.invoice_number.clone(), of.subtotal.clone(), of.total.clone());
    (ids, dates, figures, of.addressee.clone())
}

impl Tenant {
    /// The rows of invoices in a commit are what they have to be behind those of the commits before it.
    /// Says what has happened.
    pub(in crate::sim) fn billed(
        &mut self,
        rows: &[BillRow<'_>],
    ) -> Result<Vec<&'static str>, String> {
        let mut happened = Vec::new();
        self.book_all(rows, &mut happened)?;
        self.note_all(rows, &mut happened)?;
        for (_, key, document) in rows.iter().filter(|row| row.0 == "invoice_lines") {
            self.line(key, document.as_ref())?;
        }
        for (_, key, document) in rows.iter().filter(|row| row.0 == "payment_attempt") {
            let attempt = read(document.as_ref().ok_or("an attempt is removed")?)?;
            self.books.attempt(key, attempt, &mut happened)?;
        }
        let mut issued = Vec::new();
        for (_, key, document) in rows.iter().filter(|row| row.0 == "invoice") {
            let id = id_in(key)?;
            let Some(document) = document else {
                let gone = self.books.bills.remove(&id).ok_or("no invoice is removed")?;
                if gone.invoice.status != InvoiceStatus::Draft {
                    return Err(format!("an invoice is removed: {gone:?}"));
                }
                happened.push("draft removed");
                continue;
            };
            if self.saved(&id, document, &mut happened)? {
                issued.push((self.books.bills[&id].invoice.invoice_number.clone(), id.clone()));
            }
        }
        issued.sort();
        for (number, id) in issued {
            self.books.number(self.books.bills[&id].customer, &number, false)?;
            self.check_quantities(&id)?;
        }
        for (_, key, _) in rows.iter().filter(|row| row.0 == "invoice") {
            let id = id_in(key)?;
            let bill = self.books.bills.get(&id);
            if bill.is_some_and(|bill| bill.invoice.status != InvoiceStatus::Draft) {
                self.books.check_due(&id)?;
            }
        }
        Ok(happened)
    }

    fn book_all(
        &mut self,
        rows: &[BillRow<'_>],
        happened: &mut Vec<&'static str>,
    ) -> Result<(), String> {
        let made = rows.iter().filter(|row| row.0 == "balance_transaction").map(|row| {
            let document = row.2.as_ref().ok_or("a transaction is removed")?;
            read::<BalanceTransaction>(document)
        });
        let mut made = made.collect::<Result<Vec<_>, _>>()?;
        made.sort_by_key(|made| made.number);
        for made in made {
            let customer = self.payer(&made.customer_id)?;
            happened.extend(
                (made.action == BalanceAction::OverpaymentRefund).then_some("money returned"),
            );
            self.books.book(customer, made)?;
        }
        Ok(())
    }

    fn note_all(
        &mut self,
        rows: &[BillRow<'_>],
        happened: &mut Vec<&'static str>,
    ) -> Result<(), String> {
        let notes = rows.iter().filter(|row| row.0 == "credit_note").map(|row| {
            let document = row.2.as_ref().ok_or("a credit note is removed")?;
            read::<CreditNote>(&document["note"])
        });
        let mut notes = notes.collect::<Result<Vec<_>, _>>()?;
        notes.sort_by(|a, b| a.credit_note_number.cmp(&b.credit_note_number));
        for note in notes {
            let customer = self.payer(&note.customer_id)?;
            let id = note.id.to_string();
            match self.books.notes.get(&id) {
                None => {
                    happened.push("credit note");
                    self.books.number(customer, &note.credit_note_number, true)?;
                }
                Some(known) => {
                    let mut voided = known.clone();
                    voided.voided_at = note.voided_at;
                    if voided != note || known.voided_at.is_some() {
                        return Err(format!("the note {known:?} becomes {note:?}"));
                    }
                    happened.push("credit note void");
                }
            }
            self.books.notes.insert(id, note);
        }
        Ok(())
    }

    /// Lines are kept, which never change once they are of an invoice that was issued.
    fn line(&mut self, key: &[u8], document: Option<&Value>) -> Result<(), String> {
        let id = id_in(key)?;
        let lines = document.map(|of| read::<Vec<InvoiceLine>>(&of["lines"])).transpose()?;
        let rows = self.books.lines.entry(id.clone()).or_default();
        let before = match lines.clone() {
            Some(lines) => rows.insert(key.to_vec(), lines),
            None => rows.remove(key),
        };
        let bill = self.books.bills.get(&id);
        let is_issued = bill.is_some_and(|bill| bill.invoice.status != InvoiceStatus::Draft);
        match is_issued && before != lines {
            true => {
                Err(format!("lines of an invoice that was issued change: {before:?}, {lines:?}"))
            }
            false => Ok(()),
        }
    }

    /// An invoice is kept: says whether it was issued.
    fn saved(
        &mut self,
        id: &str,
        document: &Value,
        happened: &mut Vec<&'static str>,
    ) -> Result<bool, String> {
        use InvoiceStatus::{Draft, Issued, Paid, Void};

        let invoice: Invoice = read(&document["invoice"])?;
        let customer = self.payer(&invoice.customer_id)?;
        let numbers = |name: &str| document.get(name).map(read).transpose();
        let transactions: Vec<u64> = numbers("transactions")?.unwrap_or_default();
        let notes = document.get("credit_notes").map(read::<Vec<String>>).transpose()?;
        let notes = notes.unwrap_or_default();
        let known = self.books.bills.get(id);
        let (before, after) = (known.map_or(Draft, |of| of.invoice.status), invoice.status);
        let is_marked = document["invoice"]["is_marked_as_paid"] == Value::Bool(true);
        let mut marked = known.and_then(|of| of.marked.clone());
        let has_void_note = |notes: &[String]| {
            let notes = notes.iter().filter_map(|note| self.books.notes.get(note));
            notes.clone().any(|note| note.voided_at.is_some())
        };
        match (before, after) {
            _ if before == after => {}
            (Draft, Issued) => happened.push("invoice issued"),
            (Draft, Paid) => happened.push("invoice paid as it is issued"),
            (Issued, Void) => happened.push("invoice void"),
            // What changes the past takes it back; its notes stay, and what they returned is not returned again.
            (Paid, Void) if known.is_some_and(is_free) => {
                happened.push("invoice void that had nothing to pay");
            }
            (Issued, Paid) if is_marked => {
                happened.push("invoice marked as paid");
                marked = Some(big(&invoice.amount_due));
            }
            (Issued, Paid) if invoice.payment_received_at.is_some() => {
                happened.push("invoice collected");
            }
            (Issued, Paid) if big(&invoice.amount_due) == BigDecimal::default() => {
                happened.push("invoice credited");
            }
            (Paid, Issued) if marked.is_some() && !is_marked => {
                happened.push("mark taken back");
                marked = None;
            }
            (Paid, Issued) if has_void_note(&notes) => happened.push("invoice owed again"),
            _ => return Err(format!("from {before:?} to {after:?}: {known:?}, {invoice:?}")),
        }
        let was_issued = before != Draft;
        if let Some(known) = known.filter(|_| was_issued)
            && frozen(&known.invoice) != frozen(&invoice)
        {
            return Err(format!("an invoice that was issued changes: {known:?}, {invoice:?}"));
        }
        let bill = Bill { customer, invoice, transactions, notes, marked };
        self.books.bills.insert(id.to_owned(), bill);
        Ok(!was_issued && after != Draft)
    }

    fn payer(&self, id: &accrue::CustomerId) -> Result<At, String> {
        let id = id.to_string();
        let found = self.customers.iter().position(|of| of.id.as_ref() == Some(&id));
        found.ok_or_else(|| format!("books of nobody: {id}"))
    }

    /// Usage is billed as it counts when the invoice is issued.
    fn check_quantities(&self, id: &str) -> Result<(), String> {
        let bill = &self.books.bills[id];
        for line in self.books.lines(id) {
            let price = line.price_id.to_string();
            let Some((_, metric)) = self.prices.iter().find(|of| of.0 == price) else { continue };
            let span = (line.period.start().micros(), line.period.end().micros());
            let expected = self.quantity(bill.customer, *metric, span);
            if big(&line.quantity) != expected {
                return Err(format!("billed is {line:?}, expected {expected}: {bill:?}"));
            }
        }
        Ok(())
    }

    fn quantity(&self, customer: At, metric: At, span: Span) -> BigDecimal {
        let figure = self.figure(&self.visible(customer), metric, span);
        figure.unwrap_or_default()
    }
}
