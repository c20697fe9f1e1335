//! Look-ups and checks before a backfill is changed.

use crate::{
    CustomerId, Error, IdOr,
    backfill::Backfill,
    engine::{
        kernel::{Stop, Transaction},
        rows,
        time::current,
    },
};

pub(super) async fn require_backfills(tx: &mut Transaction<'_>) -> Result<(), Error> {
    if rows::account::account_entry(tx).await?.configuration.features.backfills {
        return Ok(());
    }
    Err(Error::feature("backfills are not available to this account"))
}

/// Finds the customer whose backfills are listed: the backfills of a deleted one stay.
pub(super) async fn backfilled_customer(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
) -> Result<Option<CustomerId>, Error> {
    match customer {
        IdOr::Id(id) => Ok(Some(*id)),
        external => match rows::customers::customer(tx, external).await {
            Ok(customer) => Ok(Some(customer.id)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        },
    }
}

/// Returns a backfill with the number of its events.
pub(super) async fn counted(tx: &Transaction<'_>, backfill: Backfill) -> Result<Backfill, Error> {
    if !backfill.is_counted_by_customer() {
        return Ok(backfill);
    }
    Ok(Backfill {
        events_ingested: rows::backfills::events_ingested(tx, &backfill).await?,
        ..backfill
    })
}

/// Takes the lock of a backfill's customer, where it is for one. Its transitions come first.
pub(super) async fn current_owner(
    tx: &mut Transaction<'_>,
    backfill: &Backfill,
) -> Result<(), Stop> {
    if let Some(customer_id) = backfill.customer_id {
        current::current_head(tx, customer_id).await?;
    }
    Ok(())
}

/// Checks that a backfill takes events, and can be closed. Where it is for all customers, the clock
/// of another process may be ahead that has begun to reflect it.
pub(super) async fn check_taking(
    tx: &mut Transaction<'_>,
    backfill: &Backfill,
) -> Result<(), Error> {
    backfill.check_taking(tx.now)?;
    if backfill.customer_id.is_some() {
        return Ok(());
    }
    let all = rows::corrections::of_all(tx).await?;
    let mut begun = all.corrections.iter().filter(|of| of.has_begun);
    match begun.any(|of| of.correction.backfill_id == backfill.id) {
        true => Err(backfill.is_closed()),
        false => Ok(()),
    }
}
