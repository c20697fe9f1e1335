//! What falls due, instant by instant.

use std::cell::Cell;

use super::{
    adjustments::{always, amount_off, monthly, percentage, usage},
    oracle::case,
    *,
};

/// A price in force from the start on.
fn from_the_start(charge: Charge) -> Priced {
    Priced { start: 0, ..monthly(charge) }
}

/// Totals of lines that fall due: their subtotals, and what adjustments add to them.
fn totals(due: &Due) -> Vec<Decimal> {
    let mut totals: Vec<_> = due.lines.iter().map(|line| line.subtotal.clone()).collect();
    for step in &due.steps {
        step.by.iter().for_each(|(place, by)| totals[*place] += by);
    }
    totals
}

/// What falls due at an instant: the price, the subtotal and the total of each line.
fn shown(due: &Due) -> Vec<(usize, String, String)> {
    let lines = due.lines.iter().zip(totals(due));
    lines
        .map(|(line, total)| (line.interval, line.subtotal.to_string(), total.to_string()))
        .collect()
}

#[test]
fn invoicing_6_1_an_invoice_has_what_ended_and_what_begins() {
    let priced = [usage("2"), fee("310", BillingMode::InAdvance)].map(from_the_start);
    let card = several(&priced, &[]);
    let used = |_: Timeframe, _: Timestamp| metric(number("50"));
    let due = |at| shown(&card.due(&used, at));
    let (first, april) = (card.next_due(None).unwrap(), at("2026-04-01T00:00:00Z"));
    assert_eq!(first, at("2026-03-10T00:00:00Z"));
    assert_eq!(due(first), [(1, "220".to_owned(), "220".to_owned())], "22 of 31 days");
    assert_eq!(card.next_due(Some(first)), Some(april));
    let both = [(0, "100".to_owned(), "100".to_owned()), (1, "310".to_owned(), "310".to_owned())];
    assert_eq!(due(april), both);
    let periods: Vec<_> = card.due(&used, april).lines.into_iter().map(|of| of.period).collect();
    assert_eq!(periods, [span_of(first, april), span_of(april, at("2026-05-01T00:00:00Z"))]);
    assert_eq!(due(at("2026-04-02T00:00:00Z")), [], "nothing in between");
}

#[test]
fn invoicing_6_1_more_seats_fall_due_at_once_for_the_rest_of_the_period() {
    let mut seats = from_the_start(fee("30", BillingMode::InAdvance));
    // From 21 June on, 103 days behind the start.
    seats.quantities = BTreeMap::from([(103, 4)]);
    let card = several(&[seats], &[]);
    let june = at("2026-06-01T00:00:00Z");
    let changed = card.next_due(Some(june)).unwrap();
    assert_eq!(changed, at("2026-06-21T00:00:00Z"));
    let due = card.due(&nothing, changed);
    assert_eq!(shown(&due), [(0, "30".to_owned(), "30".to_owned())], "3 more, 10 of 30 days");
    assert_eq!(due.lines[0].quantity, Decimal::from(3));
    assert_eq!(due.lines[0].period, span_of(changed, at("2026-07-01T00:00:00Z")));
}

#[test]
fn invoicing_7_1_each_adjustment_says_what_it_adds() {
    let all = [
        (Adjustment::Discount(Discount::Usage(Decimal::from(10))), "-20"),
        (amount_off("15.00"), "-15"),
        (percentage("0.2"), "-13"),
        (Adjustment::Minimum(number("60")), "8"),
        (Adjustment::Maximum(number("55")), "-5"),
    ];
    let adjusted: Vec<_> = all.iter().map(|(of, _)| always(of.clone(), &[0])).collect();
    let card = several(&[monthly(usage("2"))], &adjusted);
    let used = |_: Timeframe, _: Timestamp| metric(number("50"));
    let due = card.due(&used, at("2026-05-01T00:00:00Z"));
    let by: Vec<_> = due.steps.iter().map(|step| step.by[&0].to_string()).collect();
    assert_eq!(by, all.map(|(_, by)| by));
    assert_eq!(totals(&due), [Decimal::from(55)]);
}

#[test]
fn invoicing_7_1_units_are_taken_off_the_price_that_they_are_of() {
    let units = |of: u64| Adjustment::Discount(Discount::Usage(Decimal::from(of)));
    let adjusted = [
        always(units(10), &[0]),
        always(units(20), &[1]),
        // It joins the two.
        always(amount_off("15.00"), &[0, 1]),
    ];
    let card = several(&[usage("2"), usage("2")].map(monthly), &adjusted);
    let used = |_: Timeframe, _: Timestamp| metric(number("25"));
    let due = card.due(&used, at("2026-05-01T00:00:00Z"));
    let by = |step: usize, place: usize| due.steps[step].by[&place].to_string();
    assert_eq!([by(0, 0), by(1, 1)], ["-20", "-40"]);
    assert_eq!(totals(&due).iter().sum::<Decimal>(), Decimal::from(25));
}

#[test]
fn subscriptions_2_6_usage_that_waits_is_due_with_its_own_period() {
    let ending = |cadence, can_defer| Priced {
        cadence,
        end: Some(31),
        can_defer,
        ..from_the_start(usage("2"))
    };
    let used = |_: Timeframe, _: Timestamp| metric(number("50"));
    let instants = |priced: &[Priced]| {
        let card = several(priced, &[]);
        let next = |at: &Timestamp| card.next_due(Some(*at));
        let all = std::iter::successors(card.next_due(None), next);
        let shown =
            all.map(|at| (at.to_string()[..10].to_owned(), shown(&card.due(&used, at)).len()));
        shown.collect::<Vec<_>>()
    };
    let check = |priced: &[Priced], expect: &[(&str, usize)]| {
        let expect: Vec<_> = expect.iter().map(|(at, lines)| ((*at).to_owned(), *lines)).collect();
        assert_eq!(instants(priced), expect);
    };
    let monthly = |can_defer| ending(Cadence::Monthly, can_defer);
    let quarterly = ending(Cadence::Quarterly, true);
    check(&[monthly(false)], &[("2026-04-01", 1), ("2026-04-10", 1)]);
    check(&[monthly(true)], &[("2026-04-01", 1), ("2026-05-01", 1)]);
    check(&[monthly(true), quarterly], &[("2026-04-01", 1), ("2026-05-01", 1), ("2026-06-01", 1)]);
    let on_a_boundary = Priced { end: Some(22), ..monthly(true) };
    check(&[on_a_boundary], &[("2026-04-01", 1)]);
}

#[test]
fn what_never_ends_falls_due_never() {
    let card = several(&[], &[]);
    assert_eq!(card.next_due(None), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Every charge of a life falls due once: the lines of all instants come to what the life costs.
    #[test]
    fn all_that_falls_due_is_what_a_life_costs(case in case()) {
        let mut case = case;
        case.priced.iter_mut().for_each(|of| of.end = of.end.or(Some(100)));
        let card = several(&case.priced, &case.adjusted);
        let known = Cell::new(case.events.len());
        let used = case.used(&card, &known);
        let mut sums = vec![Decimal::zero(); card.intervals.len()];
        let mut next = card.next_due(None);
        while let Some(at) = next {
            let due = card.due(&used, at);
            prop_assert!(!due.lines.is_empty(), "nothing falls due at {}", at);
            for (line, total) in due.lines.iter().zip(totals(&due)) {
                sums[line.interval] += total;
            }
            next = card.next_due(Some(at));
            prop_assert!(next.is_none_or(|next| at < next));
        }
        let life = span_of(day(0), day(400));
        let costs = rate_one(&card, &used, life, life.end());
        let costs: Vec<_> = costs.into_iter().map(|line| line.total).collect();
        prop_assert_eq!(sums, costs);
    }

    /// What usage has come to within its periods is what it costs up to there.
    #[test]
    fn invoicing_15_what_usage_has_come_to_is_what_it_costs(case in case(), today in 1_u64..100) {
        let (mut case, now) = (case, day(today));
        case.events.retain(|(_, at, _)| *at < today);
        let card = several(&case.priced, &case.adjusted);
        let known = Cell::new(case.events.len());
        let used = case.used(&card, &known);
        let due = card.so_far(&used, now);
        let waits = |of: &RatedInterval| {
            of.deferred.is_some_and(|(period, invoiced_at)| period.end() <= now && now < invoiced_at)
        };
        let begun = card.intervals.iter().enumerate().filter(|(_, of)| {
            let is_there = !of.periods_in(span_of(now, now.saturating_add(crate::time::INSTANT))).is_empty();
            !of.is_fee() && (is_there || waits(of))
        });
        let lines = due.lines.iter().map(|line| line.interval);
        prop_assert_eq!(lines.collect::<Vec<_>>(), begun.map(|(place, _)| place).collect::<Vec<_>>());
        for (line, total) in due.lines.iter().zip(totals(&due)) {
            let own = &card.intervals[line.interval];
            let end = own.deferred.filter(|_| waits(own)).map_or(now, |(period, _)| period.end());
            prop_assert_eq!(line.period.end(), end);
            let cost = match line.period.start() < now {
                true => rate_one(&card, &used, line.period, now).remove(line.interval).total,
                false => Decimal::zero(),
            };
            prop_assert_eq!(total, cost, "{:?}", line);
        }
    }
}
