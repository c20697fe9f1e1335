use std::error::Error;

use accrue::customer::{GatewayAccount, ListedPaymentMethod};
use async_trait::async_trait;

/// Gateway of a host, as it lists the payment methods of customers (invoicing 16.2).
///
/// It is asked while a request waits, and bounds its own time.
///
/// ```
/// use std::error::Error;
///
/// use accrue::customer::{GatewayAccount, ListedPaymentMethod, PaymentMethodType};
/// use accrue_http::PaymentMethodSource;
/// # use accrue::{AccountId, Billing, ExternalId, store::MemoryStore};
/// # use accrue_http::{Api, FixedKey};
///
/// struct OneCard;
///
/// #[async_trait::async_trait]
/// impl PaymentMethodSource for OneCard {
///     async fn list(
///         &self,
///         of: &GatewayAccount,
///     ) -> Result<Vec<ListedPaymentMethod>, Box<dyn Error + Send + Sync>> {
///         Ok(vec![ListedPaymentMethod {
///             external_id: ExternalId::parse(format!("pm_{}", of.customer_id))?,
///             method_type: PaymentMethodType::Card,
///             is_default: true,
///         }])
///     }
/// }
///
/// # let billing = Billing::with_system(MemoryStore::new());
/// # let keys = FixedKey::new("secret", AccountId::parse("acme")?);
/// let api = Api::builder(billing, keys).payment_methods(OneCard).build();
/// # Ok::<(), accrue::TextError>(())
/// ```
#[async_trait]
pub trait PaymentMethodSource: Send + Sync {
    /// Lists all payment methods of a customer's account at the gateway: at most
    /// [50](accrue::limits::PAYMENT_METHODS), each once, one of them the default or none.
    ///
    /// # Errors
    ///
    /// Where the gateway does not answer: the request is answered 500, and the host is told.
    async fn list(
        &self,
        of: &GatewayAccount,
    ) -> Result<Vec<ListedPaymentMethod>, Box<dyn Error + Send + Sync>>;
}
