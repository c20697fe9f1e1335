use serde::{Deserialize, Serialize};

use super::shares::{self, Rank};
use crate::{CreditBlockId, Decimal, limits};

/// Amounts that the usage of one billing period of a subscription has drawn from one ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Drawn {
    /// Amounts block by block: the block that was drawn last stands last.
    #[serde(rename = "drawn")]
    shares: Vec<(CreditBlockId, Decimal)>,
    /// Amount that the usage has come to cost less with nothing to give back: it was there before
    /// the ledger, or what it drew was given back already. As much draws nothing when it comes
    /// back, so that what is taken back and done again ends where it began.
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    spared: Decimal,
}

impl Drawn {
    /// Returns the amount that was drawn from each block.
    pub(crate) fn shares(&self) -> &[(CreditBlockId, Decimal)] {
        &self.shares
    }

    /// Adds an amount drawn from a block, which is the last one from now on.
    pub(super) fn add(&mut self, id: CreditBlockId, amount: Decimal) {
        match self.shares.iter().rposition(|(drawn, _)| *drawn == id) {
            Some(place) => {
                let (_, earlier) = self.shares.remove(place);
                self.shares.push((id, earlier + amount));
            }
            None => self.shares.push((id, amount)),
        }
        shares::fold_oldest(&mut self.shares, limits::DRAWN_BLOCKS);
    }

    /// Returns the part of an amount that is to be drawn: what was spared is not.
    pub(super) fn due(&mut self, amount: &Decimal) -> Decimal {
        let spared = self.spared.clone().min(amount.clone());
        self.spared -= &spared;
        amount - spared
    }

    /// Tells whether some usage is to draw nothing.
    pub(crate) fn has_spared(&self) -> bool {
        !self.spared.is_zero()
    }

    /// Hands an amount back, at most what was drawn: see [`shares::hand_back`]. The rest is spared.
    pub(super) fn hand_back(
        &mut self,
        amount: &Decimal,
        rank: impl Fn(CreditBlockId) -> Rank,
        give: impl FnMut(CreditBlockId, Decimal) -> Decimal,
    ) {
        let given = shares::hand_back(&mut self.shares, amount, rank, give);
        self.spared += amount - given;
    }
}
