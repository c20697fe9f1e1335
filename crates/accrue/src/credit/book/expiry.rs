use super::{Book, entries::Draft};
use crate::{CreditBlockId, Decimal, Timestamp, credit::EntryType};

impl Book {
    /// Returns the instant at which the next block expires that has something left.
    pub(crate) fn next_expiry(&self) -> Option<Timestamp> {
        self.order.first_key_value().and_then(|(place, _)| place.expiry_date())
    }

    /// Lists the blocks with something left that expire until an instant, in the order in which
    /// they do.
    pub(crate) fn expiring(&self, until: Timestamp) -> Vec<(Timestamp, CreditBlockId)> {
        let expiring = self.order.iter().map_while(|(place, id)| Some((place.expiry_date()?, *id)));
        expiring.take_while(|(expiry, _)| *expiry <= until).collect()
    }

    /// Books the expiry of a block, at the instant at which it expires.
    pub(crate) fn expire(&mut self, block: CreditBlockId) {
        let Some(found) = self.blocks.get(&block).filter(|found| found.is_open()) else { return };
        let Some(expiry) = found.block.expiry_date else { return };
        let (left, at) = (found.block.balance.clone(), self.instant(expiry));
        self.lose(block, left, at);
    }

    /// Books that something of a block was lost when it expired.
    pub(super) fn lose(&mut self, block_id: CreditBlockId, amount: Decimal, at: Timestamp) {
        self.lose_from(block_id, &amount);
        let (entry_type, asked) = (EntryType::CreditBlockExpiry, None);
        self.append(Draft { entry_type, amount: -amount, block_id, asked }, at);
    }
}
