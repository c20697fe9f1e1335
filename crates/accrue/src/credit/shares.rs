//! Lists of blocks with a share of an amount each: the oldest stands first.

use crate::{CreditBlockId, Decimal};

/// How well a block goes with the prices that cost less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It pays for one of them, and not for all prices.
    Own,
    /// It pays for all prices.
    Common,
    /// It pays for others only.
    Foreign,
}

/// Counts the share of the oldest block with the next one, until no more than `most` are left.
pub(super) fn fold_oldest(shares: &mut Vec<(CreditBlockId, Decimal)>, most: usize) {
    while shares.len() > most {
        let (_, oldest) = shares.remove(0);
        let Some((_, next)) = shares.first_mut() else { return };
        *next += oldest;
    }
}

/// Hands an amount back to the blocks of a list: by their ranks, of one rank the last one first, at most
/// its share to each. Returns how much was. `give` tells how much of what it is handed a block has taken.
pub(super) fn hand_back(
    shares: &mut Vec<(CreditBlockId, Decimal)>,
    amount: &Decimal,
    rank: impl Fn(CreditBlockId) -> Rank,
    mut give: impl FnMut(CreditBlockId, Decimal) -> Decimal,
) -> Decimal {
    let mut rest = amount.clone();
    let mut order: Vec<_> = shares.iter_mut().rev().collect();
    order.sort_by_key(|(id, _)| rank(*id));
    for (id, share) in order {
        if rest.is_zero() {
            break;
        }
        let given = give(*id, rest.clone().min(share.clone()));
        *share -= &given;
        rest += -given;
    }
    shares.retain(|(_, share)| !share.is_zero());
    amount - rest
}

/// Reduces the share of a block, and drops it where nothing is left of it.
pub(super) fn reduce(
    shares: &mut Vec<(CreditBlockId, Decimal)>,
    block_id: CreditBlockId,
    amount: &Decimal,
) {
    for (_, share) in shares.iter_mut().filter(|(id, _)| *id == block_id) {
        *share -= amount;
    }
    shares.retain(|(_, share)| !share.is_zero());
}
