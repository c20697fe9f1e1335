use std::sync::Arc;

use accrue::{
    AccountId,
    invoice::{CreditNote, Invoice, PaymentAttempt},
};

/// Documents of a host: where the customers of an account find their invoices, receipts and credit notes
/// (invoicing 4.7).
///
/// It is asked whenever an answer shows one of these, and must answer at once: an address that can be told
/// from the ids and instants that it is given, and that nobody else can guess. What is found there is made
/// when somebody asks for it. `None` where there is no such document.
///
/// ```
/// use accrue::{AccountId, invoice::{CreditNote, Invoice, PaymentAttempt}};
/// use accrue_http::Documents;
/// # use accrue::{Billing, store::MemoryStore};
/// # use accrue_http::{Api, FixedKey};
///
/// struct Pages;
///
/// /// Pages for those who have signed in: nobody has to guess the address.
/// impl Documents for Pages {
///     fn invoice_pdf(&self, _: &AccountId, _: &Invoice) -> Option<String> {
///         None
///     }
///
///     fn hosted_invoice(&self, _: &AccountId, invoice: &Invoice) -> Option<String> {
///         Some(format!("https://billing.example.com/invoices/{}", invoice.id))
///     }
///
///     fn receipt_pdf(&self, _: &AccountId, _: &Invoice, _: &PaymentAttempt) -> Option<String> {
///         None
///     }
///
///     fn credit_note_pdf(&self, _: &AccountId, _: &CreditNote) -> Option<String> {
///         None
///     }
/// }
///
/// # let billing = Billing::with_system(MemoryStore::new());
/// # let keys = FixedKey::new("secret", AccountId::parse("acme")?);
/// let api = Api::builder(billing, keys).documents(Pages).build();
/// # Ok::<(), accrue::TextError>(())
/// ```
///
/// To ensure correctness:
///
/// - The same document has the same address, whenever it is asked for.
/// - A document shows the instant [`document_at`](Invoice::document_at), and its address depends on that:
///   where a document is renewed, the former one stays where it was.
pub trait Documents: Send + Sync {
    /// Returns the address of an invoice as a file, which is no draft.
    fn invoice_pdf(&self, account: &AccountId, invoice: &Invoice) -> Option<String>;

    /// Returns the address of the page on which a customer sees how an invoice stands, which is no draft.
    fn hosted_invoice(&self, account: &AccountId, invoice: &Invoice) -> Option<String>;

    /// Returns the address of the receipt of a payment that has succeeded.
    fn receipt_pdf(
        &self,
        account: &AccountId,
        invoice: &Invoice,
        payment: &PaymentAttempt,
    ) -> Option<String>;

    /// Returns the address of a credit note as a file.
    fn credit_note_pdf(&self, account: &AccountId, note: &CreditNote) -> Option<String>;
}

impl<D: Documents + ?Sized> Documents for Arc<D> {
    fn invoice_pdf(&self, account: &AccountId, invoice: &Invoice) -> Option<String> {
        (**self).invoice_pdf(account, invoice)
    }

    fn hosted_invoice(&self, account: &AccountId, invoice: &Invoice) -> Option<String> {
        (**self).hosted_invoice(account, invoice)
    }

    fn receipt_pdf(
        &self,
        account: &AccountId,
        invoice: &Invoice,
        payment: &PaymentAttempt,
    ) -> Option<String> {
        (**self).receipt_pdf(account, invoice, payment)
    }

    fn credit_note_pdf(&self, account: &AccountId, note: &CreditNote) -> Option<String> {
        (**self).credit_note_pdf(account, note)
    }
}
