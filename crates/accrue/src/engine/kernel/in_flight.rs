//! Keys that are in flight in this process (§4.5.7).

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{AccountId, Error, IdempotencyKey, idempotency::Fingerprint, limits};

/// Keyed operations that run in this process now (§4.5.7).
#[derive(Default)]
pub(in crate::engine) struct InFlight(Mutex<Running>);

type Running = HashMap<(AccountId, IdempotencyKey), Fingerprint>;

/// Place among them, given back when it is dropped: also when a caller goes away.
pub(in crate::engine) struct Place {
    in_flight: Arc<InFlight>,
    owner: (AccountId, IdempotencyKey),
}

impl InFlight {
    pub(in crate::engine) fn enter(
        self: &Arc<Self>,
        account: &AccountId,
        key: &IdempotencyKey,
        fingerprint: Fingerprint,
    ) -> Result<Place, Error> {
        let owner = (account.clone(), key.clone());
        let mut running = self.lock();
        let count = running.len();
        match running.entry(owner.clone()) {
            Entry::Occupied(other) if *other.get() == fingerprint => Err(Error::key_in_flight()),
            Entry::Occupied(_) => Err(Error::key_reused()),
            Entry::Vacant(_) if count >= limits::IN_FLIGHT => Err(Error::too_many_in_flight()),
            Entry::Vacant(vacant) => {
                vacant.insert(fingerprint);
                Ok(Place { in_flight: Arc::clone(self), owner })
            }
        }
    }

    // Each change of the map is one call: a panic cannot leave it half made.
    fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.in_flight.lock().remove(&self.owner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_5_7_a_key_is_in_flight_until_its_place_is_dropped() {
        let in_flight = Arc::new(InFlight::default());
        let account = AccountId::parse("acme").unwrap();
        let key = IdempotencyKey::parse("key").unwrap();
        let enter = |payload: &str| in_flight.enter(&account, &key, Fingerprint::of([payload]));
        let place = enter("a").unwrap();
        assert!(enter("a").is_err_and(|error| error.is_conflict() && error.can_be_retried()));
        assert!(enter("b").is_err_and(|error| error.is_conflict() && !error.can_be_retried()));
        drop(place);
        assert!(enter("b").is_ok());
    }

    #[test]
    fn the_map_is_bounded() {
        let in_flight = Arc::new(InFlight::default());
        let account = AccountId::parse("acme").unwrap();
        let enter = |n: usize| {
            let key = IdempotencyKey::parse(n.to_string()).unwrap();
            in_flight.enter(&account, &key, Fingerprint::of(["payload"]))
        };
        let places: Vec<_> = (0..limits::IN_FLIGHT).map(|n| enter(n).unwrap()).collect();
        let refused = enter(limits::IN_FLIGHT).err().map(|error| error.kind());
        assert_eq!(refused, Some(crate::ErrorKind::TooManyRequests));
        drop(places);
        assert!(enter(0).is_ok());
    }
}
