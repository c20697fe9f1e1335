//! Prices of one subscription: those of its plan version removed, replaced and added to, at its start and with a
//! change of plan (subscriptions 1.2, 1.3, 3.2).

use accrue::{
    Call, ErrorKind, PageRequest, PriceId,
    cost::CostQuery,
    invoice::Invoice,
    plan::{NewPlan, PlanPrice},
    price::{Adjustment, Adjustments, Discount, NewAdjustment, NewPrice},
    subscription::{
        AddedPrice, AdjustmentChanges, BillingAnchor, NewPriceInterval, NewSubscription,
        PlanChange, PriceChanges, ReplacedPrice, Subscription,
    },
};

use crate::{
    adjustments::{over, percentage_off},
    changed_plans::on,
    invoices::{DRAFT, all},
    price_intervals::{Changed, JANUARY, adding, changed, constraint},
    support::{
        fixture::{COUNT, Fixture, at, block_on, external, name, number, refused, run, usd},
        priced::{between, cost_alert},
    },
};

/// A plan with a fee of 20.00 in advance and usage at 0.10, to which nobody has subscribed yet but one from 1 January.
pub(crate) fn plan() -> Changed {
    changed(|fixture, metric| vec![fixture.advance_fee("20"), fixture.usage_at("0.10", metric)])
}

/// The ids of the plan's fee and usage.
pub(crate) fn of_plan(changed: &Changed) -> [PriceId; 2] {
    [0, 1].map(|place: usize| changed.subscription.price_intervals[place].price_id)
}

pub(crate) fn named(reference: &str, mut new: NewPrice) -> NewPrice {
    new.reference_id = Some(reference.to_owned());
    new
}

/// An adjustment over the prices that the request calls so.
pub(crate) fn over_named(references: &[&str], of: NewAdjustment) -> NewAdjustment {
    let reference_ids = references.iter().map(|of| (*of).to_owned()).collect();
    NewAdjustment { reference_ids, ..of }
}

pub(crate) fn adjusted(new: NewAdjustment) -> AdjustmentChanges {
    AdjustmentChanges { add: vec![new.into()], ..AdjustmentChanges::default() }
}

pub(crate) fn of(changed: &Changed, prices: PriceChanges) -> Call<Subscription> {
    with(changed, |new| new.prices = prices)
}

pub(crate) fn with(
    changed: &Changed,
    make: impl FnOnce(&mut NewSubscription),
) -> Call<Subscription> {
    let mut new = NewSubscription::new(external("ada"), changed.invoiced.plan.id);
    (new.anchor, new.start_date) = (BillingAnchor::FirstOfMonth, Some(at(JANUARY)));
    make(&mut new);
    changed.fixture().account.create_subscription(new)
}

pub(crate) fn adding_price(price: impl Into<PlanPrice>) -> PriceChanges {
    PriceChanges { add: vec![AddedPrice::new(price)], ..PriceChanges::default() }
}

pub(crate) fn replacing(by: ReplacedPrice) -> PriceChanges {
    PriceChanges { replace: vec![by], ..PriceChanges::default() }
}

pub(crate) fn of_subscription(changed: &Changed, id: accrue::SubscriptionId) -> Vec<Invoice> {
    let all = changed.fixture().invoices(&[]).into_iter().chain(changed.fixture().invoices(DRAFT));
    all.filter(|of| of.subscription_id == Some(id)).collect()
}

pub(crate) fn january() -> CostQuery {
    let timeframe = between(JANUARY, "2027-02-01T00:00:00Z").into();
    CostQuery { timeframe, ..CostQuery::default() }
}

pub(crate) fn validation(found: (ErrorKind, String)) -> String {
    assert_eq!(found.0, ErrorKind::RequestValidation, "{}", found.1);
    found.1
}

#[test]
fn subscriptions_1_3_example_removes_replaces_and_adds() {
    let changed = plan();
    let (fixture, [fee, usage]) = (changed.fixture(), of_plan(&changed));
    let cheap = named("cheap", fixture.usage_at("0.08", &changed.metric));
    let subscription = run(with(&changed, |new| {
        new.prices = PriceChanges {
            remove: vec![usage.into()],
            replace: vec![ReplacedPrice::quantity(fee, number("3"))],
            add: vec![AddedPrice::new(cheap)],
        };
        new.adjustments = adjusted(over_named(&["cheap"], percentage_off("0.5")));
    }))
    .unwrap();
    changed.invoiced.use_at("a", JANUARY, "1000");
    let cost = fixture.cost(&subscription, &january());
    let lines: Vec<_> =
        cost.lines.iter().map(|line| (line.subtotal.to_string(), line.total.to_string())).collect();
    let expected = [("60", "60"), ("80", "40")].map(|(of, less)| (of.to_owned(), less.to_owned()));
    assert_eq!((lines, cost.total), (expected.to_vec(), number("100")));
    assert_eq!(
        all(&of_subscription(&changed, subscription.id))[0],
        "00002 issued 2027-01-01: fee 60 = 60"
    );
    fixture.tick_at("2027-02-01T00:00:00Z");
    let found = of_subscription(&changed, subscription.id);
    let february = found.iter().find(|of| of.invoice_date == at("2027-02-01T00:00:00Z")).unwrap();
    assert_eq!(february.total, number("100"), "a fee of 60, and usage of 80 less 40");
}

#[test]
fn subscriptions_1_2_2_only_an_add_on_is_added_by_its_id() {
    let changed = plan();
    let (fixture, [fee, _]) = (changed.fixture(), of_plan(&changed));
    let detail =
        |id: PriceId, of: &str| format!("the price {id} was made with {of}, expected an add-on");
    let found = constraint(refused(fixture, of(&changed, adding_price(fee))));
    assert_eq!(found, detail(fee, "a plan"));
    let own = run(of(&changed, adding_price(fixture.advance_fee("5")))).unwrap();
    let own = own.price_intervals[2].price_id;
    let found = constraint(refused(fixture, of(&changed, adding_price(own))));
    assert_eq!(found, detail(own, "a subscription"));
    let found = refused(fixture, of(&changed, replacing(ReplacedPrice::by(fee, own))));
    assert_eq!(constraint(found), detail(own, "a subscription"));

    // To a running one what its plan has comes back, and what another subscription or plan has does not.
    let other = fixture.priced_plan([fixture.advance_fee("7").into()]);
    let other = fixture.prices_of(&other)[0];
    let add =
        |id: PriceId| changed.call(adding(NewPriceInterval::new(id, at("2027-03-01T00:00:00Z"))));
    assert_eq!(constraint(refused(fixture, add(other))), detail(other, "a plan"));
    assert_eq!(constraint(refused(fixture, add(own))), detail(own, "a subscription"));

    let mut named = fixture.advance_fee("9");
    named.external_price_id = Some(external("addon"));
    let addon = run(fixture.account.create_price(named)).unwrap().id;
    let added = run(of(&changed, adding_price(external("addon")))).unwrap();
    assert_eq!(added.price_intervals[2].price_id, addon);
    let unknown = refused(fixture, of(&changed, adding_price(external("nothing"))));
    assert_eq!(unknown.0, ErrorKind::ResourceNotFound);
}

#[test]
fn subscriptions_2_1_a_price_of_the_plan_that_was_left_out_is_added_later() {
    let changed = plan();
    let [fee, usage] = of_plan(&changed);
    let prices = PriceChanges { remove: vec![fee.into()], ..PriceChanges::default() };
    let without = run(of(&changed, prices)).unwrap();
    assert_eq!(without.price_intervals.iter().map(|of| of.price_id).collect::<Vec<_>>(), [usage]);
    let changes = adding(NewPriceInterval::new(fee, at("2027-01-16T00:00:00Z")));
    run(changed.fixture().account.change_intervals(without.id, changes)).unwrap();
    changed.fixture().tick_at("2027-01-16T00:00:00Z");
    let found = all(&of_subscription(&changed, without.id));
    assert_eq!(found[0], "00002 issued 2027-01-16: fee 10.32 = 10.32", "16 of 31 days");
}

#[test]
fn subscriptions_1_2_3_dates_lie_within_the_subscription() {
    let changed = plan();
    let fixture = changed.fixture();
    let make = |start: Option<&str>, end: Option<&str>| {
        let mut added = AddedPrice::new(fixture.advance_fee("31"));
        (added.start_date, added.end_date) = (start.map(at), end.map(at));
        with(&changed, |new| {
            new.end_date = Some(at("2027-06-01T00:00:00Z"));
            new.prices.add = vec![added];
        })
    };
    for (start, end, expected) in [
        (Some("2026-12-01T00:00:00Z"), None, "is before that of the subscription"),
        (Some("2027-06-01T00:00:00Z"), None, "is not before the end of the subscription"),
        (None, Some("2027-07-01T00:00:00Z"), "the end is behind that of the subscription"),
        (Some("2027-03-01T00:00:00Z"), Some("2027-02-01T00:00:00Z"), "is before the start"),
        (Some("2027-03-01T00:00:00Z"), Some("2027-03-01T00:00:00Z"), "would end with its start"),
    ] {
        let found = constraint(refused(fixture, make(start, end)));
        assert!(found.contains(expected), "{start:?} {end:?}: {found}");
    }
    let made = make(Some("2027-01-16T00:00:00Z"), Some("2027-01-21T00:00:00Z"));
    let made = run(made).unwrap();
    fixture.tick_at("2027-01-16T00:00:00Z");
    let found = all(&of_subscription(&changed, made.id));
    assert_eq!(found[0], "00003 issued 2027-01-16: fee 5 = 5", "of 31 days those up to its end");
}

#[test]
fn subscriptions_1_2_4_amounts_and_discounts_are_adjustments_of_that_price_alone() {
    let changed = plan();
    let fixture = changed.fixture();
    let mut added = AddedPrice::new(fixture.usage_at("1", &changed.metric));
    added.adjustments = Adjustments {
        discounts: vec![Discount::Amount(number("5"))],
        minimum: Some(number("30")),
        maximum: None,
    };
    let made = run(with(&changed, |new| new.prices.add = vec![added.clone()])).unwrap();
    let added_id = made.price_intervals[2].price_id;
    let own: Vec<_> = made.adjustment_intervals.iter().collect();
    assert_eq!(own.len(), 2);
    assert!(own.iter().all(|of| !of.is_invoice_level() && of.price_ids == [added_id].into()));
    assert_eq!(own[0].adjustment, Adjustment::Discount(Discount::Amount(number("5"))));
    assert_eq!(own[1].adjustment, Adjustment::Minimum(number("30")));
    changed.invoiced.use_at("a", JANUARY, "10");
    fixture.tick_at("2027-02-01T00:00:00Z");
    let cost = fixture.cost(&made, &january());
    assert_eq!(cost.lines[2].total, number("30"), "10 less 5, and 30 at least");

    added.adjustments.minimum = Some(number("-1"));
    let found = refused(fixture, with(&changed, |new| new.prices.add = vec![added]));
    assert!(validation(found).starts_with("add_prices[0].adjustments.minimum: found -1"));
}

#[test]
fn subscriptions_1_2_5_a_reference_is_of_one_request() {
    let changed = plan();
    let fixture = changed.fixture();
    let price = || named("one", fixture.advance_fee("10"));
    let twice = PriceChanges {
        add: vec![AddedPrice::new(price()), AddedPrice::new(price())],
        ..PriceChanges::default()
    };
    let found = validation(refused(fixture, of(&changed, twice)));
    let message = "found one, which names another price of the request";
    assert_eq!(found, format!("add_prices[1].price.reference_id: {message}"));

    let call = || {
        with(&changed, |new| {
            new.adjustments = adjusted(over_named(&["one"], percentage_off("0.5")));
        })
    };
    assert_eq!(refused(fixture, call()).0, ErrorKind::ResourceNotFound);
    run(of(&changed, adding_price(price()))).unwrap();
    assert_eq!(
        refused(fixture, call()).0,
        ErrorKind::ResourceNotFound,
        "one of an earlier request"
    );
}

#[test]
fn subscriptions_1_2_5_references_and_ids_are_named_together() {
    let changed = plan();
    let [fee, _] = of_plan(&changed);
    let by_id = accrue::price::FilterValues::PriceId([fee].into());
    let made = run(with(&changed, |new| {
        new.prices = adding_price(named("more", changed.fixture().advance_fee("10")));
        let both = over_named(&["more"], over(by_id, percentage_off("0.5")));
        new.adjustments = adjusted(both);
    }))
    .unwrap();
    let reached = &made.adjustment_intervals[0].price_ids;
    assert_eq!(reached, &[fee, made.price_intervals[2].price_id].into());
    assert_eq!(
        all(&of_subscription(&changed, made.id))[0],
        "00002 issued 2027-01-01: fee 10, fee 5 = 15"
    );
}

#[test]
fn subscriptions_1_4_adjustments_of_a_plan_name_its_new_prices_too() {
    let fixture = Fixture::new();
    let mut new = NewPlan::new(name("Pro"), usd());
    new.prices =
        vec![fixture.advance_fee("1").into(), named("more", fixture.advance_fee("9")).into()];
    new.adjustments = vec![over_named(&["more"], percentage_off("0.5"))];
    let plan = run(fixture.account.create_plan(new.clone())).unwrap();
    let version = block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    let reached = version.adjustments[0].reached(&version.prices).map(|price| price.id);
    assert_eq!(reached.collect::<Vec<_>>(), [version.prices[1].id]);
    new.adjustments = vec![over_named(&["less"], percentage_off("0.5"))];
    assert_eq!(refused(&fixture, fixture.account.create_plan(new)).0, ErrorKind::ResourceNotFound);
}

#[test]
fn subscriptions_1_2_7_a_price_of_one_subscription_is_found_by_its_id_and_in_no_list() {
    let changed = plan();
    let fixture = changed.fixture();
    let list = || {
        let page = PageRequest::default();
        block_on(fixture.account.list_prices(&Default::default(), &page)).unwrap().data.len()
    };
    let before = list();
    let made = run(of(&changed, adding_price(fixture.advance_fee("5")))).unwrap();
    let own = made.price_intervals[2].price_id;
    let new = NewPriceInterval::new(fixture.advance_fee("6"), at("2027-03-01T00:00:00Z"));
    changed.add(new);
    assert_eq!(list(), before);
    assert_eq!(block_on(fixture.account.fetch_price(own)).unwrap().id, own);
}

#[test]
fn subscriptions_1_3_1_and_5_each_price_is_one_of_the_version_and_named_once() {
    let changed = plan();
    let (fixture, [fee, usage]) = (changed.fixture(), of_plan(&changed));
    let addon = changed.price(fixture.advance_fee("9"));
    let none = format!("the price {addon} is none of the plan version");
    let remove = |ids: &[PriceId]| {
        let remove = ids.iter().map(|id| (*id).into()).collect();
        PriceChanges { remove, ..PriceChanges::default() }
    };
    assert_eq!(constraint(refused(fixture, of(&changed, remove(&[addon])))), none);
    let by = ReplacedPrice::by(addon, fixture.advance_fee("1"));
    assert_eq!(constraint(refused(fixture, of(&changed, replacing(by)))), none);
    let twice = format!("names the price {fee}, which is removed or replaced twice");
    let found = validation(refused(fixture, of(&changed, remove(&[fee, usage, fee]))));
    assert_eq!(found, format!("remove_prices[2]: {twice}"));
    let many = PriceChanges { add: vec![AddedPrice::new(addon); 101], ..PriceChanges::default() };
    let found = validation(refused(fixture, of(&changed, many)));
    assert_eq!(found, "add_prices: has 101 prices, expected at most 100");
    let two = PriceChanges {
        add: vec![AddedPrice::new(addon), AddedPrice::new(addon)],
        ..PriceChanges::default()
    };
    let found = validation(refused(fixture, of(&changed, two)));
    let named = format!("names the price {addon}, which is named twice");
    assert_eq!(found, format!("add_prices[1].price: {named}"));
    let mut both = remove(&[fee]);
    both.replace = vec![ReplacedPrice::quantity(fee, number("2"))];
    let found = validation(refused(fixture, of(&changed, both)));
    assert_eq!(found, format!("replace_prices[0]: {twice}"));
}

#[test]
fn subscriptions_1_3_3_and_4_a_replacement_takes_the_place_and_a_quantity_leaves_the_price() {
    let changed = plan();
    let (fixture, [fee, usage]) = (changed.fixture(), of_plan(&changed));
    let other = fixture.usage_at("0.05", &changed.metric);
    let made = run(of(&changed, replacing(ReplacedPrice::by(usage, other)))).unwrap();
    let [first, second] = made.price_intervals.as_slice() else { panic!("{made:?}") };
    assert_eq!((first.price_id, first.replaces_price_id), (fee, None));
    assert_eq!(second.replaces_price_id, Some(usage));
    assert_eq!((second.start_date, second.end_date), (made.start_date, None));

    let made = run(of(&changed, replacing(ReplacedPrice::quantity(fee, number("2.5"))))).unwrap();
    let first = &made.price_intervals[0];
    assert_eq!((first.price_id, first.replaces_price_id), (fee, None));
    assert_eq!(made.fee_quantity(fee, made.start_date), Some(&number("2.5")));
    let found =
        refused(fixture, of(&changed, replacing(ReplacedPrice::quantity(usage, number("1")))));
    assert_eq!(constraint(found), format!("the price {usage} is of usage, which has no quantity"));
}

#[test]
fn subscriptions_1_3_7_adjustments_of_the_plan_stay_without_a_price_that_is_removed() {
    let changed = plan();
    let fixture = changed.fixture();
    let mut new = NewPlan::new(name("Half"), usd());
    new.prices = vec![fixture.advance_fee("20").into(), fixture.advance_fee("30").into()];
    new.adjustments = vec![percentage_off("0.5")];
    let plan = run(fixture.account.create_plan(new)).unwrap();
    let [gone, stays] = fixture.prices_of(&plan).try_into().unwrap();
    let made = run(with(&changed, |new| {
        new.plan = Some(plan.id.into());
        new.prices.remove = vec![gone.into()];
    }))
    .unwrap();
    assert_eq!(made.adjustment_intervals[0].price_ids, [stays].into());
}

#[test]
fn subscriptions_3_2_3_and_5_what_is_added_is_cut_by_a_change_of_plan_and_comes_with_it_again() {
    let changed = plan();
    let fixture = changed.fixture();
    let addon = changed.price(fixture.advance_fee("31"));
    let made = run(of(&changed, adding_price(addon))).unwrap();
    let other = changed.plan([fixture.advance_fee("62")]);
    let [base] = fixture.prices_of(&other).try_into().unwrap();
    let change = |prices: PriceChanges| {
        let change = PlanChange { prices, ..on(&other, "2027-02-01T00:00:00Z") };
        fixture.account.schedule_plan_change(made.id, change)
    };
    let after = run(change(PriceChanges::default())).unwrap();
    let from = at("2027-02-01T00:00:00Z");
    let of_addon = |of: &Subscription| -> Vec<_> {
        let own = of.price_intervals.iter().filter(|of| of.price_id == addon);
        own.map(|of| (of.start_date, of.end_date)).collect()
    };
    assert_eq!(of_addon(&after), [(at(JANUARY), Some(from))]);

    let prices = PriceChanges {
        replace: vec![ReplacedPrice::quantity(base, number("2"))],
        ..adding_price(addon)
    };
    let after = run(change(prices)).unwrap();
    assert_eq!(of_addon(&after), [(at(JANUARY), Some(from)), (from, None)]);
    fixture.tick_at("2027-02-01T00:00:00Z");
    let found = all(&of_subscription(&changed, made.id));
    assert!(
        found.contains(&"DRAFT draft 2027-02-01: usage 0, fee 124, fee 31 = 155".to_owned()),
        "{found:?}"
    );

    let mut early = AddedPrice::new(addon);
    early.start_date = Some(at("2027-02-15T00:00:00Z"));
    let early = PriceChanges { add: vec![early], ..PriceChanges::default() };
    let later = PlanChange { prices: early, ..on(&other, "2027-03-01T00:00:00Z") };
    let found = refused(fixture, fixture.account.schedule_plan_change(made.id, later));
    assert!(constraint(found).contains("is before that of the plan"), "before its plan");
}

#[test]
fn usage_of_an_added_price_is_metered_from_its_start_on_and_judged_by_alerts() {
    let changed = changed(|_, _| Vec::new());
    let fixture = changed.fixture();
    let metric = fixture.metric(COUNT);
    let made = run(of(&changed, adding_price(fixture.usage_at("2", &metric)))).unwrap();
    run(fixture.account.create_subscription_alert(made.id, cost_alert(&["3"]))).unwrap();
    fixture.messages();
    changed.invoiced.use_at("a", JANUARY, "1");
    assert!(fixture.told().is_empty());
    changed.invoiced.use_at("b", JANUARY, "1");
    assert_eq!(fixture.told().len(), 1);
    assert_eq!(fixture.cost(&made, &CostQuery::default()).total, number("4"));
}
