//! Payloads of webhook messages (wire 6.8, invoicing 17).

mod alerts;
mod dunning;
mod previous;
mod properties;

use accrue::{
    Timestamp,
    related::Related,
    subscription::SubscriptionStatus,
    webhook::{Body, Message, PayloadStyle},
};
use serde::Serialize;

use self::properties::Properties;
use super::{
    backfills::Backfill,
    credit_notes::CreditNote,
    customers::{Customer, CustomerMinified},
    invoices::{Invoice, InvoiceMinified, InvoiceSummary},
    payment_methods::PaymentMethod,
    plans::Plan,
    prices::Price,
    subscriptions::{PlanMinified, Subscription, SubscriptionSummary},
};
use crate::{links::Links, shape::Moment};

/// The payload of a message.
#[derive(Debug, Serialize)]
pub(crate) struct Payload<'a> {
    id: String,
    created_at: String,
    #[serde(rename = "type")]
    kind: &'static str,
    payload_style: PayloadStyle,
    #[serde(flatten)]
    about: Option<About>,
    properties: Properties<'a>,
}

/// What a message is about: a member that is named as the resource.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum About {
    Backfill(Backfill),
    CreditNote(Box<CreditNote>),
    Customer(Box<Customer>),
    Invoice(AnInvoice),
    PaymentMethod(PaymentMethod),
    Plan(APlan),
    Price(Box<Price>),
    Subscription(ASubscription),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum AnInvoice {
    Whole(Box<Invoice>),
    Summary(Box<InvoiceSummary>),
    Minified(InvoiceMinified),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum APlan {
    Whole(Box<Plan>),
    Minified(PlanMinified),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ASubscription {
    Whole(Box<Subscription>),
    Summary(SubscriptionSummary),
    Small(SmallSubscription),
}

/// A subscription in the message of a threshold of its invoices.
#[derive(Debug, Serialize)]
struct SmallSubscription {
    id: String,
    customer: CustomerMinified,
    plan: Option<PlanMinified>,
    start_date: Moment,
    end_date: Option<Moment>,
    status: SubscriptionStatus,
}

impl<'a> Payload<'a> {
    /// Writes a message, with the resources as they are, and as they stand at `now`.
    pub(crate) fn of(
        message: &'a Message,
        style: PayloadStyle,
        related: &Related,
        links: &Links,
        now: Timestamp,
    ) -> Self {
        let kind = message.message_type();
        Self {
            id: message.id.to_string(),
            created_at: whole_seconds(message.created_at),
            kind,
            payload_style: style,
            about: About::of(message, style, related, links, now),
            properties: Properties::of(message, related),
        }
    }
}

/// An instant without the fraction of a second.
fn whole_seconds(at: Timestamp) -> String {
    let text = at.to_string();
    let whole = text.split(['.', 'Z']).next().unwrap_or(&text);
    format!("{whole}+00:00")
}

impl About {
    fn of(
        message: &Message,
        style: PayloadStyle,
        related: &Related,
        links: &Links,
        now: Timestamp,
    ) -> Option<Self> {
        let body = &message.body;
        if let Body::PaymentMethodCreated { payment_method }
        | Body::PaymentMethodDeleted { payment_method } = body
        {
            return Some(Self::PaymentMethod(PaymentMethod::from(&**payment_method)));
        }
        if let (Some(of), Some(_)) = (&message.subscription, body.subscription_id()) {
            let is_small = matches!(
                body,
                Body::InvoicingThresholdExceeded { .. }
                    | Body::GroupedCostExceeded(_)
                    | Body::AlertDisabled(_)
                    | Body::LicenseBalanceThresholdReached(_)
                    | Body::LicenseAllocationReset { .. }
            );
            let of = match style {
                _ if is_small => {
                    let summary = SubscriptionSummary::of(of, related, now);
                    ASubscription::Small(SmallSubscription::from(summary))
                }
                PayloadStyle::Expanded => {
                    ASubscription::Whole(Box::new(Subscription::of(of, related, now)))
                }
                PayloadStyle::Standard => {
                    ASubscription::Summary(SubscriptionSummary::of(of, related, now))
                }
            };
            return Some(Self::Subscription(of));
        }
        if let Some(of) = &message.credit_note {
            return Some(Self::CreditNote(Box::new(CreditNote::of(of, related, links))));
        }
        if let Some(of) = &message.invoice {
            let of = match (body, style) {
                (Body::InvoiceDateElapsed { .. }, _) => {
                    AnInvoice::Minified(InvoiceMinified::of(of, related))
                }
                (Body::InvoiceIssuedSummary { .. }, _) | (_, PayloadStyle::Standard) => {
                    AnInvoice::Summary(Box::new(InvoiceSummary::of(of, related, links)))
                }
                (_, PayloadStyle::Expanded) => {
                    AnInvoice::Whole(Box::new(Invoice::of(of, related, links)))
                }
            };
            return Some(Self::Invoice(of));
        }
        if let Some(of) = &message.plan {
            let of = match body {
                Body::PlanEdited { .. } => APlan::Whole(Box::new(Plan::of(of, related))),
                _ => APlan::Minified(PlanMinified::of(of.id, related)),
            };
            return Some(Self::Plan(of));
        }
        if let Some(of) = &message.price {
            return Some(Self::Price(Box::new(Price::of(of, related))));
        }
        if let Some(of) = &message.backfill {
            return Some(Self::Backfill(Backfill::of(of)));
        }
        // What is about something that is gone is not about its customer.
        let is_gone = body.subscription_id().is_some()
            || body.invoice_id().is_some()
            || body.credit_note_id().is_some()
            || body.backfill_id().is_some();
        let of = message.customer.as_ref().filter(|_| !is_gone)?;
        Some(Self::Customer(Box::new(Customer::of(of, related))))
    }
}

impl From<SubscriptionSummary> for SmallSubscription {
    fn from(of: SubscriptionSummary) -> Self {
        let SubscriptionSummary { id, customer, plan, start_date, end_date, status, .. } = of;
        Self { id, customer, plan, start_date, end_date, status }
    }
}
