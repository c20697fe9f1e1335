//! Calls that are yet to be awaited.

use std::{fmt, future::IntoFuture, pin::Pin, sync::Arc};

use super::{
    Account,
    apply::{Request, apply_open},
};
use crate::Error;

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
