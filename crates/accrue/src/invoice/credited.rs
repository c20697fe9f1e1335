//! What is credited of lines, and what that does to an invoice (invoicing 10.3 to 10.5).

use super::{
    BalanceAction, BalanceTransaction, CreditNote, CreditNoteEffect, CreditNoteLine,
    CreditNoteReason, CreditNoteSource, Invoice, InvoiceLine, InvoiceStatus, LineAdjustment,
    NewCreditNote, Receivables, TaxAmount,
    balance::{Movement, check_money},
};
use crate::{
    AdjustmentIntervalId, BalanceTransactionId, CreditNoteId, CreditNoteLineId, Currency, Decimal,
    Description, Error, InvoiceLineId, Name, PriceId, PricingUnit, Timeframe, Timestamp, Zone,
    customer::Customer,
};

/// Figures of a line, or a share of them, in the currency of its invoice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) subtotal: Decimal,
    pub(crate) adjustments: Vec<LineAdjustment>,
    /// Amount before adjustments over the invoice: what can be credited.
    pub(crate) amount: Decimal,
    pub(crate) taxes: Vec<TaxAmount>,
}

/// What is credited of a line of an invoice.
pub(crate) struct Credit {
    line: InvoiceLineId,
    price_id: PriceId,
    name: Name,
    period: Timeframe,
    share: Share,
}

impl Credit {
    pub(crate) fn of(line: &InvoiceLine, period: Timeframe, share: Share) -> Self {
        Self { line: line.id, price_id: line.price_id, name: line.name.clone(), period, share }
    }
}

/// Why something is credited, and with what the note is made.
pub(crate) struct Crediting<'a> {
    pub(crate) id: CreditNoteId,
    pub(crate) source: CreditNoteSource,
    pub(crate) reason: CreditNoteReason,
    pub(crate) memo: Option<Description>,
    pub(crate) customer: &'a mut Customer,
    pub(crate) receivables: &'a mut Receivables,
    /// Id of the transaction that moves the balance.
    pub(crate) transaction_id: BalanceTransactionId,
    pub(crate) at: Timestamp,
}

impl From<&CreditNoteLine> for Share {
    fn from(line: &CreditNoteLine) -> Self {
        let CreditNoteLine { subtotal, adjustments, amount, tax_amounts: taxes, .. } = line.clone();
        Self { subtotal, adjustments, amount, taxes }
    }
}

impl Share {
    /// Returns the figures of a line in the currency of its invoice. Those in a pricing unit are worth what
    /// the line adds to the invoice.
    pub(crate) fn of(line: &InvoiceLine, currency: Currency) -> Self {
        let whole = &line.adjusted_subtotal - &line.credits_applied;
        let is_converted = line.currency != PricingUnit::from(currency);
        let worth = |amount: &Decimal| match (is_converted, whole.is_zero()) {
            (false, _) => amount.clone(),
            (true, true) => Decimal::zero(),
            (true, false) => {
                let (negative, whole) = (whole.is_negative(), whole.abs());
                let worth = amount.share(&line.amount, &whole, currency.places());
                if negative { -worth } else { worth }
            }
        };
        let adjustments = line.adjustments.iter();
        let adjustments: Vec<_> = adjustments
            .map(|of| LineAdjustment { amount: worth(&of.amount), ..of.clone() })
            .collect();
        let over_invoice: Decimal = over_invoice(&adjustments).sum();
        let amount = &line.amount - &over_invoice;
        let taxes = line.tax_amounts.clone();
        Self { subtotal: worth(&line.subtotal), adjustments, amount, taxes }
    }

    /// Returns what it comes to with adjustments over the invoice, before taxes.
    pub(crate) fn net(&self) -> Decimal {
        let over_invoice: Decimal = over_invoice(&self.adjustments).sum();
        &self.amount + &over_invoice
    }

    /// Returns what it comes to with adjustments over the invoice, and with taxes.
    pub(crate) fn total(&self) -> Decimal {
        let taxes: Decimal = self.taxes.iter().map(|tax| &tax.amount).sum();
        self.net() + taxes
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
        self.subtotal -= &other.subtotal;
        self.amount -= &other.amount;
        for of in &other.adjustments {
            match self.adjustments.iter_mut().find(|own| own.id == of.id) {
                Some(own) => own.amount -= &of.amount,
                None => self.adjustments.push(LineAdjustment { amount: -&of.amount, ..of.clone() }),
            }
        }
        // A share has the taxes of what it is of, in their order.
        let taxes = self.taxes.iter_mut().zip(&other.taxes);
        taxes.for_each(|(own, of)| own.amount -= &of.amount);
    }

    /// Takes so much of what it comes to before taxes with adjustments over the invoice, and the same share of
    /// everything else: of one that comes to more than nothing.
    pub(crate) fn take_net(&mut self, net: &Decimal, currency: Currency) -> Self {
        let whole = self.net();
        if *net == whole {
            return std::mem::take(self);
        }
        let part = |of: &Decimal| of.share(net, &whole, currency.places());
        let adjustments: Vec<_> = self
            .adjustments
            .iter()
            .map(|of| LineAdjustment { amount: part(&of.amount), ..of.clone() })
            .collect();
        let over_invoice: Decimal = over_invoice(&adjustments).sum();
        let amount = net - &over_invoice;
        let taxes = shares(&self.taxes, part);
        let share = Self { subtotal: part(&self.subtotal), adjustments, amount, taxes };
        self.subtract(&share);
        share
    }

    /// Takes so much of the amount, and the same share of everything else; with the last of it all that is
    /// left, so that shares add up.
    pub(crate) fn take(&mut self, amount: &Decimal, whole: &Self, currency: Currency) -> Self {
        if *amount == self.amount {
            return std::mem::take(self);
        }
        let part = |of: &Decimal| of.share(amount, &whole.amount, currency.places());
        let adjustments = whole.adjustments.iter();
        let share = Self {
            subtotal: part(&whole.subtotal),
            adjustments: adjustments
                .map(|of| LineAdjustment { amount: part(&of.amount), ..of.clone() })
                .collect(),
            amount: amount.clone(),
            taxes: shares(&whole.taxes, part),
        };
        self.subtract(&share);
        share
    }
}

/// Returns a part of each tax.
fn shares(taxes: &[TaxAmount], part: impl Fn(&Decimal) -> Decimal) -> Vec<TaxAmount> {
    taxes.iter().map(|tax| TaxAmount { amount: part(&tax.amount), ..tax.clone() }).collect()
}

fn over_invoice(adjustments: &[LineAdjustment]) -> impl Iterator<Item = &Decimal> {
    adjustments.iter().filter(|of| of.is_invoice_level()).map(|of| &of.amount)
}

impl NewCreditNote {
    /// Decides what it credits of an invoice, where so much of its lines was credited before (invoicing 10.4).
    pub(crate) fn decide(
        &self,
        invoice: &Invoice,
        before: &[CreditNoteLine],
        zone: &Zone,
    ) -> Result<Vec<Credit>, Error> {
        let credits = self.lines.iter().map(|new| {
            let line = invoice.lines.iter().find(|line| line.id == new.invoice_line_id);
            let another = || {
                let id = new.invoice_line_id;
                Error::constraint(format!("the line {id} is of another invoice"))
            };
            let line = line.ok_or_else(another)?;
            check_money("amount", &new.amount, invoice.currency)?;
            if new.amount <= Decimal::zero() {
                let message = format!("found {}, expected an amount above 0", new.amount);
                return Err(Error::invalid("amount", message));
            }
            let whole = Share::of(line, invoice.currency);
            let mut left = invoice.left_of(line, before);
            if left.amount < new.amount {
                let (name, most) = (line.name.as_str(), left.amount.max(Decimal::zero()));
                let detail = format!(
                    "found {} of the line {name:?}, of which {most} is left to credit",
                    new.amount
                );
                return Err(Error::constraint(detail));
            }
            let days = new.days.or(self.days);
            let period = days.map_or(Ok(line.period), |days| days.in_zone(zone))?;
            let share = left.take(&new.amount, &whole, invoice.currency);
            Ok(Credit::of(line, period, share))
        });
        credits.collect()
    }
}

impl Invoice {
    /// Returns what is left of a line to credit, where so much of all lines was credited before.
    pub(crate) fn left_of(&self, line: &InvoiceLine, before: &[CreditNoteLine]) -> Share {
        let mut left = Share::of(line, self.currency);
        for credited in before.iter().filter(|of| of.invoice_line_id == line.id) {
            left.subtract(&Share::from(credited));
        }
        left
    }

    /// Refuses a note that the caller makes of what is neither issued nor paid (invoicing 10.3).
    pub(crate) fn check_credit(&self) -> Result<(), Error> {
        self.check_status(&[InvoiceStatus::Issued, InvoiceStatus::Paid])?;
        self.check_no_payment()
    }

    /// Credits what was decided, and returns the note with the transaction that moves the balance
    /// (invoicing 10.3).
    pub(crate) fn credit(
        &mut self,
        credits: Vec<Credit>,
        crediting: Crediting<'_>,
    ) -> (CreditNote, Option<BalanceTransaction>) {
        let Crediting { id, source, reason, memo, customer, receivables, transaction_id, at } =
            crediting;
        let total: Decimal = credits.iter().map(|of| of.share.total()).sum();
        let lines = credits.into_iter().map(|Credit { line, price_id, name, period, share }| {
            let Share { subtotal, adjustments, amount, taxes: tax_amounts } = share;
            CreditNoteLine {
                id: CreditNoteLineId::derived(at, &[id.as_bytes(), line.as_bytes()]),
                invoice_line_id: line,
                price_id,
                name,
                period,
                subtotal,
                adjustments,
                amount,
                tax_amounts,
            }
        });
        let lines: Vec<_> = lines.collect();
        let effect = match self.status {
            InvoiceStatus::Issued => CreditNoteEffect::Adjustment,
            _ => CreditNoteEffect::Refund,
        };
        let returned = match effect {
            CreditNoteEffect::Adjustment => {
                let less = total.clone().min(self.amount_due.clone());
                self.amount_due -= &less;
                if self.amount_due.is_zero() {
                    (self.status, self.paid_at) = (InvoiceStatus::Paid, Some(at));
                }
                total.clone() - less
            }
            CreditNoteEffect::Refund => total.clone(),
        };
        let note = CreditNote {
            id,
            credit_note_number: receivables.next_note_number(),
            invoice_id: self.id,
            subscription_id: self.subscription_id,
            customer_id: self.customer_id,
            currency: self.currency,
            effect,
            source,
            reason,
            memo,
            created_at: at,
            voided_at: None,
            subtotal: lines.iter().map(|line| &line.amount).sum(),
            total,
            returned: returned.clone(),
            lines,
            fractions: self.fractions_over_invoice(),
        };
        let action = BalanceAction::CreditNoteApplied;
        let movement = Movement::of_note(&note, returned, action);
        let transaction =
            movement.map(|movement| receivables.book(customer, transaction_id, movement, at));
        self.balance_transactions.extend(transaction.clone());
        let shown = CreditNote { lines: Vec::new(), fractions: Vec::new(), ..note.clone() };
        self.credit_notes.push(shown);
        (note, transaction)
    }

    /// Returns which fraction each adjustment over it was of the lines that it reached, to ten digits.
    fn fractions_over_invoice(&self) -> Vec<(AdjustmentIntervalId, Decimal)> {
        let mut all: Vec<(AdjustmentIntervalId, Decimal, Decimal)> = Vec::new();
        for share in self.lines.iter().map(|line| Share::of(line, self.currency)) {
            for of in share.adjustments.iter().filter(|of| of.is_invoice_level()) {
                let place = all.iter().position(|(id, ..)| *id == of.id).unwrap_or(all.len());
                if place == all.len() {
                    all.push((of.id, Decimal::zero(), Decimal::zero()));
                }
                if let Some((_, amount, base)) = all.get_mut(place) {
                    *amount += &of.amount;
                    *base += &share.amount;
                }
            }
        }
        let of_bases = all.into_iter().filter(|(.., base)| *base > Decimal::zero());
        of_bases.map(|(id, of, base)| (id, of.abs().share(&Decimal::from(1), &base, 10))).collect()
    }

    /// Takes a note of it back (invoicing 10.5). Of what was paid since, the customer owes the difference.
    pub(crate) fn void_credit_note(
        &mut self,
        note: &mut CreditNote,
        customer: &mut Customer,
        receivables: &mut Receivables,
        transaction_id: BalanceTransactionId,
        at: Timestamp,
    ) -> Result<Option<BalanceTransaction>, Error> {
        if let Some(voided) = note.voided_at {
            return Err(Error::constraint(format!("the credit note is void since {voided}")));
        }
        use InvoiceStatus::{Issued, Paid, Synced};

        self.check_status(&[Issued, Paid, Synced])?;
        note.voided_at = Some(at);
        let is_settled = self.status == Synced || self.payment_received_at.is_some();
        let mut taken = note.returned.clone();
        if note.effect == CreditNoteEffect::Adjustment && is_settled {
            taken = note.total.clone();
        } else if note.effect == CreditNoteEffect::Adjustment {
            self.amount_due += &(&note.total - &note.returned);
            if self.status == Paid && !self.amount_due.is_zero() {
                (self.status, self.paid_at) = (Issued, None);
                self.schedule_collection(at);
            }
        }
        let action = BalanceAction::CreditNoteVoided;
        let movement = Movement::of_note(note, -taken, action);
        let transaction =
            movement.map(|movement| receivables.book(customer, transaction_id, movement, at));
        self.balance_transactions.extend(transaction.clone());
        if let Some(own) = self.credit_notes.iter_mut().find(|own| own.id == note.id) {
            own.voided_at = note.voided_at;
        }
        Ok(transaction)
    }
}

impl Movement {
    /// Returns the move that a note makes, if it does.
    fn of_note(note: &CreditNote, by: Decimal, action: BalanceAction) -> Option<Self> {
        let (currency, invoice_id) = (note.currency, Some(note.invoice_id));
        let credit_note_id = Some(note.id);
        let movement = Self { by, currency, action, description: None, invoice_id, credit_note_id };
        (!movement.by.is_zero()).then_some(movement)
    }
}
