use serde::{Deserialize, Serialize};

use crate::{InvoiceId, Name, PaymentAttemptId, customer::PaymentProvider};

/// What is told of a payment (invoicing 17.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentTold {
    /// Invoice that it is of.
    pub invoice_id: InvoiceId,
    /// Attempt to collect that.
    pub attempt_id: PaymentAttemptId,
    /// Provider that it is made with.
    pub payment_provider: Option<PaymentProvider>,
    /// The customer's id at the provider.
    pub payment_provider_id: Option<Name>,
    /// The provider's id for the payment, once it has one.
    pub payment_provider_transaction_id: Option<String>,
    /// Shared payment token, where one is used.
    pub shared_payment_token_id: Option<String>,
}
