//! Adjustment intervals of running subscriptions (subscriptions 2.4).

use accrue::{
    AdjustmentIntervalId, ErrorKind, Fraction, Patch,
    metric::Metric,
    price::{Adjustment, Cadence, Discount, FilterValues, NewAdjustment, NewPrice, PriceClass},
    subscription::{
        AdjustmentIntervalEdit, IntervalChanges, IntervalDate, NewAdjustmentInterval,
        NewPriceInterval, PriceIntervalEdit,
    },
};

use crate::{
    adjustments::{at_most, over},
    invoices::SETTLED,
    own_prices::{adjusted, with},
    price_intervals::{Changed, JANUARY, adding, changed},
    support::{
        fixture::{Fixture, at, number, refused, run},
        priced::unit,
    },
};

const FEBRUARY: &str = "2027-02-01T00:00:00Z";
const MARCH: &str = "2027-03-01T00:00:00Z";
const APRIL: &str = "2027-04-01T00:00:00Z";

fn half() -> NewAdjustment {
    let half = Discount::Percentage(Fraction::parse("0.5").unwrap());
    NewAdjustment::new(Adjustment::Discount(half))
}

fn amount(off: &str) -> NewAdjustment {
    NewAdjustment::new(Adjustment::Discount(Discount::Amount(number(off))))
}

fn interval(adjustment: NewAdjustment, start: &str, end: Option<&str>) -> NewAdjustmentInterval {
    let end_date = end.map(|end| IntervalDate::At(at(end)));
    NewAdjustmentInterval { end_date, ..NewAdjustmentInterval::new(adjustment, at(start)) }
}

impl Changed {
    fn adjust(&self, new: NewAdjustmentInterval) -> AdjustmentIntervalId {
        let add_adjustments = vec![new];
        let after = self.change(IntervalChanges { add_adjustments, ..Default::default() });
        after.adjustment_intervals.last().unwrap().id
    }

    fn totals(&self) -> Vec<String> {
        let mut invoices = self.fixture().invoices(SETTLED);
        invoices.sort_by_key(|of| of.invoice_date);
        invoices.iter().map(|of| of.total.to_string()).collect()
    }
}

#[test]
fn subscriptions_2_4_1_an_adjustment_is_of_what_falls_due_while_it_is_in_force() {
    let changed =
        changed(|fixture, metric| vec![fixture.usage_at("1", metric), fixture.advance_fee("40")]);
    let fixture = changed.fixture();
    for (month, used) in [("01", "10"), ("02", "20"), ("03", "30"), ("04", "50")] {
        let now = format!("2027-{month}-10T00:00:00Z");
        fixture.tick_at(&now);
        changed.invoiced.use_at(month, &now, used);
        if month == "01" {
            changed.adjust(interval(half(), MARCH, Some(APRIL)));
        }
    }
    fixture.tick_at("2027-05-03T00:00:00Z");
    let expected = ["40", "50", "40", "55", "90"];
    assert_eq!(changed.totals(), expected, "of March: half of its fee, and half of its usage");
}

#[test]
fn subscriptions_2_4_2_it_reaches_prices_that_are_added_later() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("40")]);
    let fixture = changed.fixture();
    changed.adjust(interval(half(), FEBRUARY, None));
    changed.change(adding(NewPriceInterval::new(fixture.advance_fee("10"), at(MARCH))));
    fixture.tick_at(FEBRUARY);
    fixture.tick_at(MARCH);
    assert_eq!(changed.totals(), ["40", "20", "25"]);
}

#[test]
fn subscriptions_2_4_3_and_4_another_amount_takes_over_and_an_empty_interval_is_gone() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("40")]);
    let fixture = changed.fixture();
    let id = changed.adjust(interval(amount("4"), FEBRUARY, None));
    let end_date = Patch::Set(IntervalDate::At(at(MARCH)));
    let edit_adjustments =
        vec![AdjustmentIntervalEdit { end_date, ..AdjustmentIntervalEdit::new(id) }];
    let add_adjustments = vec![interval(amount("7"), MARCH, None)];
    let changes = IntervalChanges { edit_adjustments, add_adjustments, ..Default::default() };
    let after = changed.change(changes);
    fixture.tick_at(FEBRUARY);
    fixture.tick_at(MARCH);
    assert_eq!(changed.totals(), ["40", "36", "33"]);

    let second = after.adjustment_intervals[1].id;
    let end_date = Patch::Set(IntervalDate::At(at(MARCH)));
    let edit = AdjustmentIntervalEdit { end_date, ..AdjustmentIntervalEdit::new(second) };
    let changes = IntervalChanges { edit_adjustments: vec![edit], ..Default::default() };
    let after = changed.change(changes);
    assert_eq!(after.adjustment_intervals.len(), 1);
    fixture.tick();
    assert_eq!(changed.totals(), ["40", "36", "40"], "March was billed with it, and is anew");
}

#[test]
fn subscriptions_2_4_5_in_a_partial_period_bounds_are_of_its_days_and_amounts_are_whole() {
    // 15 of the 30 days of April.
    let total = |adjustment: &dyn Fn(&Changed) -> NewAdjustment, used: &str| {
        let changed = changed(|fixture, metric| vec![fixture.usage_at("1", metric)]);
        let start = "2027-04-16T00:00:00Z";
        changed.fixture().set(start);
        let adjustments = adjusted(adjustment(&changed));
        let made = with(&changed, |new| {
            (new.start_date, new.adjustments) = (Some(at(start)), adjustments);
        });
        let made = run(made).unwrap();
        changed.invoiced.use_at("a", start, used);
        changed.fixture().tick_at("2027-05-03T00:00:00Z");
        let invoices = changed.fixture().invoices(SETTLED).into_iter();
        let own = invoices.filter(|of| of.subscription_id == Some(made.id));
        own.map(|of| of.total.to_string()).collect::<Vec<_>>()
    };
    let least = |of: &Changed| {
        let least = NewAdjustment::new(Adjustment::Minimum(number("100")));
        NewAdjustment { item_id: Some(of.fixture().item().id), ..least }
    };
    assert_eq!(total(&least, "3"), ["50"], "the example of the page");
    assert_eq!(total(&|_| at_most("100"), "300"), ["50"]);
    assert_eq!(total(&|_| amount("100"), "130"), ["30"]);
}

#[test]
fn subscriptions_2_4_6_a_minimum_counts_once_in_each_period_over_all_that_it_reaches() {
    let changed = changed(|fixture, metric| {
        vec![fixture.usage_at("1", metric), fixture.usage_at("2", metric)]
    });
    let fixture = changed.fixture();
    let least = NewAdjustment::new(Adjustment::Minimum(number("60")));
    let least = NewAdjustment { item_id: Some(fixture.item().id), ..least };
    changed.adjust(interval(least, JANUARY, None));
    changed.invoiced.use_at("a", JANUARY, "10");
    fixture.tick_at("2027-02-10T00:00:00Z");
    changed.invoiced.use_at("b", "2027-02-10T00:00:00Z", "30");
    fixture.tick_at("2027-04-03T00:00:00Z");
    // Of 30, of 90, and of nothing.
    assert_eq!(changed.totals(), ["60", "90", "60"]);
}

#[test]
fn subscriptions_2_4_7_an_invoice_of_fees_alone_gets_no_minimum() {
    let totals = |prices: &dyn Fn(&Fixture, &Metric) -> Vec<NewPrice>, class| {
        let changed = changed(prices);
        let fixture = changed.fixture();
        let least = NewAdjustment::new(Adjustment::Minimum(number("100")));
        let least = NewAdjustment { item_id: Some(fixture.item().id), ..least };
        let least = over(FilterValues::PriceType([class].into()), least);
        let made = run(with(&changed, |new| new.adjustments = adjusted(least))).unwrap();
        fixture.tick_at("2027-03-03T00:00:00Z");
        let invoices = fixture.invoices(SETTLED).into_iter();
        let own = invoices.filter(|of| of.subscription_id == Some(made.id));
        let mut totals: Vec<_> =
            own.map(|of| (of.invoice_date.to_string(), of.total.to_string())).collect();
        totals.sort();
        totals.into_iter().map(|(_, total)| total).collect::<Vec<_>>()
    };
    let usage_and_fee = |fixture: &Fixture, metric: &Metric| {
        vec![fixture.usage_at("1", metric), fixture.advance_fee("40")]
    };
    // The first is of the fee alone; the later ones bring the minimum of the usage before.
    assert_eq!(totals(&usage_and_fee, PriceClass::Usage), ["40", "140", "140"]);
    assert_eq!(totals(&usage_and_fee, PriceClass::FixedInAdvance), ["40", "40", "40"]);
    let in_arrears = |fixture: &Fixture, metric: &Metric| {
        vec![fixture.usage_at("1", metric), fixture.arrear_fee("40")]
    };
    assert_eq!(totals(&in_arrears, PriceClass::Fixed), ["40", "40"]);
    assert_eq!(totals(&in_arrears, PriceClass::InArrears), ["100", "100"], "usage is among them");
}

#[test]
fn subscriptions_2_4_8_prices_of_one_adjustment_fall_due_together() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("40")]);
    let fixture = changed.fixture();
    changed.adjust(interval(amount("4"), FEBRUARY, None));
    let annual = fixture.fee_of("1", Cadence::Annual, accrue::price::BillingMode::InAdvance);
    let add = adding(NewPriceInterval::new(annual, at(MARCH)));
    let (kind, text) = refused(fixture, changed.call(add));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("which do not fall due together"), "{text}");
    let mut credits = fixture.advance_fee("1");
    (credits.currency, credits.conversion_rate) = (unit("credits"), Some(number("1").into()));
    let (kind, text) =
        refused(fixture, changed.call(adding(NewPriceInterval::new(credits, at(MARCH)))));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("which is no currency"), "{text}");
}

#[test]
fn subscriptions_2_3_what_came_with_an_interval_moves_with_it_into_the_place_of_another() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let fixture = changed.fixture();
    let mut fee = fixture.arrear_fee("31");
    fee.adjustments.minimum = Some(number("40"));
    let fee = changed.price(fee);
    let months = [JANUARY, "2027-02-01T00:00:00Z", MARCH, "2027-04-01T00:00:00Z"].map(at);
    let add = [0, 1].map(|n: usize| NewPriceInterval {
        end_date: Some(months[n + 1].into()),
        ..NewPriceInterval::new(fee, months[n])
    });
    let made = changed.change(IntervalChanges { add: add.into(), ..Default::default() });
    let ids: Vec<_> = made.price_intervals.iter().skip(1).map(|of| of.id).collect();
    // Each goes on to where the next one was.
    let edit = ids.iter().zip(1..).map(|(id, n): (_, usize)| PriceIntervalEdit {
        start_date: Some(months[n].into()),
        ..PriceIntervalEdit::ending(*id, months[n + 1])
    });
    let edited = changed.change(IntervalChanges { edit: edit.collect(), ..Default::default() });
    let lives = edited.price_intervals.iter().skip(1).map(|of| (of.start_date, of.end_date));
    let expect = [(months[1], Some(months[2])), (months[2], Some(months[3]))];
    assert_eq!(lives.collect::<Vec<_>>(), expect);
    let own = edited.adjustment_intervals.iter().map(|of| (of.start_date, of.end_date));
    assert_eq!(own.collect::<Vec<_>>(), expect);
}
