//! Calls that are yet to be awaited.

use std::{fmt, future::IntoFuture, pin::Pin, sync::Arc};

use async_trait::async_trait;
use serde_json::Value;

use super::{
    Account, Stop, Transaction,
    apply::{Command, Request, apply_open},
};
use crate::{CustomerId, Error, IdOr, idempotency::Fingerprint};

/// Future that a host can run on any executor.
pub(super) type Running<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Operation that writes, ready to be awaited.
///
/// All of its effect is one commit: dropping the future anywhere leaves all of it or nothing.
#[must_use = "nothing happens before it is awaited"]
pub struct Call<T> {
    account: Account,
    request: Arc<dyn Request<Outcome = T>>,
}

impl<T: Send + 'static> Call<T> {
    pub(in crate::engine) fn new(
        account: &Account,
        request: impl Request<Outcome = T> + 'static,
    ) -> Self {
        Self { account: account.clone(), request: Arc::new(request) }
    }

    /// Takes it apart into its account and its request.
    pub(in crate::engine) fn into_parts(self) -> (Account, Arc<dyn Request<Outcome = T>>) {
        (self.account, self.request)
    }
}

impl<T: Send + 'static> Call<T> {
    /// Makes another answer of that of the operation, which is the same under an idempotency key. `map` may be called
    /// several times.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Email, Name, customer::NewCustomer, store::MemoryStore};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// let name = account.create_customer(ada).map(|customer| customer.name).await?;
    /// assert_eq!(name.as_str(), "Ada");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn map<U: Send + 'static>(self, map: impl Fn(T) -> U + Send + Sync + 'static) -> Call<U> {
        let Self { account, request } = self;
        Call { account, request: Arc::new(Mapped { request, map }) }
    }
}

struct Mapped<T, F> {
    request: Arc<dyn Request<Outcome = T>>,
    map: F,
}

#[async_trait]
impl<T: Send, U: Send, F: Fn(T) -> U + Send + Sync> Command for Mapped<T, F> {
    type Outcome = U;

    fn name(&self) -> &'static str {
        self.request.name()
    }

    fn subject(&self) -> Option<String> {
        self.request.subject()
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<U, Stop> {
        self.request.run(tx).await.map(&self.map)
    }
}

impl<T: Send, U: Send, F: Fn(T) -> U + Send + Sync> Request for Mapped<T, F> {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        self.request.fingerprint()
    }

    fn written(&self) -> Result<Option<Value>, Error> {
        self.request.written()
    }

    fn customer(&self) -> Option<&IdOr<CustomerId>> {
        self.request.customer()
    }
}

impl<T: Send + 'static> IntoFuture for Call<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Running<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { account, request } = self;
            apply_open(&account, &*request).await
        })
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("account", self.account.id()).finish_non_exhaustive()
    }
}
