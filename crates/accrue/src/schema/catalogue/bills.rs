//! The rows of invoices, of what pays them and of what takes them back.

use crate::{
    AccountId, CouponId, CreditNoteId, CustomerId, Error, InvoiceId, PriceId, RedemptionCode,
    Timestamp,
    coupon::{Coupon, CouponStatus},
    customer::PaymentMethods,
    id::OF_THE_WHOLE,
    invoice::{
        BalanceTransaction, CreditNote, Invoice, InvoiceStatus, PaymentAttempt, Receivables,
    },
    portal::PortalSessions,
    price::Price,
    schema::{
        documents::*,
        index::Index,
        key::{KeyBytes, Part as _, ReadPart, read_key},
        slot::Slot,
    },
    store::{Key, Scan, Table},
    subscription::Subscription,
};

tables! {
    /// Issued invoices that an invoicing provider is to take, by when it is to be asked.
    awaited_sync(account, at: Timestamp, invoice: InvoiceId) -> Nothing {
        list awaited_syncs(account);
    }

    /// Drafts that wait for their tax, by when it is to be asked for.
    awaited_tax(account, at: Timestamp, invoice: InvoiceId) -> Nothing {
        list awaited_taxes(account);
    }

    /// A transaction of a customer's balance.
    balance_transaction(account, customer: CustomerId, number: u64)
        -> BalanceTransaction [guarded by CustomerHead];

    /// The transactions of a customer's balance, by when they were made.
    balance_transaction_by_time(account, of: &BalanceTransaction)
        = (account, of.customer_id, of.created_at, u128::from(of.number)) -> Nothing {
        list balance_transactions(account, customer: CustomerId);
    }

    /// The invoices of a customer that are to be collected or that wait for their dates, by when they do.
    collection(account, customer: CustomerId, at: Timestamp, invoice: InvoiceId) -> Nothing {
        list collections(account, customer: CustomerId);
    }

    /// A coupon.
    coupon(account, coupon: CouponId) -> Coupon;

    /// Coupons by their codes, and by when they were created.
    coupon_by_code(account, of: &Coupon)
        = (account, &of.redemption_code, of.created_at, of.id) -> Nothing {
        list coupons_of_code(account, code: &RedemptionCode);
    }

    /// Coupons by whether they are archived, and by when they were created.
    coupon_by_status(account, of: &Coupon) = (account, of.status(), of.created_at, of.id) -> Nothing {
        list coupons_of_status(account, status: CouponStatus);
    }

    /// A coupon that is not archived, by its code.
    coupon_code(account, code: &RedemptionCode) = (account, code.as_str()) -> CouponAlias;

    /// The subscriptions that have redeemed a coupon, by when they were created.
    coupon_subscription(account, coupon: CouponId, of: &Subscription)
        = (account, coupon, of.created_at, of.id) -> Nothing {
        list subscriptions_of_coupon(account, coupon: CouponId);
    }

    /// A credit note, without its lines.
    credit_note(account, note: CreditNoteId) -> CreditNoteEntry [guarded by CustomerHead];

    /// The credit notes of a customer, by when they were made.
    credit_note_by_customer(account, of: &CreditNote)
        = (account, of.customer_id, of.created_at, of.id) -> Nothing {
        list credit_notes_of_customer(account, customer: CustomerId);
    }

    /// Credit notes, by when they were made.
    credit_note_by_time(account, of: &CreditNote) = (account, of.created_at, of.id) -> Nothing {
        list credit_notes(account);
    }

    /// Lines of a credit note, as many as fit a row.
    credit_note_lines(account, note: CreditNoteId, part: u16)
        -> CreditNoteLines [guarded by CustomerHead];

    /// An invoice, without its lines, its texts, and what attempts to pay it have ended.
    invoice(account, invoice: InvoiceId) -> InvoiceEntry [guarded by CustomerHead] {
        /// The invoices that a line or an attempt may be of: a few at most.
        scan invoices_of_part(account, first: &[u8; OF_THE_WHOLE]);
        key invoice_id(invoice: InvoiceId);
    }

    /// The invoices of a customer, by the date that they bear.
    invoice_by_customer(account, of: &Invoice)
        = (account, of.customer_id, of.invoice_date, of.id) -> Nothing {
        list invoices_of_customer(account, customer: CustomerId);
    }

    /// Invoices by where they stand, and by the date that they bear.
    invoice_by_status(account, of: &Invoice)
        = (account, of.status, of.invoice_date, of.id) -> Nothing {
        list invoices_of_status(account, status: InvoiceStatus);
    }

    /// Lines of an invoice that was issued, as many as fit a row; of a draft those by hand.
    invoice_lines(account, invoice: InvoiceId, part: u16) -> InvoiceLines [guarded by CustomerHead];

    /// Memo and metadata of an invoice that has some.
    invoice_texts(account, invoice: InvoiceId) -> InvoiceTexts [guarded by CustomerHead];

    /// Price of a line by hand: it is in no list of prices.
    line_price(account, price: PriceId) -> Price [guarded by CustomerHead];

    /// An attempt to pay an invoice that has succeeded or failed, by its number.
    payment_attempt(account, invoice: InvoiceId, number: u32)
        -> PaymentAttempt [guarded by CustomerHead];

    /// Payment methods of a customer.
    payment_methods(account, customer: CustomerId) -> PaymentMethods [guarded by CustomerHead];

    /// Sessions of a customer in the portal.
    portal_sessions(account, customer: CustomerId) -> PortalSessions [guarded by CustomerHead];

    /// Numbers of a customer's invoices, and of the transactions of its balance.
    receivables(account, customer: CustomerId) -> Receivables [guarded by CustomerHead];

    /// Invoices with a payment that is under way, by when it began.
    started_payment(account, at: Timestamp, invoice: InvoiceId) -> Nothing {
        list started_payments(account);
    }
}
