//! The life of an invoice: what brings it from one state to the next (invoicing 4).

use super::{
    AutoCollection, BalanceAction, BalanceTransaction, Invoice, InvoiceLine, InvoiceSource,
    InvoiceStatus, Payment, Receivables, Terms, balance::Movement,
};
use crate::{
    BalanceTransactionId, Carried, Currency, CustomerId, Decimal, Error, InvoiceId, Metadata,
    Timestamp,
    account::{Configuration, DueDateBasis},
    customer::{Customer, PaymentProvider},
    subscription::Subscription,
};

/// What an invoice is issued with.
pub(crate) struct Issue<'a> {
    pub(crate) terms: Terms<'a>,
    pub(crate) basis: DueDateBasis,
    pub(crate) customer: &'a mut Customer,
    pub(crate) receivables: &'a mut Receivables,
    /// Ids of the transactions that it makes.
    pub(crate) transaction_ids: &'a dyn Fn() -> BalanceTransactionId,
    /// Least amount that a gateway charges in its currency.
    pub(crate) least_charge: Option<&'a Decimal>,
    pub(crate) at: Timestamp,
}

impl Invoice {
    /// Makes the draft of a boundary of a subscription.
    pub(crate) fn draft(
        id: InvoiceId,
        of: &Subscription,
        invoice_date: Timestamp,
        terms: Terms<'_>,
        receivables: &Receivables,
        now: Timestamp,
    ) -> Self {
        let whose = (of.customer_id, of.currency);
        let draft = Self::draft_of(id, whose, invoice_date, terms, receivables, now);
        let will_auto_issue = terms.auto_issuance();
        let source = InvoiceSource::Subscription;
        Self { subscription_id: Some(of.id), source, will_auto_issue, memo: terms.memo(), ..draft }
    }

    /// Makes a draft of a customer in a currency, which somebody issues.
    pub(super) fn draft_of(
        id: InvoiceId,
        (customer_id, currency): (CustomerId, Currency),
        invoice_date: Timestamp,
        terms: Terms<'_>,
        receivables: &Receivables,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            invoice_number: receivables.draft_number(),
            customer_id,
            subscription_id: None,
            source: InvoiceSource::OneOff,
            status: InvoiceStatus::Draft,
            currency,
            created_at: now,
            invoice_date,
            due_date: None,
            eligible_to_issue_at: Some(invoice_date),
            will_auto_issue: false,
            issue_failed_at: None,
            asks_tax_at: None,
            issued_at: None,
            sync_failed_at: None,
            synced_at: None,
            sync_from: None,
            paid_at: None,
            payment_received_at: None,
            voided_at: None,
            subtotal: Decimal::zero(),
            total: Decimal::zero(),
            amount_due: Decimal::zero(),
            lines: Vec::new(),
            by_hand: Vec::new(),
            discount: None,
            awaits_date: false,
            balance_transactions: Vec::new(),
            credit_notes: Vec::new(),
            auto_collection: AutoCollection {
                enabled: terms.auto_collection(),
                ..Default::default()
            },
            payment_started_at: None,
            payment_failed_at: None,
            payment_attempts: Vec::new(),
            paying: None,
            dunning: None,
            previous_dunning: None,
            prepaid: None,
            is_marked_as_paid: false,
            is_taken_back: false,
            net_terms: None,
            custom_due_date: None,
            bought: None,
            memo: None,
            metadata: Metadata::new(),
            document_renewed_at: None,
            addressee: Carried::NONE,
        }
    }

    /// Gives it the text of the account where it has none (invoicing 4.7).
    pub(crate) fn with_memo_of(self, account: &Configuration) -> Self {
        let of_account = || account.default_invoice_memo.as_ref().map(ToString::to_string);
        Self { memo: self.memo.clone().or_else(of_account), ..self }
    }

    /// Shows lines, and what they come to.
    pub(crate) fn show(&mut self, (lines, subtotal): (Vec<InvoiceLine>, Decimal)) {
        self.total = lines.iter().map(|line| &line.amount + &line.tax()).sum();
        (self.lines, self.subtotal) = (lines, subtotal);
        self.amount_due = self.total.clone();
    }

    /// Shows the lines that a draft of a threshold was made with: they move no more.
    pub(crate) fn show_made_lines(&mut self) {
        if self.status == InvoiceStatus::Draft {
            let (lines, subtotal) = (self.by_hand.clone(), self.subtotal.clone());
            self.show((lines, subtotal));
        }
    }

    /// Issues a draft with the lines that it shows (invoicing 4.3): it takes a number, and the balance of
    /// the customer is applied. Where nothing is left to pay it is paid. Returns the transactions of the
    /// balance that it makes.
    pub(crate) fn issue(&mut self, mut issue: Issue<'_>) -> Vec<BalanceTransaction> {
        self.become_issued(&mut issue);
        if let Some(prepaid) = self.prepaid.clone() {
            return self.issue_prepaid(issue, &prepaid);
        }
        let Issue { customer, receivables, transaction_ids, least_charge, at, .. } = issue;
        // Who is invoiced by a provider pays there, and not from the balance.
        let by = match self.sync_from {
            Some(_) => applied(&self.total, &Decimal::zero()),
            None => applied(&self.total, &customer.balance),
        };
        self.amount_due = &self.total + &by;
        let mut movements = Vec::new();
        if !by.is_zero() {
            movements.push(self.movement(by, BalanceAction::AppliedToInvoice));
        }
        let pays_by_gateway = customer.payment_provider.is_some_and(PaymentProvider::is_gateway);
        let is_small = least_charge.is_some_and(|least| self.amount_due < *least);
        if pays_by_gateway && is_small && !self.amount_due.is_zero() {
            let by = -&self.amount_due;
            movements.push(self.movement(by, BalanceAction::SmallInvoiceCarryover));
            self.amount_due = Decimal::zero();
        }
        let mut book = |movement| receivables.book(customer, transaction_ids(), movement, at);
        let transactions: Vec<_> = movements.into_iter().map(&mut book).collect();
        self.balance_transactions.extend(transactions.iter().cloned());
        if self.amount_due.is_zero() {
            (self.status, self.paid_at) = (InvoiceStatus::Paid, Some(at));
        }
        self.schedule_collection(at);
        transactions
    }

    /// Issues it as paid, because it was paid elsewhere: the balance of the customer stays (invoicing 13.1).
    pub(crate) fn issue_as_paid(&mut self, mut issue: Issue<'_>) -> Vec<BalanceTransaction> {
        self.become_issued(&mut issue);
        (self.status, self.is_marked_as_paid) = (InvoiceStatus::Paid, true);
        self.paid_at = Some(issue.at);
        Vec::new()
    }

    fn become_issued(&mut self, issue: &mut Issue<'_>) {
        self.invoice_number = issue.receivables.next_number();
        self.status = InvoiceStatus::Issued;
        (self.by_hand, self.awaits_date) = (Vec::new(), false);
        (self.eligible_to_issue_at, self.will_auto_issue, self.asks_tax_at) = (None, false, None);
        self.issued_at = Some(issue.at);
        let provider = issue.customer.payment_provider;
        self.sync_from = provider.filter(|of| of.is_invoicing()).map(|_| issue.at);
        issue.terms.set_due_date(self, issue.basis);
        let carried = &issue.customer.carried;
        self.addressee = carried.only(&["billing_address", "shipping_address", "tax_id"]);
    }

    /// Refuses to issue by hand what is issued by itself, or not yet to be (invoicing 9.5).
    pub(crate) fn check_issue(&self, now: Timestamp) -> Result<(), Error> {
        self.check_status(&[InvoiceStatus::Draft])?;
        if self.will_auto_issue && !self.awaits_tax() {
            return Err(Error::constraint("the invoice is issued by itself"));
        }
        match self.eligible_to_issue_at {
            Some(at) if now < at => {
                Err(Error::constraint(format!("the invoice may be issued from {at} on")))
            }
            _ => Ok(()),
        }
    }

    /// Marks it as paid by other means (invoicing 8.5).
    pub(crate) fn mark_paid(&mut self, payment: &Payment, now: Timestamp) -> Result<(), Error> {
        self.check_status(&[InvoiceStatus::Issued, InvoiceStatus::Synced])?;
        (self.status, self.is_marked_as_paid) = (InvoiceStatus::Paid, true);
        (self.paid_at, self.payment_received_at) = (Some(now), Some(payment.received_at));
        Ok(())
    }

    /// Takes that back: it is issued again, and collected by hand (invoicing 8.5).
    pub(crate) fn undo_mark_as_paid(&mut self) -> Result<(), Error> {
        self.check_status(&[InvoiceStatus::Paid])?;
        if !self.is_marked_as_paid {
            return Err(Error::constraint("the invoice was not marked as paid by hand"));
        }
        (self.status, self.is_marked_as_paid) = (InvoiceStatus::Issued, false);
        (self.paid_at, self.payment_received_at) = (None, None);
        Ok(())
    }

    /// Makes it void (invoicing 8.6): the balance is as if it had not been issued. Money that came for it
    /// stays the customer's.
    pub(crate) fn void(
        &mut self,
        customer: &mut Customer,
        receivables: &mut Receivables,
        transaction_id: BalanceTransactionId,
        now: Timestamp,
    ) -> Result<Option<BalanceTransaction>, Error> {
        self.check_status(&[InvoiceStatus::Issued])?;
        self.make_void(customer, receivables, transaction_id, now)
    }

    /// Tells whether nobody has paid for it: it is issued, or nothing was left to pay.
    pub(crate) fn is_unpaid(&self) -> bool {
        let is_paid_for = self.payment_received_at.is_some() || self.is_marked_as_paid;
        match self.status {
            InvoiceStatus::Issued => true,
            InvoiceStatus::Paid => !is_paid_for,
            _ => false,
        }
    }

    /// Makes what nobody has paid for void, as [`void`](Self::void) does, since terms are others now (invoicing 6.2).
    pub(crate) fn take_back(
        &mut self,
        customer: &mut Customer,
        receivables: &mut Receivables,
        transaction_id: BalanceTransactionId,
        now: Timestamp,
    ) -> Result<Option<BalanceTransaction>, Error> {
        self.is_taken_back = true;
        self.make_void(customer, receivables, transaction_id, now)
    }

    fn make_void(
        &mut self,
        customer: &mut Customer,
        receivables: &mut Receivables,
        transaction_id: BalanceTransactionId,
        now: Timestamp,
    ) -> Result<Option<BalanceTransaction>, Error> {
        self.check_no_payment()?;
        self.check_not_synced()?;
        (self.status, self.voided_at) = (InvoiceStatus::Void, Some(now));
        self.paid_at = None;
        let moved = self.balance_transactions.iter();
        let moved = moved.filter(|of| of.action != BalanceAction::OverpaymentRefund);
        let by: Decimal = moved.map(|of| &of.starting_balance - &of.ending_balance).sum();
        if by.is_zero() {
            return Ok(None);
        }
        let movement = self.movement(by, BalanceAction::ReturnFromVoiding);
        let transaction = receivables.book(customer, transaction_id, movement, now);
        self.balance_transactions.push(transaction.clone());
        Ok(Some(transaction))
    }

    /// Returns a move of the balance that it makes.
    pub(crate) fn movement(&self, by: Decimal, action: BalanceAction) -> Movement {
        let (currency, invoice_id) = (self.currency, Some(self.id));
        Movement { by, currency, action, description: None, invoice_id, credit_note_id: None }
    }

    pub(super) fn check_status(&self, expected: &[InvoiceStatus]) -> Result<(), Error> {
        if expected.contains(&self.status) {
            return Ok(());
        }
        let expected: Vec<_> = expected.iter().map(|status| status.name()).collect();
        let (found, expected) = (self.status.name(), expected.join(" or "));
        Err(Error::constraint(format!("the invoice is {found}, expected {expected}")))
    }
}

/// Returns by how much a balance moves when an invoice of a total is issued (invoicing 7.6): what is owed
/// to the customer pays for it as far as it goes, and what the customer owes is collected.
fn applied(total: &Decimal, balance: &Decimal) -> Decimal {
    if total.is_negative() {
        -total
    } else if balance.is_negative() {
        -balance
    } else {
        -balance.clone().min(total.clone())
    }
}
