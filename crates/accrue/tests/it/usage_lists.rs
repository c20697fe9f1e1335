//! Lists of customers whose usage counts, in all that a subscription lives through (subscriptions 1.5).

use std::collections::BTreeMap;

use accrue::{
    Currency, CustomerId, Decimal, Patch, PlanId, PropertyName,
    cost::{CostQuery, EvaluationEntry, PriceEvaluation, PriceEvaluations},
    customer::CustomerUpdate,
    expression::Expression,
    invoice::InvoiceLine,
    metric::Metric,
    plan::{MigrationTiming, NewPhase, NewPlan, PhaseDuration, PlanVersionChange},
    price::NewPrice,
    subscription::{
        IntervalChanges, NewPriceInterval, NewSubscription, PriceIntervalEdit, Subscription,
        UsageCustomers,
    },
    usage::{Event, PropertyValue, UsageQuery, View},
};

use crate::{
    changed_plans::on,
    invoices::{SETTLED, all, invoiced, invoiced_with},
    phases::in_phase,
    price_intervals::{JANUARY, adding, changed, constraint},
    support::{
        fixture::{NOON, at, block_on, event, external, name, number, refused, run, usd},
        priced::between,
    },
    usage_customers::{Family, family, of as list},
};

const MARCH: [&str; 2] = ["2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"];

impl Family {
    /// Subscribes the parent to a plan from March on.
    fn made(&self, plan: PlanId, make: impl FnOnce(&mut NewSubscription)) -> Subscription {
        let mut new = NewSubscription::new(self.parent, plan);
        new.start_date = Some(at(MARCH[0]));
        make(&mut new);
        self.fixture.create(new)
    }

    /// What a subscription costs between two instants.
    fn cost(&self, of: &Subscription, [start, end]: [&str; 2]) -> Decimal {
        let timeframe = between(start, end).into();
        self.fixture.cost(of, &CostQuery { timeframe, ..CostQuery::default() }).total
    }

    fn sum(&self) -> Metric {
        block_on(self.fixture.account.fetch_metric(self.metric)).unwrap()
    }

    fn fetch(&self, of: &Subscription) -> Subscription {
        block_on(self.fixture.account.fetch_subscription(of.id)).unwrap()
    }

    /// Uses 300, 200 and 50.
    fn use_all(&self) {
        for (customer, n) in [("a", "300"), ("b", "200"), ("parent", "50")] {
            self.use_now(customer, customer, n);
        }
    }
}

/// The lists of the price intervals.
fn lists(of: &Subscription) -> Vec<Option<UsageCustomers>> {
    of.price_intervals.iter().map(|interval| interval.usage_customers.clone()).collect()
}

/// An edit of the list of an interval.
fn listing(of: &Subscription, place: usize, customers: &[CustomerId]) -> PriceIntervalEdit {
    let usage_customers = Patch::Set(list(customers));
    PriceIntervalEdit { usage_customers, ..PriceIntervalEdit::new(of.price_intervals[place].id) }
}

fn editing(edit: Vec<PriceIntervalEdit>) -> IntervalChanges {
    IntervalChanges { edit, ..IntervalChanges::default() }
}

fn region() -> PropertyName {
    PropertyName::parse("region").unwrap()
}

fn located(customer: &str, key: &str, timestamp: &str, n: &str, value: &str) -> Event {
    let mut event = event(customer, key, at(timestamp), n);
    let own = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    event.properties = own.chain([(region(), PropertyValue::from(value))]).collect();
    event
}

#[test]
fn subscriptions_1_5_1_both_intervals_of_a_trial_have_the_list() {
    let of = family();
    let both = list(&[of.a, of.b]);
    let made = of.made(of.plan.id, |new| {
        new.trial_days = Some(14);
        new.usage_customers = Some(both.clone());
    });
    assert_eq!(lists(&made), [Some(both.clone()), Some(both)]);
    of.use_all();
    let cost = of.fixture.cost(&made, &CostQuery::default());
    assert_eq!((cost.subtotal, cost.total), (number("5"), number("0")), "on trial");
    of.fixture.tick_at("2026-03-20T12:00:00Z");
    of.use_now("b", "later", "100");
    of.use_now("parent", "own", "100");
    let cost = of.fixture.cost(&made, &CostQuery::default());
    assert_eq!((cost.subtotal, cost.total), (number("1"), number("1")), "since the trial");
}

#[test]
fn subscriptions_1_5_1_the_intervals_of_each_phase_have_the_list() {
    let of = family();
    let mut plan = NewPlan::new(name("Ramp"), usd());
    plan.phases = vec![NewPhase::lasting(PhaseDuration::months(1)), NewPhase::evergreen()];
    for (phase, unit_amount) in [(1, "0.01"), (2, "0.02")] {
        plan.prices.push(in_phase(phase, of.fixture.usage_at(unit_amount, &of.sum())).into());
    }
    let plan = run(of.fixture.account.create_plan(plan)).unwrap();
    let both = list(&[of.a, of.b]);
    let made = of.made(plan.id, |new| new.usage_customers = Some(both.clone()));
    assert_eq!(lists(&made), [Some(both.clone()), Some(both.clone())]);
    of.use_all();
    assert_eq!(of.cost(&made, MARCH), number("5"));
    of.fixture.tick_at("2026-04-02T12:00:00Z");
    of.use_now("a", "later", "100");
    of.use_now("parent", "own", "100");
    assert_eq!(of.cost(&made, [MARCH[1], "2026-05-01T00:00:00Z"]), number("2"));
    let later = of.fetch(&made);
    assert_eq!(later.usage_customers, Some(both));
    assert_eq!(of.fixture.usage(&later, &of.sum()).as_deref(), Some("100"));
}

#[test]
fn subscriptions_1_5_2_and_3_a_condition_and_a_list_hold_together() {
    let of = family();
    let eu = || Some(Expression::parse("region = 'eu'").unwrap());
    let make = |customers: Option<&[CustomerId]>| {
        of.made(of.plan.id, |new| (new.filter, new.usage_customers) = (eu(), customers.map(list)))
    };
    let before = make(Some(&[of.a, of.b]));
    let use_all = |round: &str| {
        let used = [
            ("a", "300", "eu"),
            ("a", "10", "us"),
            ("b", "200", "eu"),
            ("b", "1", "us"),
            ("parent", "50", "eu"),
        ];
        let events = used
            .map(|(who, n, place)| located(who, &format!("{who}{place}{round}"), NOON, n, place));
        run(of.fixture.account.ingest(events)).unwrap();
    };
    use_all("1");
    let after = make(Some(&[of.a, of.b]));
    let own = make(None);
    let costs = || [&before, &after, &own].map(|made| of.cost(made, MARCH).to_string());
    assert_eq!(costs(), ["5", "5", "0.5"]);
    use_all("2");
    assert_eq!(costs(), ["10", "10", "1"]);
}

/// Figures of the only metric, slot by slot, by group.
fn series(
    of: &Family,
    made: &Subscription,
    query: &UsageQuery,
) -> BTreeMap<Option<String>, Vec<Decimal>> {
    let found = of.fixture.account.subscription_usage_over(made.id, query);
    let found = block_on(found).unwrap().into_iter().map(|series| {
        let slots = series.usage.iter().map(|slot| slot.quantity.clone().unwrap());
        (series.group.as_ref().and_then(|group| group.value.clone()), slots.collect())
    });
    found.collect()
}

#[test]
fn subscriptions_1_5_6_usage_over_time_is_the_sum_of_the_children() {
    let of = family();
    let both = of.subscribe(Some(&[of.a, of.b]));
    let own = [of.a, of.b].map(|child| of.fixture.subscribe_from(child, &of.plan, Some(MARCH[0])));
    let events = [
        ("a", "2026-03-09T13:00:00Z", "1", "eu"),
        ("b", "2026-03-09T14:00:00Z", "2", "eu"),
        ("b", "2026-03-10T02:00:00Z", "4", "us"),
        ("a", "2026-03-10T03:00:00Z", "8", "eu"),
        ("parent", "2026-03-10T03:00:00Z", "100", "eu"),
    ];
    let events = events.map(|(who, at, n, place)| located(who, n, at, n, place));
    run(of.fixture.account.ingest(events)).unwrap();
    let days = between("2026-03-09T00:00:00Z", "2026-03-11T00:00:00Z");
    for (view, group_by) in [
        (View::Whole, None),
        (View::Periodic, None),
        (View::Cumulative, None),
        (View::Whole, Some(region())),
        (View::Periodic, Some(region())),
    ] {
        let timeframe = days.into();
        let query = UsageQuery { timeframe, view, group_by, ..UsageQuery::default() };
        let mut sum: BTreeMap<Option<String>, Vec<Decimal>> = BTreeMap::new();
        for (group, slots) in own.iter().flat_map(|own| series(&of, own, &query)) {
            let all = sum.entry(group).or_insert_with(|| vec![Decimal::from(0); slots.len()]);
            all.iter_mut().zip(&slots).for_each(|(all, own)| *all += own);
        }
        assert_eq!(series(&of, &both, &query), sum, "{query:?}");
        let whole: Decimal = sum.values().filter_map(|slots| slots.last()).sum();
        assert!(whole != number("0"), "{query:?}");
    }
}

#[test]
fn subscriptions_1_5_7_evaluations_rate_the_named_customer_alone() {
    let of = family();
    of.subscribe(Some(&[of.parent, of.a, of.b]));
    of.use_all();
    let price = of.fixture.prices_of(&of.plan)[0];
    let timeframe = between(MARCH[0], MARCH[1]);
    for (customer, quantity) in [(of.parent, "50"), (of.a, "300"), (of.b, "200")] {
        let one = PriceEvaluation::new(customer, timeframe);
        let groups = of.fixture.evaluate(price, &one).unwrap();
        assert_eq!(groups[0].quantity, number(quantity));
        let price_evaluations = vec![EvaluationEntry::new(price)];
        let all = PriceEvaluations { customer: customer.into(), timeframe, price_evaluations };
        let evaluated = block_on(of.fixture.account.evaluate_prices(&all)).unwrap();
        assert_eq!(evaluated[0].groups, groups);
    }
}

#[test]
fn subscriptions_1_5_8_fees_are_charged_as_without_a_list() {
    let of = invoiced();
    let ada = block_on(of.fixture.account.fetch_customer(external("ada"))).unwrap().id;
    let a = of.fixture.child("a", ada);
    of.fixture.set("2026-12-31T00:00:00Z");
    let listed = of.subscribe_with(JANUARY, |new| new.usage_customers = Some(list(&[a])));
    let plain = of.subscribe(JANUARY);
    of.fixture.set("2027-01-05T00:00:00Z");
    let now = at("2027-01-05T00:00:00Z");
    run(of.fixture.account.ingest([event("a", "1", now, "3"), event("ada", "2", now, "4")]))
        .unwrap();
    of.fixture.tick_at("2027-02-05T00:00:00Z");
    let lines = |made: &Subscription, name: &str| -> Vec<InvoiceLine> {
        let all = of.fixture.invoices(SETTLED).into_iter();
        let own = all.filter(|invoice| invoice.subscription_id == Some(made.id));
        let lines = own.flat_map(|invoice| invoice.lines);
        let mut lines: Vec<_> = lines.filter(|line| line.name.as_str() == name).collect();
        lines.sort_by_key(|line| line.period.start());
        lines
    };
    let fees = |made: &Subscription| {
        let shown = lines(made, "fee").into_iter().map(|line| {
            assert_eq!(line.usage_customers, None);
            (line.amount.to_string(), line.quantity.to_string(), line.period)
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(fees(&listed), fees(&plain));
    assert_eq!(fees(&plain).len(), 2);
    let usage = [&listed, &plain].map(|made| {
        let line = lines(made, "usage").remove(0);
        (line.amount.to_string(), line.usage_customers)
    });
    assert_eq!(usage, [("6".to_owned(), Some(list(&[a]))), ("8".to_owned(), None)]);
}

#[test]
fn subscriptions_1_5_9_the_currency_is_the_subscribers() {
    let of = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let ada = block_on(of.fixture.account.fetch_customer(external("ada"))).unwrap().id;
    let a = of.fixture.child("a", ada);
    let euros = Some(Currency::parse("EUR").unwrap());
    let update = CustomerUpdate { currency: euros, ..CustomerUpdate::default() };
    run(of.fixture.account.update_customer(a, update)).unwrap();
    of.fixture.set("2026-12-31T00:00:00Z");
    of.subscribe_with(JANUARY, |new| new.usage_customers = Some(list(&[a])));
    of.fixture.set("2027-01-05T00:00:00Z");
    of.fixture.use_now("a", "1", "3");
    of.fixture.tick_at("2027-02-05T00:00:00Z");
    let invoices = of.fixture.invoices(SETTLED);
    assert_eq!(all(&invoices), ["00001 issued 2027-02-01: usage 6 = 6"]);
    assert_eq!((invoices[0].currency, invoices[0].customer_id), (usd(), ada));
}

#[test]
fn subscriptions_5_6_8_a_migration_of_the_version_keeps_the_list() {
    let of = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = of.fixture();
    let [a, b] = ["a", "b"].map(|name| fixture.child(name, of.subscription.customer_id));
    let both = list(&[a, b]);
    let made = of.subscribe_with(|new| new.usage_customers = Some(both.clone()));
    let more = NewPrice { name: name("more"), ..fixture.usage_at("4", &of.metric) };
    of.second(PlanVersionChange { add: vec![more.into()], ..PlanVersionChange::default() });
    of.migrate(MigrationTiming::EndOfTerm);
    fixture.tick_at("2027-02-02T00:00:00Z");
    assert_eq!(of.version(made.id), 2);
    let moved = of.of(made.id);
    assert_eq!(moved.usage_customers, Some(both.clone()));
    assert_eq!(lists(&moved), [Some(both.clone()), Some(both)]);
    for (customer, n) in [("a", "1"), ("b", "2"), ("ada", "10")] {
        fixture.use_now(customer, customer, n);
    }
    let cost = fixture.cost(&moved, &CostQuery::default());
    assert_eq!(cost.total, number("18"), "3 at 2 and at 4");
}

#[test]
fn subscriptions_5_6_3_a_replacement_counts_whom_the_replaced_counted() {
    let of = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = of.fixture();
    let a = fixture.child("a", of.subscription.customer_id);
    let edited = of.change(editing(vec![listing(&of.subscription, 0, &[a])]));
    assert_eq!((edited.usage_customers.clone(), lists(&edited)), (None, vec![Some(list(&[a]))]));
    let old = edited.price_intervals[0].price_id;
    let replace = vec![(old, fixture.usage_at("4", &of.metric).into())];
    of.second(PlanVersionChange { replace, ..PlanVersionChange::default() });
    of.migrate(MigrationTiming::EndOfTerm);
    fixture.tick_at("2027-02-02T00:00:00Z");
    let moved = of.of(of.subscription.id);
    assert_eq!(lists(&moved), [Some(list(&[a])), Some(list(&[a]))]);
    fixture.use_now("a", "1", "3");
    fixture.use_now("ada", "2", "10");
    assert_eq!(fixture.cost(&moved, &CostQuery::default()).total, number("12"));
}

#[test]
fn subscriptions_3_1_a_plan_change_that_is_taken_back_leaves_the_list_of_before() {
    let of = family();
    let made = of.subscribe(Some(&[of.a, of.b]));
    let (both, own) = (Some(list(&[of.a, of.b])), Some(list(&[of.parent])));
    let other = of.fixture.priced_plan([of.fixture.usage_at("1", &of.sum()).into()]);
    let mut change = on(&other, "2026-03-20T00:00:00Z");
    change.usage_customers = own.clone();
    let account = &of.fixture.account;
    let changed = run(account.schedule_plan_change(made.id, change)).unwrap();
    assert_eq!(changed.usage_customers, both, "until then");
    assert_eq!(lists(&changed), [both.clone(), own]);
    of.use_all();
    let back = run(account.unschedule_plan_changes(made.id)).unwrap();
    assert_eq!((back.usage_customers.clone(), lists(&back)), (both.clone(), vec![both]));
    of.fixture.tick_at("2026-03-21T00:00:00Z");
    of.use_now("b", "later", "100");
    of.use_now("parent", "own", "1000");
    assert_eq!(of.cost(&made, MARCH), number("6"));
}

#[test]
fn subscriptions_2_1_several_edits_give_each_interval_its_own() {
    let of = family();
    let dear = NewPrice { name: name("dear"), ..of.fixture.usage_at("1", &of.sum()) };
    let prices = [of.fixture.usage_at("0.01", &of.sum()), dear];
    let plan = of.fixture.priced_plan(prices.map(Into::into));
    let made = of.made(plan.id, |_| {});
    of.use_all();
    assert_eq!(of.cost(&made, MARCH), number("50.5"));
    let edits = vec![listing(&made, 0, &[of.a, of.b]), listing(&made, 1, &[of.b])];
    let edited = run(of.fixture.account.change_intervals(made.id, editing(edits))).unwrap();
    assert_eq!(lists(&edited), [Some(list(&[of.a, of.b])), Some(list(&[of.b]))]);
    assert_eq!(of.cost(&made, MARCH), number("205"), "500 at 0.01 and 200 at 1");
    of.use_now("a", "later", "100");
    of.use_now("parent", "own", "1000");
    assert_eq!(of.cost(&made, MARCH), number("206"));
}

#[test]
fn subscriptions_1_5_4_the_list_of_a_fee_is_checked_too() {
    let of = family();
    let made = of.subscribe(None);
    let stranger = of.fixture.customer("stranger").id;
    let fee = run(of.fixture.account.create_price(of.fixture.advance_fee("5"))).unwrap().id;
    let new = NewPriceInterval::new(fee, at("2026-03-10T00:00:00Z"));
    let new = NewPriceInterval { usage_customers: Some(list(&[stranger])), ..new };
    let change = of.fixture.account.change_intervals(made.id, adding(new));
    let text = constraint(refused(&of.fixture, change));
    assert!(text.contains(&stranger.to_string()), "{text}");
}
