//! Lists of blocks with a share of an amount each: the oldest stands first.

use crate::{CreditBlockId, Decimal};

/// Counts the share of the oldest block with the next one, until no more than `most` are left.
pub(super) fn fold_oldest(shares: &mut Vec<(CreditBlockId, Decimal)>, most: usize) {
    while shares.len() > most {
        let (_, oldest) = shares.remove(0);
        let Some((_, next)) = shares.first_mut() else { return };
        *next += oldest;
    }
}

/// Hands an amount back to the blocks of a list, the last one first, at most its share to each, and
/// returns how much was. `give` tells how much of what it is handed a block has taken.
pub(super) fn hand_back(
    shares: &mut Vec<(CreditBlockId, Decimal)>,
    amount: &Decimal,
    mut give: impl FnMut(CreditBlockId, Decimal) -> Decimal,
) -> Decimal {
    let mut rest = amount.clone();
    for (id, share) in shares.iter_mut().rev() {
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
