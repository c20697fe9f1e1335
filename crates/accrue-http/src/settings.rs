use std::num::NonZeroU32;

use accrue::{AccountId, PaymentGateway, TaxProvider};

use crate::{
    Bounds, Category, Documents, Exceeded, PaymentMethodSource, Portal, RateLimit, Webhooks,
    problem::Problem,
};

/// The settings of the API that operations use.
pub(crate) struct Settings {
    pub(crate) bounds: Bounds,
    pub(crate) error_docs: String,
    pub(crate) rate_limit: Option<Box<dyn RateLimit>>,
    pub(crate) gateway: Option<Box<dyn PaymentGateway>>,
    pub(crate) tax_provider: Option<Box<dyn TaxProvider>>,
    pub(crate) payment_methods: Option<Box<dyn PaymentMethodSource>>,
    pub(crate) documents: Option<Box<dyn Documents>>,
    pub(crate) portal: Option<Portal>,
    pub(crate) webhooks: Option<Webhooks>,
}

/// The beginning of the types of errors: the published clients tell errors by it (wire 6.6).
const ERROR_DOCS: &str = "https://docs.withorb.com/reference/error-responses";

impl Default for Settings {
    fn default() -> Self {
        let (bounds, error_docs) = (Bounds::default(), ERROR_DOCS.to_owned());
        Self {
            bounds,
            error_docs,
            rate_limit: None,
            gateway: None,
            tax_provider: None,
            payment_methods: None,
            documents: None,
            portal: None,
            webhooks: None,
        }
    }
}

impl Settings {
    /// Takes an amount from the rate limit of an account.
    pub(crate) fn take(
        &self,
        account: &AccountId,
        category: Category,
        amount: NonZeroU32,
    ) -> Result<(), Problem> {
        let Some(limit) = &self.rate_limit else { return Ok(()) };
        limit.take(account, category, amount).map_err(|exceeded| match exceeded {
            Exceeded::Wait(wait) => Problem::too_many_requests(wait),
            Exceeded::TooMuch { most } => Problem::resource_too_large(format!(
                "{amount} at once, of which the rate limit of the account has at most {most}"
            )),
        })
    }

    /// Gives back an amount that was taken.
    pub(crate) fn give_back(&self, account: &AccountId, category: Category, amount: NonZeroU32) {
        if let Some(limit) = &self.rate_limit {
            limit.give_back(account, category, amount);
        }
    }
}
