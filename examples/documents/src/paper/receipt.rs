use accrue::{
    Timestamp,
    customer::Customer,
    invoice::{Invoice, PaymentAttempt},
};

use super::{
    Fact, Figure, Paper, Seller, customer,
    invoice::{Standing, figures},
    lines,
};
use crate::words;

impl Paper {
    /// Shows what was paid for an invoice by a payment that has succeeded.
    #[must_use]
    pub fn of_receipt(
        (invoice, payment): (&Invoice, &PaymentAttempt),
        customer: &Customer,
        seller: &Seller,
        at: Timestamp,
    ) -> Self {
        let (zone, currency) = (&customer.timezone, invoice.currency);
        let day = |at: Timestamp| words::day(at, zone);
        let mut standing = Standing::of(invoice, at);
        let paid_at = standing.paid_at.take().unwrap_or(payment.created_at);
        let paid = words::money(&payment.amount, currency);
        let mut facts = vec![
            Fact::new("Invoice number", &*invoice.invoice_number),
            Fact::new("Date paid", day(paid_at)),
        ];
        let provider = payment.payment_provider.map(|of| Fact::new("Paid through", of.name()));
        facts.extend(provider);
        let transaction = payment.payment_provider_id.as_deref();
        facts.extend(transaction.map(|id| Fact::new("Transaction", id)));
        let mut figures = figures(invoice, &standing, &day);
        figures.push(Figure::strong("Amount paid", paid.clone()));
        Self {
            title: "Receipt".to_owned(),
            number: invoice.invoice_number.clone(),
            seller: seller.clone(),
            parties: customer::parties(customer, &invoice.addressee),
            facts,
            headline: format!("{paid} paid on {}", day(paid_at)),
            subline: "Thank you for your payment.".to_owned(),
            currency: currency.code().to_owned(),
            entries: lines::of_invoice(invoice, zone),
            figures,
            notes: Vec::new(),
        }
    }
}
