use std::{pin::Pin, sync::Arc};

use accrue::store::Store;

use crate::{Harness, Processes};

/// Where a store under test lives: opened by one handle at a time, or by several.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    Alone(&'a dyn Harness),
    Shared(&'a dyn Processes),
}

impl Place<'_> {
    pub(crate) fn open(self) -> Arc<dyn Store> {
        match self {
            Self::Alone(harness) => harness.open(),
            Self::Shared(processes) => processes.open().store,
        }
    }

    /// Waits for the answer of a future.
    pub(crate) fn answer<T: Send>(self, future: impl Future<Output = T> + Send) -> T {
        let mut answer = None;
        self.block_on(Box::pin(async { answer = Some(future.await) }));
        answer.expect("the harness runs a future to its end")
    }

    fn block_on(self, future: Pin<Box<dyn Future<Output = ()> + Send + '_>>) {
        match self {
            Self::Alone(harness) => harness.block_on(future),
            Self::Shared(processes) => processes.block_on(future),
        }
    }
}
