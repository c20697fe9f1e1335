//! Footprints: guesses of which rows are read for a customer that the process has not served
//! (`docs/decisions/footprints-of-customers.md`).

use std::collections::BTreeSet;

use crate::{
    CustomerId, Error, IdOr,
    engine::kernel::Transaction,
    schema::{self, CustomerAlias, CustomerHead, Footprint, Guards as _, Slot},
    store::Key,
};

/// Customer that the process had not served, as it is named.
pub(in crate::engine) struct Guessed<'a> {
    name: &'a IdOr<CustomerId>,
    /// Its id, once that is known.
    id: Option<CustomerId>,
    /// Rows that are read with its head.
    rows: Vec<Key>,
}

impl Guessed<'_> {
    fn slot(&self, tx: &Transaction<'_>) -> Slot<Footprint> {
        schema::footprint(tx.account, &self.name.to_string())
    }
}

/// Returns those of some customers, which are in order, that the process has not served.
pub(super) fn new_here<'a>(
    tx: &Transaction<'_>,
    named: &[&'a IdOr<CustomerId>],
) -> Vec<Guessed<'a>> {
    let is_new = |name: &IdOr<CustomerId>| match name {
        IdOr::Id(id) => !tx.has_guard(CustomerHead::slot(tx.account, *id).key()),
        IdOr::External(name) => !tx.has_found(schema::customer_external(tx.account, name).key()),
    };
    let new = named.iter().filter(|name| is_new(name)).map(|name| Guessed {
        name,
        id: None,
        rows: Vec::new(),
    });
    new.collect()
}

/// Finds the aliases of customers, and what is guessed of others, all in one call of the store.
pub(super) async fn find<G>(
    tx: &mut Transaction<'_>,
    aliases: &[Slot<CustomerAlias, G>],
    guesses: &mut [Guessed<'_>],
) -> Result<Vec<Option<CustomerAlias>>, Error> {
    let slots: Vec<_> = guesses.iter().map(|of| of.slot(tx)).collect();
    let (found, footprints) = tx.find_rows_beside(aliases, &slots).await?;
    for (of, footprint) in guesses.iter_mut().zip(footprints) {
        of.rows = footprint.unwrap_or_default().keys();
    }
    Ok(found)
}

/// Returns the rows that are to be read with the head of a customer, whose id is known now.
pub(super) fn rows_of(
    guesses: &mut [Guessed<'_>],
    name: &IdOr<CustomerId>,
    id: CustomerId,
) -> Vec<Key> {
    let Ok(at) = guesses.binary_search_by(|of| of.name.cmp(name)) else { return Vec::new() };
    let Some(of) = guesses.get_mut(at) else { return Vec::new() };
    of.id = Some(id);
    of.rows.clone()
}

/// Keeps what was read for customers, where something was that nobody had guessed.
pub(super) async fn keep(tx: &mut Transaction<'_>, guesses: &[Guessed<'_>]) -> Result<(), Error> {
    for of in guesses {
        let Some(id) = of.id else { continue };
        let guard = tx.guard::<CustomerHead>(id).await?;
        let asked: BTreeSet<_> = guard.asked(tx).cloned().collect();
        if !asked.iter().all(|key| of.rows.contains(key)) {
            tx.put(&of.slot(tx), &Footprint::new(&asked))?;
        }
    }
    Ok(())
}
