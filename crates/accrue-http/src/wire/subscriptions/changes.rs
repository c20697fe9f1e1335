use accrue::{
    Decimal, JsonNumber, Name, PriceId, Zone,
    subscription::{Cancellation, ChangeTiming, FeeQuantityChange, SubscriptionUpdate},
};

use crate::{
    problem::{Problem, Violations},
    shape::{Maybe, MetadataIn, Whole, choices, metadata_update, request},
    wire::{
        carried::{Kept, change, changes},
        dates::{Date, any_is_local},
    },
};

request! {
    /// Changes to a subscription.
    pub(crate) struct UpdateSubscription {
        /// Its name; null gives it the name of its plan.
        name: Maybe<Name>,
        /// Metadata to set, or to remove where a value is null; null removes all.
        metadata: MetadataIn,
        /// True if its invoices are collected without a request.
        auto_collection: Maybe<Kept<bool>>,
        /// True if its invoices are issued without approval.
        auto_issuance: Maybe<Kept<bool>>,
        /// Memo of its invoices.
        default_invoice_memo: Maybe<Kept<String>>,
        /// Amount that usage may come to in a billing period before it is invoiced, above zero; null removes it.
        invoicing_threshold: Maybe<Kept<Decimal>>,
        /// Number of days between issue and due date of an invoice.
        net_terms: Maybe<Kept<Whole<0, 1_000_000>>>,
    }

    /// The cancellation of a subscription.
    pub(crate) struct Cancel {
        /// Option that decides when it ends.
        cancel_option: CancelOption,
        /// Date, for the option `requested_date`: without an offset in the customer's zone.
        cancellation_date: Option<Date>,
        /// False if it is refused where an issued invoice would be void or credited.
        allow_invoice_credit_or_void: Option<bool>,
    }

    /// Another quantity of a fee.
    pub(crate) struct UpdateFixedFeeQuantity {
        /// Id of the price of the fee.
        price_id: PriceId,
        /// Quantity from then on.
        quantity: JsonNumber,
        /// Option that decides when it takes effect: at the date where one is given, else at once.
        change_option: Option<ChangeOption>,
        /// Date: without an offset in the customer's zone.
        effective_date: Option<Date>,
        /// False if it is refused where an issued invoice would be credited at once.
        allow_invoice_credit_or_void: Option<bool>,
    }

    /// The fee whose changes of quantity are not to come.
    pub(crate) struct UnscheduleFixedFeeQuantityUpdates {
        /// Id of the price of the fee.
        price_id: PriceId,
    }
}

/// The option that decides when a subscription ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CancelOption {
    EndOfSubscriptionTerm,
    Immediate,
    RequestedDate,
}

/// The option that decides when a quantity changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeOption {
    Immediate,
    UpcomingInvoice,
    EffectiveDate,
}

choices! {
    CancelOption {
        "end_of_subscription_term" => CancelOption::EndOfSubscriptionTerm,
        "immediate" => CancelOption::Immediate,
        "requested_date" => CancelOption::RequestedDate,
    }
    ChangeOption {
        "immediate" => ChangeOption::Immediate,
        "upcoming_invoice" => ChangeOption::UpcomingInvoice,
        "effective_date" => ChangeOption::EffectiveDate,
    }
}

impl TryFrom<UpdateSubscription> for SubscriptionUpdate {
    type Error = Problem;

    fn try_from(update: UpdateSubscription) -> Result<Self, Problem> {
        let carried = changes([
            change("auto_collection", &update.auto_collection),
            change("auto_issuance", &update.auto_issuance),
            change("default_invoice_memo", &update.default_invoice_memo),
            change("invoicing_threshold", &update.invoicing_threshold),
            change("net_terms", &update.net_terms),
        ])?;
        let (name, metadata) = (update.name.into(), metadata_update(update.metadata));
        Ok(Self { name, metadata, carried })
    }
}

impl Cancel {
    /// Tells whether issued invoices are to stay as they are.
    pub(crate) fn leaves_invoices(&self) -> bool {
        self.allow_invoice_credit_or_void == Some(false)
    }

    /// Tells whether its date is one of the customer's zone.
    pub(crate) fn has_local_date(&self) -> bool {
        any_is_local([&self.cancellation_date])
    }

    /// Makes the cancellation, where dates are those of a zone.
    pub(crate) fn into_cancellation(self, zone: &Zone) -> Result<Cancellation, Problem> {
        let wrong = |message: &str| Err(Violations::one("/cancellation_date", message).into());
        match (self.cancel_option, self.cancellation_date) {
            (CancelOption::RequestedDate, Some(date)) => {
                date.in_zone(zone, "/cancellation_date").map(Cancellation::RequestedDate)
            }
            (CancelOption::RequestedDate, None) => {
                wrong("is missing, which the option requested_date needs")
            }
            (_, Some(_)) => wrong("belongs to the option requested_date"),
            (CancelOption::EndOfSubscriptionTerm, None) => Ok(Cancellation::EndOfSubscriptionTerm),
            (CancelOption::Immediate, None) => Ok(Cancellation::Immediate),
        }
    }
}

impl UnscheduleFixedFeeQuantityUpdates {
    pub(crate) const fn price_id(&self) -> PriceId {
        self.price_id
    }
}

impl UpdateFixedFeeQuantity {
    /// Tells whether issued invoices are to stay as they are.
    pub(crate) fn leaves_invoices(&self) -> bool {
        self.allow_invoice_credit_or_void == Some(false)
    }

    /// Tells whether its date is one of the customer's zone.
    pub(crate) fn has_local_date(&self) -> bool {
        any_is_local([&self.effective_date])
    }

    /// Makes the change for the engine, where dates are those of a zone.
    pub(crate) fn into_change(self, zone: &Zone) -> Result<FeeQuantityChange, Problem> {
        let wrong = |message: &str| Err(Violations::one("/effective_date", message).into());
        let when = match (self.change_option, &self.effective_date) {
            (None | Some(ChangeOption::EffectiveDate), Some(date)) => {
                ChangeTiming::EffectiveDate(date.in_zone(zone, "/effective_date")?)
            }
            (Some(ChangeOption::EffectiveDate), None) => {
                return wrong("is missing, which the option effective_date needs");
            }
            (Some(_), Some(_)) => return wrong("belongs to the option effective_date"),
            (None | Some(ChangeOption::Immediate), None) => ChangeTiming::Immediate,
            (Some(ChangeOption::UpcomingInvoice), None) => ChangeTiming::UpcomingInvoice,
        };
        let JsonNumber(quantity) = self.quantity;
        Ok(FeeQuantityChange { price: self.price_id.into(), quantity, when })
    }
}
