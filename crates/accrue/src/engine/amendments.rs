use async_trait::async_trait;

use super::{
    Account, Call,
    apply::{Command, Request, fingerprint},
    unit::{Stop, Unit},
};
use crate::{Error, EventKey, idempotency::Fingerprint, usage::Amendment};

impl Account {
    /// Amends an event (wire 3.5): what it says from now on.
    pub fn amend_event(&self, id: EventKey, amendment: Amendment) -> Call<EventKey> {
        Call::new(self, AmendEvent { id, amendment })
    }

    /// Deprecates an event (wire 3.5): it counts no longer.
    pub fn deprecate_event(&self, id: EventKey) -> Call<EventKey> {
        Call::new(self, DeprecateEvent { id })
    }
}

struct AmendEvent {
    id: EventKey,
    amendment: Amendment,
}

#[async_trait]
impl Command for AmendEvent {
    type Outcome = EventKey;

    async fn run(&self, _: &mut Unit<'_>) -> Result<EventKey, Stop> {
        Err(Error::feature("amendments are not built").into())
    }
}

impl Request for AmendEvent {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("amend_event", &(&self.id, &self.amendment))
    }
}

struct DeprecateEvent {
    id: EventKey,
}

#[async_trait]
impl Command for DeprecateEvent {
    type Outcome = EventKey;

    async fn run(&self, _: &mut Unit<'_>) -> Result<EventKey, Stop> {
        Err(Error::feature("deprecations are not built").into())
    }
}

impl Request for DeprecateEvent {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("deprecate_event", &self.id)
    }
}
