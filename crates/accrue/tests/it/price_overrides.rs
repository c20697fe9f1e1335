//! Other numbers of the prices of a plan, for one subscription (subscriptions 1.6).

use accrue::{
    Patch, PriceId,
    plan::{MigrationTiming, NewMigration, NewPlan, PlanVersion, PlanVersionChange},
    price::{
        Adjustment, Adjustments, Discount, FilterOperator, FilterValues, Model, NewAdjustment,
        Package, PriceFilter, Unit,
    },
    subscription::{PlanChange, PriceChanges, PriceOverride, ReplacedPrice, Subscription},
};

use crate::{
    adjustments::{of_price, percentage_off},
    invoices::all,
    own_prices::{
        january, named, of, of_plan, of_subscription, over_named, plan, replacing, validation, with,
    },
    price_intervals::{JANUARY, changed, constraint},
    support::fixture::{at, block_on, name, number, refused, run, usd},
};

fn overriding(price: PriceId, by: PriceOverride) -> PriceChanges {
    replacing(ReplacedPrice::overridden(price, by))
}

fn unit_of(amount: &str) -> Option<Model> {
    Some(Model::Unit(Unit::new(number(amount))))
}

#[test]
fn subscriptions_1_6_other_numbers_of_a_price() {
    let changed = changed(|fixture, metric| {
        let mut usage = fixture.usage_at("0.10", metric);
        usage.adjustments.minimum = Some(number("40"));
        vec![fixture.advance_fee("20"), usage]
    });
    let (fixture, [fee, usage]) = (changed.fixture(), of_plan(&changed));
    changed.invoiced.use_at("a", JANUARY, "1000");
    fixture.tick_at("2027-02-02T00:00:00Z");
    let cost = |by: PriceOverride| {
        let made = run(of(&changed, overriding(usage, by))).unwrap();
        assert_eq!(made.price_intervals[1].replaces_price_id, Some(usage));
        let price = block_on(fixture.account.fetch_price(made.price_intervals[1].price_id));
        assert_eq!(price.unwrap().name.as_str(), "usage");
        fixture.cost(&made, &january()).lines[1].total.to_string()
    };
    let half = PriceOverride { model: unit_of("0.03"), ..PriceOverride::default() };
    assert_eq!(cost(half.clone()), "40", "1.6.2: the minimum is the plan's");
    assert_eq!(cost(PriceOverride { minimum: Patch::Clear, ..half.clone() }), "30");
    let discount = Patch::Set(Discount::Amount(number("10")));
    let less = PriceOverride { minimum: Patch::Clear, discount, ..half.clone() };
    assert_eq!(cost(less), "20");
    let most = PriceOverride { maximum: Patch::Set(number("60")), ..PriceOverride::default() };
    let most = PriceOverride { model: unit_of("0.10"), ..most };
    assert_eq!(cost(most), "60");

    let three = PriceOverride { quantity: Some(number("3")), ..PriceOverride::default() };
    let made = run(of(&changed, overriding(fee, three.clone()))).unwrap();
    assert_eq!(
        (made.price_intervals[0].price_id, made.price_intervals[0].replaces_price_id),
        (fee, None)
    );
    assert_eq!(made.fee_quantity(fee, at(JANUARY)), Some(&number("3")));
    let both = PriceOverride { model: unit_of("7"), ..three.clone() };
    let made = run(of(&changed, overriding(fee, both))).unwrap();
    let first = all(&of_subscription(&changed, made.id));
    assert!(first.iter().any(|of| of.ends_with("2027-01-01: fee 21 = 21")), "{first:?}");

    // A plan change has them too.
    let change = PlanChange {
        prices: overriding(usage, half),
        ..PlanChange::immediate(changed.invoiced.plan.id)
    };
    let made = run(fixture.account.schedule_plan_change(made.id, change)).unwrap();
    assert_eq!(made.price_intervals.last().unwrap().replaces_price_id, Some(usage));
}

#[test]
fn subscriptions_1_6_1_only_numbers_differ() {
    let changed = plan();
    let (fixture, [fee, usage]) = (changed.fixture(), of_plan(&changed));
    let refuse = |price, by| constraint(refused(fixture, of(&changed, overriding(price, by))));
    let package = Some(Model::Package(Package::new(number("1"), 10)));
    let by = PriceOverride { model: package, ..PriceOverride::default() };
    assert!(refuse(usage, by).contains("is of the model unit, not of package"));
    let euro = Some("EUR".parse().unwrap());
    let by = PriceOverride { model: unit_of("1"), currency: euro, ..PriceOverride::default() };
    assert!(refuse(usage, by.clone()).contains("is in USD, not in EUR"));
    let by = PriceOverride { quantity: Some(number("3")), ..PriceOverride::default() };
    assert!(refuse(usage, by.clone()).contains("has no quantity"));
    let both = PriceOverride { model: unit_of("1"), ..by };
    assert!(refuse(usage, both).contains("has no quantity"));
    let other = run(fixture.account.create_price(fixture.advance_fee("9"))).unwrap().id;
    let by = PriceOverride { model: unit_of("1"), ..PriceOverride::default() };
    assert!(refuse(other, by).contains("none of the plan version"));
    let by = PriceOverride { quantity: Some(number("-1")), ..PriceOverride::default() };
    let found = validation(refused(fixture, of(&changed, overriding(fee, by))));
    assert!(found.contains("price_overrides[0].fixed_price_quantity"), "{found}");
}

#[test]
fn subscriptions_1_6_2_what_is_not_said_is_the_plans_and_null_is_none() {
    let changed = changed(|fixture, metric| {
        let mut usage = fixture.usage_at("0.10", metric);
        usage.adjustments = Adjustments {
            discounts: vec![Discount::Amount(number("10"))],
            minimum: Some(number("40")),
            maximum: Some(number("60")),
        };
        vec![usage]
    });
    let fixture = changed.fixture();
    let usage = changed.subscription.price_intervals[0].price_id;
    let own = |by: PriceOverride| {
        let by = PriceOverride { model: unit_of("0.20"), ..by };
        let made = run(of(&changed, overriding(usage, by))).unwrap();
        let price = fixture.account.fetch_price(made.price_intervals[0].price_id);
        let Adjustments { discounts, minimum, maximum } = block_on(price).unwrap().adjustments;
        let amount = |of: Option<accrue::Decimal>| of.map_or("-".to_owned(), |of| of.to_string());
        let mut off = discounts.into_iter().map(|of| match of {
            Discount::Amount(amount) => amount,
            other => panic!("{other:?}"),
        });
        [amount(off.next()), amount(minimum), amount(maximum)]
    };
    assert_eq!(own(PriceOverride::default()), ["10", "40", "60"]);
    let (discount, minimum, maximum) = (Patch::Clear, Patch::Clear, Patch::Clear);
    let none = PriceOverride { discount, minimum, maximum, ..PriceOverride::default() };
    assert_eq!(own(none), ["-", "-", "-"]);
    let others = PriceOverride {
        discount: Patch::Set(Discount::Amount(number("1"))),
        minimum: Patch::Set(number("2")),
        maximum: Patch::Set(number("3")),
        ..PriceOverride::default()
    };
    assert_eq!(own(others), ["1", "2", "3"]);
}

#[test]
fn subscriptions_1_6_2_what_the_plan_adjusts_follows_but_for_what_is_said_of_the_price_itself() {
    let changed = plan();
    let fixture = changed.fixture();
    let usage = fixture.usage_at("0.10", &changed.metric);
    let mut minimum = NewAdjustment::new(Adjustment::Minimum(number("40")));
    minimum.item_id = Some(usage.item_id);
    let of_it = |of| NewAdjustment { is_invoice_level: false, ..over_named(&["usage"], of) };
    let mut new = NewPlan::new(name("Adjusted"), usd());
    let usage = named("usage", usage);
    new.prices = vec![named("fee", fixture.advance_fee("20")).into(), usage.into()];
    new.adjustments = vec![
        of_it(minimum),
        of_it(percentage_off("0.5")),
        over_named(&["fee", "usage"], percentage_off("0.1")),
    ];
    let plan = run(fixture.account.create_plan(new)).unwrap();
    let version = block_on(fixture.account.fetch_plan_version(plan.id, plan.version)).unwrap();
    let usage = version.prices[1].id;
    changed.invoiced.use_at("a", JANUARY, "1000");
    fixture.tick_at("2027-02-02T00:00:00Z");

    let check = |by: PriceOverride, expect: &[&str], cost: &str| {
        let by = PriceOverride { model: unit_of("0.20"), ..by };
        let made = run(with(&changed, |new| {
            new.plan = Some(plan.id.into());
            new.prices = overriding(usage, by);
        }));
        let made = made.unwrap();
        let ids = [0, 1].map(|place: usize| made.price_intervals[place].price_id);
        let over = made.adjustment_intervals.iter().map(|of| {
            let what = match &of.adjustment {
                Adjustment::Minimum(amount) => format!("at least {amount}"),
                Adjustment::Maximum(amount) => format!("at most {amount}"),
                Adjustment::Discount(Discount::Percentage(off)) => format!("{off} off"),
                Adjustment::Discount(Discount::Amount(amount)) => format!("{amount} off"),
                other => panic!("{other:?}"),
            };
            let over = ["fee", "usage"].into_iter().zip(ids);
            let over: Vec<_> =
                over.filter(|(_, id)| of.price_ids.contains(id)).map(|(name, _)| name).collect();
            format!("{what} {}", over.join(" and "))
        });
        let mut over: Vec<_> = over.collect();
        over.sort();
        assert_eq!(over, expect);
        assert_eq!(fixture.cost(&made, &january()).lines[1].total.to_string(), cost);
    };
    let all = ["0.1 off fee and usage", "0.5 off usage", "at least 40 usage"];
    check(PriceOverride::default(), &all, "90");
    let without = PriceOverride { minimum: Patch::Clear, ..PriceOverride::default() };
    check(without, &all[..2], "90");
    let without = PriceOverride { discount: Patch::Clear, ..PriceOverride::default() };
    check(without, &[all[0], all[2]], "180");
    let discount = Patch::Set(Discount::Amount(number("100")));
    let other = PriceOverride { discount, ..PriceOverride::default() };
    check(other, &[all[0], "100 off usage", all[2]], "90");
    let most = PriceOverride { maximum: Patch::Set(number("50")), ..PriceOverride::default() };
    check(most, &[all[0], all[1], all[2], "at most 50 usage"], "50");
}

#[test]
fn subscriptions_1_6_2_a_version_that_is_moved_to_adjusts_overrides_as_the_first_one_does() {
    let changed = plan();
    let fixture = changed.fixture();
    let [fee, usage] = of_plan(&changed);
    let dearer = PriceOverride { model: unit_of("0.20"), ..PriceOverride::default() };
    let unbound = PriceOverride { minimum: Patch::Clear, ..dearer.clone() };
    let made = [dearer, unbound].map(|by| run(of(&changed, overriding(usage, by))).unwrap());
    let replaced = ReplacedPrice::by(usage, fixture.usage_at("0.20", &changed.metric));
    let replaced = run(of(&changed, replacing(replaced))).unwrap();
    let of_it = |usage, of| NewAdjustment { is_invoice_level: false, ..of_price(usage, of) };
    let adjusting = |usage, of| PlanVersionChange {
        add_adjustments: vec![of_it(usage, of)],
        ..PlanVersionChange::default()
    };
    let over = |of: &Subscription| {
        let of = changed.of(of.id);
        let names = [(fee, "fee"), (usage, "usage"), (of.price_intervals[1].price_id, "own")];
        let over = of.adjustment_intervals.iter().map(|of| {
            let what = match &of.adjustment {
                Adjustment::Minimum(amount) => format!("at least {amount}"),
                Adjustment::Discount(Discount::Percentage(off)) => format!("{off} off"),
                other => panic!("{other:?}"),
            };
            let over = names.iter().filter(|(id, _)| of.price_ids.contains(id));
            let over: Vec<_> = over.map(|(_, name)| *name).collect();
            format!("{what} {}", over.join(" and "))
        });
        let mut over: Vec<_> = over.collect();
        over.sort();
        over
    };

    let mut minimum = NewAdjustment::new(Adjustment::Minimum(number("40")));
    minimum.item_id = Some(block_on(fixture.account.fetch_price(usage)).unwrap().item_id);
    changed.second(adjusting(usage, minimum));
    let but_usage = PriceFilter {
        operator: FilterOperator::Excludes,
        values: FilterValues::PriceId([usage].into()),
    };
    let but_usage = NewAdjustment { filters: vec![but_usage], ..percentage_off("0.1") };
    changed.second(PlanVersionChange { add_adjustments: vec![but_usage], ..Default::default() });
    let to = |version| {
        let to = NewMigration::to(PlanVersion::new(version));
        let when = MigrationTiming::EndOfTerm;
        let migrated = changed.migrating(NewMigration { when, ..to });
        assert_eq!(migrated.refused, 0);
        migrated
    };
    let third = to(3);
    assert_eq!(over(&made[0]), ["0.1 off fee", "at least 40 own"]);
    assert_eq!(over(&made[1]), ["0.1 off fee"], "it says that there is no minimum");
    assert_eq!(over(&replaced), ["0.1 off fee and own", "at least 40 "], "it is another price");
    run(fixture.account.cancel_migration(changed.invoiced.plan.id, third.id)).unwrap();
    fixture.tick();
    assert!(over(&made[0]).is_empty());

    // What takes the price's place in the plan is what the override is for, and no adjustment follows it there.
    let successor = fixture.usage_at("0.30", &changed.metric);
    let replace = vec![(usage, successor.into())];
    changed.second(PlanVersionChange { replace, ..PlanVersionChange::default() });
    let plan = changed.invoiced.plan.id;
    let fourth = fixture.account.fetch_plan_version(plan, PlanVersion::new(4));
    let successor = block_on(fourth).unwrap().prices[1].id;
    assert_ne!(successor, usage);
    to(4);
    changed.second(adjusting(successor, percentage_off("0.5")));
    to(5);
    let all = ["0.1 off fee and own", "0.5 off own", "at least 40 "];
    assert_eq!(over(&made[0]), all, "from the first version");
    fixture.tick_at("2027-02-02T00:00:00Z");
    changed.second(adjusting(successor, percentage_off("0.25")));
    to(6);
    let all = ["0.1 off fee and own", "0.25 off own", "0.5 off own", "at least 40 "];
    assert_eq!(over(&made[0]), all, "through a version of which it has no price");
    assert_eq!(over(&made[1]), all);
}

#[test]
fn subscriptions_1_6_2_what_waits_for_the_end_of_a_trial_is_adjusted_by_a_version_moved_to() {
    let changed = plan();
    let fixture = changed.fixture();
    let [fee, usage] = of_plan(&changed);
    let made = [fee, usage].map(|price| {
        let by = PriceOverride { model: unit_of("3"), ..PriceOverride::default() };
        let call = with(&changed, |new| {
            new.prices = overriding(price, by);
            new.trial_days = Some(40);
        });
        run(call).unwrap().id
    });
    let off = |price, off| NewAdjustment {
        is_invoice_level: false,
        ..of_price(price, percentage_off(off))
    };
    let add_adjustments = vec![off(fee, "0.25"), off(usage, "0.5")];
    changed.second(PlanVersionChange { add_adjustments, ..PlanVersionChange::default() });
    let moved = changed.migrate(MigrationTiming::EndOfTerm);
    assert_eq!((moved.moved, moved.refused), (3, 0));
    fixture.tick_at("2027-03-02T00:00:00Z");
    for (id, off) in made.into_iter().zip(["0.25", "0.5"]) {
        let of = changed.of(id);
        let own = of.price_intervals.iter().find(|of| of.replaces_price_id.is_some()).unwrap();
        let over = of.adjustment_intervals.iter().filter(|of| of.price_ids.contains(&own.price_id));
        let over = over.filter(|of| match &of.adjustment {
            Adjustment::Discount(Discount::Percentage(found)) => found.to_string() == off,
            _ => false,
        });
        assert_eq!(over.count(), 1, "{:?}", of.adjustment_intervals);
    }
}

#[test]
fn subscriptions_1_6_3_an_override_is_a_replacement_that_differs_in_its_numbers() {
    let changed = plan();
    let (fixture, [fee, usage]) = (changed.fixture(), of_plan(&changed));
    changed.invoiced.use_at("a", JANUARY, "1000");
    let by = PriceOverride { model: unit_of("0.07"), ..PriceOverride::default() };
    let overridden = run(of(&changed, overriding(usage, by))).unwrap();
    let other = fixture.usage_at("0.07", &changed.metric);
    let replaced = run(of(&changed, replacing(ReplacedPrice::by(usage, other)))).unwrap();
    fixture.tick_at("2027-02-02T00:00:00Z");
    for made in [&overridden, &replaced] {
        let prices = made.price_intervals.iter().map(|of| of.replaces_price_id);
        assert_eq!(prices.collect::<Vec<_>>(), [None, Some(usage)]);
        assert_eq!(made.price_intervals[0].price_id, fee);
        let cost = fixture.cost(made, &january());
        let lines: Vec<_> = cost.lines.iter().map(|line| line.total.to_string()).collect();
        assert_eq!(lines, ["20", "70"], "1,000 at 0.07");
    }
}
