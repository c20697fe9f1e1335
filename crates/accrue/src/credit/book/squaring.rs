use super::{Book, Drawn, Returned};
use crate::{Decimal, Timestamp, subscription::InForce};

/// Usage of a price in a billing period that an invoice charges.
#[derive(Clone, Debug)]
pub(crate) struct Charged {
    pub(crate) price: InForce,
    /// What it charges, in the unit of the ledger.
    pub(crate) charge: Charge,
    /// Whether what credits leave is billed: what is in a unit that is worth nothing is not.
    pub(crate) is_billed: bool,
    /// Date of the invoice.
    pub(crate) date: Timestamp,
}

/// How much an invoice charges for usage.
#[derive(Clone, Debug)]
pub(crate) enum Charge {
    /// What a billing period has come to after adjustments.
    Whole(Decimal),
    /// What it has come to so far: adjustments may still change it.
    SoFar(Decimal),
    /// What a threshold has billed of it, with lines that stay as they were.
    Made(Decimal),
}

impl Book {
    /// Returns how much of what a price has drawn nobody has paid for yet: at most what is left of `overdrawn`,
    /// which is reduced by as much. Whoever is billed first is so of the rest of the overdraft.
    pub(crate) fn unpaid(&self, drawn: &Drawn, price: InForce, overdrawn: &mut Decimal) -> Decimal {
        let unpaid = self.overdraft_share(drawn, price).min(overdrawn.clone());
        *overdrawn -= &unpaid;
        unpaid
    }

    fn overdraft_share(&self, drawn: &Drawn, price: InForce) -> Decimal {
        let overdraft = self.ledger.overdraft;
        overdraft.map(|id| drawn.taken_from(id, price)).unwrap_or_default()
    }

    /// Settles what an invoice bills of the overdraft, and what adjustments have spared of it (invoicing 7.3).
    /// Returns what they have spared of credits that were paid for, which is to be
    /// [handed back](Self::hand_back_spared) once all is settled. It is still to be booked.
    pub(crate) fn settle(
        &mut self,
        charged: &Charged,
        drawn: &mut Drawn,
        overdrawn: &mut Decimal,
        returned: &mut Returned,
    ) -> Decimal {
        let Charged { price, charge, is_billed, date } = charged;
        let unpaid = self.unpaid(drawn, *price, overdrawn);
        let mut goes_back = Decimal::zero();
        let (billed, settled) = match charge {
            Charge::Made(amount) => {
                let billed = amount.clone().min(self.overdraft_share(drawn, *price));
                let billed = if *is_billed { billed } else { Decimal::zero() };
                let settled = billed.clone().min(unpaid);
                // An increment has paid for the rest meanwhile.
                let paid = &billed - &settled;
                if let Some(overdraft) = self.ledger.overdraft.filter(|_| !paid.is_zero()) {
                    let given = self.give_for(overdraft, &paid, returned);
                    drawn.reduce(overdraft, *price, &given);
                }
                (billed, settled)
            }
            Charge::Whole(adjusted) | Charge::SoFar(adjusted) => {
                let all = drawn.of(*price) + drawn.billed_by(*price, Timestamp::MAX);
                let spared = (&all - adjusted).max(Decimal::zero());
                let spared_of_unpaid = unpaid.clone().min(spared.clone());
                let billed = if *is_billed { &unpaid - &spared_of_unpaid } else { Decimal::zero() };
                let mut settled = billed.clone();
                if matches!(charge, Charge::Whole(_)) {
                    settled += &spared_of_unpaid;
                    goes_back = spared - spared_of_unpaid;
                }
                (billed, settled)
            }
        };
        drawn.bill(*price, *date, &billed);
        if let Some(overdraft) = self.ledger.overdraft.filter(|_| !settled.is_zero()) {
            drawn.reduce(overdraft, *price, &settled);
            self.return_to(overdraft, &settled);
            returned.add(overdraft, &settled);
        }
        goes_back
    }

    /// Hands back what adjustments have spared of what a price has drawn: what it drew last goes first. It is
    /// still to be booked.
    pub(crate) fn hand_back_spared(
        &mut self,
        price: InForce,
        amount: &Decimal,
        drawn: &mut Drawn,
        returned: &mut Returned,
    ) {
        drawn.hand_back_of(price, amount, |id, most| self.give_for(id, &most, returned));
    }
}
