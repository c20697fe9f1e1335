//! Invoices on the wire (invoicing 3).

mod lines;
mod lists;
mod one_off;
mod over;
mod requests;

use accrue::{
    Currency, Metadata, PricingUnit,
    invoice::{self, InvoiceSource, InvoiceStatus},
    related::Related,
};
use serde::Serialize;

use self::over::{InvoiceLevelDiscount, InvoiceMaximum, InvoiceMinimum, Over};
pub(crate) use self::{
    lines::InvoiceLineItem,
    lists::{InvoiceListQuery, InvoiceSummaryQuery},
    one_off::{CreateInvoice, CreateInvoiceLine},
    requests::{FetchInvoice, IssueInvoice, MarkPaid, PayInvoice, UpcomingQuery, UpdateInvoice},
};
use super::{
    alerts::SubscriptionMinified,
    amounts::Amount,
    balance_transactions::BalanceTransaction,
    credit_notes::CreditNoteSummary,
    customer_fields::{Address, Answered, TaxId},
    customers::CustomerMinified,
    payment_methods::Gateway,
};
use crate::{
    links::Links,
    shape::{Describe, Moment, Object, Schema, choices, response},
};

/// An invoice: a draft with the figures of now.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Invoice {
    #[serde(flatten)]
    common: CommonInvoice,
    #[serde(flatten)]
    date: Dated,
    #[serde(flatten)]
    figures: Figures,
}

/// An invoice without its lines.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct InvoiceSummary {
    #[serde(flatten)]
    common: CommonInvoice,
    #[serde(flatten)]
    date: Dated,
}

/// The draft of the next boundary of a subscription.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct UpcomingInvoice {
    #[serde(flatten)]
    common: CommonInvoice,
    #[serde(flatten)]
    date: Targeted,
    #[serde(flatten)]
    figures: Figures,
}

/// An invoice that a change of a subscription has made.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CreatedInvoice {
    #[serde(flatten)]
    invoice: Invoice,
    #[serde(flatten)]
    payable: Payable,
}

response! {
    /// Whether an invoice that was made is payable.
    struct Payable {
        /// True if it is of fees in advance alone, and payable at once.
        is_payable_now: bool,
    }

    /// The fields of every invoice.
    struct CommonInvoice {
        /// Its id.
        id: String,
        /// Number that it bears.
        invoice_number: String,
        /// Its status.
        status: InvoiceStatus,
        /// Source: why it was made.
        invoice_source: InvoiceSource,
        /// Currency of its amounts.
        currency: Currency,
        /// Instant at which it was made.
        created_at: Moment,
        /// Instant by which it is to be paid; null for a draft.
        due_date: Option<Moment>,
        /// Instant from which a draft may be issued.
        eligible_to_issue_at: Option<Moment>,
        /// Instant at which a draft is issued by itself.
        scheduled_issue_at: Option<Moment>,
        /// True for a draft that is issued by itself.
        will_auto_issue: bool,
        /// Instant at which it was issued.
        issued_at: Option<Moment>,
        /// Instant at which issuing it last failed.
        issue_failed_at: Option<Moment>,
        /// Instant at which a sync to an invoicing provider last failed; null where none has.
        sync_failed_at: Option<Moment>,
        /// Instant at which it became paid.
        paid_at: Option<Moment>,
        /// Instant at which the money came.
        payment_received_at: Option<Moment>,
        /// Instant at which the latest attempt to collect it began.
        payment_started_at: Option<Moment>,
        /// Instant at which an attempt last failed.
        payment_failed_at: Option<Moment>,
        /// Instant at which it became void.
        voided_at: Option<Moment>,
        /// Sum of its lines after adjustments and credits, with their taxes.
        total: Amount,
        /// Amount that is left to pay.
        amount_due: Amount,
        /// Customer that it is for.
        customer: CustomerMinified,
        /// Subscription that it bills.
        subscription: Option<SubscriptionMinified>,
        /// Transactions of the customer's balance that it made, oldest first.
        customer_balance_transactions: Vec<BalanceTransaction>,
        /// Credit notes of it, void ones too, oldest first.
        credit_notes: Vec<CreditNoteSummary>,
        /// Attempts to collect it that have succeeded or failed, oldest first.
        payment_attempts: Vec<PaymentAttempt>,
        /// Collection without a request.
        auto_collection: AutoCollection,
        /// Text for the customer.
        memo: Option<String>,
        /// Postal address for goods: of a draft that of its customer.
        shipping_address: Answered<Option<Address>>,
        /// Postal address: of a draft that of its customer.
        billing_address: Answered<Option<Address>>,
        /// Identifier of the customer at the tax authority: of a draft that of its customer.
        customer_tax_id: Answered<Option<TaxId>>,
        /// Address of it as a file; null for a draft, and where the host makes none.
        invoice_pdf: Option<String>,
        /// Address of the page on which its customer sees how it stands; null where the host has none.
        hosted_invoice_url: Option<String>,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
    }

    /// An invoice, in short.
    pub(crate) struct InvoiceMinified {
        /// Its id.
        id: String,
        /// Its number.
        invoice_number: String,
        /// Its status.
        status: InvoiceStatus,
        /// Customer that it is for.
        customer: CustomerMinified,
        /// Subscription that it bills.
        subscription: Option<SubscriptionMinified>,
    }

    /// The date of an invoice.
    struct Dated {
        /// Date that it bears: the boundary that it bills, or the midnight that was chosen.
        invoice_date: Moment,
    }

    /// The date of an upcoming invoice.
    struct Targeted {
        /// Date that it will bear: the boundary that it bills.
        target_date: Moment,
    }

    /// The lines of an invoice, and what they come to.
    struct Figures {
        /// Sum of its lines before adjustments.
        subtotal: Amount,
        /// Lines, in the order of the prices.
        line_items: Vec<InvoiceLineItem>,
        /// Number of lines that are left out.
        hidden_line_item_count: u64,
        /// First discount over the invoice.
        discount: Option<InvoiceLevelDiscount>,
        /// Discounts over the invoice, and not of one price.
        discounts: Vec<InvoiceLevelDiscount>,
        /// Minimum over the invoice.
        minimum: Option<InvoiceMinimum>,
        /// Its amount.
        minimum_amount: Option<Amount>,
        /// Maximum over the invoice.
        maximum: Option<InvoiceMaximum>,
        /// Its amount.
        maximum_amount: Option<Amount>,
    }

    /// The collection of an invoice without a request.
    struct AutoCollection {
        /// True if it is collected so.
        enabled: bool,
        /// Number of attempts.
        num_attempts: u64,
        /// Instant of the next attempt.
        next_attempt_at: Option<Moment>,
        /// Instant of the last attempt that began without a request.
        previously_attempted_at: Option<Moment>,
    }

    /// An attempt to collect an invoice.
    struct PaymentAttempt {
        /// Its id.
        id: String,
        /// Amount that was to be paid.
        amount: Amount,
        /// Instant at which it began.
        created_at: Moment,
        /// True if the money came.
        succeeded: bool,
        /// Payment provider that it was made with.
        payment_provider: Option<Gateway>,
        /// The provider's id for it.
        payment_provider_id: Option<String>,
        /// Address of its receipt, where the money came; null where the host makes none.
        receipt_pdf: Option<String>,
    }
}

choices! {
    InvoiceStatus {
        "draft" => InvoiceStatus::Draft,
        "issued" => InvoiceStatus::Issued,
        "paid" => InvoiceStatus::Paid,
        "synced" => InvoiceStatus::Synced,
        "void" => InvoiceStatus::Void,
    }
    InvoiceSource {
        "subscription" => InvoiceSource::Subscription,
        "partial" => InvoiceSource::Partial,
        "one_off" => InvoiceSource::OneOff,
    }
}

/// Joins the members of several objects.
fn joined(name: &'static str, description: &str, of: impl IntoIterator<Item = Schema>) -> Schema {
    let objects = of.into_iter().filter_map(|schema| match schema {
        Schema::Object(object) => Some(object),
        _ => None,
    });
    let properties = objects.flat_map(|object| object.properties).collect();
    let description = description.to_owned();
    Schema::Object(Object { name, description, is_closed: false, properties })
}

impl Describe for Invoice {
    fn schema() -> Schema {
        let parts = [CommonInvoice::schema(), Dated::schema(), Figures::schema()];
        joined("Invoice", "An invoice: a draft with the figures of now.", parts)
    }
}

impl Describe for CreatedInvoice {
    fn schema() -> Schema {
        let description = "An invoice that a change of a subscription has made.";
        joined("CreatedInvoice", description, [Invoice::schema(), Payable::schema()])
    }
}

impl CreatedInvoice {
    pub(crate) fn of(
        invoice: &invoice::Invoice,
        is_payable_now: bool,
        related: &Related,
        links: &Links,
    ) -> Self {
        Self { invoice: Invoice::of(invoice, related, links), payable: Payable { is_payable_now } }
    }
}

impl Describe for InvoiceSummary {
    fn schema() -> Schema {
        let parts = [CommonInvoice::schema(), Dated::schema()];
        joined("InvoiceSummary", "An invoice without its lines.", parts)
    }
}

impl Describe for UpcomingInvoice {
    fn schema() -> Schema {
        let parts = [CommonInvoice::schema(), Targeted::schema(), Figures::schema()];
        joined("UpcomingInvoice", "The draft of the next boundary of a subscription.", parts)
    }
}

/// Which lines an invoice shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shown {
    #[default]
    EveryLine,
    /// Without those of quantity zero, but for those with a minimum of their own.
    WithoutZeros,
}

/// The lines of an invoice as they were before an edit, and the discounts over it where these were others.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PreviousLines {
    line_items: Vec<InvoiceLineItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discounts: Option<Vec<InvoiceLevelDiscount>>,
}

impl PreviousLines {
    pub(crate) fn of(
        invoice: &invoice::Invoice,
        edit: &invoice::LinesEdit,
        related: &Related,
    ) -> Self {
        let before = invoice.without(edit);
        let is_other = before.discount != invoice.discount;
        let Figures { line_items, discounts, .. } = Figures::of(&before, related, Shown::EveryLine);
        Self { line_items, discounts: is_other.then_some(discounts) }
    }
}

impl Invoice {
    /// Writes an invoice with every line, and the resources that it names.
    pub(crate) fn of(invoice: &invoice::Invoice, related: &Related, links: &Links) -> Self {
        Self::showing(invoice, related, links, Shown::EveryLine)
    }

    pub(crate) fn showing(
        invoice: &invoice::Invoice,
        related: &Related,
        links: &Links,
        shown: Shown,
    ) -> Self {
        Self {
            common: CommonInvoice::of(invoice, related, links),
            date: Dated { invoice_date: invoice.invoice_date.into() },
            figures: Figures::of(invoice, related, shown),
        }
    }
}

impl InvoiceSummary {
    pub(crate) fn of(invoice: &invoice::Invoice, related: &Related, links: &Links) -> Self {
        Self {
            common: CommonInvoice::of(invoice, related, links),
            date: Dated { invoice_date: invoice.invoice_date.into() },
        }
    }
}

impl UpcomingInvoice {
    pub(crate) fn of(invoice: &invoice::Invoice, related: &Related, links: &Links) -> Self {
        Self {
            common: CommonInvoice::of(invoice, related, links),
            date: Targeted { target_date: invoice.invoice_date.into() },
            figures: Figures::of(invoice, related, Shown::EveryLine),
        }
    }
}

impl InvoiceMinified {
    pub(crate) fn of(invoice: &invoice::Invoice, related: &Related) -> Self {
        let customer = related.customer(invoice.customer_id);
        Self {
            id: invoice.id.to_string(),
            invoice_number: invoice.invoice_number.clone(),
            status: invoice.status,
            customer: CustomerMinified::of(invoice.customer_id, customer),
            subscription: invoice.subscription_id.map(SubscriptionMinified::from),
        }
    }
}

impl CommonInvoice {
    fn of(invoice: &invoice::Invoice, related: &Related, links: &Links) -> Self {
        let unit = PricingUnit::from(invoice.currency);
        let customer = related.customer(invoice.customer_id);
        // What is issued bears what it was addressed to then.
        let addressee = match invoice.issued_at {
            Some(_) => Some(&invoice.addressee),
            None => customer.map(|customer| &customer.carried),
        };
        let none = accrue::Carried::default();
        let addressee = addressee.unwrap_or(&none);
        let transactions = invoice.balance_transactions.iter();
        let attempts = invoice.payment_attempts.iter();
        Self {
            id: invoice.id.to_string(),
            invoice_number: invoice.invoice_number.clone(),
            status: invoice.status,
            invoice_source: invoice.source,
            currency: invoice.currency,
            created_at: invoice.created_at.into(),
            due_date: invoice.due_date.map(Moment::from),
            eligible_to_issue_at: invoice.eligible_to_issue_at.map(Moment::from),
            scheduled_issue_at: invoice
                .eligible_to_issue_at
                .filter(|_| invoice.will_auto_issue)
                .map(Moment::from),
            will_auto_issue: invoice.will_auto_issue,
            issued_at: invoice.issued_at.map(Moment::from),
            issue_failed_at: invoice.issue_failed_at.map(Moment::from),
            sync_failed_at: invoice.sync_failed_at.map(Moment::from),
            paid_at: invoice.paid_at.map(Moment::from),
            payment_received_at: invoice.payment_received_at.map(Moment::from),
            payment_started_at: invoice.payment_started_at.map(Moment::from),
            payment_failed_at: invoice.payment_failed_at.map(Moment::from),
            voided_at: invoice.voided_at.map(Moment::from),
            total: Amount::of(&invoice.total, &unit),
            amount_due: Amount::of(&invoice.amount_due, &unit),
            customer: CustomerMinified::of(invoice.customer_id, customer),
            subscription: invoice.subscription_id.map(SubscriptionMinified::from),
            customer_balance_transactions: transactions.map(BalanceTransaction::from).collect(),
            credit_notes: invoice.credit_notes.iter().map(CreditNoteSummary::from).collect(),
            payment_attempts: attempts.map(|of| PaymentAttempt::of(of, invoice, links)).collect(),
            auto_collection: AutoCollection::from(&invoice.auto_collection),
            memo: invoice.memo.clone(),
            shipping_address: Answered::of(addressee, "shipping_address"),
            billing_address: Answered::of(addressee, "billing_address"),
            customer_tax_id: Answered::of(addressee, "tax_id"),
            invoice_pdf: links.invoice_pdf(invoice),
            hosted_invoice_url: links.hosted_invoice(invoice),
            metadata: invoice.metadata.clone(),
        }
    }
}

impl From<&invoice::AutoCollection> for AutoCollection {
    fn from(of: &invoice::AutoCollection) -> Self {
        Self {
            enabled: of.enabled,
            num_attempts: of.num_attempts.into(),
            next_attempt_at: of.next_attempt_at.map(Moment::from),
            previously_attempted_at: of.previously_attempted_at.map(Moment::from),
        }
    }
}

impl PaymentAttempt {
    fn of(of: &invoice::PaymentAttempt, invoice: &invoice::Invoice, links: &Links) -> Self {
        let unit = &invoice.currency.into();
        Self {
            id: of.id.to_string(),
            amount: Amount::of(&of.amount, unit),
            created_at: of.created_at.into(),
            succeeded: of.succeeded,
            payment_provider: of.payment_provider.and_then(Gateway::of),
            payment_provider_id: of.payment_provider_id.clone(),
            receipt_pdf: links.receipt_pdf(invoice, of),
        }
    }
}

impl Figures {
    fn of(invoice: &invoice::Invoice, related: &Related, shown: Shown) -> Self {
        let (lines, hidden): (Vec<_>, Vec<_>) = invoice
            .lines
            .iter()
            .partition(|line| shown == Shown::EveryLine || lines::is_shown_always(line));
        let over = Over::of(invoice);
        Self {
            subtotal: Amount::of(&invoice.subtotal, &invoice.currency.into()),
            line_items: lines
                .into_iter()
                .map(|line| InvoiceLineItem::of(line, invoice, related))
                .collect(),
            hidden_line_item_count: u64::try_from(hidden.len()).unwrap_or(u64::MAX),
            discount: over.discounts.first().cloned(),
            discounts: over.discounts,
            minimum_amount: over.minimum.as_ref().map(|of| of.minimum_amount.clone()),
            minimum: over.minimum,
            maximum_amount: over.maximum.as_ref().map(|of| of.maximum_amount.clone()),
            maximum: over.maximum,
        }
    }
}
