//! The stretches of time whose states are kept, held against what they are.

use super::*;
use crate::subscription::{BillingPeriods, PeriodKey};

/// Prices' periods and billing periods, each by itself.
struct Periodic {
    entry: SubscriptionEntry,
    billing: Vec<Timeframe>,
    /// The periods of prices, if any has others than the subscription.
    usage: Vec<Timeframe>,
}

impl Periodic {
    fn new(terms: &Terms) -> Self {
        let mut entry = Story::new(terms).entry;
        entry.parts_until = None;
        let all = Timeframe::new(day(0), day(2 * DAYS)).unwrap();
        let within = |grid: BillingPeriods| grid.overlapping(all).collect::<Vec<_>>();
        let billing = within(entry.subscription.periods());
        let mut grids = entry.subscription.usage_grids();
        if entry.subscription.has_one_grid() {
            grids.clear();
        }
        let usage = grids.into_iter().flat_map(within).collect();
        Self { entry, billing, usage }
    }

    /// Each part of a price's period up to the start of a billing period that it goes on over, with the period.
    fn parts(&self) -> Vec<(Timeframe, Timeframe)> {
        let mut parts = Vec::new();
        for period in &self.usage {
            let starts = self.billing.iter().map(|of| of.start());
            for start in starts.filter(|at| period.start() < *at && *at < period.end()) {
                parts.push((Timeframe::new(period.start(), start).unwrap(), *period));
            }
        }
        parts
    }

    fn is_billing(&self, part: Timeframe) -> bool {
        self.billing.contains(&part)
    }

    /// The start of the second billing period before that of an instant, or of the first one.
    fn oldest_kept(&self, now: Timestamp) -> Timestamp {
        let current = self.billing.iter().position(|of| of.contains(now)).unwrap();
        self.billing[current.saturating_sub(2)].start()
    }

    /// The parts that are there at an instant once something was used in a billing period, but for those that
    /// are billing periods.
    fn kept(&self, until: Option<Timestamp>, now: Timestamp) -> BTreeSet<PeriodKey> {
        let oldest = self.oldest_kept(now);
        let kept = |end: Timestamp| oldest <= end && Some(end) <= until;
        let parts = self.parts().into_iter().map(|(part, _)| part);
        parts.filter(|part| kept(part.end()) && !self.is_billing(*part)).map(key_of).collect()
    }
}

fn key_of(of: Timeframe) -> PeriodKey {
    PeriodKey { start: of.start(), end: of.end() }
}

proptest! {
    /// Parts begin once: those that are there for a later billing period, and were not for an earlier one.
    #[test]
    fn parts_begin_with_what_is_used_in_a_further_billing_period(
        terms in terms(),
        before in prop::option::of(0_usize..12),
        after in 0_usize..12,
        now in 0..DAYS,
    ) {
        let mut of = Periodic::new(&terms);
        let start = |of: &Periodic, index: usize| of.billing[index.min(of.billing.len() - 1)].start();
        let (before, after) = (before.map(|index| start(&of, index)), start(&of, after));
        of.entry.parts_until = before;
        let new = of.entry.new_parts(after, day(now));
        let known = of.kept(before, day(now));
        let expect: BTreeSet<_> = of.kept(Some(after), day(now)).difference(&known).copied().collect();
        prop_assert_eq!(new.iter().map(|(part, _)| part.key).collect::<BTreeSet<_>>(), expect);
        for (part, whole) in new {
            prop_assert_eq!(part.key, key_of(part.timeframe));
            prop_assert!(of.parts().contains(&(part.timeframe, whole.timeframe)));
        }
    }

    /// Billing periods need themselves, the periods of prices that they touch, and of those the parts up to
    /// their own start and later ones.
    #[test]
    fn billing_periods_need_the_parts_from_their_start_on(
        terms in terms(),
        (first, count) in (0_usize..6, 1_usize..4),
        until in prop::option::of(0_usize..8),
        now in 0..DAYS,
    ) {
        let mut of = Periodic::new(&terms);
        let last = of.billing.len() - 1;
        let until = until.map(|index| of.billing[index.min(last)].start());
        of.entry.parts_until = until;
        let (first, end) = (first.min(last), (first + count).min(last + 1));
        let billing = &of.billing[first..end.max(first + 1)];
        let mut expect: BTreeSet<_> = billing.iter().copied().map(key_of).collect();
        let kept = of.kept(until, day(now));
        for own in billing {
            let touched = of.usage.iter().filter(|period| period.overlaps(*own));
            expect.extend(touched.copied().map(key_of));
            let parts = of.parts().into_iter().filter(|(_, period)| period.overlaps(*own));
            let parts = parts.map(|(part, _)| part).filter(|part| own.start() <= part.end());
            let parts = parts.filter(|part| of.is_billing(*part) || kept.contains(&key_of(*part)));
            expect.extend(parts.map(key_of));
        }
        let found: BTreeSet<_> = of.entry.stretches(billing, day(now)).into_keys().collect();
        prop_assert_eq!(found, expect);
    }

    /// Each part goes once, when the fourth billing period from its end on is closed; nobody needs it then.
    #[test]
    fn parts_go_when_no_billing_period_needs_them(terms in terms()) {
        let of = Periodic::new(&terms);
        let within = of.billing.iter().take_while(|period| period.end() < day(DAYS));
        let within: Vec<_> = within.collect();
        let mut gone = BTreeSet::new();
        for (index, closing) in within.iter().enumerate() {
            let closed = closing.end();
            prop_assert_eq!(of.entry.outlived_parts(closed.saturating_add(INSTANT)), []);
            for key in of.entry.outlived_parts(closed) {
                gone.insert(key);
            }
            let oldest = index.checked_sub(3).map(|index| of.billing[index].start());
            let parts = of.parts().into_iter().map(|(part, _)| part);
            let old = parts.filter(|part| Some(part.end()) <= oldest && !of.is_billing(*part));
            prop_assert_eq!(&gone, &old.map(key_of).collect::<BTreeSet<_>>());
            prop_assert!(of.kept(Some(closed), closed).is_disjoint(&gone));
        }
    }
}
