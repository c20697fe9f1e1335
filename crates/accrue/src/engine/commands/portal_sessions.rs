//! Sessions of customers in the portal of the host (`docs/decisions/portal-secrets-are-computed.md`).

use crate::{
    CustomerId, Error, IdOr, PortalSessionId,
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows,
        time::current,
    },
    portal::{NewPortalSession, PortalSession},
    schema::{self, CustomerHead},
};

impl Account {
    /// Makes a session of a customer in the portal of the host (invoicing 16.3). What the portal is told of
    /// it, so that nobody else has it, is the host's.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where it lasts less than a minute or more than
    /// [180](crate::limits::PORTAL_MINUTES); [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation)
    /// where the customer has [100](crate::limits::PORTAL_SESSIONS) already.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Email, Name, customer::NewCustomer, store::MemoryStore};
    /// use accrue::portal::NewPortalSession;
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let session = account.create_portal_session(ada.id, NewPortalSession::default()).await?;
    /// assert_eq!(account.portal_session(ada.id, session.id).await?, Some(session));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_portal_session(
        &self,
        customer: impl Into<IdOr<CustomerId>>,
        new: NewPortalSession,
    ) -> Call<PortalSession> {
        Call::new(
            self,
            Op::new("create_portal_session", (customer.into(), new), |tx, (customer, new)| {
                create(tx, customer, *new)
            }),
        )
    }

    /// Returns a session of a customer that is not over; none where it is, or the customer is deleted.
    pub async fn portal_session(
        &self,
        customer: CustomerId,
        id: PortalSessionId,
    ) -> Result<Option<PortalSession>, Error> {
        let read = |mut tx| async move {
            let found = find(&mut tx, customer, id).await;
            (tx, found)
        };
        self.at_one_instant(read).await
    }
}

#[boxed]
async fn create(
    tx: &mut Transaction<'_>,
    customer: &IdOr<CustomerId>,
    new: NewPortalSession,
) -> Result<PortalSession, Stop> {
    let customer = rows::customers::customer(tx, customer).await?;
    current::current_head(tx, customer.id).await?;
    let guard = tx.guard::<CustomerHead>(customer.id).await?;
    let slot = schema::portal_sessions(tx.account, customer.id);
    let mut sessions = guard.get(tx, &slot).await?.unwrap_or_default();
    let id = PortalSessionId::generate(tx.now, tx.entropy());
    let session = sessions.add(new, (id, customer.id), tx.now)?;
    guard.put(tx, &slot, &sessions)?;
    Ok(session)
}

#[boxed]
async fn find(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    id: PortalSessionId,
) -> Result<Option<PortalSession>, Error> {
    match rows::customers::customer(tx, &customer.into()).await {
        Ok(_) => {}
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    }
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let sessions = guard.get(tx, &schema::portal_sessions(tx.account, customer)).await?;
    Ok(sessions.unwrap_or_default().find(id, tx.now))
}
