//! What is asked of one invoice (invoicing 9).

use accrue::{
    Patch, SubscriptionId, Zone,
    invoice::{InvoiceUpdate, Payment},
};

use super::Shown;
use crate::{
    problem::Problem,
    shape::{Maybe, MetadataIn, Whole, metadata_update, request},
    wire::dates::{Date, Day, any_is_local},
};

request! {
    /// What an invoice shows.
    pub(crate) struct FetchInvoice {
        /// False if lines of quantity zero are left out, but for those with a minimum of their own.
        include_zero_quantity_line_items: Option<bool>,
    }

    /// The subscription whose next invoice is asked for.
    pub(crate) struct UpcomingQuery {
        /// Subscription.
        subscription_id: SubscriptionId,
    }

    /// Changes to an invoice: metadata in every state, the rest while it is a draft.
    pub(crate) struct UpdateInvoice {
        /// Metadata to set, or to remove where a value is null; null removes all.
        metadata: MetadataIn,
        /// Number of days between its date and its due date; null for those of its subscription.
        net_terms: Maybe<Whole<0, 36_500>>,
        /// Due date; null for that which follows from the number of days.
        due_date: Maybe<Date>,
        /// Date that a one-off draft bears, at most a year ahead: its day in the zone of the customer.
        invoice_date: Option<Date>,
        /// True if it is collected without a request.
        auto_collection: Option<bool>,
    }

    /// How an invoice is issued.
    pub(crate) struct IssueInvoice {
        /// True if the answer is to wait until it is issued, as it does either way: not for one with usage.
        synchronous: Option<bool>,
    }

    /// What an invoice is paid with.
    pub(crate) struct PayInvoice {
        /// Shared payment token for this attempt alone; without it what the customer pays with.
        shared_payment_token_id: Option<String>,
    }

    /// A payment that came by other means.
    pub(crate) struct MarkPaid {
        /// Day on which the money came.
        payment_received_date: Day,
        /// The caller's own id for the payment.
        external_id: Option<String>,
        /// Notes in the caller's own words.
        notes: Option<String>,
    }
}

impl IssueInvoice {
    pub(crate) fn is_synchronous(&self) -> bool {
        self.synchronous == Some(true)
    }
}

impl FetchInvoice {
    pub(crate) fn shown(&self) -> Shown {
        match self.include_zero_quantity_line_items {
            Some(false) => Shown::WithoutZeros,
            Some(true) | None => Shown::EveryLine,
        }
    }
}

impl UpdateInvoice {
    /// Tells whether its dates depend on the zone of the customer.
    pub(crate) fn has_local_date(&self) -> bool {
        matches!(&self.due_date, Maybe::Value(date) if date.is_local())
            || any_is_local([&self.invoice_date])
    }

    /// Makes the update, where dates are those of a zone.
    pub(crate) fn into_update(self, zone: &Zone) -> Result<InvoiceUpdate, Problem> {
        Ok(InvoiceUpdate {
            metadata: metadata_update(self.metadata),
            net_terms: match self.net_terms {
                Maybe::Absent => Patch::Keep,
                Maybe::Null => Patch::Clear,
                Maybe::Value(days) => Patch::Set(u32::try_from(days.size()).unwrap_or(u32::MAX)),
            },
            due_date: match self.due_date {
                Maybe::Absent => Patch::Keep,
                Maybe::Null => Patch::Clear,
                Maybe::Value(date) => Patch::Set(date.in_zone(zone, "/due_date")?),
            },
            invoice_date: self
                .invoice_date
                .map(|date| date.in_zone(zone, "/invoice_date"))
                .transpose()?,
            auto_collection: self.auto_collection,
        })
    }
}

impl PayInvoice {
    /// Returns the token, where there is one.
    pub(crate) fn token(body: Maybe<Self>) -> Option<String> {
        match body {
            Maybe::Value(Self { shared_payment_token_id }) => shared_payment_token_id,
            Maybe::Absent | Maybe::Null => None,
        }
    }
}

impl MarkPaid {
    /// Makes the payment, on a day of a zone.
    pub(crate) fn into_payment(self, zone: &Zone) -> Result<Payment, Problem> {
        let day = self.payment_received_date.in_zone(zone, "/payment_received_date")?;
        let mut payment = Payment::new(day.start());
        (payment.external_id, payment.notes) = (self.external_id, self.notes);
        Ok(payment)
    }
}
