use std::{fmt, sync::Arc};

use accrue::{Billing, PaymentGateway, TaxProvider};

use super::{Api, Inner};
use crate::{
    Authenticate, Bounds, Documents, PaymentMethodSource, Portal, RateLimit, Webhooks,
    door::Bodies,
    failure::{Failure, OnError},
    openapi, operations,
    router::Router,
    settings::Settings,
};

/// Sets up an [`Api`].
#[must_use = "build it"]
pub struct ApiBuilder {
    billing: Billing,
    authenticate: Box<dyn Authenticate>,
    base_path: String,
    settings: Settings,
    on_error: Option<OnError>,
}

impl ApiBuilder {
    pub(super) fn new(billing: Billing, authenticate: Box<dyn Authenticate>) -> Self {
        Self {
            billing,
            authenticate,
            base_path: "/v1".to_owned(),
            settings: Settings::default(),
            on_error: None,
        }
    }

    /// Serves the operations below this path: `/v1` where nothing is said. An empty one where the
    /// host's own router has taken it off.
    pub fn base_path(mut self, path: impl Into<String>) -> Self {
        self.base_path = path.into().trim_end_matches('/').to_owned();
        self
    }

    /// Bounds requests; by [`Bounds::default`] where nothing is said.
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.settings.bounds = bounds;
        self
    }

    /// Limits the requests and events of each account; there is no limit where nothing is said.
    pub fn rate_limit(mut self, limit: impl RateLimit) -> Self {
        self.settings.rate_limit = Some(Box::new(limit));
        self
    }

    /// Charges with a gateway what is to be paid now (invoicing 8.4). Without one, `pay` answers that the
    /// feature is not available.
    ///
    /// The request waits for the gateway, which bounds its own time. What it does not know yet, and what
    /// time collects, the host asks it for by
    /// [`collect_payments`](accrue::Account::collect_payments).
    ///
    /// ```
    /// use accrue::{PaymentGateway, invoice::{PaymentOutcome, StartedPayment}};
    /// # use accrue::{AccountId, Billing, store::MemoryStore};
    /// # use accrue_http::{Api, FixedKey};
    ///
    /// struct Declines;
    ///
    /// #[async_trait::async_trait]
    /// impl PaymentGateway for Declines {
    ///     async fn charge(&self, _: &StartedPayment) -> Option<PaymentOutcome> {
    ///         Some(PaymentOutcome::Declined { transaction_id: None })
    ///     }
    /// }
    ///
    /// # let billing = Billing::with_system(MemoryStore::new());
    /// # let keys = FixedKey::new("secret", AccountId::parse("acme")?);
    /// let api = Api::builder(billing, keys).payment_gateway(Declines).build();
    /// # Ok::<(), accrue::TextError>(())
    /// ```
    pub fn payment_gateway(mut self, gateway: impl PaymentGateway + 'static) -> Self {
        self.settings.gateway = Some(Box::new(gateway));
        self
    }

    /// Lists the payment methods of customers (invoicing 16.2). Without it, those who ask for them to be synced
    /// are answered that the feature is not available.
    pub fn payment_methods(mut self, source: impl PaymentMethodSource + 'static) -> Self {
        self.settings.payment_methods = Some(Box::new(source));
        self
    }

    /// Asks a provider for the taxes of a draft that is issued by a request (invoicing 9.5, 16.1), where the account
    /// [calculates](accrue::account::Configuration::calculates_taxes) some. Without one, such a draft waits for
    /// them.
    ///
    /// The request waits for the provider, which bounds its own time. What it does not know yet, and what is
    /// issued by itself, the host asks it for by [`calculate_taxes`](accrue::Account::calculate_taxes).
    pub fn tax_provider(mut self, provider: impl TaxProvider + 'static) -> Self {
        self.settings.tax_provider = Some(Box::new(provider));
        self
    }

    /// Shows where the documents of invoices and credit notes are (invoicing 4.7). Without any, their addresses
    /// are null, and those that renew them answer that the feature is not available.
    pub fn documents(mut self, documents: impl Documents + 'static) -> Self {
        self.settings.documents = Some(Box::new(documents));
        self
    }

    /// Makes sessions of customers in a portal of the host (invoicing 16.3). Without one, those who ask for a
    /// session are answered that the feature is not available.
    pub fn portal(mut self, portal: Portal) -> Self {
        self.settings.portal = Some(portal);
        self
    }

    /// Takes endpoints that messages are sent to (subscriptions 10.1). Without, those who create one are answered
    /// that the feature is not available.
    pub fn webhooks(mut self, webhooks: Webhooks) -> Self {
        self.settings.webhooks = Some(webhooks);
        self
    }

    /// Calls a function for every request that is answered 500, with the cause: for the host's log, since
    /// the client is not told. It is called before the answer is given, and must not block.
    ///
    /// ```
    /// use std::error::Error;
    /// # use accrue::{AccountId, Billing, store::MemoryStore};
    /// # use accrue_http::{Api, FixedKey};
    ///
    /// # let billing = Billing::with_system(MemoryStore::new());
    /// # let keys = FixedKey::new("secret", AccountId::parse("acme")?);
    /// let api = Api::builder(billing, keys).on_error(|failure| {
    ///     let mut line = format!("{:?}: {}", failure.route, failure.cause);
    ///     let mut source = failure.cause.source();
    ///     while let Some(cause) = source {
    ///         line += &format!(": {cause}");
    ///         source = cause.source();
    ///     }
    ///     eprintln!("{line}");
    /// });
    /// # Ok::<(), accrue::TextError>(())
    /// ```
    pub fn on_error(mut self, hear: impl Fn(&Failure<'_>) + Send + Sync + 'static) -> Self {
        self.on_error = Some(Box::new(hear));
        self
    }

    /// Begins the types of errors with another address (§7). The published clients tell errors by
    /// that of the published API, which is used where nothing is said.
    pub fn error_docs(mut self, base: impl Into<String>) -> Self {
        self.settings.error_docs = base.into();
        self
    }

    /// Makes the API.
    #[must_use]
    pub fn build(self) -> Api {
        let Self { billing, authenticate, base_path, settings, on_error } = self;
        let bodies = Bodies::new(settings.bounds.bodies_bytes);
        let router = Router::new(&base_path, operations::all());
        let settings = Arc::new(settings);
        let documents = openapi::Documents::new(base_path, Arc::clone(&settings));
        Api(Arc::new(Inner {
            billing,
            authenticate,
            router,
            documents,
            settings,
            bodies,
            on_error,
        }))
    }
}

impl fmt::Debug for ApiBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiBuilder").field("base_path", &self.base_path).finish_non_exhaustive()
    }
}
