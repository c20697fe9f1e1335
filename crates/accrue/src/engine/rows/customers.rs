//! Customers by the names that callers give, and the head that guards what is a customer's own.

use crate::{
    CustomerId, Error, IdOr,
    customer::Customer,
    engine::kernel::Transaction,
    schema::{self, CustomerHead},
};

/// Returns a customer that exists and is not deleted.
pub(in crate::engine) async fn customer(
    tx: &mut Transaction<'_>,
    id: &IdOr<CustomerId>,
) -> Result<Customer, Error> {
    let unknown = || Error::not_found("customer", id);
    let customer_id = match id {
        IdOr::Id(id) => *id,
        IdOr::External(external) => {
            let alias = tx.get(&schema::customer_external(tx.account, external)).await?;
            alias.filter(|alias| !alias.reserved).ok_or_else(unknown)?.customer_id
        }
    };
    let entry = tx.get(&schema::customer(tx.account, customer_id)).await?;
    let entry = entry.filter(|entry| entry.deleted_at.is_none()).ok_or_else(unknown)?;
    Ok(entry.customer)
}

/// Writes a customer's head, so that whoever read it has to read again.
pub(in crate::engine) async fn touch(
    tx: &mut Transaction<'_>,
    id: CustomerId,
) -> Result<(), Error> {
    tx.guard::<CustomerHead>(id).await?.touch(tx)
}
