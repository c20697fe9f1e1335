use std::collections::{BTreeSet, VecDeque};

use crate::{
    CustomerId, Error, Timeframe,
    engine::{
        kernel::Transaction,
        rows::visible::{self, EventWalk, WalkedSlot},
    },
    usage::EventPlace,
};

/// Walks over the events of some customers, taken together in the order of time.
pub(super) struct Walks(Vec<Walk>);

struct Walk {
    customer: CustomerId,
    /// What is still to be read; none once it ends.
    rest: Option<EventWalk>,
    ahead: VecDeque<WalkedSlot>,
}

impl Walks {
    pub(super) async fn begin(
        tx: &mut Transaction<'_>,
        customers: &BTreeSet<CustomerId>,
        timeframe: Timeframe,
    ) -> Result<Self, Error> {
        let mut walks = Vec::with_capacity(customers.len());
        for customer in customers {
            let rest = Some(visible::walk_events(tx, *customer, timeframe, None).await?);
            walks.push(Walk { customer: *customer, rest, ahead: VecDeque::new() });
        }
        Ok(Self(walks))
    }

    /// Goes on by one place: the next one of any of them, with whose it is.
    pub(super) async fn next(
        &mut self,
        tx: &Transaction<'_>,
    ) -> Result<Option<(CustomerId, WalkedSlot)>, Error> {
        for walk in &mut self.0 {
            walk.read_on(tx).await?;
        }
        let begun = self.0.iter_mut().filter(|walk| !walk.ahead.is_empty());
        let first = begun.min_by(|one, other| one.next_place().cmp(&other.next_place()));
        Ok(first.and_then(|walk| Some((walk.customer, walk.ahead.pop_front()?))))
    }
}

impl Walk {
    async fn read_on(&mut self, tx: &Transaction<'_>) -> Result<(), Error> {
        let Some(rest) = self.rest.as_mut().filter(|_| self.ahead.is_empty()) else {
            return Ok(());
        };
        self.ahead.extend(visible::walk_on(tx, rest).await?);
        if self.ahead.is_empty() {
            self.rest = None;
        }
        Ok(())
    }

    fn next_place(&self) -> Option<&EventPlace> {
        self.ahead.front().map(|slot| &slot.place)
    }
}
