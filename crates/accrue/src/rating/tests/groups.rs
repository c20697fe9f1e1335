//! Groups that are not known beforehand: what follows some of them, beside all.

use super::*;
use crate::usage::{GroupFigures, OtherGroups};

/// What groups add up to, of which some were read.
fn partly_read(
    card: &RateCard,
    period: Timeframe,
    all: &Total,
    is_read: impl Fn(&Values) -> bool,
) -> Total {
    let sums = card.group_sums(period, &all.groups);
    let mut part = all.clone();
    let mut counts = BTreeMap::new();
    for (meter, groups) in &mut part.groups.known {
        let before = groups.len();
        groups.retain(|values, _| is_read(values));
        counts.insert(*meter, u64::try_from(before - groups.len()).unwrap());
    }
    part.groups.known.retain(|_, groups| !groups.is_empty());
    let others = card.others(period, &part.groups, &sums);
    part.groups =
        GroupFigures { others: Some(OtherGroups { counts, sums: others }), ..part.groups };
    part
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whichever groups are read when events move some, a period comes to what all of them do.
    #[test]
    fn groups_that_are_not_read_count_as_before(
        model in models::of_groups(),
        before in prop::collection::vec((0_usize..9, -30_i32..60), 0..12),
        moved in prop::collection::vec((0_usize..9, -10_i32..60), 1..6),
        is_over: bool,
    ) {
        let charge = Charge::Usage { metric_id: METRIC, model };
        let card = card(charge, Cadence::Monthly, Adjustments::default());
        let places = card.intervals[0].figures.places();
        let place = |of: usize| &places[of % places.len()];
        let period = span("2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z");
        let now = if is_over { period.end() } else { period.start() };
        let mut all = Total::default();
        for (of, more) in &before {
            all.add_in(in_group(place(*of)), Aggregate::Sum(number(&more.to_string())));
        }
        let touched: Vec<_> = moved.iter().map(|(of, _)| place(*of).1.clone().unwrap().1).collect();
        let only_rises = moved.iter().all(|(_, more)| *more >= 0);
        let is_enough = card.follows_some(period, &card.group_sums(period, &all.groups), only_rises);
        let part = match is_enough {
            true => partly_read(&card, period, &all, |values| touched.contains(values)),
            false => all.clone(),
        };
        let part = std::cell::RefCell::new(part);
        let used = |_: Timeframe, _: Timestamp| Some(Cow::Owned(part.borrow().clone()));
        let mut running = Running::new(Arc::clone(&card), period, &used, now);
        for (of, more) in &moved {
            let (place, more) = (in_group(place(*of)), number(&more.to_string()));
            part.borrow_mut().add_in(place, Aggregate::Sum(more.clone()));
            all.add_in(place, Aggregate::Sum(more));
            running.follow(period.start(), &[place], &used);
            let whole = |_: Timeframe, _: Timestamp| Some(Cow::Borrowed(&all));
            let line = rate_one(&card, &whole, period, now).remove(0);
            let (_, amounts) = running.lines().next().unwrap();
            prop_assert_eq!(amounts, &line.amounts());
            let anew = Running::new(Arc::clone(&card), period, &used, now);
            let (_, amounts) = anew.lines().next().unwrap();
            prop_assert_eq!(amounts, &line.amounts());
            let part = part.borrow();
            prop_assert_eq!(
                card.group_sums(period, &part.groups),
                card.group_sums(period, &all.groups)
            );
        }
    }

    /// Timeframes that adjoin cost what the whole does, also where a minimum falls on the end.
    #[test]
    fn timeframes_that_adjoin_add_up(
        model in models::of_groups(),
        steps in prop::collection::vec((0_usize..9, 0_u64..50, -30_i32..60), 0..9),
        cuts in prop::collection::btree_set(1_u64..60, 0..5),
        now in 0_u64..70,
    ) {
        let charge = Charge::Usage { metric_id: METRIC, model };
        let card = card(charge, Cadence::Monthly, Adjustments::default());
        let places = card.intervals[0].figures.places();
        let used = |period: Timeframe, to: Timestamp| {
            let mut total = Total::default();
            let within = |at| period.start() <= day(at) && day(at) < to;
            for (of, _, more) in steps.iter().filter(|(_, at, _)| within(*at)) {
                let place = in_group(&places[of % places.len()]);
                total.add_in(place, Aggregate::Sum(number(&more.to_string())));
            }
            Some(Cow::Owned(total))
        };
        let bounds: Vec<_> = [0].into_iter().chain(cuts).chain([60]).map(day).collect();
        let slots: Vec<_> = bounds.windows(2).map(|of| span_of(of[0], of[1])).collect();
        let whole = rate_one(&card, &used, span_of(day(0), day(60)), day(now)).remove(0);
        let lines: Vec<_> = rate(&card, &used, &slots, day(now)).into_iter().map(|of| of[0].clone()).collect();
        prop_assert_eq!(lines.iter().map(|of| of.subtotal.clone()).sum::<Decimal>(), whole.subtotal);
        prop_assert_eq!(lines.iter().map(|of| of.quantity.clone()).sum::<Decimal>(), whole.quantity);
    }
}
