//! Quantities of fees and ends of lives that change, by the engine and by the biller.

use accrue::{
    ErrorKind,
    subscription::{ChangeTiming, FeeQuantityChange},
};
use bigdecimal::BigDecimal;
use pollster::block_on;

use super::{
    ActiveSubscriptions, At, Bench, Biller, Charge, Instant, Timing, engine::decimal, instant, span,
};
use crate::{host::micros, world::nth};

impl Bench {
    pub(super) fn change_quantity(&mut self, life: At, fee: At, quantity: u32, timing: Timing) {
        let of = &self.biller.lives[life];
        let prices = self.biller.plans[of.plan].iter().enumerate();
        let fees = prices.filter(|(_, price)| matches!(price.charge, Charge::Fee { .. }));
        let fees: Vec<_> = fees.map(|(index, _)| index).collect();
        let Some(fee) = nth(fee, fees.len()).map(|of| fees[of]) else { return };
        let quantity = BigDecimal::from(quantity);
        let (when, expected) = match timing {
            Timing::Immediate => (ChangeTiming::Immediate, self.biller.at_once(of, fee)),
            Timing::Upcoming => (ChangeTiming::UpcomingInvoice, self.biller.upcoming(of, fee)),
            Timing::At(when) => {
                let at = self.resolve(when).max(0);
                let expected = self.biller.on_date(of, fee, at);
                (ChangeTiming::EffectiveDate(micros(at)), expected)
            }
        };
        let price = self.prices[of.plan][fee].into();
        let change = FeeQuantityChange { price, quantity: decimal(&quantity), when };
        let call = self.host.account.update_fixed_fee_quantity(self.lives[life], change);
        match (block_on(call.into_future()), expected) {
            (Ok(core), Some(at)) => self.biller.change_quantity(life, core, (fee, at, quantity)),
            (Err(error), None) => assert_eq!(error.kind(), ErrorKind::ConstraintViolation),
            (found, expected) => panic!("{timing:?}: {found:?}, not {expected:?}"),
        }
    }

    pub(super) fn unschedule(&mut self, life: At) {
        let call = self.host.account.unschedule_cancellation(self.lives[life]);
        let end = self.biller.lives[life].end();
        match block_on(call.into_future()) {
            Ok(core) => {
                assert!(end.unwrap() > self.biller.now);
                self.biller.unschedule(life, core);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::RequestValidation);
                assert!(end.is_none_or(|end| end <= self.biller.now));
            }
        }
    }
}

impl Biller {
    /// How many of a fee there are at an instant.
    pub(super) fn quantity_at(&self, of: &ActiveSubscriptions, fee: At, at: Instant) -> BigDecimal {
        let Charge::Fee { quantity, .. } = &self.plans[of.plan][fee].charge else { panic!() };
        of.quantity_before(fee, at + 1).unwrap_or(quantity).clone()
    }

    /// The billing period of a fee that holds an instant: of its first one alone where it bills once.
    fn fee_period(&self, of: &ActiveSubscriptions, fee: At, at: Instant) -> Option<super::Span> {
        let found = match self.plans[of.plan][fee].cadence.cycle() {
            Some(cycle) => of.core.periods_of(cycle).containing(instant(at)),
            None => of.core.periods().first().filter(|first| first.contains(instant(at))),
        };
        found.map(span)
    }

    fn is_active(&self, of: &ActiveSubscriptions) -> bool {
        of.start() <= self.now && of.end().is_none_or(|end| self.now < end)
    }

    fn at_once(&self, of: &ActiveSubscriptions, fee: At) -> Option<Instant> {
        self.fee_period(of, fee, self.now).filter(|_| self.is_active(of)).map(|_| self.now)
    }

    fn upcoming(&self, of: &ActiveSubscriptions, fee: At) -> Option<Instant> {
        let at = self.at_once(of, fee)?;
        let (_, next) = self.fee_period(of, fee, at)?;
        self.fee_period(of, fee, next).map(|_| next)
    }

    fn on_date(&self, of: &ActiveSubscriptions, fee: At, date: Instant) -> Option<Instant> {
        self.fee_period(of, fee, date).filter(|_| self.is_active(of)).map(|_| date)
    }
}
