//! Customers: operations and lists.

use crate::{
    CustomerId, Error, ExternalId, IdOr, ListFilter, Page, PageRequest,
    customer::{Customer, CustomerUpdate, NewCustomer, PaymentMethods, previous_attributes},
    engine::{
        Account, Call,
        commands::hierarchies,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, active, invoices, outbox, payment_methods},
        time::current,
    },
    schema::{self, ActiveIds, CustomerAlias, CustomerEntry, CustomerHead, Index, Nothing},
    webhook::Body,
};

impl Account {
    /// Creates a customer (wire 4.1). Usage that waits under its external id becomes its own.
    ///
    /// # Errors
    ///
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where the external id is used;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where its hierarchy cannot be: it has a parent and
    /// children both, the parent is a child itself or has [100 children](crate::limits::CHILDREN), or a child has a
    /// parent or children already;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such parent or child.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Email, Name, customer::NewCustomer, store::MemoryStore};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// let ada = account.create_customer(ada).await?;
    /// assert_eq!(account.fetch_customer(ada.id).await?, ada);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_customer(&self, new: NewCustomer) -> Call<Customer> {
        Call::new(self, Op::new("create_customer", new, |tx, new| create_customer(tx, new)))
    }

    /// Changes a customer, found by its id or its external id (wire 4.3).
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such customer, parent or child;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it has another external id or currency
    /// already, events wait under the external id, its hierarchy cannot be as for
    /// [`create_customer`](Self::create_customer), it would be its own parent, it has another parent that it does not
    /// leave first, or it would leave a parent for whose subscriptions its usage counts;
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where the external id is used.
    pub fn update_customer(
        &self,
        id: impl Into<IdOr<CustomerId>>,
        update: CustomerUpdate,
    ) -> Call<Customer> {
        Call::new(
            self,
            Op::new("update_customer", (id.into(), update), |tx, (id, update)| {
                update_customer(tx, id, update)
            }),
        )
    }

    /// Deletes a customer, found by its id or its external id, and what belongs to it (wire 4.1). Its
    /// external id is free again.
    pub fn delete_customer(&self, id: impl Into<IdOr<CustomerId>>) -> Call<()> {
        Call::new(self, Op::new("delete_customer", id.into(), |tx, id| delete_customer(tx, id)))
    }

    /// Returns a customer by its id or its external id.
    pub async fn fetch_customer(&self, id: impl Into<IdOr<CustomerId>>) -> Result<Customer, Error> {
        let id = id.into();
        rows::customers::customer(&mut self.reading(), &id).await
    }

    /// Lists the customers, newest first.
    pub async fn list_customers(
        &self,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Customer>, Error> {
        let slot = |id| schema::customer(self.id(), CustomerId::from_bytes(id));
        let index = Index::customers(self.id());
        let living = |entry: CustomerEntry| entry.deleted_at.is_none().then_some(entry.customer);
        self.list("customers", index, filter, page, slot, living).await
    }
}

#[boxed]
async fn create_customer(tx: &mut Transaction<'_>, new: &NewCustomer) -> Result<Customer, Stop> {
    let zone = rows::account::account_entry(tx).await?.configuration.timezone.clone();
    let reserved = match &new.external_customer_id {
        Some(external) => reservation(tx, external).await?,
        None => None,
    };
    if let Some(reserved) = reserved {
        tx.lock(&[reserved.into()]).await?;
    }
    let id = reserved.unwrap_or_else(|| CustomerId::generate(tx.now, tx.entropy()));
    let mut customer = new.clone().decide(id, &zone, tx.now)?;
    hierarchies::change(tx, &mut customer, &new.hierarchy).await?;
    if let Some(external) = &customer.external_customer_id {
        let alias = CustomerAlias { customer_id: id, reserved: false };
        let guard = tx.guard(id).await?;
        guard.put(tx, &schema::customer_external(tx.account, external), &alias)?;
    }
    let entry = CustomerEntry { customer: customer.clone(), deleted_at: None };
    rows::customers::put(tx, &entry).await?;
    tx.put(&schema::customer_by_time(tx.account, &customer), &Nothing {})?;
    outbox::tell(tx, id, tx.now, Body::CustomerCreated).await?;
    Ok(customer)
}

/// Returns the customer id that events wait under, if any do.
async fn reservation(
    tx: &mut Transaction<'_>,
    external: &ExternalId,
) -> Result<Option<CustomerId>, Error> {
    match tx.find(&schema::customer_external(tx.account, external)).await? {
        None => Ok(None),
        Some(CustomerAlias { customer_id, reserved: true }) => Ok(Some(customer_id)),
        Some(_) => {
            let detail = format!("a customer with external id {external} exists already");
            Err(Error::duplicate(detail))
        }
    }
}

#[boxed]
async fn update_customer(
    tx: &mut Transaction<'_>,
    id: &IdOr<CustomerId>,
    update: &CustomerUpdate,
) -> Result<Customer, Stop> {
    let before = rows::customers::customer(tx, id).await?;
    current::current_head(tx, before.id).await?;
    let mut methods = match update.is_of_methods() {
        true => payment_methods::of_customer(tx, before.id).await?,
        false => PaymentMethods::default(),
    };
    let known = methods.clone();
    let (mut after, gone) = update.clone().decide(&before, &mut methods)?;
    hierarchies::change(tx, &mut after, &update.hierarchy).await?;
    if methods != known {
        payment_methods::save(tx, &mut after, &methods).await?;
    }
    if after == before {
        return Ok(after);
    }
    if let (None, Some(external)) = (&before.external_customer_id, &after.external_customer_id) {
        if reservation(tx, external).await?.is_some() {
            let detail = format!("events wait for a new customer with external id {external}");
            return Err(Error::constraint(detail).into());
        }
        let alias = CustomerAlias { customer_id: after.id, reserved: false };
        let guard = tx.guard(after.id).await?;
        guard.put(tx, &schema::customer_external(tx.account, external), &alias)?;
    }
    let entry = CustomerEntry { customer: after.clone(), deleted_at: None };
    rows::customers::put(tx, &entry).await?;
    let previous_attributes = previous_attributes(&before, &after);
    outbox::tell(tx, after.id, tx.now, Body::CustomerEdited { previous_attributes }).await?;
    payment_methods::tell_deleted(tx, after.id, gone).await?;
    Ok(after)
}

#[boxed]
async fn delete_customer(tx: &mut Transaction<'_>, id: &IdOr<CustomerId>) -> Result<(), Stop> {
    let customer = rows::customers::customer(tx, id).await?;
    let id = customer.id;
    current::current_head(tx, id).await?;
    invoices::forget(tx, id).await?;
    let guard = tx.guard::<CustomerHead>(id).await?;
    if let Some(external) = &customer.external_customer_id {
        guard.delete(tx, &schema::customer_external(tx.account, external))?;
    }
    tx.delete(&schema::customer_by_time(tx.account, &customer));
    guard.put(tx, &schema::active_subscriptions(tx.account, id), &ActiveIds::default())?;
    payment_methods::forget(tx, id).await?;
    let credits = schema::credits(tx.account, id);
    if guard.get(tx, &credits).await?.is_some() {
        guard.delete(tx, &credits)?;
    }
    // Its backfills go on to close.
    active::reschedule(tx, id).await?;
    let entry = CustomerEntry { customer, deleted_at: Some(tx.now) };
    rows::customers::put(tx, &entry).await?;
    Ok(())
}
