use std::collections::BTreeSet;

use super::{
    AdjustmentInterval, AdjustmentIntervalEdit, BillingAnchor, BillingPeriods, Cut, IntervalDate,
    Lane, NewAdjustmentInterval, NewPriceInterval, PriceInterval, PriceIntervalEdit, Subscription,
    SubscriptionStatus, differences::Life, price_changes::too_many_cells,
};
use crate::{
    AdjustmentId, AdjustmentIntervalId, Decimal, Error, Patch, PriceIntervalId, Timestamp, limits,
    plan::cells,
    price::{Adjustments, Charge, Price, ScopedAdjustment},
};

impl IntervalDate {
    /// Decides the instant that is meant, where a word is for the period of now among some.
    fn decide(self, periods: &BillingPeriods, now: Timestamp) -> Result<Timestamp, Error> {
        let current = || {
            let none = || Error::constraint("the subscription is not active: it has no term now");
            periods.containing(now).ok_or_else(none)
        };
        match self {
            Self::At(at) => Ok(at),
            Self::StartOfTerm => Ok(current()?.start()),
            Self::EndOfTerm => Ok(current()?.end()),
        }
    }
}

impl Subscription {
    /// Returns the adjustments that came with a price interval, and go with it.
    pub(crate) fn come_with(&self, id: PriceIntervalId) -> BTreeSet<AdjustmentIntervalId> {
        let interval = self.price_intervals.iter().find(|of| of.id == id);
        let own = |of: &&AdjustmentInterval| interval.is_some_and(|one| of.goes_with(one));
        self.adjustment_intervals.iter().filter(own).map(|of| of.id).collect()
    }

    /// Edits one of its price intervals, of a price, and what came with it.
    pub(crate) fn edit_interval(
        &mut self,
        edit: &PriceIntervalEdit,
        (price, own): (&Price, &BTreeSet<AdjustmentIntervalId>),
        now: Timestamp,
    ) -> Result<(), Error> {
        let found = self.price_intervals.iter().position(|of| of.id == edit.id);
        let missing = || Error::not_found("price interval", edit.id);
        let place = found.ok_or_else(missing)?;
        let mut interval = self.price_intervals.get(place).cloned().ok_or_else(missing)?;
        Self::check_not_on_trial(&interval)?;
        if let Some(day) = edit.billing_cycle_day {
            interval.anchor = interval.anchor.on_day(day);
        }
        edit.filter.clone().apply(&mut interval.filter);
        edit.usage_customers.clone().apply(&mut interval.usage_customers);
        interval.can_defer_billing = edit.can_defer_billing.unwrap_or(interval.can_defer_billing);
        let terms = self.grid_of(&interval);
        let was = interval.life();
        let life = self.edited((edit.start_date, edit.end_date), was, &terms, now)?;
        (interval.start_date, interval.end_date) = life;
        if life.0 < was.0 && interval.given.is_some_and(|of| of.until.is_some()) {
            let detail =
                "the interval has given credits already: another one can be added before it";
            return Err(Error::constraint(detail));
        }
        if life.0 != was.0 {
            self.check_behind_trial(was.0, life.0)?;
        }
        let own = |of: &AdjustmentInterval| own.contains(&of.id);
        if interval.end_date == Some(interval.start_date) {
            self.adjustment_intervals.retain(|of| !own(of));
            self.price_intervals.remove(place);
            return Ok(());
        }
        for of in self.adjustment_intervals.iter_mut().filter(|of| own(of)) {
            (of.start_date, of.end_date) = life;
        }
        match &edit.quantities {
            Some(quantities) => interval.set_quantities(price, quantities)?,
            None => interval.begin_quantities(),
        }
        if let Some(of) = self.price_intervals.get_mut(place) {
            *of = interval;
        }
        Ok(())
    }

    /// Adds an interval of a price.
    pub(crate) fn add_interval(
        &mut self,
        id: PriceIntervalId,
        new: &NewPriceInterval,
        price: &Price,
        now: Timestamp,
    ) -> Result<(), Error> {
        let terms = price.cadence.cycle().map_or_else(|| self.periods(), |of| self.periods_of(of));
        let start_date = new.start_date.decide(&terms, now)?;
        let end_date = new.end_date.map(|of| of.decide(&terms, now)).transpose()?;
        self.check_not_within_trial(start_date)?;
        let cut = self.cut(start_date, now);
        let plan = self.plan_at(start_date);
        let filter = new.filter.clone().or(plan.filter);
        let usage_customers = new.usage_customers.clone().or(plan.usage_customers);
        let mut interval = PriceInterval {
            id,
            end_date,
            filter,
            usage_customers,
            can_defer_billing: new.can_defer_billing,
            ..cut.interval(price)
        };
        interval.set_quantities(price, &new.quantities)?;
        self.add_priced(&cut, interval, price, &new.adjustments)
    }

    /// Adds an interval of a price that is none of its plan version, with the price's own adjustments and others.
    pub(super) fn add_priced(
        &mut self,
        cut: &Cut,
        interval: PriceInterval,
        price: &Price,
        more: &Adjustments,
    ) -> Result<(), Error> {
        let PriceInterval { start_date, end_date, .. } = interval;
        self.check_priced(price, more)?;
        self.check_life((start_date, end_date))?;
        if end_date.is_some_and(|end| end <= start_date) {
            let detail = format!("the interval would end with its start, {start_date}");
            return Err(Error::constraint(detail));
        }
        self.push_priced(cut, interval, price, more);
        Ok(())
    }

    /// Refuses a price that it cannot be charged, and adjustments of that.
    pub(super) fn check_priced(&self, price: &Price, more: &Adjustments) -> Result<(), Error> {
        if price.currency.currency().is_some_and(|of| of != self.currency) {
            let (found, own) = (&price.currency, self.currency);
            let detail = format!("the price is in {found}, the subscription is invoiced in {own}");
            return Err(Error::constraint(detail));
        }
        more.check(&price.charge.clone().into())
    }

    /// Adds an interval of a price, with the price's own adjustments and others.
    pub(super) fn push_priced(
        &mut self,
        cut: &Cut,
        mut interval: PriceInterval,
        price: &Price,
        more: &Adjustments,
    ) {
        interval.lane = self.lane_of(&interval);
        let own = [&price.adjustments, more].into_iter().flat_map(Adjustments::each);
        self.adjustment_intervals.extend(cut.own_of(&interval, own, price.id));
        self.price_intervals.push(interval);
    }

    /// Refuses what is on trial: only another end of that moves it (subscriptions 1.7).
    fn check_not_on_trial(of: &PriceInterval) -> Result<(), Error> {
        match of.is_trial() {
            true => Err(Error::constraint(format!("the price interval {} is on trial", of.id))),
            false => Ok(()),
        }
    }

    /// Refuses another start of what begins with the end of the trial, and one within that.
    fn check_behind_trial(&self, was: Timestamp, start: Timestamp) -> Result<(), Error> {
        if self.trial_end() == Some(was) {
            let detail = format!("the interval begins with the end of the trial, {was}");
            return Err(Error::constraint(detail));
        }
        self.check_not_within_trial(start)
    }

    fn check_not_within_trial(&self, start: Timestamp) -> Result<(), Error> {
        match self.trial_end().filter(|_| self.is_on_trial(start)) {
            Some(end) => {
                let detail = format!("the start {start} is within the trial, to {end}");
                Err(Error::constraint(detail))
            }
            None => Ok(()),
        }
    }

    /// Refuses the adjustment of a coupon, which is redeemed and not given (subscriptions 2.1). It is known by its
    /// interval.
    pub(crate) fn check_is_no_coupon(&self, id: AdjustmentId) -> Result<(), Error> {
        let is_coupon =
            |of: &AdjustmentInterval| of.coupon_id.is_some() && of.id.as_bytes() == id.as_bytes();
        match self.adjustment_intervals.iter().any(is_coupon) {
            true => Err(Error::constraint(format!("the adjustment {id} is that of a coupon"))),
            false => Ok(()),
        }
    }

    /// Edits one of its adjustment intervals.
    pub(crate) fn edit_adjustment_interval(
        &mut self,
        edit: &AdjustmentIntervalEdit,
        now: Timestamp,
    ) -> Result<(), Error> {
        let found = self.adjustment_intervals.iter().position(|of| of.id == edit.id);
        let missing = || Error::not_found("adjustment interval", edit.id);
        let place = found.ok_or_else(missing)?;
        let of = self.adjustment_intervals.get(place).ok_or_else(missing)?;
        if of.is_trial {
            return Err(missing());
        }
        let was = of.life();
        let terms = self.periods();
        let life = self.edited((edit.start_date, edit.end_date), was, &terms, now)?;
        if life.0 != was.0 {
            self.check_behind_trial(was.0, life.0)?;
        }
        if life.1 == Some(life.0) {
            self.adjustment_intervals.remove(place);
        } else if let Some(of) = self.adjustment_intervals.get_mut(place) {
            (of.start_date, of.end_date) = life;
        }
        Ok(())
    }

    /// Adds an interval of an adjustment that was given, over some of its prices.
    pub(crate) fn add_adjustment_interval(
        &mut self,
        id: AdjustmentIntervalId,
        new: &NewAdjustmentInterval,
        of: &ScopedAdjustment,
        prices: &[Price],
        now: Timestamp,
    ) -> Result<(), Error> {
        let terms = self.periods();
        let start_date = new.start_date.decide(&terms, now)?;
        let end_date = new.end_date.map(|of| of.decide(&terms, now)).transpose()?;
        self.check_life((start_date, end_date))?;
        self.check_not_within_trial(start_date)?;
        if end_date.is_some_and(|end| end <= start_date) {
            let detail = format!("the interval would end with its start, {start_date}");
            return Err(Error::constraint(detail));
        }
        let cut = self.cut(start_date, now);
        let added = cut.agreed(of, prices, (start_date, end_date));
        self.adjustment_intervals.push(AdjustmentInterval { id, ..added });
        Ok(())
    }

    /// Lets some of its adjustments reach prices that were added (subscriptions 2.4). All that they may reach are given.
    pub(crate) fn reach(
        &mut self,
        prices: &[Price],
        which: impl Fn(&AdjustmentInterval) -> bool,
    ) -> Result<(), Error> {
        for of in self.adjustment_intervals.iter_mut().filter(|of| which(of)) {
            let Some(scoped) = of.given().filter(|of| of.scope.is_invoice_level) else { continue };
            let reached: BTreeSet<_> = scoped.reached(prices).map(|price| price.id).collect();
            if !reached.is_subset(&of.price_ids) {
                scoped.check_over(prices)?;
                of.price_ids.extend(reached);
            }
        }
        Ok(())
    }

    /// Refuses a change, given in a field, after which its prices have too many cells at some time.
    pub(crate) fn check_cells(&self, prices: &[Price], at: &str) -> Result<(), Error> {
        let divided: Vec<_> = self
            .price_intervals
            .iter()
            .filter_map(|of| {
                let price = prices.iter().find(|price| price.id == of.price_id)?;
                Some((of, cells(price))).filter(|(_, cells)| *cells > 0)
            })
            .collect();
        let sum = |cells: &mut dyn Iterator<Item = usize>| cells.fold(0, usize::saturating_add);
        if sum(&mut divided.iter().map(|(_, cells)| *cells)) <= limits::SUBSCRIPTION_CELLS {
            return Ok(());
        }
        // There are the most where one begins.
        for (one, _) in &divided {
            let begin = one.start_date;
            let is_there = |of: &PriceInterval| {
                of.start_date <= begin && of.end_date.is_none_or(|end| begin < end)
            };
            let there = divided.iter().filter(|(of, _)| is_there(of));
            let found = sum(&mut there.map(|(_, cells)| *cells));
            if found > limits::SUBSCRIPTION_CELLS {
                return Err(too_many_cells(at, found));
            }
        }
        Ok(())
    }

    /// Refuses intervals that cannot be together (subscriptions 2.3).
    pub(crate) fn check_intervals(&self) -> Result<(), Error> {
        let (found, most) = (self.price_intervals.len(), limits::INTERVALS);
        if found.max(self.adjustment_intervals.len()) > most {
            let detail = format!("the subscription has at most {most} intervals of a kind");
            return Err(Error::constraint(detail));
        }
        for (place, one) in self.price_intervals.iter().enumerate() {
            for other in self.price_intervals.iter().take(place).filter(|of| of.overlaps(one)) {
                if one.price_id == other.price_id && !self.count_apart(one, other) {
                    let id = one.price_id;
                    let detail = format!("two intervals of the price {id} would overlap");
                    return Err(Error::constraint(detail));
                }
                if one.in_force() == other.in_force() {
                    let (one, other) = (one.id, other.id);
                    let detail = format!(
                        "the intervals {one} and {other} of one price have followed each other, and would overlap: one \
                         of them can be added anew"
                    );
                    return Err(Error::constraint(detail));
                }
                // What is of no phase goes on through several.
                let in_phases = |of: &PriceInterval| of.plan_phase_order.is_some();
                if one.anchor != other.anchor && in_phases(one) == in_phases(other) {
                    let (one, other) = (one.id, other.id);
                    let detail = format!(
                        "the intervals {one} and {other} overlap and would begin their periods on \
                         different days"
                    );
                    return Err(Error::constraint(detail));
                }
            }
        }
        self.check_fee_changes()
    }

    /// Tells whether two intervals of a price are of different usage.
    fn count_apart(&self, one: &PriceInterval, other: &PriceInterval) -> bool {
        let customers = |of| self.source_of(of).usage_customers().cloned();
        one.is_usage() && (one.filter != other.filter || customers(one) != customers(other))
    }

    /// Returns the lane of its price that an interval runs in: that of others that charge the same usage, and else one
    /// of its own.
    pub(super) fn lane_of(&self, of: &PriceInterval) -> Lane {
        let others = self.price_intervals.iter().filter(|one| one.id != of.id);
        let others = others.filter(|one| one.price_id == of.price_id);
        let alike = others.clone().find(|one| !self.count_apart(one, of));
        alike.map_or_else(|| Lane::free(others.map(|one| one.lane)), |one| one.lane)
    }

    /// Decides the life of an interval that is edited.
    fn edited(
        &self,
        (start, end): (Option<IntervalDate>, Patch<IntervalDate>),
        (old_start, mut end_date): Life,
        terms: &BillingPeriods,
        now: Timestamp,
    ) -> Result<Life, Error> {
        let start_date = start.map_or(Ok(old_start), |of| of.decide(terms, now))?;
        match end {
            Patch::Keep => {}
            Patch::Clear => end_date = None,
            Patch::Set(date) => end_date = Some(date.decide(terms, now)?),
        }
        if start.is_some() || end != Patch::Keep {
            self.check_life((start_date, end_date))?;
        }
        Ok((start_date, end_date))
    }

    /// Refuses a life that is not within that of the subscription.
    fn check_life(&self, (start, end): Life) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::constraint(what));
        if let Some(end) = end.filter(|end| *end < start) {
            return wrong(format!("the end {end} is before the start {start}"));
        }
        let (first, last) = (self.start_date, self.end_date);
        if start < first {
            return wrong(format!("the start {start} is before that of the subscription, {first}"));
        }
        match last {
            Some(last) if last <= start => wrong(format!(
                "the start {start} is not before the end of the subscription, {last}"
            )),
            Some(last) if end.is_some_and(|end| last < end) => {
                wrong(format!("the end is behind that of the subscription, {last}"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a change of what has ended: its invoices are final.
    pub(crate) fn check_not_ended(&self, now: Timestamp) -> Result<(), Error> {
        match self.status(now) {
            SubscriptionStatus::Ended => {
                Err(Error::constraint("the subscription has ended already"))
            }
            _ => Ok(()),
        }
    }
}

impl PriceInterval {
    /// Gives a fee its own quantity from the start on, and others from their instants on.
    fn set_quantities(
        &mut self,
        price: &Price,
        quantities: &[(Timestamp, Decimal)],
    ) -> Result<(), Error> {
        let Charge::Fixed { quantity, .. } = &price.charge else {
            return match quantities.is_empty() {
                true => Ok(()),
                false if self.is_composite => {
                    Err(Error::constraint("the price is of other prices, which has no quantity"))
                }
                false => Err(Error::constraint("the price is of usage, which has no quantity")),
            };
        };
        if !quantities.is_empty() {
            price.check_gives_no_credits()?;
        }
        self.quantities = [(self.start_date, quantity.clone())].into();
        for (at, quantity) in quantities {
            if *at < self.start_date || self.end_date.is_some_and(|end| end <= *at) {
                let detail = format!("the quantity from {at} on is not within the interval");
                return Err(Error::constraint(detail));
            }
            self.quantities.insert(*at, quantity.clone());
        }
        Ok(())
    }

    /// Lets the quantities of a fee begin with the interval, whose start has moved.
    pub(super) fn begin_quantities(&mut self) {
        let start = self.start_date;
        if let Some(first) = self.quantity(start).cloned() {
            self.quantities.retain(|at, _| start < *at);
            self.quantities.insert(start, first);
        }
    }
}

impl BillingAnchor {
    /// Returns the anchor on another day of the month.
    const fn on_day(self, day: u8) -> Self {
        match self {
            Self::Day { month, year, .. } => Self::Day { day, month, year },
            Self::FirstOfMonth | Self::SubscriptionStart => {
                Self::Day { day, month: None, year: None }
            }
        }
    }
}
