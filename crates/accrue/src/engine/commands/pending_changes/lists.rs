//! Lists of changes of subscriptions.

use std::collections::BTreeSet;

use crate::{
    Error, Page, PageRequest, SubscriptionChangeId,
    engine::{
        Account,
        commands::invoices::{Named, named_customer},
        kernel::Transaction,
        rows::{customers, lists::Walk},
    },
    limits,
    page::{Listing, Position},
    schema::{self, Index},
    subscription::{ChangeStatus, SubscriptionChange, SubscriptionChangeFilter},
};

impl Account {
    /// Lists changes of subscriptions that wait or have waited, newest first (subscriptions 4.5). The status of each is that
    /// of now.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the filter names more than
    /// [100](crate::limits::FILTERED_CUSTOMERS) customers, or the cursor is none of this list;
    /// [`TooManyResults`](crate::ErrorKind::TooManyResults) where more than [10,000](crate::limits::RESULT_ROWS) changes
    /// would have to be looked at for one page.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, PageRequest, store::MemoryStore};
    /// use accrue::subscription::{ChangeStatus, SubscriptionChangeFilter};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let status = Some(ChangeStatus::Pending);
    /// let pending = SubscriptionChangeFilter { status, ..Default::default() };
    /// let page = account.list_subscription_changes(&pending, &PageRequest::default()).await?;
    /// assert!(page.data.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn list_subscription_changes(
        &self,
        filter: &SubscriptionChangeFilter,
        page: &PageRequest,
    ) -> Result<Page<SubscriptionChange>, Error> {
        let listing = Listing {
            name: "subscription_changes",
            account: self.id(),
            filter: format!("{filter:?}"),
        };
        let mut tx = self.reading();
        let indexes = indexes(&mut tx, filter).await?;
        let mut walk = Walk::merged(listing, &indexes, filter.created, page)?;
        let (mut found, mut looked_at) = (Vec::new(), 0_usize);
        while !walk.is_full(&found) {
            let places = walk.next(&tx).await?;
            if places.is_empty() {
                break;
            }
            looked_at = looked_at.saturating_add(places.len());
            if looked_at > limits::RESULT_ROWS {
                let most = limits::RESULT_ROWS;
                return Err(Error::too_many(format!(
                    "more than {most} changes would have to be looked at: a narrower filter helps"
                )));
            }
            found.extend(changes_at(&tx, &places, filter).await?);
        }
        Ok(walk.page(found))
    }
}

/// Returns the narrowest indexes that name all that passes a filter. One that has expired stands with those that are pending
/// until that is written.
async fn indexes(
    tx: &mut Transaction<'_>,
    filter: &SubscriptionChangeFilter,
) -> Result<Vec<Index>, Error> {
    let named = named_customer(tx, &filter.customers, None).await?;
    let of_status = |status| Index::subscription_changes_of_status(tx.account, status);
    Ok(match (named, filter.status) {
        (Named::Nobody, _) => Vec::new(),
        (Named::One(id), _) => vec![Index::subscription_changes_of_customer(tx.account, id)],
        (Named::Anyone, None) => vec![Index::subscription_changes(tx.account)],
        (Named::Anyone, Some(ChangeStatus::Cancelled)) => {
            [ChangeStatus::Cancelled, ChangeStatus::Pending].map(of_status).into()
        }
        (Named::Anyone, Some(status)) => vec![of_status(status)],
    })
}

/// Reads the changes at some places, and keeps those that pass and whose customers are not deleted.
async fn changes_at(
    tx: &Transaction<'_>,
    places: &[Position],
    filter: &SubscriptionChangeFilter,
) -> Result<Vec<(Position, SubscriptionChange)>, Error> {
    let id = |at: &Position| SubscriptionChangeId::from_bytes(schema::id_at(at));
    let slots = places.iter().map(|at| schema::subscription_change(tx.account, id(at)));
    let rows = tx.peek(&slots.collect::<Vec<_>>()).await?;
    let found = places.iter().copied().zip(rows).filter_map(|(at, row)| Some((at, row?)));
    let passes =
        |of: &SubscriptionChange| filter.status.is_none_or(|status| status == of.status(tx.now));
    let mut found: Vec<_> = found.filter(|(_, of)| passes(of)).collect();
    let ids: BTreeSet<_> = found.iter().map(|(_, of)| of.customer_id).collect();
    let there = customers::not_deleted(tx, ids).await?;
    found.retain(|(_, of)| there.contains(&of.customer_id));
    Ok(found)
}
