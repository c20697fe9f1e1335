//! Rows of corrections: those of a customer, and those of all customers.

use std::sync::Arc;

use crate::{
    CustomerId, Error,
    engine::{kernel::Transaction, rows::account},
    schema::{self, AccountCorrections, Corrections, CustomerHead},
};

/// Reads the corrections of a customer.
pub(in crate::engine) async fn own(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Corrections, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    Ok(guard.get(tx, &schema::corrections(tx.account, customer)).await?.unwrap_or_default())
}

/// Writes the corrections of a customer.
pub(in crate::engine) async fn put_own(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    corrections: &Corrections,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    guard.put(tx, &schema::corrections(tx.account, customer), corrections)
}

/// Reads the corrections of all customers.
pub(in crate::engine) async fn of_all(
    tx: &mut Transaction<'_>,
) -> Result<Arc<AccountCorrections>, Error> {
    if let Some(terms) = account::recalled(tx).await? {
        return Ok(Arc::clone(&terms.corrections));
    }
    let guard = account::guard(tx).await?;
    let slot = schema::account_corrections(tx.account);
    Ok(guard.get_shared(tx, &slot).await?.unwrap_or_default())
}

/// Writes the corrections of all customers.
pub(in crate::engine) async fn put_of_all(
    tx: &mut Transaction<'_>,
    all: &AccountCorrections,
) -> Result<(), Error> {
    account::guard(tx).await?.put(tx, &schema::account_corrections(tx.account), all)
}
