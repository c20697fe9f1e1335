use accrue::{
    ErrorKind, ItemId,
    alert::{Alert, AlertUpdate, Condition, NewAlert, NewCondition},
    idempotency::Freshness,
    price::{Adjustments, Discount, FilterOperator, FilterValues, PriceClass, PriceFilter},
    webhook::Body,
};

use crate::support::{
    fixture::{UNKNOWN, block_on, number, refused, run, thresholds, usage_alert},
    priced::{NOTHING, Priced, cost_alert, metered, priced, spend_alert, unit},
};

fn includes(values: FilterValues) -> PriceFilter {
    PriceFilter { operator: FilterOperator::Includes, values }
}

fn excludes(values: FilterValues) -> PriceFilter {
    PriceFilter { operator: FilterOperator::Excludes, values }
}

fn fixed() -> FilterValues {
    FilterValues::PriceType([PriceClass::Fixed].into())
}

fn usage() -> FilterValues {
    FilterValues::PriceType([PriceClass::Usage].into())
}

fn filtered(currency: &str, values: &[&str], price_filters: &[PriceFilter]) -> NewAlert {
    let (currency, price_filters) = (unit(currency), price_filters.to_vec());
    let condition = NewCondition::SpendExceeded { currency, price_filters };
    NewAlert::new(condition, thresholds(values))
}

/// An update to a threshold of 10 with some filters.
fn refilter(priced: &Priced, alert: &Alert, filters: &[PriceFilter]) -> accrue::Call<Alert> {
    let thresholds = thresholds(&["10"]);
    let update =
        AlertUpdate { price_filters: Some(filters.to_vec()), ..AlertUpdate::from(thresholds) };
    priced.fixture.account.update_alert(alert.id, update)
}

/// Usage at 1, a fee of 5, usage at 100 that nobody has.
fn three_prices() -> Priced {
    priced(|fixture, metric| {
        let unused = fixture.metric("SELECT sum(other) FROM events");
        [fixture.usage_at("1", metric), fixture.advance_fee("5"), fixture.usage_at("100", &unused)]
    })
}

#[test]
fn spend_is_judged_before_discount_maximum_and_minimum() {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        usage.adjustments = Adjustments {
            discounts: vec![Discount::Percentage(accrue::Fraction::parse("0.9").unwrap())],
            minimum: Some(number("2")),
            maximum: Some(number("3")),
        };
        [usage]
    });
    priced.alert(spend_alert("USD", &["40", "41"]));
    priced.alert(cost_alert(&["3", "4"]));
    priced.use_now("a", "39.5");
    priced.use_now("b", "0.5");
    let messages = priced.fixture.messages();
    let spend = messages.iter().filter_map(|message| match &message.body {
        Body::SpendExceeded(exceeded) => Some(exceeded),
        _ => None,
    });
    let [exceeded] = spend.collect::<Vec<_>>()[..] else { panic!("{messages:?}") };
    assert_eq!(exceeded.value_before, Some(number("39.5")));
    assert_eq!(exceeded.value_after, number("40"));
    assert_eq!(messages.len(), 2, "cost has come to the maximum of 3 before");
}

#[test]
fn what_a_minimum_adds_is_no_spend() {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        usage.adjustments.minimum = Some(number("20"));
        [usage]
    });
    priced.alert(spend_alert("USD", &["10"]));
    priced.use_now("a", "1");
    priced.fixture.set("2026-04-10T12:00:00Z");
    priced.fixture.tick();
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn every_kind_of_filter_includes_and_excludes() {
    let priced = three_prices();
    priced.use_now("a", "3");
    let items: Vec<ItemId> = {
        let version =
            priced.fixture.account.fetch_plan_version(priced.plan.id, priced.plan.version);
        block_on(version).unwrap().prices.iter().map(|price| price.item_id).collect()
    };
    let prices = priced.prices();
    let price =
        |index: &[usize]| FilterValues::PriceId(index.iter().map(|index| prices[*index]).collect());
    let item =
        |index: &[usize]| FilterValues::ItemId(index.iter().map(|index| items[*index]).collect());
    let check = |filters: &[PriceFilter], expect: Option<&str>| {
        let alert = priced.alert(filtered("USD", &["0"], filters));
        let expect = expect.map(|sum| format!("spend 0: {sum} -> {sum} by configuration"));
        assert_eq!(priced.told(), Vec::from_iter(expect), "{filters:?}");
        run(priced.fixture.account.delete_alert(alert.id)).unwrap();
    };
    check(&[], Some("8"));
    check(&[includes(price(&[0]))], Some("3"));
    check(&[excludes(price(&[0]))], Some("5"));
    check(&[includes(price(&[0, 1]))], Some("8"));
    check(&[excludes(price(&[0, 1]))], None);
    check(&[includes(item(&[1]))], Some("5"));
    check(&[excludes(item(&[1, 2]))], Some("3"));
    check(&[includes(fixed())], Some("5"));
    check(&[excludes(fixed())], Some("3"));
    check(&[includes(usage())], Some("3"));
    let class = |classes: &[PriceClass]| FilterValues::PriceType(classes.iter().copied().collect());
    check(&[includes(class(&[PriceClass::Fixed, PriceClass::Usage]))], Some("8"));
    check(&[includes(class(&[PriceClass::FixedInAdvance]))], Some("5"));
    check(&[includes(class(&[PriceClass::FixedInArrears]))], None);
    check(&[includes(class(&[PriceClass::InArrears]))], Some("3"));
    check(&[excludes(class(&[PriceClass::InArrears]))], Some("5"));
    // A price counts that passes every filter.
    check(&[includes(price(&[0, 1])), excludes(fixed())], Some("3"));
    check(&[includes(price(&[0])), includes(fixed())], None);
    check(&[includes(price(&[2]))], None);
}

#[test]
fn a_filter_may_name_what_is_not_there() {
    let priced = three_prices();
    let other = priced.fixture.item().id;
    priced.alert(filtered("USD", &["5"], &[excludes(FilterValues::ItemId([other].into()))]));
    assert_eq!(priced.told(), ["spend 5: 5 -> 5 by configuration"]);
}

#[test]
fn alerts_on_spend_differ_in_their_currency_or_their_filters() {
    let priced = three_prices();
    let account = &priced.fixture.account;
    let on_subscription = |new| account.create_subscription_alert(priced.subscription.id, new);
    let on_plan = |new| account.create_plan_alert(priced.plan.id, new);
    let other = includes(FilterValues::PriceId([priced.prices()[0]].into()));
    let two = [includes(usage()), other];
    let turned: Vec<_> = two.iter().rev().cloned().collect();
    let twice = [two[0].clone(), two[1].clone(), two[0].clone()];
    let creates: [&dyn Fn(NewAlert) -> accrue::Call<Alert>; 2] = [&on_subscription, &on_plan];
    for create in creates {
        run(create(spend_alert("USD", &["10"]))).unwrap();
        run(create(spend_alert("EUR", &["10"]))).unwrap();
        run(create(spend_alert("usd", &["10"]))).unwrap();
        run(create(filtered("USD", &["10"], &[includes(fixed())]))).unwrap();
        run(create(filtered("USD", &["10"], &[excludes(fixed())]))).unwrap();
        run(create(filtered("USD", &["10"], &two))).unwrap();
        priced.fixture.tick();
        for again in [
            spend_alert("USD", &["11"]),
            filtered("USD", &["11"], &[includes(fixed())]),
            filtered("USD", &["11"], &turned),
            filtered("USD", &["11"], &twice),
        ] {
            assert_eq!(refused(&priced.fixture, create(again)).0, ErrorKind::ConstraintViolation);
        }
    }
}

#[test]
fn a_subscription_has_at_most_50_alerts_on_spend_and_so_has_a_plan() {
    let priced = three_prices();
    let account = &priced.fixture.account;
    let nth = |n: usize| spend_alert(&format!("unit {n}"), &["10"]);
    for n in 0..50 {
        run(account.create_subscription_alert(priced.subscription.id, nth(n))).unwrap();
        run(account.create_plan_alert(priced.plan.id, nth(n))).unwrap();
    }
    priced.fixture.tick();
    let own = account.create_subscription_alert(priced.subscription.id, nth(50));
    assert_eq!(refused(&priced.fixture, own).0, ErrorKind::ConstraintViolation);
    let shared = account.create_plan_alert(priced.plan.id, nth(50));
    assert_eq!(refused(&priced.fixture, shared).0, ErrorKind::ConstraintViolation);
    // Those of other types do not count.
    priced.alert(cost_alert(&["10"]));
    priced.alert(usage_alert(priced.metric.id, &["10"]));
}

#[test]
fn a_deleted_alert_on_spend_makes_room() {
    let priced = three_prices();
    let nth = |n: usize| spend_alert(&format!("unit {n}"), &["10"]);
    let first = priced.alert(nth(0));
    (1..50).for_each(|n| drop(priced.alert(nth(n))));
    run(priced.fixture.account.delete_alert(first.id)).unwrap();
    priced.alert(nth(0));
}

#[test]
fn filters_are_replaced_by_an_update_and_judged_at_once() {
    let priced = three_prices();
    let alert = priced.alert(filtered("USD", &["10"], &[includes(fixed())]));
    priced.use_now("a", "11");
    assert_eq!(priced.told(), NOTHING, "the fee alone is 5");
    run(refilter(&priced, &alert, &[includes(usage())])).unwrap();
    assert_eq!(priced.told(), ["spend 10: 11 -> 11 by configuration"]);
    let found = block_on(priced.fixture.account.fetch_alert(alert.id)).unwrap();
    let Condition::SpendExceeded { price_filters, .. } = found.condition else { panic!() };
    assert_eq!(price_filters, [includes(usage())]);
}

#[test]
fn an_update_without_filters_leaves_them_and_an_empty_list_clears_them() {
    let priced = three_prices();
    let alert = priced.alert(filtered("USD", &["10"], &[includes(fixed())]));
    let filters = |alert: Alert| match alert.condition {
        Condition::SpendExceeded { price_filters, .. } => price_filters,
        other => panic!("{other:?}"),
    };
    let same = run(priced.fixture.account.update_alert(alert.id, thresholds(&["12"]))).unwrap();
    assert_eq!(filters(same), [includes(fixed())]);
    assert_eq!(filters(run(refilter(&priced, &alert, &[])).unwrap()), []);
    priced.use_now("a", "5");
    assert_eq!(priced.told(), ["spend 10: 5 -> 10 by event a"]);
}

#[test]
fn an_update_to_what_another_alert_watches_is_refused() {
    let priced = three_prices();
    for (fees, all) in [
        (
            priced.alert(filtered("USD", &["10"], &[includes(fixed())])),
            priced.alert(spend_alert("USD", &["10"])),
        ),
        (
            priced.plan_alert(filtered("USD", &["10"], &[includes(fixed())])),
            priced.plan_alert(spend_alert("USD", &["10"])),
        ),
    ] {
        priced.fixture.tick();
        let call = refilter(&priced, &fees, &[]);
        assert_eq!(refused(&priced.fixture, call).0, ErrorKind::ConstraintViolation);
        let call = refilter(&priced, &all, &[includes(fixed())]);
        assert_eq!(refused(&priced.fixture, call).0, ErrorKind::ConstraintViolation);
        run(refilter(&priced, &all, &[])).unwrap();
    }
}

#[test]
fn an_alert_of_another_type_has_no_filters() {
    let priced = three_prices();
    let cost = priced.alert(cost_alert(&["10"]));
    let usage = priced.alert(usage_alert(priced.metric.id, &["10"]));
    for alert in [cost, usage] {
        for filters in [&[][..], &[includes(fixed())]] {
            let call = refilter(&priced, &alert, filters);
            assert_eq!(refused(&priced.fixture, call).0, ErrorKind::ConstraintViolation);
        }
    }
}

#[test]
fn an_alert_has_at_most_10_filters_of_100_values_together() {
    let priced = three_prices();
    let others = priced.other_prices(101);
    let of =
        |count: usize| includes(FilterValues::PriceId(others[..count].iter().copied().collect()));
    let account = &priced.fixture.account;
    let create = |filters: &[PriceFilter]| {
        let new = filtered("USD", &["10"], filters);
        account.create_subscription_alert(priced.subscription.id, new)
    };
    let check = |filters: &[PriceFilter], expect: &str| {
        let expect = (ErrorKind::RequestValidation, expect.to_owned());
        assert_eq!(refused(&priced.fixture, create(filters)), expect);
    };
    check(&vec![of(1); 11], "price_filters: found 11 filters, expected at most 10");
    let wrong = "price_filters[1].values: found no values, expected one or more";
    check(&[of(1), of(0)], wrong);
    let wrong = wrong.replace("[1]", "[0]");
    check(&[excludes(FilterValues::ItemId([].into()))], &wrong);
    check(&[excludes(FilterValues::PriceType([].into()))], &wrong);
    let wrong = "price_filters: found 101 values together, expected at most 100";
    check(&[of(101)], wrong);
    check(&[of(100), of(1)], wrong);
    let alert = run(create(&vec![of(10); 10])).unwrap();
    let (kind, _) = refused(&priced.fixture, refilter(&priced, &alert, &vec![of(1); 11]));
    assert_eq!(kind, ErrorKind::RequestValidation);
}

#[test]
fn a_filter_names_what_is_there() {
    let priced = metered();
    let (price, item) = (priced.prices()[0], priced.metric.item_id);
    let alert = run(priced.fixture.account.create_subscription_alert(
        priced.subscription.id,
        filtered("USD", &["10"], &[includes(FilterValues::PriceId([price].into()))]),
    ));
    let alert = alert.unwrap();
    let unknown: [FilterValues; 2] = [
        FilterValues::PriceId([price, UNKNOWN.parse().unwrap()].into()),
        FilterValues::ItemId([item, UNKNOWN.parse().unwrap()].into()),
    ];
    for values in unknown {
        let filters = [includes(values)];
        let new = filtered("EUR", &["10"], &filters);
        let account = &priced.fixture.account;
        let of_plan = account.create_plan_alert(priced.plan.id, new.clone());
        for call in [
            account.create_subscription_alert(priced.subscription.id, new),
            of_plan,
            refilter(&priced, &alert, &filters),
        ] {
            let (kind, text) = refused(&priced.fixture, call);
            assert_eq!(kind, ErrorKind::ResourceNotFound);
            assert!(text.ends_with(UNKNOWN), "{text}");
        }
    }
}

#[test]
fn a_unit_of_the_hosts_own_is_watched_in_itself_and_by_what_it_is_worth() {
    let priced = priced(|fixture, metric| {
        let mut credits = fixture.usage_at("2", metric);
        credits.currency = unit("credits");
        credits.conversion_rate = Some(number("0.5").into());
        let mut tokens = fixture.usage_at("7", metric);
        tokens.currency = unit("tokens");
        [credits, tokens]
    });
    for (currency, value) in [("credits", "20"), ("tokens", "70"), ("USD", "10"), ("EUR", "0")] {
        priced.alert(spend_alert(currency, &[value]));
    }
    priced.use_now("a", "9");
    assert_eq!(priced.told(), NOTHING);
    priced.use_now("b", "1");
    let mut told = priced.told();
    told.sort();
    let expect = [
        "spend 10: 9 -> 10 by event b",
        "spend 20: 18 -> 20 by event b",
        "spend 70: 63 -> 70 by event b",
    ];
    assert_eq!(told, expect, "nothing is in euros");
}

#[test]
fn cost_is_watched_in_a_unit_of_the_hosts_own_too() {
    let priced = priced(|fixture, metric| {
        let mut credits = fixture.usage_at("2", metric);
        credits.currency = unit("credits");
        credits.adjustments.discounts =
            vec![Discount::Percentage(accrue::Fraction::parse("0.5").unwrap())];
        [credits, fixture.advance_fee("5")]
    });
    let currency = Some(unit("credits"));
    let condition = NewCondition::CostExceeded { currency };
    priced.alert(NewAlert::new(condition, thresholds(&["10"])));
    priced.use_now("a", "9");
    priced.use_now("b", "1");
    assert_eq!(priced.told(), ["cost 10: 9 -> 10 by event b"]);
}

#[test]
fn a_subscription_and_a_plan_version_have_one_alert_on_cost_in_whatever_currency() {
    let priced = metered();
    let account = &priced.fixture.account;
    priced.alert(cost_alert(&["10"]));
    priced.plan_alert(cost_alert(&["10"]));
    priced.fixture.tick();
    for currency in [None, Some(unit("USD")), Some(unit("EUR")), Some(unit("credits"))] {
        let condition = NewCondition::CostExceeded { currency };
        let new = || NewAlert::new(condition.clone(), thresholds(&["9"]));
        let own = account.create_subscription_alert(priced.subscription.id, new());
        assert_eq!(refused(&priced.fixture, own).0, ErrorKind::ConstraintViolation);
        let shared = account.create_plan_alert(priced.plan.id, new());
        assert_eq!(refused(&priced.fixture, shared).0, ErrorKind::ConstraintViolation);
    }
    let next =
        run(account.create_plan_version(priced.plan.id, accrue::plan::NewPlanVersion::new([])));
    let version = next.unwrap().version;
    run(account.create_plan_version_alert(priced.plan.id, version, cost_alert(&["10"]))).unwrap();
}

#[test]
fn a_retry_under_a_key_creates_no_second_alert_on_cost() {
    let priced = metered();
    priced.use_now("a", "10");
    let create = |new| {
        let key = accrue::IdempotencyKey::parse("key").unwrap();
        let account = &priced.fixture.account;
        let call = account.create_subscription_alert(priced.subscription.id, new);
        block_on(call.keyed(key).into_future())
    };
    let first = create(cost_alert(&["10"])).unwrap();
    let before = priced.fixture.dump();
    let again = create(cost_alert(&["10"])).unwrap();
    assert_eq!((again.freshness, &again.outcome), (Freshness::Replayed, &first.outcome));
    assert!(create(cost_alert(&["11"])).unwrap_err().is_conflict());
    assert!(create(spend_alert("USD", &["10"])).unwrap_err().is_conflict());
    assert_eq!(priced.fixture.dump(), before);
    assert_eq!(priced.told(), ["cost 10: 10 -> 10 by configuration"]);
}
