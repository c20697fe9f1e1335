//! What is compared of invoices in the calm: money is neither lost nor made, and whatever fell due is
//! billed once.

use std::collections::{BTreeMap, BTreeSet};

use accrue::{
    Account, CustomerId, ListFilter, Page, PageRequest,
    invoice::{
        BalanceAction, BalanceTransaction, CreditNote, CreditNoteFilter, Invoice, InvoiceFilter,
        InvoiceSource, InvoiceStatus,
    },
};
use bigdecimal::BigDecimal;
use pollster::block_on;

use super::{
    model::{CUSTOMERS, moves},
    plan::DAY,
    world::{World, account},
};
use crate::{model::At, world::big};

/// All states of invoices.
const STATES: [InvoiceStatus; 4] =
    [InvoiceStatus::Draft, InvoiceStatus::Issued, InvoiceStatus::Paid, InvoiceStatus::Void];

fn failed(error: impl std::fmt::Debug) -> String {
    format!("a read fails: {error:?}")
}

/// Reads a list to its end.
fn all<T>(list: impl Fn(&PageRequest) -> Result<Page<T>, accrue::Error>) -> Result<Vec<T>, String> {
    let mut page = PageRequest::default();
    let mut found = Vec::new();
    loop {
        let Page { data, next_cursor, .. } = list(&page).map_err(failed)?;
        found.extend(data);
        let Some(next) = next_cursor else { return Ok(found) };
        page = page.after(next);
    }
}

/// What is read of a customer.
struct Read {
    balance: BigDecimal,
    invoices: Vec<Invoice>,
    notes: Vec<CreditNote>,
    transactions: Vec<BalanceTransaction>,
}

impl Read {
    fn of(account: &Account, id: CustomerId) -> Result<Self, String> {
        let customer = block_on(account.fetch_customer(id)).map_err(failed)?;
        let of_customer = InvoiceFilter {
            customers: vec![id.into()],
            statuses: STATES.to_vec(),
            ..InvoiceFilter::default()
        };
        let invoices = all(|page| block_on(account.list_invoices(&of_customer, page)))?;
        let notes = CreditNoteFilter { customers: vec![id.into()], ..CreditNoteFilter::default() };
        let notes = all(|page| block_on(account.list_credit_notes(&notes, page)))?;
        let filter = ListFilter::default();
        let made = all(|page| block_on(account.list_balance_transactions(id, &filter, page)));
        let mut transactions = made?;
        transactions.reverse();
        Ok(Self { balance: big(&customer.balance), invoices, notes, transactions })
    }
}

impl World {
    /// Compares what customers owe and own.
    pub(super) fn check_money(&self, of: At) -> Result<(), String> {
        if let Some(wrong) = self.gateway.wrong() {
            return Err(wrong);
        }
        let account = self.observer.account(account(of));
        for customer in 0..CUSTOMERS {
            let Some(id) = &self.tenants[of].customers[customer].id else { continue };
            let read = Read::of(&account, id.parse().map_err(failed)?)?;
            self.check_rows(of, customer, &read)?;
            self.check_balance(of, customer, &read)?;
            self.check_charges(of, &read)?;
            self.check_boundaries(of, customer, &read)?;
        }
        Ok(())
    }

    /// What is read is what was committed.
    fn check_rows(&self, of: At, customer: At, read: &Read) -> Result<(), String> {
        let books = &self.tenants[of].books;
        let found = read.invoices.iter().map(|invoice| invoice.id.to_string());
        let (found, bills): (BTreeSet<_>, Vec<_>) =
            (found.collect(), books.bills_of(customer).collect());
        let known = bills.iter().map(|bill| bill.invoice.id.to_string());
        if found.len() != read.invoices.len() || found != known.collect() {
            return Err(format!("invoices {found:?} are read, committed were {bills:?}"));
        }
        for invoice in &read.invoices {
            let bill = &books.bills[&invoice.id.to_string()];
            let shown = |of: &Invoice| {
                let dates = (of.invoice_date, of.issued_at, of.due_date, of.paid_at, of.voided_at);
                (of.status, of.invoice_number.clone(), dates)
            };
            if shown(invoice) != shown(&bill.invoice) {
                return Err(format!("{invoice:?} is read, committed was {bill:?}"));
            }
            let is_issued = invoice.status != InvoiceStatus::Draft;
            let figures = |of: &Invoice| (of.total.clone(), of.amount_due.clone());
            let lines = books.lines(&invoice.id.to_string());
            let is_same = figures(invoice) == figures(&bill.invoice) && invoice.lines == lines;
            if is_issued && !is_same {
                return Err(format!("{invoice:?} is read, committed was {bill:?}, {lines:?}"));
            }
        }
        Ok(())
    }

    /// What was billed and not taken back is paid, due, or in the balance, which is the sum of its
    /// transactions.
    fn check_balance(&self, of: At, customer: At, read: &Read) -> Result<(), String> {
        let mut running = BigDecimal::default();
        for made in &read.transactions {
            if big(&made.starting_balance) != running {
                return Err(format!("{made:?} begins elsewhere than at {running}"));
            }
            running += moves(made);
            if big(&made.ending_balance) != running {
                return Err(format!("{made:?} ends elsewhere than at {running}"));
            }
        }
        if running != read.balance {
            return Err(format!("a balance of {}, transactions of {running}", read.balance));
        }
        let counts = |status| !matches!(status, InvoiceStatus::Draft | InvoiceStatus::Void);
        let issued = read.invoices.iter().filter(|invoice| counts(invoice.status));
        let statuses: BTreeMap<_, _> = issued.clone().map(|of| (of.id, of.status)).collect();
        let billed: BigDecimal = issued.clone().map(|invoice| big(&invoice.total)).sum();
        let notes = read.notes.iter().filter(|note| note.voided_at.is_none());
        let notes = notes.filter(|note| statuses.contains_key(&note.invoice_id));
        let credited: BigDecimal = notes.map(|note| big(&note.total)).sum();
        let own: BTreeSet<_> = read.invoices.iter().map(|invoice| invoice.id).collect();
        let charges = self.gateway.charges();
        let charged = charges.values().filter(|of| !of.is_declined && own.contains(&of.invoice));
        let charged: BigDecimal = charged.map(|charge| big(&charge.amount)).sum();
        let bills = self.tenants[of].books.bills_of(customer);
        let marked: BigDecimal = bills.filter_map(|bill| bill.marked.clone()).sum();
        let open = issued.filter(|invoice| invoice.status == InvoiceStatus::Issued);
        let due: BigDecimal = open.map(|invoice| big(&invoice.amount_due)).sum();
        let by_hand = |made: &&BalanceTransaction| made.action == BalanceAction::ManualAdjustment;
        let by_hand: BigDecimal = read.transactions.iter().filter(by_hand).map(moves).sum();
        let (left, right) =
            (&billed - &credited - &charged - &marked, &due - (&read.balance - &by_hand));
        match left == right {
            true => Ok(()),
            false => Err(format!(
                "money is lost or made: billed {billed}, credited {credited}, charged {charged}, \
                 marked as paid {marked}; due {due}, a balance of {}, of it by hand {by_hand}; \
                 {:#?}, {:#?}",
                read.balance, read.invoices, read.transactions
            )),
        }
    }

    /// Each attempt was charged once and is told of as it ended; what was charged beyond what an invoice
    /// took is in the balance.
    fn check_charges(&self, of: At, read: &Read) -> Result<(), String> {
        let charges = self.gateway.charges();
        for invoice in &read.invoices {
            let bill = &self.tenants[of].books.bills[&invoice.id.to_string()];
            let mut charged = BigDecimal::default();
            for (id, charge) in charges.iter().filter(|(_, charge)| charge.invoice == invoice.id) {
                let told = invoice.payment_attempts.iter().filter(|attempt| attempt.id == *id);
                let told: Vec<_> = told.collect();
                let [attempt] = *told else {
                    return Err(format!("attempt {id} is told of {} times", told.len()));
                };
                let is_same = attempt.amount == charge.amount;
                if !is_same || attempt.succeeded == charge.is_declined {
                    return Err(format!("{attempt:?} was {charge:?}"));
                }
                if attempt.succeeded {
                    charged += big(&charge.amount);
                }
            }
            let known = invoice.payment_attempts.iter().filter(|attempt| attempt.succeeded);
            if known.clone().any(|attempt| !charges.contains_key(&attempt.id)) {
                return Err(format!("nobody charged an attempt of {invoice:?}"));
            }
            let own = read.transactions.iter().filter(|of| of.invoice_id == Some(invoice.id));
            let refunded = own.filter(|of| of.action == BalanceAction::OverpaymentRefund);
            let kept = charged - refunded.map(moves).sum::<BigDecimal>();
            let is_collected = invoice.payment_received_at.is_some() && bill.marked.is_none();
            let expected = if is_collected { big(&invoice.amount_due) } else { 0.into() };
            if kept != expected {
                return Err(format!("{kept} was kept of what was charged for {invoice:#?}"));
            }
        }
        Ok(())
    }

    /// Whatever fell due of a subscription by now is on one invoice of its boundary, which is issued once
    /// it may be, unless that is done by hand.
    fn check_boundaries(&self, of: At, customer: At, read: &Read) -> Result<(), String> {
        let (tenant, now) = (&self.tenants[of], self.now());
        for subscription in tenant.subscriptions.iter().filter(|of| of.customer == customer) {
            let id = Some(subscription.id.clone());
            let own = read.invoices.iter();
            let own = own.filter(|of| of.subscription_id.map(|id| id.to_string()) == id);
            let own = own.filter(|of| of.source == InvoiceSource::Subscription);
            let passed = own.clone().filter(|of| of.invoice_date.micros() <= now);
            let books = &tenant.books;
            let is_gone = |of: &Invoice| {
                of.status == InvoiceStatus::Void || books.is_credited(&of.id.to_string())
            };
            let dates = |gone: bool| -> Vec<_> {
                let of = passed.clone().filter(|of| is_gone(of) == gone);
                of.map(|of| of.invoice_date.micros()).collect()
            };
            let (gone, mut billed) = (dates(true), dates(false));
            let expected = subscription.boundaries(now);
            // What is gone was a boundary, unless an end that was dated before it or another change of plan has taken it back.
            let is_taken_back = |at: &i64| {
                let has_ended = subscription.end.is_some_and(|end| end <= *at);
                has_ended || subscription.dropped.contains(at)
            };
            // Somebody may have made its note void by hand, and it asks for all of it again.
            let asks_again = passed.clone().filter(|of| {
                let at = of.invoice_date.micros();
                let is_by_hand = books.has_note_void_by_hand(&of.id.to_string());
                !is_gone(of) && is_taken_back(&at) && !expected.contains(&at) && is_by_hand
            });
            for again in asks_again {
                let at = billed.iter().position(|at| *at == again.invoice_date.micros());
                at.map(|at| billed.remove(at));
            }
            let was_one = gone.iter().filter(|at| !is_taken_back(at) || expected.contains(at));
            billed.extend(was_one.filter(|at| !billed.contains(at)).collect::<BTreeSet<_>>());
            billed.sort_unstable();
            if billed != expected {
                return Err(format!(
                    "invoices of {billed:?}, gone of {gone:?}, expected of {expected:?}: \
                     {subscription:?}, now {now}"
                ));
            }
            let ahead = own.clone().filter(|of| of.invoice_date.micros() > now).count();
            if ahead > 1 {
                return Err(format!("{ahead} invoices are ahead: {subscription:?}"));
            }
            for invoice in own {
                let is_fee = invoice.invoice_date.micros() == subscription.start;
                let wait = if is_fee { 0 } else { DAY };
                let is_late = invoice.invoice_date.micros() + wait <= now;
                let is_issued = invoice.status != InvoiceStatus::Draft;
                let is_by_hand = super::model::issues_by_hand(customer);
                if is_late != is_issued && !(is_by_hand && is_late) {
                    return Err(format!("at {now}: {invoice:?} of {subscription:?}"));
                }
            }
        }
        Ok(())
    }
}
