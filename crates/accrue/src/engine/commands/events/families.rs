//! Families of a batch: customers whose events are taken together, since they count for the same subscriptions.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use crate::{
    CustomerId, IdOr,
    engine::kernel::{Stop, Transaction},
    schema::CustomerHead,
};

/// Customers that have events in a batch, and those whose subscriptions these may count for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// Customers that have events, in order.
    pub(super) members: SmallVec<[CustomerId; 1]>,
    /// Customers that have the subscriptions, in order.
    pub(super) subscribers: SmallVec<[CustomerId; 1]>,
}

/// Sorts customers into families. The locks of all whose subscriptions their events may count for are held: one that was
/// read since stops here.
pub(super) async fn families(
    tx: &mut Transaction<'_>,
    customers: &BTreeSet<CustomerId>,
) -> Result<Vec<Family>, Stop> {
    let mut families = Vec::with_capacity(customers.len());
    let mut is_shared = false;
    for guard in tx.guards::<CustomerHead>(customers.iter().copied()).await? {
        let counted_by = &guard.head(tx)?.counted_by;
        is_shared |= !counted_by.is_empty();
        let members = SmallVec::from([guard.of()]);
        let mut subscribers = members.clone();
        subscribers.extend(counted_by.iter().copied());
        subscribers.sort_unstable();
        families.push(Family { members, subscribers });
    }
    if !is_shared {
        return Ok(families);
    }
    let all = families.iter().flat_map(|of| of.subscribers.iter().copied());
    tx.lock(&all.map(IdOr::Id).collect::<Vec<_>>()).await?;
    Ok(joined(families))
}

/// Joins families that have a subscriber in common.
fn joined(families: Vec<Family>) -> Vec<Family> {
    let mut joined: Vec<Family> = Vec::with_capacity(families.len());
    for mut family in families {
        let is_related =
            |of: &mut Family| of.subscribers.iter().any(|id| family.subscribers.contains(id));
        let related: Vec<_> = joined.extract_if(.., is_related).collect();
        for of in related {
            family.members.extend(of.members);
            family.subscribers.extend(of.subscribers);
        }
        for ids in [&mut family.members, &mut family.subscribers] {
            ids.sort_unstable();
            ids.dedup();
        }
        joined.push(family);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_with_a_subscriber_in_common_are_one() {
        let id = |byte| CustomerId::from_bytes([byte; 16]);
        let set = |of: &[u8]| of.iter().map(|byte| id(*byte)).collect::<SmallVec<_>>();
        let family =
            |members: &[u8], of: &[u8]| Family { members: set(members), subscribers: set(of) };
        let alone = [family(&[1], &[1]), family(&[2], &[2, 9]), family(&[3], &[3, 8])];
        let two = family(&[4], &[4, 8, 9]);
        let all: Vec<_> = alone.into_iter().chain([two]).collect();
        let expect = [family(&[1], &[1]), family(&[2, 3, 4], &[2, 3, 4, 8, 9])];
        assert_eq!(joined(all), expect);
    }
}
