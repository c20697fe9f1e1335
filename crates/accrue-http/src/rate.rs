use std::{num::NonZeroU32, time::Duration};

use accrue::AccountId;

use crate::Category;

/// Decides whether an account may do so much more now.
pub trait RateLimit: Send + Sync + 'static {
    /// Takes `amount` from what the account may do in a category: requests, or events for
    /// [`Category::IngestEvents`].
    ///
    /// # Errors
    ///
    /// How long to wait, where it may not: the request is answered 429 with `Retry-After`.
    fn take(
        &self,
        account: &AccountId,
        category: Category,
        amount: NonZeroU32,
    ) -> Result<(), Duration>;
}
