use accrue::{
    Decimal, Timestamp,
    customer::Customer,
    invoice::{CreditNote, CreditNoteEffect, CreditNoteLine, Invoice},
};

use super::{Entry, Fact, Figure, Paper, Party, Seller, customer, lines};
use crate::words;

impl Paper {
    /// Shows a credit note of an invoice.
    #[must_use]
    pub fn of_credit_note(
        note: &CreditNote,
        invoice: &Invoice,
        customer: &Customer,
        seller: &Seller,
    ) -> Self {
        let (zone, currency) = (&customer.timezone, note.currency);
        let day = |at: Timestamp| words::day(at, zone);
        let amount = |of: &Decimal| words::amount(of, currency);
        let entry = |line: &CreditNoteLine| {
            let own = line.adjustments.iter().filter(|of| !of.is_invoice_level());
            let changes: Vec<_> =
                own.map(|of| Figure::new(lines::adjustment(of), amount(&of.amount))).collect();
            Entry {
                name: line.name.to_string(),
                period: lines::period(line.period, zone),
                amount: amount(&line.subtotal),
                total: (!changes.is_empty()).then(|| amount(&line.amount)),
                changes,
                ..Entry::default()
            }
        };
        let mut figures = vec![Figure::new("Subtotal", amount(&note.subtotal))];
        let over = note.adjustments_over_invoice();
        figures.extend(
            over.iter().map(|(of, _)| Figure::new(lines::adjustment(of), amount(&of.amount))),
        );
        let taxes = note.lines.iter().flat_map(|line| &line.tax_amounts);
        figures.extend(lines::taxes(taxes, currency));
        figures.push(Figure::strong("Total credited", words::money(&note.total, currency)));
        let total = words::money(&note.total, currency);
        let (headline, subline) = match (note.voided_at, note.effect) {
            (Some(at), _) => ("Void".to_owned(), format!("It has no effect since {}.", day(at))),
            (None, CreditNoteEffect::Adjustment) => {
                (format!("{total} credited"), "It lowers what is due of the invoice.".to_owned())
            }
            (None, _) => (format!("{total} credited"), "It is part of your balance.".to_owned()),
        };
        let facts = vec![
            Fact::new("Credit note number", &*note.credit_note_number),
            Fact::new("Date", day(note.created_at)),
            Fact::new("Invoice number", &*invoice.invoice_number),
        ];
        let memo = note.memo.iter().map(|memo| Party {
            title: "Note".to_owned(),
            lines: memo.as_str().lines().map(str::to_owned).collect(),
        });
        Self {
            title: "Credit note".to_owned(),
            number: note.credit_note_number.clone(),
            seller: seller.clone(),
            parties: customer::parties(customer, &invoice.addressee),
            facts,
            headline,
            subline,
            currency: currency.code().to_owned(),
            entries: note.lines.iter().map(entry).collect(),
            figures,
            notes: memo.collect(),
        }
    }
}
