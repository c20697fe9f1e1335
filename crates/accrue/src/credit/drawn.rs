use serde::{Deserialize, Serialize};

use super::shares;
use crate::{CreditBlockId, Decimal, limits};

/// What the usage of one billing period of a subscription has drawn from one ledger, block by block:
/// the one that was drawn last stands last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Drawn(Vec<(CreditBlockId, Decimal)>);

impl Drawn {
    /// Returns how much was drawn from each block.
    pub(super) fn shares(&self) -> &[(CreditBlockId, Decimal)] {
        &self.0
    }

    /// Adds what was drawn from a block, which is the last one from now on.
    pub(super) fn add(&mut self, id: CreditBlockId, amount: Decimal) {
        match self.0.iter().rposition(|(drawn, _)| *drawn == id) {
            Some(place) => {
                let (_, earlier) = self.0.remove(place);
                self.0.push((id, earlier + amount));
            }
            None => self.0.push((id, amount)),
        }
        shares::fold_oldest(&mut self.0, limits::DRAWN_BLOCKS);
    }

    /// Hands an amount back, at most what was drawn: see [`shares::hand_back`].
    pub(super) fn hand_back(
        &mut self,
        amount: &Decimal,
        give: impl FnMut(CreditBlockId, Decimal) -> Decimal,
    ) {
        shares::hand_back(&mut self.0, amount, give);
    }
}
