//! Top-ups on the wire (invoicing 13.4).

use accrue::{
    Decimal, Description, PricingUnit, WrittenDecimal, Zone,
    credit::{self, ExpiryUnit, TopUpExpiry},
};

use super::{
    amounts::Amount,
    dates::{Date, any_is_local},
};
use crate::{
    problem::{Problem, Violations},
    shape::{Whole, choices, request, response},
};

request! {
    /// A top-up to create.
    pub(crate) struct NewTopUp {
        /// Currency or pricing unit of the ledger.
        currency: PricingUnit,
        /// Balance at or below which it buys: zero or more.
        threshold: Decimal,
        /// Credits that it buys at once: more than zero.
        amount: Decimal,
        /// Price of a credit: nothing is invoiced where it is zero.
        per_unit_cost_basis: WrittenDecimal,
        /// How its invoices are made.
        invoice_settings: TopUpInvoiceIn,
        /// Count of days or months after which what it has bought expires, at midnight.
        expires_after: Option<Whole<1, 36_500>>,
        /// Unit of that.
        expires_after_unit: Option<ExpiryUnit>,
        /// Instant from which it buys, at most ten days ago: now where none is given.
        active_from: Option<Date>,
    }

    /// How the invoices of a top-up are made.
    pub(crate) struct TopUpInvoiceIn open {
        /// True if they are collected without a request.
        auto_collection: bool,
        /// Days that the customer has to pay.
        net_terms: Whole<0, 36_500>,
        /// Text for the customer.
        memo: Option<Description>,
        /// True if usage draws on what was bought only once it is paid.
        require_successful_payment: Option<bool>,
    }
}

response! {
    /// A top-up: it buys credits whenever the balance is at or below its threshold.
    pub(crate) struct TopUp {
        /// Its id.
        id: String,
        /// Currency or pricing unit of the ledger.
        currency: PricingUnit,
        /// Balance at or below which it buys.
        threshold: Amount,
        /// Credits that it buys at once.
        amount: Amount,
        /// Price of a credit.
        per_unit_cost_basis: WrittenDecimal,
        /// How its invoices are made.
        invoice_settings: TopUpInvoice,
        /// Count of days or months after which what it has bought expires.
        expires_after: Option<u32>,
        /// Unit of that.
        expires_after_unit: Option<ExpiryUnit>,
    }

    /// How the invoices of a top-up are made.
    pub(crate) struct TopUpInvoice {
        /// True if they are collected without a request.
        auto_collection: bool,
        /// Days that the customer has to pay.
        net_terms: u32,
        /// Text for the customer.
        memo: Option<Description>,
        /// True if usage draws on what was bought only once it is paid.
        require_successful_payment: bool,
    }
}

choices! {
    "TopUpExpiryUnit" ExpiryUnit {
        "day" => ExpiryUnit::Day,
        "month" => ExpiryUnit::Month,
    }
}

impl NewTopUp {
    /// Tells whether it has dates of the customer's time zone.
    pub(crate) fn has_local_dates(&self) -> bool {
        any_is_local([&self.active_from])
    }

    /// Makes the top-up to create, where dates are those of a zone.
    pub(crate) fn into_new(self, zone: &Zone) -> Result<credit::NewTopUp, Problem> {
        let expires_after = match (self.expires_after, self.expires_after_unit) {
            (Some(after), Some(unit)) => Some(TopUpExpiry { after: after.count(), unit }),
            (None, None) => None,
            (Some(_), None) => {
                let message = "is missing beside expires_after, expected both or neither";
                return Err(Violations::one("/expires_after_unit", message).into());
            }
            (None, Some(_)) => {
                let message = "is missing beside expires_after_unit, expected both or neither";
                return Err(Violations::one("/expires_after", message).into());
            }
        };
        let active_from = self.active_from.map(|date| date.in_zone(zone, "/active_from"));
        let settings = self.invoice_settings;
        let invoice = credit::TopUpInvoice {
            auto_collection: settings.auto_collection,
            net_terms: settings.net_terms.count(),
            memo: settings.memo,
            require_successful_payment: settings.require_successful_payment.unwrap_or_default(),
        };
        let Self { currency, threshold, amount, per_unit_cost_basis, .. } = self;
        Ok(credit::NewTopUp {
            expires_after,
            active_from: active_from.transpose()?,
            ..credit::NewTopUp::new(currency, threshold, amount, per_unit_cost_basis, invoice)
        })
    }
}

impl From<&credit::TopUp> for TopUp {
    fn from(top_up: &credit::TopUp) -> Self {
        let invoice = &top_up.invoice;
        Self {
            id: top_up.id.to_string(),
            currency: top_up.currency.clone(),
            threshold: Amount::of(&top_up.threshold, &top_up.currency),
            amount: Amount::of(&top_up.amount, &top_up.currency),
            per_unit_cost_basis: top_up.per_unit_cost_basis.clone(),
            invoice_settings: TopUpInvoice {
                auto_collection: invoice.auto_collection,
                net_terms: invoice.net_terms,
                memo: invoice.memo.clone(),
                require_successful_payment: invoice.require_successful_payment,
            },
            expires_after: top_up.expires_after.map(|of| of.after),
            expires_after_unit: top_up.expires_after.map(|of| of.unit),
        }
    }
}
