//! Payment methods of customers, as the gateway of the host lists them (invoicing 16.2).

use crate::{
    CustomerId, Error, IdOr, PaymentMethodId,
    customer::{GatewayAccount, ListedPaymentMethods, MethodChanges, PaymentMethod},
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, outbox, payment_methods},
        time::current,
    },
    schema::CustomerEntry,
    webhook::Body,
};

impl Account {
    /// Returns the account of a customer at its gateway: what the gateway is asked for the payment methods of.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such customer;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where its payment provider is no gateway,
    /// or its id there is not known.
    pub async fn gateway_account(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
    ) -> Result<GatewayAccount, Error> {
        GatewayAccount::of(&self.fetch_customer(customer).await?)
    }

    /// Takes the payment methods that a gateway lists in place of those that a customer has (invoicing 16.2).
    ///
    /// One that is known keeps its id. The default is that of the gateway; where it names none, that of before,
    /// as long as it is listed. Those that came and went are told. The same list once more changes nothing.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where the customer is gone;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it has another account at the
    /// gateway by now than the list is of.
    pub fn sync_payment_methods(&self, listed: ListedPaymentMethods) -> Call<Vec<PaymentMethod>> {
        Call::new(
            self,
            Op::new("sync_payment_methods", listed, |tx, listed| sync(tx, listed.clone())),
        )
    }

    /// Returns the payment methods of a customer, in the order of the gateway: at most
    /// [50](crate::limits::PAYMENT_METHODS).
    pub async fn payment_methods(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
    ) -> Result<Vec<PaymentMethod>, Error> {
        let id = customer.into();
        let id = &id;
        let read = |mut tx| async move {
            let found = find(&mut tx, id).await;
            (tx, found)
        };
        self.at_one_instant(read).await
    }
}

#[boxed]
async fn sync(
    tx: &mut Transaction<'_>,
    listed: ListedPaymentMethods,
) -> Result<Vec<PaymentMethod>, Stop> {
    let mut customer = rows::customers::customer(tx, &listed.customer_id().into()).await?;
    current::current_head(tx, customer.id).await?;
    let mut methods = payment_methods::of_customer(tx, customer.id).await?;
    let before = methods.clone();
    let (now, entropy) = (tx.now, tx.entropy());
    let id = || PaymentMethodId::generate(now, entropy);
    let MethodChanges { created, deleted } = methods.sync(listed, &customer, id, now)?;
    if methods == before {
        return Ok(methods.methods);
    }
    payment_methods::save(tx, &mut customer, &methods).await?;
    let id = customer.id;
    rows::customers::put(tx, &CustomerEntry { customer, deleted_at: None }).await?;
    for method in created {
        let body = Body::PaymentMethodCreated { payment_method: Box::new(method) };
        outbox::tell(tx, id, now, body).await?;
    }
    payment_methods::tell_deleted(tx, id, deleted).await?;
    Ok(methods.methods)
}

#[boxed]
async fn find(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
) -> Result<Vec<PaymentMethod>, Error> {
    let customer = rows::customers::customer(tx, customer).await?;
    Ok(payment_methods::of_customer(tx, customer.id).await?.methods)
}
