//! Payment methods of customers: the default among them is copied into the customer.

use crate::{
    CustomerId, Error,
    customer::{Customer, PaymentMethod, PaymentMethods},
    engine::{kernel::Transaction, rows::outbox},
    schema::{self, CustomerHead},
    webhook::Body,
};

/// Returns the payment methods of a customer.
pub(in crate::engine) async fn of_customer(
    tx: &mut Transaction<'_>,
    id: CustomerId,
) -> Result<PaymentMethods, Error> {
    let guard = tx.guard::<CustomerHead>(id).await?;
    let known = guard.get(tx, &schema::payment_methods(tx.account, id)).await?;
    Ok(known.unwrap_or_default())
}

/// Writes payment methods, and notes the default in the customer, which is yet to be written.
pub(in crate::engine) async fn save(
    tx: &mut Transaction<'_>,
    customer: &mut Customer,
    methods: &PaymentMethods,
) -> Result<(), Error> {
    customer.default_payment_method = methods.default_method();
    if methods.methods.is_empty() {
        return forget(tx, customer.id).await;
    }
    let guard = tx.guard::<CustomerHead>(customer.id).await?;
    guard.put(tx, &schema::payment_methods(tx.account, customer.id), methods)
}

/// Removes the payment methods of a customer, where it has some.
pub(in crate::engine) async fn forget(
    tx: &mut Transaction<'_>,
    id: CustomerId,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(id).await?;
    let slot = schema::payment_methods(tx.account, id);
    if guard.get(tx, &slot).await?.is_some() {
        guard.delete(tx, &slot)?;
    }
    Ok(())
}

/// Tells of payment methods that are gone.
pub(in crate::engine) async fn tell_deleted(
    tx: &mut Transaction<'_>,
    id: CustomerId,
    gone: Vec<PaymentMethod>,
) -> Result<(), Error> {
    for method in gone {
        let body = Body::PaymentMethodDeleted { payment_method: Box::new(method) };
        outbox::tell(tx, id, tx.now, body).await?;
    }
    Ok(())
}
