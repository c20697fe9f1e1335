//! Conditions on the events that count for a price of a subscription (subscriptions 1.5).

use accrue::{
    CostChange, Decimal, ErrorKind, Patch, PropertyName,
    cost::CostQuery,
    expression::Expression,
    price::{Charge, Matrix, MatrixCell, Model},
    subscription::{
        IntervalChanges, NewPriceInterval, NewSubscription, PriceIntervalEdit, Subscription,
    },
    usage::{Event, PropertyValue},
};

use crate::{
    changed_plans::on,
    invoices::{SETTLED, all},
    price_intervals::{Changed, JANUARY, adding, changed, constraint},
    support::{
        fixture::{at, block_on, event, external, number, refused, run},
        priced::{between, cost_alert},
    },
};

pub(crate) fn filter(text: &str) -> Option<Expression> {
    Some(Expression::parse(text).unwrap())
}

pub(crate) fn in_region(key: &str, timestamp: &str, n: &str, region: &str) -> Event {
    let mut event = event("ada", key, at(timestamp), n);
    let name = PropertyName::parse("region").unwrap();
    let own = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    event.properties = own.chain([(name, PropertyValue::from(region))]).collect();
    event
}

/// A price of 2 for each unit of the sum of `n`, and no subscription but one that has ended.
fn shop() -> Changed {
    changed(|fixture, metric| vec![fixture.usage_at("2", metric)])
}

impl Changed {
    pub(crate) fn use_in(&self, key: &str, timestamp: &str, n: &str, region: &str) {
        let event = in_region(key, timestamp, n, region);
        run(self.fixture().account.ingest([event])).unwrap();
    }

    /// Subscribes once more, with a condition.
    fn filtered(&self, text: &str) -> Subscription {
        let mut new = NewSubscription::new(external("ada"), self.invoiced.plan.id);
        (new.start_date, new.filter) = (Some(at(JANUARY)), filter(text));
        run(self.fixture().account.create_subscription(new)).unwrap()
    }

    fn total(&self, of: &Subscription) -> Decimal {
        let timeframe = between(JANUARY, "2027-02-01T00:00:00Z").into();
        let query = CostQuery { timeframe, ..CostQuery::default() };
        self.fixture().cost(of, &query).total
    }
}

#[test]
fn subscriptions_1_5_2_only_events_that_the_condition_holds_for_count() {
    let of = shop();
    let eu = of.filtered("region = 'eu'");
    of.fixture().set("2027-01-05T00:00:00Z");
    of.use_in("a", "2027-01-05T00:00:00Z", "7", "eu");
    of.use_in("b", "2027-01-05T00:00:00Z", "5", "us");
    assert_eq!(of.total(&eu), number("14"));
    assert_eq!(of.total(&of.subscription), number("24"), "the other counts both");
    of.fixture().tick_at("2027-02-05T00:00:00Z");
    let mut settled = all(&of.fixture().invoices(SETTLED));
    settled.sort_by_key(|of| of.len());
    let totals: Vec<_> = settled.iter().map(|of| of.split(": ").last().unwrap()).collect();
    assert!(totals.contains(&"usage 14 = 14") && totals.contains(&"usage 24 = 24"), "{totals:?}");
}

#[test]
fn subscriptions_1_5_1_each_interval_that_the_request_makes_has_it() {
    let of = shop();
    let text = "region = 'eu'";
    let eu = of.filtered(text);
    assert_eq!(eu.price_intervals[0].filter, filter(text));
    assert_eq!(of.subscription.price_intervals[0].filter, None);
    let usage = of.fixture().usage_at("1", &of.metric);
    let add = |filter: Option<Expression>| {
        let price = of.price(usage.clone());
        let new = NewPriceInterval { filter, ..NewPriceInterval::new(price, at(JANUARY)) };
        let call = of.fixture().account.change_intervals(eu.id, adding(new));
        run(call).unwrap().price_intervals.last().unwrap().filter.clone()
    };
    assert_eq!(add(None), filter(text), "the subscription's");
    assert_eq!(add(filter("region = 'us'")), filter("region = 'us'"));
}

#[test]
fn subscriptions_1_5_usage_from_before_counts_by_it_too() {
    let of = shop();
    of.fixture().set("2027-01-05T00:00:00Z");
    of.use_in("a", "2027-01-05T00:00:00Z", "7", "eu");
    of.use_in("b", "2027-01-05T00:00:00Z", "5", "us");
    let eu = of.filtered("region = 'eu'");
    assert_eq!(of.total(&eu), number("14"));
    of.fixture().tick();
    assert_eq!(of.total(&eu), number("14"), "once it is measured");
    of.use_in("c", "2027-01-05T00:00:00Z", "1", "eu");
    of.use_in("d", "2027-01-05T00:00:00Z", "1", "us");
    assert_eq!(of.total(&eu), number("16"));
}

#[test]
fn subscriptions_2_3_9_an_edit_holds_for_all_of_the_interval() {
    let of = shop();
    of.fixture().set("2027-01-05T00:00:00Z");
    of.use_in("a", "2027-01-05T00:00:00Z", "7", "eu");
    of.use_in("b", "2027-01-05T00:00:00Z", "5", "us");
    let edit = |to: Patch<Expression>| {
        let edit = PriceIntervalEdit { filter: to, ..PriceIntervalEdit::new(of.of_plan(0)) };
        let changes = IntervalChanges { edit: vec![edit], ..IntervalChanges::default() };
        run(of.call(changes)).unwrap();
        of.total(&of.subscription)
    };
    assert_eq!(edit(Patch::Set(filter("region = 'eu'").unwrap())), number("14"));
    assert_eq!(edit(Patch::Keep), number("14"));
    of.fixture().tick_at("2027-02-05T00:00:00Z");
    assert_eq!(of.settled(), ["00001 issued 2027-02-01: usage 14 = 14"]);
    assert_eq!(edit(Patch::Clear), number("24"));
    of.fixture().tick();
    assert!(of.settled().contains(&"00002 issued 2027-02-01: usage 24 = 24".to_owned()));
}

#[test]
fn subscriptions_2_3_10_from_today_on_alone_is_an_end_and_a_new_begin() {
    let of = shop();
    of.fixture().set("2027-01-05T00:00:00Z");
    of.use_in("a", "2027-01-05T00:00:00Z", "7", "eu");
    of.use_in("b", "2027-01-05T00:00:00Z", "5", "us");
    let today = at("2027-01-10T00:00:00Z");
    of.fixture().set("2027-01-10T00:00:00Z");
    let again = NewPriceInterval::new(of.subscription.price_intervals[0].price_id, today);
    let changes = IntervalChanges {
        edit: vec![PriceIntervalEdit::ending(of.of_plan(0), today)],
        add: vec![NewPriceInterval { filter: filter("region = 'eu'"), ..again }],
        ..IntervalChanges::default()
    };
    run(of.call(changes)).unwrap();
    of.fixture().set("2027-01-12T00:00:00Z");
    of.use_in("c", "2027-01-12T00:00:00Z", "3", "eu");
    of.use_in("d", "2027-01-12T00:00:00Z", "11", "us");
    of.fixture().tick_at("2027-02-03T00:00:00Z");
    let expected =
        ["00001 issued 2027-01-10: usage 24 = 24", "00002 issued 2027-02-01: usage 6 = 6"];
    assert_eq!(of.settled(), expected, "all of 12 before, and 3 of 14 since");
}

#[test]
fn subscriptions_1_5_alerts_and_cells_count_by_it() {
    let region = PropertyName::parse("size").unwrap();
    let of = changed(|fixture, metric| {
        let mut usage = fixture.usage_at("2", metric);
        let cell = MatrixCell::new([Some("big".to_owned())], number("10"));
        let matrix = Matrix::new([region.clone()], number("1"), [cell]);
        usage.charge = Charge::Usage { metric_id: metric.id, model: Model::Matrix(matrix) }.into();
        vec![usage]
    });
    let eu = of.filtered("region = 'eu'");
    run(of.fixture().account.create_subscription_alert(eu.id, cost_alert(&["15"]))).unwrap();
    of.fixture().set("2027-01-05T00:00:00Z");
    let big = |key: &str, n: &str, in_: &str| {
        let mut event = in_region(key, "2027-01-05T00:00:00Z", n, in_);
        let own = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
        event.properties = own.chain([(region.clone(), PropertyValue::from("big"))]).collect();
        run(of.fixture().account.ingest([event])).unwrap();
    };
    big("a", "9", "us");
    big("b", "1", "eu");
    of.use_in("c", "2027-01-05T00:00:00Z", "4", "eu");
    assert_eq!(of.total(&eu), number("14"));
    assert!(of.fixture().told().is_empty());
    of.use_in("d", "2027-01-05T00:00:00Z", "1", "eu");
    assert_eq!(of.fixture().told().len(), 1);
}

#[test]
fn subscriptions_1_5_10_a_plan_change_drops_it() {
    let of = shop();
    let eu = of.filtered("region = 'eu'");
    let other = of.plan([of.fixture().usage_at("3", &of.metric)]);
    let change = on(&other, "2027-01-15T00:00:00Z");
    let changed = run(of.fixture().account.schedule_plan_change(eu.id, change)).unwrap();
    let filters: Vec<_> = changed.price_intervals.iter().map(|of| of.filter.is_some()).collect();
    assert_eq!(filters, [true, false]);
    of.fixture().tick();
    run(of.fixture().account.unschedule_plan_changes(eu.id)).unwrap();
    of.fixture().tick();
    let mut change = on(&other, "2027-01-15T00:00:00Z");
    change.filter = filter("region = 'us'");
    let changed = run(of.fixture().account.schedule_plan_change(eu.id, change)).unwrap();
    assert_eq!(changed.price_intervals[1].filter, filter("region = 'us'"));
}

#[test]
fn subscriptions_1_5_conditions_take_no_more_comparisons_than_there_may_be() {
    let of = shop();
    let long = (0..600).map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
    let edit = |place: usize| {
        let text = format!("p{place} IN ({long})");
        let to = Patch::Set(filter(&text).unwrap());
        let edit = PriceIntervalEdit { filter: to, ..PriceIntervalEdit::new(of.of_plan(0)) };
        of.call(IntervalChanges { edit: vec![edit], ..IntervalChanges::default() })
    };
    (0..8).for_each(|place| drop(run(edit(place)).unwrap()));
    of.fixture().tick();
    let (kind, message) = refused(of.fixture(), edit(8));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(constraint((kind, message)).contains("comparisons"));
}

#[test]
fn a_preview_of_another_price_counts_by_it_too() {
    let of = shop();
    let eu = of.filtered("region = 'eu'");
    of.fixture().set("2027-01-05T00:00:00Z");
    of.use_in("a", "2027-01-05T00:00:00Z", "7", "eu");
    of.use_in("b", "2027-01-05T00:00:00Z", "5", "us");
    let new = of.fixture().usage_at("3", &of.metric);
    let price = of.subscription.price_intervals[0].price_id;
    let preview = of.fixture().account.preview_price(eu.id, price, new);
    let CostChange { before, after, .. } = block_on(preview).unwrap().answer;
    assert_eq!((before.total, after.total), (number("14"), number("21")));
}
