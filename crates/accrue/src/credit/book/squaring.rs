use super::{Book, Drawn, Returned};
use crate::{Decimal, PriceId};

/// Usage of a price in a billing period that an invoice charges.
#[derive(Clone, Debug)]
pub(crate) struct Charged {
    pub(crate) price_id: PriceId,
    /// What it comes to after adjustments, in the unit of the ledger.
    pub(crate) adjusted: Decimal,
    /// Whether credits do not pay for all of it: what they leave of a unit that is worth nothing is not billed.
    pub(crate) is_billed: bool,
    /// Whether the billing period is over with the invoice.
    pub(crate) is_last: bool,
}

impl Book {
    /// Returns how much of what a price has drawn nobody has paid for yet: at most what is left of `overdrawn`,
    /// which is reduced by as much. Whoever is billed first is so of the rest of the overdraft.
    pub(crate) fn unpaid(&self, drawn: &Drawn, price: PriceId, overdrawn: &mut Decimal) -> Decimal {
        let overdraft = self.ledger.overdraft;
        let share = overdraft.map(|id| drawn.taken_from(id, price)).unwrap_or_default();
        let unpaid = share.min(overdrawn.clone());
        *overdrawn -= &unpaid;
        unpaid
    }

    /// Squares what the usage of a price has drawn with what an invoice charges for it (invoicing 7.3): what it
    /// bills of the overdraft is settled, and what adjustments have spared goes back. It is still to be booked.
    pub(crate) fn square(
        &mut self,
        charged: &Charged,
        drawn: &mut Drawn,
        overdrawn: &mut Decimal,
        returned: &mut Returned,
    ) {
        let Charged { price_id, adjusted, is_billed, is_last } = charged;
        let unpaid = self.unpaid(drawn, *price_id, overdrawn);
        let all = drawn.of(*price_id) + drawn.billed(*price_id);
        let spared = (&all - adjusted).max(Decimal::zero());
        let spared_of_unpaid = unpaid.clone().min(spared.clone());
        let billed = if *is_billed { &unpaid - &spared_of_unpaid } else { Decimal::zero() };
        drawn.bill(*price_id, &billed);
        // Within a period adjustments may still come to something else.
        let [mut settled, mut goes_back] = [billed, Decimal::zero()];
        if *is_last {
            settled += &spared_of_unpaid;
            goes_back = spared - spared_of_unpaid;
        }
        if let Some(overdraft) = self.ledger.overdraft.filter(|_| !settled.is_zero()) {
            drawn.reduce(overdraft, *price_id, &settled);
            self.return_to(overdraft, &settled);
            returned.add(overdraft, &settled);
        }
        if !goes_back.is_zero() {
            drawn
                .hand_back_of(*price_id, &goes_back, |id, most| self.give_for(id, &most, returned));
        }
    }
}
