//! How a handle is made.

use crate::{
    Clock, Entropy,
    engine::{
        kernel::{Billing, Shared},
        time::Time,
    },
    store::Store,
};

impl Billing {
    /// Makes a handle on a store, with the clock and the entropy that the host hands in.
    pub fn new(store: impl Store, clock: impl Clock, entropy: impl Entropy) -> Self {
        Self::of(Shared::new(store, clock, entropy, &Time))
    }

    /// Makes a handle on a store, with the machine's clock and entropy.
    #[cfg(feature = "system")]
    pub fn with_system(store: impl Store) -> Self {
        Self::new(store, crate::SystemClock, crate::SystemEntropy)
    }
}
