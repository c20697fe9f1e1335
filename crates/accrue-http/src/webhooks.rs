use accrue::webhook::{Reach, WebhookKey};

/// What a host sets up for webhook endpoints: the key that their secrets are computed from, and where they may lie.
///
/// The worker of `accrue-webhooks` takes the same key, and a transport that reaches the same addresses.
///
/// ```
/// # use accrue::{AccountId, Billing, store::MemoryStore};
/// # use accrue_http::{Api, FixedKey};
/// use accrue::webhook::{Reach, WebhookKey};
/// use accrue_http::Webhooks;
///
/// # let billing = Billing::with_system(MemoryStore::new());
/// # let keys = FixedKey::new("secret", AccountId::parse("acme")?);
/// let key = WebhookKey::new(b"32 random bytes of the host's own")?;
/// let webhooks = Webhooks::new(key).reaching(Reach::public().allowing("10.1.0.0/16")?);
/// let api = Api::builder(billing, keys).webhooks(webhooks).build();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Webhooks {
    pub(crate) key: WebhookKey,
    pub(crate) reach: Reach,
}

impl Webhooks {
    /// Sets up endpoints at public addresses.
    #[must_use]
    pub fn new(key: WebhookKey) -> Self {
        Self { key, reach: Reach::public() }
    }

    /// Takes endpoints where requests may reach.
    #[must_use]
    pub fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }
}
