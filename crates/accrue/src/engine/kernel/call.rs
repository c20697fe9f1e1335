//! A call that is yet to be awaited, with an idempotency key or without.

use std::{fmt, future::IntoFuture, pin::Pin};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Account,
    apply::{Request, apply_open},
    keyed,
};
use crate::{Error, IdempotencyKey, idempotency::Answer};

/// A future that a host can run on any executor.
type Running<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An operation that writes, ready to be awaited.
///
/// All of its effect is one commit: dropping the future anywhere leaves all of it or nothing.
#[must_use = "nothing happens before it is awaited"]
pub struct Call<T> {
    account: Account,
    request: Box<dyn Request<Outcome = T>>,
}

/// An operation under an idempotency key, ready to be awaited.
#[must_use = "nothing happens before it is awaited"]
pub struct KeyedCall<T> {
    call: Call<T>,
    key: IdempotencyKey,
}

impl<T: Send + 'static> Call<T> {
    pub(in crate::engine) fn new(
        account: &Account,
        request: impl Request<Outcome = T> + 'static,
    ) -> Self {
        Self { account: account.clone(), request: Box::new(request) }
    }

    /// Takes it apart: for whom it is, and what it does.
    pub(in crate::engine) fn into_parts(self) -> (Account, Box<dyn Request<Outcome = T>>) {
        (self.account, self.request)
    }

    /// Runs it under an idempotency key (§4.5): its effect happens at most once, and for 48 hours a
    /// retry is answered as the first time.
    ///
    /// A key that is in flight, or was used with another payload, is a
    /// [`ResourceConflict`](crate::ErrorKind::ResourceConflict).
    pub fn keyed(self, key: IdempotencyKey) -> KeyedCall<T> {
        KeyedCall { call: self, key }
    }
}

impl<T: Send + 'static> IntoFuture for Call<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Running<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { account, request } = self;
            apply_open(account.shared(), account.id(), &*request).await
        })
    }
}

impl<T> IntoFuture for KeyedCall<T>
where
    T: Serialize + DeserializeOwned + Send + 'static,
{
    type Output = Result<Answer<T>, Error>;
    type IntoFuture = Running<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { call: Call { account, request }, key } = self;
            keyed::run(&account, key, &*request).await
        })
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("account", self.account.id()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for KeyedCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedCall").field("call", &self.call).field("key", &self.key).finish()
    }
}
