use accrue::{
    Decimal, Timestamp,
    customer::Customer,
    invoice::{BalanceAction, CreditNote, CreditNoteEffect, Invoice},
};

use super::{Fact, Figure, Paper, Party, Seller, customer, lines};
use crate::words;

/// How an invoice stood at an instant.
pub(super) struct Standing<'a> {
    pub(super) amount_due: Decimal,
    pub(super) paid_at: Option<Timestamp>,
    pub(super) voided_at: Option<Timestamp>,
    pub(super) credit_notes: Vec<&'a CreditNote>,
}

impl<'a> Standing<'a> {
    pub(super) fn of(invoice: &'a Invoice, at: Timestamp) -> Self {
        let counts_at = |note: &&CreditNote, at: Timestamp| {
            note.created_at <= at && note.voided_at.is_none_or(|voided| at < voided)
        };
        let lowers = |notes: &[&CreditNote]| -> Decimal {
            let notes = notes.iter().filter(|note| note.effect == CreditNoteEffect::Adjustment);
            notes.map(|note| &note.total - &note.returned).sum()
        };
        let notes = || invoice.credit_notes.iter();
        let now: Vec<_> = notes().filter(|note| note.voided_at.is_none()).collect();
        let then: Vec<_> = notes().filter(|note| counts_at(note, at)).collect();
        Self {
            amount_due: &invoice.amount_due + lowers(&now) - lowers(&then),
            paid_at: invoice.paid_at.filter(|paid| *paid <= at),
            voided_at: invoice.voided_at.filter(|voided| *voided <= at),
            credit_notes: then,
        }
    }
}

impl Paper {
    /// Shows an invoice as it stood at an instant: a draft as it stands.
    #[must_use]
    pub fn of_invoice(
        invoice: &Invoice,
        customer: &Customer,
        seller: &Seller,
        at: Timestamp,
    ) -> Self {
        let (zone, currency) = (&customer.timezone, invoice.currency);
        let standing = Standing::of(invoice, at);
        let addressee = match invoice.issued_at {
            Some(_) => &invoice.addressee,
            None => &customer.carried,
        };
        let day = |at: Timestamp| words::day(at, zone);
        let mut facts = vec![
            Fact::new("Invoice number", &*invoice.invoice_number),
            Fact::new("Invoice date", day(invoice.invoice_date)),
        ];
        facts.extend(invoice.due_date.map(|due| Fact::new("Due date", day(due))));
        let due = words::money(&standing.amount_due, currency);
        let (headline, subline) = match (standing.voided_at, standing.paid_at, invoice.due_date) {
            (Some(voided), ..) => {
                ("Void".to_owned(), format!("Nothing is owed since {}.", day(voided)))
            }
            (None, Some(paid), _) => {
                (format!("{due} paid"), format!("Thank you. It was paid on {}.", day(paid)))
            }
            (None, None, Some(date)) => {
                let subline = "Please name the invoice number when you pay.".to_owned();
                (format!("{due} due {}", day(date)), subline)
            }
            (None, None, None) => (format!("{due} so far"), "A draft, not to be paid.".to_owned()),
        };
        Self {
            title: "Invoice".to_owned(),
            number: invoice.invoice_number.clone(),
            seller: seller.clone(),
            parties: customer::parties(customer, addressee),
            facts,
            headline,
            subline,
            currency: currency.code().to_owned(),
            entries: lines::of_invoice(invoice, zone),
            figures: figures(invoice, &standing, &day),
            notes: memo(invoice),
        }
    }
}

/// Returns the sums of an invoice, from its subtotal to what is due.
pub(super) fn figures(
    invoice: &Invoice,
    standing: &Standing<'_>,
    day: &dyn Fn(Timestamp) -> String,
) -> Vec<Figure> {
    let currency = invoice.currency;
    let amount = |of: &Decimal| words::amount(of, currency);
    let lines: Decimal = invoice.lines.iter().map(|line| &line.amount).sum();
    let mut figures = vec![Figure::new("Subtotal", amount(&invoice.subtotal))];
    let change = &lines - &invoice.subtotal;
    if !change.is_zero() {
        figures.push(Figure::new("Adjustments and credits", amount(&change)));
    }
    figures.extend(lines::taxes(invoice.lines.iter().flat_map(|line| &line.tax_amounts), currency));
    figures.push(Figure::strong("Total", amount(&invoice.total)));
    let applied = invoice.balance_transactions.iter();
    let applied = applied.filter(|of| of.action == BalanceAction::AppliedToInvoice);
    let applied: Decimal = applied.map(|of| &of.ending_balance - &of.starting_balance).sum();
    if !applied.is_zero() {
        figures.push(Figure::new("From your balance", amount(&applied)));
    }
    let adjusting =
        standing.credit_notes.iter().filter(|of| of.effect == CreditNoteEffect::Adjustment);
    figures.extend(adjusting.map(|note| {
        let by = &note.returned - &note.total;
        Figure::new(format!("Credit note {}", note.credit_note_number), amount(&by))
    }));
    let due = words::money(&standing.amount_due, currency);
    figures.push(Figure::strong("Amount due", due));
    if let Some(paid) = standing.paid_at.filter(|_| !standing.amount_due.is_zero()) {
        figures.push(Figure::new(format!("Paid on {}", day(paid)), amount(&-&standing.amount_due)));
    }
    figures
}

pub(super) fn memo(invoice: &Invoice) -> Vec<Party> {
    let memo = invoice.memo.iter().filter(|memo| !memo.trim().is_empty());
    let party = |memo: &String| Party {
        title: "Note".to_owned(),
        lines: memo.lines().map(str::to_owned).collect(),
    };
    memo.map(party).collect()
}
