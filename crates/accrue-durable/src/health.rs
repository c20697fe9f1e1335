use std::sync::OnceLock;

use accrue::store::StoreError;

/// Whether the store has failed.
#[derive(Debug, Default)]
pub(crate) struct Health {
    failure: OnceLock<&'static str>,
}

impl Health {
    /// Refuses everything from now on.
    pub(crate) fn fail(&self, reason: &'static str) {
        // The first reason stays: what follows it is a consequence.
        let _ = self.failure.set(reason);
    }

    /// Refuses where the store has failed.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match self.failure.get() {
            None => Ok(()),
            Some(reason) => {
                Err(StoreError::unavailable(format!("{reason}; the store must be opened again")))
            }
        }
    }
}
