//! Rows of corrections: those of a customer, and those of all customers.

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
) -> Result<AccountCorrections, Error> {
    let guard = account::guard(tx).await?;
    Ok(guard.get(tx, &schema::account_corrections(tx.account)).await?.unwrap_or_default())
}

/// Writes the corrections of all customers.
pub(in crate::engine) async fn put_of_all(
    tx: &mut Transaction<'_>,
    all: &AccountCorrections,
) -> Result<(), Error> {
    account::guard(tx).await?.put(tx, &schema::account_corrections(tx.account), all)
}
