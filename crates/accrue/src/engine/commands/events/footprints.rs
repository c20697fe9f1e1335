//! Footprints: guesses of which rows an ingest asks for, for a process that has not served the customer
//! (`docs/decisions/footprints-of-customers.md`).

use std::collections::BTreeMap;

use crate::{
    CustomerId, Error, IdOr,
    engine::kernel::{Guard, Touched, Transaction},
    schema::{self, CustomerAlias, CustomerHead, Footprint, Guards as _, Slot},
    store::Key,
};

/// Tables of windows and hours: the next events add to others.
const PASSING: [&str; 2] = ["bucket", "event_volume"];

/// Customers, each as it is named, that the process has not served, with what is guessed of them.
#[derive(Default)]
pub(in crate::engine) struct Footprints<'a> {
    guesses: Vec<(&'a IdOr<CustomerId>, Option<Footprint>)>,
    /// Those whose guess is to be held against what is asked for: the rows that it named.
    kept: Vec<(&'a IdOr<CustomerId>, CustomerId, Vec<Key>)>,
}

impl<'a> Footprints<'a> {
    /// Finds the aliases of customers, and the footprints of those that the process has not served, all in one call
    /// of the store.
    pub(super) async fn find<G>(
        tx: &mut Transaction<'_>,
        named: &[&'a IdOr<CustomerId>],
        aliases: &[Slot<CustomerAlias, G>],
    ) -> Result<(Self, Vec<Option<CustomerAlias>>), Error> {
        let new: Vec<_> = named.iter().copied().filter(|name| is_new(tx, name)).collect();
        let slots: Vec<_> = new.iter().map(|name| slot(tx, name)).collect();
        let (found, footprints) = tx.find_rows_beside(aliases, &slots).await?;
        let guesses = new.into_iter().zip(footprints).collect();
        Ok((Self { guesses, kept: Vec::new() }, found))
    }

    /// Returns the rows that are to be read with the head of a customer, whose id is known now.
    pub(super) fn rows_of(&mut self, name: &'a IdOr<CustomerId>, id: CustomerId) -> Vec<Key> {
        let guess = self.guesses.binary_search_by(|(of, _)| of.cmp(&name));
        let Some((_, guess)) = guess.ok().and_then(|at| self.guesses.get(at)) else {
            return Vec::new();
        };
        let rows = guess.as_ref().map_or_else(Vec::new, |guess| guess.rows_of(id));
        self.kept.push((name, id, rows.clone()));
        rows
    }

    /// Has what is asked for a customer kept: it has no events yet, and the next ones may come to another process.
    pub(super) fn begin(&mut self, name: &'a IdOr<CustomerId>, id: CustomerId) {
        if !self.kept.iter().any(|(_, of, _)| *of == id) {
            self.kept.push((name, id, Vec::new()));
        }
    }

    /// Keeps what was asked for, where that was more than was guessed.
    pub(super) async fn keep(&self, tx: &mut Transaction<'_>) -> Result<(), Error> {
        let ids: BTreeMap<_, _> =
            self.kept.iter().map(|(name, id, guessed)| (*id, (*name, guessed))).collect();
        let guards = tx.guards::<CustomerHead>(ids.keys().copied()).await?;
        let touched = Guard::touched(tx, &guards);
        let lasts = |key: &Key| !PASSING.contains(&key.table().name());
        for ((id, (name, guessed)), Touched { mut asked, mut written }) in ids.iter().zip(touched) {
            asked.retain(lasts);
            if !asked.iter().all(|key| guessed.contains(key)) {
                written.retain(lasts);
                asked.append(&mut written);
                tx.put(&slot(tx, name), &Footprint::new(*id, &asked))?;
            }
        }
        Ok(())
    }
}

fn slot(tx: &Transaction<'_>, name: &IdOr<CustomerId>) -> Slot<Footprint> {
    schema::footprint(tx.account, &name.to_string())
}

/// Tells whether nothing here knows a customer.
fn is_new(tx: &Transaction<'_>, name: &IdOr<CustomerId>) -> bool {
    match name {
        IdOr::Id(id) => !tx.has_guard(CustomerHead::slot(tx.account, *id).key()),
        IdOr::External(name) => !tx.has_found(schema::customer_external(tx.account, name).key()),
    }
}
