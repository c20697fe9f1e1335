use std::iter::Sum;

use accrue::{
    Decimal, Timeframe,
    invoice::{CreditNote, Invoice},
};

/// What invoices and payments have come to in one month, of a customer or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// How many invoices were issued.
    pub invoices: usize,
    /// What there was to pay for them, as they were issued.
    pub invoiced: Decimal,
    /// How many credit notes there were.
    pub credit_notes: usize,
    /// What they gave back.
    pub credited: Decimal,
    /// What of that is less to pay: the rest is kept for the next invoice.
    pub taken_off: Decimal,
    /// How many payments came.
    pub payments: usize,
    /// What was paid.
    pub paid: Decimal,
    /// What was not paid yet at its end, of this month and those before.
    pub open: Decimal,
    /// What was charged for the month itself, on whatever invoice that is, before credit notes.
    pub revenue: Decimal,
}

impl Books {
    /// Reads a month in the invoices of a customer.
    pub(super) fn of(month: Timeframe, invoices: &[Invoice]) -> Self {
        let mut books = Self::default();
        for invoice in invoices {
            let due = &invoice.amount_due;
            let taken_off = |of: &CreditNote| &of.total - &of.returned;
            if let Some(at) = invoice.issued_at {
                let at_first = due + &invoice.credit_notes.iter().map(taken_off).sum::<Decimal>();
                if month.contains(at) {
                    books.invoices += 1;
                    books.invoiced += &at_first;
                }
                if at < month.end() {
                    books.open += &at_first;
                }
            }
            for note in &invoice.credit_notes {
                if month.contains(note.created_at) {
                    books.credit_notes += 1;
                    books.credited += &note.total;
                    books.taken_off += taken_off(note);
                }
                if note.created_at < month.end() {
                    books.open -= taken_off(note);
                }
            }
            if let Some(at) = invoice.payment_received_at {
                if month.contains(at) {
                    books.payments += 1;
                    books.paid += due;
                }
                if at < month.end() {
                    books.open -= due;
                }
            }
            let of_month = invoice.lines.iter().filter(|of| month.contains(of.period.start()));
            books.revenue += of_month.map(|line| &line.amount).sum::<Decimal>();
        }
        books
    }
}

impl<'a> Sum<&'a Self> for Books {
    /// Adds up the books of several customers in the same month.
    fn sum<I: Iterator<Item = &'a Self>>(books: I) -> Self {
        books.fold(Self::default(), |sum, of| Self {
            invoices: sum.invoices + of.invoices,
            invoiced: sum.invoiced + &of.invoiced,
            credit_notes: sum.credit_notes + of.credit_notes,
            credited: sum.credited + &of.credited,
            taken_off: sum.taken_off + &of.taken_off,
            payments: sum.payments + of.payments,
            paid: sum.paid + &of.paid,
            open: sum.open + &of.open,
            revenue: sum.revenue + &of.revenue,
        })
    }
}
