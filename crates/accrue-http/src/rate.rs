mod category;
mod limits;
mod quotas;

use std::{num::NonZeroU32, time::Duration};

use accrue::AccountId;

pub use self::{
    category::Category,
    limits::RateLimits,
    quotas::{Quota, Quotas},
};

/// Decides whether an account may do so much more now.
///
/// [`RateLimits`] is the built-in one. A host whose accounts have different quotas keeps several of
/// those, and asks the right one.
pub trait RateLimit: Send + Sync + 'static {
    /// Takes `amount` from what the account may do in a category: requests, or events for
    /// [`Category::IngestEvents`].
    ///
    /// # Errors
    ///
    /// That it may not. Nothing is taken then.
    fn take(
        &self,
        account: &AccountId,
        category: Category,
        amount: NonZeroU32,
    ) -> Result<(), Exceeded>;

    /// Gives back what was taken for events that were refused. Nothing happens where nothing is said.
    fn give_back(&self, account: &AccountId, category: Category, amount: NonZeroU32) {
        let _ = (account, category, amount);
    }
}

/// Why an account may not do so much more now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exceeded {
    /// It may after a while: the request is answered 429 with `Retry-After`.
    Wait(Duration),
    /// It never may do so much at once: the request is answered 413 resource-too-large, which no
    /// client repeats.
    TooMuch {
        /// How much it may do at once.
        most: NonZeroU32,
    },
}
