//! Hierarchies of customers: who is whose child, and whose usage counts for whom (wire 4.3, subscriptions 1.5).

use std::collections::BTreeSet;

use crate::{
    CustomerId, Error, IdOr, Patch,
    customer::{Customer, HierarchyChange, previous_attributes},
    engine::{
        kernel::{Stop, Transaction},
        rows::{self, active, customers, outbox, usage_customers},
        time::current,
    },
    limits,
    schema::CustomerEntry,
    subscription::Subscription,
    webhook::Body,
};

/// Changes the hierarchy of a customer, which is written afterwards; the others that it touches are written and told of
/// here.
pub(super) async fn change(
    tx: &mut Transaction<'_>,
    customer: &mut Customer,
    change: &HierarchyChange,
) -> Result<(), Stop> {
    if change.is_empty() {
        return Ok(());
    }
    let most = limits::CHILDREN;
    if change.children.len() > most {
        let message = format!("found {} customers, expected at most {most}", change.children.len());
        return Err(Error::invalid("hierarchy.child_customer_ids", message).into());
    }
    let id = customer.id;
    let before = customer.hierarchy.parent;
    let named = change.children.iter().copied().chain(match change.parent {
        Patch::Set(parent) => Some(parent),
        Patch::Keep | Patch::Clear => None,
    });
    let others: BTreeSet<_> = named.chain(before).filter(|of| *of != id).collect();
    lock(tx, &others).await?;
    if let Some(parent) = before {
        if entry(tx, parent).await?.is_none() {
            customer.hierarchy.parent = None;
        } else if change.parent == Patch::Clear {
            leave(tx, customer, parent).await?;
        }
    }
    if let Patch::Set(parent) = change.parent {
        let mut of_parent = other(tx, customer, parent).await?;
        drop_deleted(tx, &mut of_parent).await?;
        customer.hierarchy.join(id, parent, &mut of_parent.hierarchy)?;
        save(tx, of_parent).await?;
    }
    for child in &change.children {
        let mut of_child = other(tx, customer, *child).await?;
        if let Some(parent) = of_child.hierarchy.parent
            && entry(tx, parent).await?.is_none()
        {
            of_child.hierarchy.parent = None;
        }
        drop_deleted(tx, customer).await?;
        of_child.hierarchy.join(*child, id, &mut customer.hierarchy)?;
        save(tx, of_child).await?;
    }
    Ok(())
}

/// Makes sure that those whose usage counts for a subscription from now on are of the hierarchy of its customer, and
/// notes for each that it does.
pub(super) async fn note_usage_customers(
    tx: &mut Transaction<'_>,
    before: Option<&Subscription>,
    after: &Subscription,
) -> Result<(), Stop> {
    if after.has_usage_customers() {
        check_sources(tx, after).await?;
    }
    let subscriber = after.customer_id;
    let known = before.map(Subscription::listed_customers).unwrap_or_default();
    let mut new = after.listed_customers();
    new.retain(|id| *id != subscriber && !known.contains(id));
    if new.is_empty() {
        return Ok(());
    }
    for id in &new {
        let found = entry(tx, *id).await?.ok_or_else(|| Error::not_found("customer", id))?;
        if found.hierarchy.parent != Some(subscriber) {
            let detail = format!("the customer {id} is no child of {subscriber}");
            return Err(Error::constraint(detail).into());
        }
    }
    lock(tx, &new).await?;
    let active = active::active_subscriptions(tx, &[subscriber]).await?;
    let active = active.iter().flat_map(|of| &of.entries);
    let mut counted: BTreeSet<_> =
        active.flat_map(|entry| entry.subscription.listed_customers()).collect();
    counted.remove(&subscriber);
    counted.extend(new);
    usage_customers::count(tx, subscriber, counted).await?;
    Ok(())
}

/// Takes the locks of customers, whose transitions come first.
async fn lock(tx: &mut Transaction<'_>, others: &BTreeSet<CustomerId>) -> Result<(), Stop> {
    tx.lock(&others.iter().copied().map(IdOr::Id).collect::<Vec<_>>()).await?;
    current::current_heads(tx, &others.iter().copied().collect::<Vec<_>>()).await
}

/// Refuses more lists of customers than the figures of a billing period have room for: each has what the account
/// measures, and what the prices of the subscription are divided into.
async fn check_sources(tx: &mut Transaction<'_>, of: &Subscription) -> Result<(), Error> {
    let lists = of.sources().iter().filter(|source| !source.is_own()).count();
    let prices = rows::prices::prices_of(tx, of).await?;
    // Groups that are not known beforehand have rows of their own.
    let in_cells = prices.iter().filter(|price| price.charge.model().groups().is_none());
    let cells = in_cells.map(|price| price.cells(None).len()).fold(0, usize::saturating_add);
    let figures = cells.saturating_add(limits::METRICS).saturating_mul(lists);
    let most = limits::LISTED_FIGURES;
    if figures <= most {
        return Ok(());
    }
    Err(Error::constraint(format!(
        "usage of {lists} different lists of customers would take {figures} figures, expected at most {most}: prices \
         that count the same customers share theirs"
    )))
}

/// Lets a customer leave its parent, where its usage counts for no subscription of that any more.
async fn leave(
    tx: &mut Transaction<'_>,
    customer: &mut Customer,
    parent: CustomerId,
) -> Result<(), Stop> {
    let (id, mut of_parent) = (customer.id, other(tx, customer, parent).await?);
    for of in active::active_subscriptions(tx, &[parent]).await? {
        let mut subscriptions = of.entries.iter().map(|entry| &entry.subscription);
        let counts = |of: &&Subscription| of.listed_customers().contains(&id);
        if let Some(counting) = subscriptions.find(counts) {
            let counting = counting.id;
            let detail = format!(
                "the usage of customer {id} counts for subscription {counting} of {parent}"
            );
            return Err(Error::constraint(detail).into());
        }
    }
    usage_customers::count_no_more(tx, parent, id).await?;
    customer.hierarchy.leave(id, &mut of_parent.hierarchy);
    Ok(save(tx, of_parent).await?)
}

/// Returns another customer of a hierarchy, as it is written by now.
async fn other(
    tx: &mut Transaction<'_>,
    own: &Customer,
    id: CustomerId,
) -> Result<Customer, Error> {
    if own.id == id {
        return Ok(own.clone());
    }
    entry(tx, id).await?.ok_or_else(|| Error::not_found("customer", id))
}

async fn entry(tx: &mut Transaction<'_>, id: CustomerId) -> Result<Option<Customer>, Error> {
    let (_, entry) = customers::entry(tx, id).await?;
    Ok(entry.filter(|of| of.deleted_at.is_none()).map(|of| of.customer))
}

/// Forgets the children that were deleted, where there is no room for more otherwise.
async fn drop_deleted(tx: &mut Transaction<'_>, parent: &mut Customer) -> Result<(), Error> {
    let children = &mut parent.hierarchy.children;
    if children.len() >= limits::CHILDREN {
        let living = customers::not_deleted(tx, children.iter().copied().collect()).await?;
        children.retain(|id| living.contains(id));
    }
    Ok(())
}

/// Writes another customer of a hierarchy that has changed.
async fn save(tx: &mut Transaction<'_>, after: Customer) -> Result<(), Error> {
    let Some(before) = entry(tx, after.id).await?.filter(|before| *before != after) else {
        return Ok(());
    };
    let body = Body::CustomerEdited { previous_attributes: previous_attributes(&before, &after) };
    let id = after.id;
    customers::put(tx, &CustomerEntry { customer: after, deleted_at: None }).await?;
    outbox::tell(tx, id, tx.now, body).await
}
