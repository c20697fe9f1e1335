//! Endpoints: creation, changes, secrets and lists.

use std::time::Duration;

use crate::{
    Error, Page, PageRequest, WebhookEndpointId,
    engine::{
        Account, Call,
        kernel::{Guard, Op, Stop, Transaction, boxed},
        rows::{
            account,
            endpoints::{self, Queue},
            lists::page_in_order,
        },
    },
    limits,
    page::Listing,
    schema::{self, AccountHead},
    webhook::{DisableReason, Endpoint, EndpointUpdate, NewEndpoint},
};

impl Account {
    /// Creates an endpoint: messages that come up from now on are sent to it (subscriptions 10.1). Its secret is
    /// [computed](Endpoint::secret) from the key of the host.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the account has
    /// [20](crate::limits::WEBHOOK_ENDPOINTS) already;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where it names no type of messages.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, store::MemoryStore};
    /// use accrue::webhook::{EndpointUrl, EventType, EventTypes, NewEndpoint, Reach};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let url = EndpointUrl::parse("https://hooks.example.com/billing", &Reach::public())?;
    /// let mut new = NewEndpoint::new(url);
    /// new.event_types = EventTypes::Only([EventType::parse("invoice.issued")?].into());
    /// let endpoint = account.create_webhook_endpoint(new).await?;
    /// assert!(endpoint.is_enabled());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_webhook_endpoint(&self, new: NewEndpoint) -> Call<Endpoint> {
        Call::new(self, Op::new("create_webhook_endpoint", new, |tx, new| create(tx, new)))
    }

    /// Returns an endpoint.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such endpoint.
    pub async fn fetch_webhook_endpoint(&self, id: WebhookEndpointId) -> Result<Endpoint, Error> {
        Ok(find(&mut self.reading(), id).await?.1)
    }

    /// Lists the endpoints, newest first.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this list.
    pub async fn list_webhook_endpoints(
        &self,
        page: &PageRequest,
    ) -> Result<Page<Endpoint>, Error> {
        let listing =
            Listing { name: "webhook_endpoints", account: self.id(), filter: String::new() };
        let mut tx = self.reading();
        let guard = account::guard(&mut tx).await?;
        let all = endpoints::endpoints(&tx, &guard).await?.into_iter();
        let all = all.map(|of| (schema::position_of(of.created_at, of.id.as_bytes()), of));
        page_in_order(&listing, page, page.rows()?, all)
    }

    /// Changes an endpoint. Its address is for messages that wait too, the rest for those that come up from now
    /// on.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where it names no type of messages;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such endpoint.
    pub fn update_webhook_endpoint(
        &self,
        id: WebhookEndpointId,
        update: EndpointUpdate,
    ) -> Call<Endpoint> {
        let run = Op::new("update_webhook_endpoint", (id, update), |tx, (id, update)| {
            Box::pin(async move {
                let update = update.clone();
                change(tx, *id, |before, _| before.update(update)).await
            })
        });
        Call::new(self, run)
    }

    /// Enables an endpoint: messages that come up from now on are sent to it. One that is enabled stays as it is.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such endpoint.
    pub fn enable_webhook_endpoint(&self, id: WebhookEndpointId) -> Call<Endpoint> {
        let run = Op::new("enable_webhook_endpoint", id, |tx, id| {
            Box::pin(change(tx, *id, |before, now| Ok(before.enable(now))))
        });
        Call::new(self, run)
    }

    /// Disables an endpoint: nothing is sent to it any more, neither what waits nor what comes up. One that is
    /// disabled stays as it is.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such endpoint.
    pub fn disable_webhook_endpoint(&self, id: WebhookEndpointId) -> Call<Endpoint> {
        let run = Op::new("disable_webhook_endpoint", id, |tx, id| {
            Box::pin(change(tx, *id, |before, now| {
                Ok(before.disable(now, DisableReason::Requested))
            }))
        });
        Call::new(self, run)
    }

    /// Gives an endpoint another secret. For an overlap, of 30 days at most, requests are signed with both;
    /// where another overlap has not ended, the secret before that is no longer used.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the overlap is longer;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such endpoint.
    pub fn rotate_webhook_secret(
        &self,
        id: WebhookEndpointId,
        overlap: Duration,
    ) -> Call<Endpoint> {
        let run = Op::new("rotate_webhook_secret", (id, overlap), |tx, (id, overlap)| {
            Box::pin(change(tx, *id, |before, now| before.rotate_secret(*overlap, now)))
        });
        Call::new(self, run)
    }

    /// Deletes an endpoint. Requests that are under way may end.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such endpoint.
    pub fn delete_webhook_endpoint(&self, id: WebhookEndpointId) -> Call<()> {
        Call::new(self, Op::new("delete_webhook_endpoint", id, |tx, id| delete(tx, *id)))
    }
}

async fn find(
    tx: &mut Transaction<'_>,
    id: WebhookEndpointId,
) -> Result<(Guard<AccountHead>, Endpoint), Error> {
    let guard = account::guard(tx).await?;
    let found = endpoints::endpoint(tx, &guard, id).await?;
    Ok((guard, found.ok_or_else(|| Error::not_found("webhook endpoint", id))?))
}

#[boxed]
async fn create(tx: &mut Transaction<'_>, new: &NewEndpoint) -> Result<Endpoint, Stop> {
    let guard = account::guard(tx).await?;
    let count = endpoints::endpoints(tx, &guard).await?.len();
    if count >= limits::WEBHOOK_ENDPOINTS {
        let detail = format!("the account has {count} webhook endpoints, the most");
        return Err(Error::constraint(detail).into());
    }
    let id = WebhookEndpointId::generate(tx.now, tx.entropy());
    let endpoint = new.clone().decide(id, tx.now)?;
    guard.put(tx, &schema::webhook_endpoint(tx.account, id), &endpoint)?;
    Ok(endpoint)
}

async fn change(
    tx: &mut Transaction<'_>,
    id: WebhookEndpointId,
    change: impl FnOnce(Endpoint, crate::Timestamp) -> Result<Endpoint, Error> + Send,
) -> Result<Endpoint, Stop> {
    let (guard, before) = find(tx, id).await?;
    let after = change(before.clone(), tx.now)?;
    if after == before {
        return Ok(after);
    }
    guard.put(tx, &schema::webhook_endpoint(tx.account, id), &after)?;
    if (after.status, &after.url) != (before.status, &before.url) {
        look_again(tx, id).await?;
    }
    Ok(after)
}

#[boxed]
async fn delete(tx: &mut Transaction<'_>, id: WebhookEndpointId) -> Result<(), Stop> {
    let (guard, _) = find(tx, id).await?;
    guard.delete(tx, &schema::webhook_endpoint(tx.account, id))?;
    look_again(tx, id).await?;
    Ok(())
}

/// Has the queue of an endpoint looked at: what waits may be for nobody any more, or for another address. How it has
/// fared is forgotten.
async fn look_again(tx: &mut Transaction<'_>, id: WebhookEndpointId) -> Result<(), Stop> {
    let queue = Queue::locked(tx, id).await?;
    let head = queue.head_mut(tx)?;
    (head.failures, head.failing_since, head.rests_until) = (0, None, None);
    if head.next_at.is_some() {
        let now = tx.now;
        queue.call_for(tx, now)?;
    }
    Ok(())
}
