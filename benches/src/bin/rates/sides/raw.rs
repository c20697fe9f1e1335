use std::sync::Arc;

use accrue::store::Store;
use accrue_benches::{Backend, Outcome};
use pollster::block_on;

use super::{Name, Side};
use crate::{
    race::Caller,
    source::{Round, StoreCall},
};

/// A backend without the engine: what the engine would write to it or read from it, and nothing
/// else.
pub(crate) struct Raw {
    backend: Backend,
    store: Arc<dyn Store>,
}

impl Raw {
    pub(crate) fn new(backend: Backend, store: Arc<dyn Store>) -> Self {
        Self { backend, store }
    }
}

impl Side for Raw {
    fn name(&self) -> Name {
        Name::Raw(self.backend)
    }

    fn callers<'a>(&'a mut self, round: &Round) -> Outcome<Vec<Caller<'a>>> {
        let store = &*self.store;
        let caller = |calls: &Vec<StoreCall>| -> Caller<'a> {
            let calls = calls.clone();
            Box::new(move || {
                for call in calls {
                    block_on(call.run(store))?;
                }
                Ok(())
            })
        };
        Ok(round.calls.iter().map(caller).collect())
    }
}
