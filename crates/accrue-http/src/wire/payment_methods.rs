//! Payment methods and gateways on the wire (invoicing 16.2).

use accrue::customer::{self, PaymentMethodType, PaymentProvider};
use serde::Serialize;

use crate::shape::{Moment, choices, response};

/// A payment provider that charges.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Gateway {
    Stripe,
    Adyen,
}

response! {
    /// A payment method of a customer.
    pub(crate) struct PaymentMethod {
        /// Its id.
        id: String,
        /// Its type.
        payment_method_type: PaymentMethodType,
        /// Gateway that charges it.
        provider_type: Option<Gateway>,
        /// The gateway's id for it.
        external_payment_method_id: String,
        /// Customer that pays with it.
        customer_id: String,
        /// True if invoices are collected with it.
        default: bool,
        /// Instant at which it was first listed.
        created_at: Moment,
    }
}

choices! {
    "PaymentGateway" Gateway {
        "stripe" => Gateway::Stripe,
        "adyen" => Gateway::Adyen,
    }
    PaymentMethodType {
        "card" => PaymentMethodType::Card,
        "us_bank_account" => PaymentMethodType::UsBankAccount,
        "link" => PaymentMethodType::Link,
        "amazon_pay" => PaymentMethodType::AmazonPay,
        "crypto" => PaymentMethodType::Crypto,
    }
}

impl Gateway {
    pub(crate) const fn of(provider: PaymentProvider) -> Option<Self> {
        match provider {
            PaymentProvider::StripeCharge => Some(Self::Stripe),
            PaymentProvider::Adyen => Some(Self::Adyen),
            _ => None,
        }
    }
}

impl From<&customer::PaymentMethod> for PaymentMethod {
    fn from(of: &customer::PaymentMethod) -> Self {
        Self {
            id: of.id.to_string(),
            payment_method_type: of.method_type,
            provider_type: Gateway::of(of.provider),
            external_payment_method_id: of.external_id.to_string(),
            customer_id: of.customer_id.to_string(),
            default: of.is_default,
            created_at: of.created_at.into(),
        }
    }
}
