//! Usage of other customers that counts for a subscription (subscriptions 1.5).

use accrue::{
    CustomerId, ErrorKind, MetricId, Patch,
    alert::NewAlert,
    backfill::NewBackfill,
    cost::CostQuery,
    customer::{Customer, CustomerUpdate, HierarchyChange},
    subscription::{
        IntervalChanges, NewPriceInterval, NewSubscription, PlanChange, PriceIntervalEdit,
        Subscription, UsageCustomers,
    },
};

use crate::{
    invoices::{SETTLED, all, invoiced_with},
    price_intervals,
    support::{
        credited::{CREDITS, dropped, increment},
        fixture::{
            Fixture, SUM, UNKNOWN, at, block_on, event, external, name, number, refused, run,
            usage_alert,
        },
        priced::{NOTHING, between, cost_alert, unit},
    },
};

/// A customer `parent` with the children `a` and `b`, and a plan of 0.01 for each unit of the sum of `n`.
pub(crate) struct Family {
    pub(crate) fixture: Fixture,
    pub(crate) metric: MetricId,
    pub(crate) plan: accrue::plan::Plan,
    pub(crate) parent: CustomerId,
    pub(crate) a: CustomerId,
    pub(crate) b: CustomerId,
}

pub(crate) fn of(ids: &[CustomerId]) -> UsageCustomers {
    UsageCustomers::new(ids.iter().copied()).unwrap()
}

impl Fixture {
    /// Creates a customer that is a child of another.
    pub(crate) fn child(&self, external: &str, parent: CustomerId) -> CustomerId {
        let child = self.customer(external).id;
        run(self.join(child, parent)).unwrap();
        child
    }

    fn join(&self, child: CustomerId, parent: CustomerId) -> accrue::Call<Customer> {
        self.parent_of(child, Patch::Set(parent))
    }

    pub(crate) fn parent_of(
        &self,
        child: CustomerId,
        parent: Patch<CustomerId>,
    ) -> accrue::Call<Customer> {
        let hierarchy = HierarchyChange { parent, children: Vec::new() };
        self.account.update_customer(child, CustomerUpdate { hierarchy, ..Default::default() })
    }
}

fn constraint(found: (ErrorKind, String), why: &str) {
    let text = price_intervals::constraint(found);
    assert!(text.contains(why), "{text}");
}

pub(crate) fn family() -> Family {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let plan = fixture.priced_plan([fixture.usage_at("0.01", &metric).into()]);
    let parent = fixture.customer("parent").id;
    let [a, b] = ["a", "b"].map(|name| fixture.child(name, parent));
    fixture.messages();
    Family { fixture, metric: metric.id, plan, parent, a, b }
}

impl Family {
    /// Subscribes the parent, with the usage of some customers.
    pub(crate) fn subscribe(&self, customers: Option<&[CustomerId]>) -> Subscription {
        run(self.subscribing(customers)).unwrap()
    }

    fn subscribing(&self, customers: Option<&[CustomerId]>) -> accrue::Call<Subscription> {
        let mut new = NewSubscription::new(self.parent, self.plan.id);
        new.start_date = Some(at("2026-03-01T00:00:00Z"));
        new.usage_customers = customers.map(of);
        self.fixture.account.create_subscription(new)
    }

    pub(crate) fn use_now(&self, customer: &str, key: &str, n: &str) {
        self.fixture.use_now(customer, key, n);
    }

    pub(crate) fn total(&self, of: &Subscription) -> String {
        let timeframe = between("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z").into();
        let whole = CostQuery { timeframe, ..CostQuery::default() };
        let running = self.fixture.cost(of, &CostQuery::default()).total;
        assert_eq!(self.fixture.cost(of, &whole).total, running, "summed up anew");
        running.to_string()
    }

    pub(crate) fn edit(
        &self,
        of: &Subscription,
        to: Patch<UsageCustomers>,
    ) -> accrue::Call<Subscription> {
        let id = of.price_intervals[0].id;
        let edit = PriceIntervalEdit { usage_customers: to, ..PriceIntervalEdit::new(id) };
        let changes = IntervalChanges { edit: vec![edit], ..IntervalChanges::default() };
        self.fixture.account.change_intervals(of.id, changes)
    }
}

#[test]
fn subscriptions_1_5_3_only_usage_of_the_listed_counts_the_subscriber_only_if_listed() {
    let of = family();
    let Family { parent, a, b, .. } = of;
    let before = of.subscribe(Some(&[a, b]));
    let use_all = |round: &str| {
        for (customer, n) in [("a", "300"), ("b", "200"), ("parent", "50")] {
            of.use_now(customer, &format!("{customer}{round}"), n);
        }
    };
    use_all("1");
    let after = of.subscribe(Some(&[a, b]));
    assert_eq!(of.total(&before), "5", "the example of the specification");
    assert_eq!(of.total(&after), "5", "of what was used before, too");
    let all = of.subscribe(Some(&[parent, a, b]));
    let own = of.subscribe(None);
    let one = of.subscribe(Some(&[b]));
    let totals = |expected: [&str; 4]| {
        let found = [&before, &all, &own, &one].map(|subscription| of.total(subscription));
        assert_eq!(found, expected);
    };
    totals(["5", "5.5", "0.5", "2"]);
    use_all("2");
    totals(["10", "11", "1", "4"]);
}

#[test]
fn subscriptions_1_5_1_each_price_interval_shows_its_own() {
    let of = family();
    let Family { parent, a, b, .. } = of;
    let subscription = of.subscribe(Some(&[b, a]));
    assert_eq!(subscription.usage_customers, Some(self::of(&[a, b])));
    assert_eq!(subscription.price_intervals[0].usage_customers, Some(self::of(&[a, b])));
    let add = |customers: Option<UsageCustomers>| {
        let metric = block_on(of.fixture.account.fetch_metric(of.metric)).unwrap();
        let price =
            run(of.fixture.account.create_price(of.fixture.usage_at("1", &metric))).unwrap();
        let start = at("2026-03-01T00:00:00Z");
        let new = NewPriceInterval::new(price.id, start);
        let add = vec![NewPriceInterval { usage_customers: customers, ..new }];
        let changes = IntervalChanges { add, ..IntervalChanges::default() };
        let changed = run(of.fixture.account.change_intervals(subscription.id, changes)).unwrap();
        changed.price_intervals.last().unwrap().usage_customers.clone()
    };
    assert_eq!(add(None), Some(self::of(&[a, b])), "the subscription's");
    assert_eq!(add(Some(self::of(&[parent]))), Some(self::of(&[parent])));
    of.use_now("a", "1", "10");
    of.use_now("parent", "2", "1");
    assert_eq!(of.total(&subscription), "11.1", "10 at 0.01, 10 at 1 and 1 at 1");
}

#[test]
fn subscriptions_1_5_4_each_is_the_subscriber_or_one_of_its_children() {
    let of = family();
    let stranger = of.fixture.customer("stranger").id;
    let (kind, text) = refused(&of.fixture, of.subscribing(Some(&[of.a, stranger])));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains(&stranger.to_string()), "{text}");
    let unknown = UNKNOWN.parse().unwrap();
    let (kind, _) = refused(&of.fixture, of.subscribing(Some(&[unknown])));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
    let error = UsageCustomers::new([]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RequestValidation, "{error}");
    // A child's subscription counts neither its parent's nor its siblings' usage.
    let mut new = NewSubscription::new(of.a, of.plan.id);
    new.usage_customers = Some(self::of(&[of.b]));
    let create = of.fixture.account.create_subscription(new);
    assert_eq!(refused(&of.fixture, create).0, ErrorKind::ConstraintViolation);
    let subscription = of.subscribe(Some(&[of.a]));
    let edit = of.edit(&subscription, Patch::Set(self::of(&[stranger])));
    constraint(refused(&of.fixture, edit), "is no child of");
    let change = |customers| {
        let mut change = PlanChange::immediate(of.plan.id);
        change.usage_customers = Some(customers);
        of.fixture.account.schedule_plan_change(subscription.id, change)
    };
    let changed = change(self::of(&[stranger]));
    constraint(refused(&of.fixture, changed), "is no child of");
}

#[test]
fn subscriptions_1_5_5_a_parent_has_at_most_100_children_and_a_customer_is_in_one_hierarchy() {
    let of = family();
    let Family { fixture, parent, a, b, .. } = &of;
    let other = fixture.customer("other").id;
    for (child, parent, why) in [
        (*a, other, "is a child of"),
        (*parent, *parent, "its own parent"),
        (other, *a, "can have no children"),
        (*parent, other, "has children"),
    ] {
        constraint(refused(fixture, fixture.join(child, parent)), why);
    }
    let add = |children: Vec<CustomerId>| {
        let hierarchy = HierarchyChange { parent: Patch::Keep, children };
        let update = CustomerUpdate { hierarchy, ..CustomerUpdate::default() };
        fixture.account.update_customer(*parent, update)
    };
    let too_many = refused(fixture, add(vec![*a; 101]));
    assert_eq!(too_many.0, ErrorKind::RequestValidation, "{}", too_many.1);
    let more: Vec<_> = (0..98).map(|n| fixture.customer(&format!("child {n}")).id).collect();
    let after = run(add(more.clone())).unwrap();
    assert_eq!(after.hierarchy.children, [vec![*a, *b], more.clone()].concat());
    constraint(refused(fixture, add(vec![other])), "has 100 children");
    // One that is deleted makes room.
    run(fixture.account.delete_customer(more[0])).unwrap();
    run(fixture.join(other, *parent)).unwrap();
    let fetched = block_on(fixture.account.fetch_customer(*parent)).unwrap();
    assert_eq!(fetched.hierarchy.children.len(), 100);
    let child = block_on(fixture.account.fetch_customer(other)).unwrap();
    assert_eq!(child.hierarchy.parent, Some(*parent));
}

#[test]
fn wire_4_3_a_hierarchy_changes_from_either_side_and_all_of_it_is_told() {
    let fixture = Fixture::new();
    let [parent, a] = ["parent", "a"].map(|name| fixture.customer(name).id);
    fixture.messages();
    run(fixture.join(a, parent)).unwrap();
    assert_eq!(fixture.message_types(), ["customer.edited", "customer.edited"]);
    run(fixture.join(a, parent)).unwrap();
    assert_eq!(fixture.message_types(), NOTHING, "it is so already");
    let left = run(fixture.parent_of(a, Patch::Clear)).unwrap();
    assert!(left.hierarchy.is_empty());
    let fetched = block_on(fixture.account.fetch_customer(parent)).unwrap();
    assert!(fetched.hierarchy.is_empty());
    assert_eq!(fixture.message_types(), ["customer.edited", "customer.edited"]);
    // Whoever lost its parent can have another.
    run(fixture.join(a, parent)).unwrap();
    run(fixture.account.delete_customer(parent)).unwrap();
    let other = fixture.customer("other").id;
    assert_eq!(run(fixture.join(a, other)).unwrap().hierarchy.parent, Some(other));
}

#[test]
fn subscriptions_1_5_13_who_counts_for_a_live_subscription_stays_a_child() {
    let of = family();
    let subscription = of.subscribe(Some(&[of.a]));
    let leave = || of.fixture.parent_of(of.a, Patch::Clear);
    constraint(refused(&of.fixture, leave()), &subscription.id.to_string());
    run(of.fixture.parent_of(of.b, Patch::Clear)).unwrap();
    run(of.edit(&subscription, Patch::Set(self::of(&[of.parent])))).unwrap();
    constraint(refused(&of.fixture, leave()), "counts for subscription");
}

#[test]
fn subscriptions_1_5_6_usage_and_cost_include_the_children_whose_own_show_nothing_of_it() {
    let of = family();
    let subscription = of.subscribe(Some(&[of.a, of.b]));
    let own = of.fixture.subscribe(of.a, &of.plan);
    of.use_now("a", "1", "300");
    of.use_now("b", "2", "100");
    let metric = block_on(of.fixture.account.fetch_metric(of.metric)).unwrap();
    assert_eq!(of.fixture.usage(&subscription, &metric).as_deref(), Some("400"));
    assert_eq!(of.fixture.usage(&own, &metric).as_deref(), Some("300"));
    let query = CostQuery::default();
    let costs = block_on(of.fixture.account.customer_costs(of.a, &query)).unwrap();
    assert_eq!(costs[0].total, number("3"), "of its own subscription");
    let costs = block_on(of.fixture.account.customer_costs(of.b, &query)).unwrap();
    assert!(costs.iter().all(|cost| cost.total.is_zero()), "{costs:?}");
}

#[test]
fn subscriptions_1_5_alerts_watch_what_all_of_them_use() {
    let of = family();
    let subscription = of.subscribe(Some(&[of.a, of.b]));
    let alert = |new: NewAlert| {
        run(of.fixture.account.create_subscription_alert(subscription.id, new)).unwrap()
    };
    alert(usage_alert(of.metric, &["400"]));
    alert(cost_alert(&["5"]));
    of.use_now("a", "1", "300");
    of.use_now("parent", "own", "900");
    assert_eq!(of.fixture.told(), NOTHING);
    let (now, account) = (at("2026-03-10T12:00:00Z"), &of.fixture.account);
    run(account.ingest([event("b", "2", now, "150"), event("a", "3", now, "50")])).unwrap();
    let told = ["usage 400: 300 -> 450 by event 2", "cost 5: 4.5 -> 5 by event 3"];
    assert_eq!(of.fixture.told(), told);
}

#[test]
fn subscriptions_1_5_9_credits_are_drawn_from_the_subscriber() {
    let of = family();
    let metric = block_on(of.fixture.account.fetch_metric(of.metric)).unwrap();
    let mut price = of.fixture.usage_at("1", &metric);
    price.currency = unit(CREDITS);
    let plan = of.fixture.priced_plan([price.into()]);
    let mut new = NewSubscription::new(of.parent, plan.id);
    new.usage_customers = Some(self::of(&[of.a, of.b]));
    let account = &of.fixture.account;
    run(account.create_subscription(new)).unwrap();
    for customer in [of.parent, of.a] {
        run(account.create_ledger_entry(customer, increment("100"))).unwrap();
    }
    run(account.create_customer_alert(of.parent, dropped(&["60"]))).unwrap();
    of.fixture.messages();
    of.use_now("a", "1", "30");
    let now = at("2026-03-10T12:00:00Z");
    let batch =
        [event("a", "2", now, "5"), event("parent", "3", now, "5"), event("b", "4", now, "7")];
    run(account.ingest(batch)).unwrap();
    assert_eq!(of.fixture.standing(of.parent, CREDITS), "58: 58, 0");
    assert_eq!(of.fixture.standing(of.a, CREDITS), "100: 100, 0");
    assert_eq!(of.fixture.told().len(), 1);
}

#[test]
fn subscriptions_1_5_10_a_change_of_plan_drops_both() {
    let of = family();
    let subscription = of.subscribe(Some(&[of.a, of.b]));
    of.use_now("a", "1", "300");
    of.use_now("parent", "2", "50");
    of.fixture.set("2026-03-10T12:30:00Z");
    let change = PlanChange::immediate(of.plan.id);
    let changed = run(of.fixture.account.schedule_plan_change(subscription.id, change)).unwrap();
    assert_eq!(changed.usage_customers, None);
    of.fixture.set("2026-03-10T13:00:00Z");
    of.use_now("a", "3", "300");
    of.use_now("parent", "4", "100");
    let timeframe = between("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z").into();
    let query = CostQuery { timeframe, ..CostQuery::default() };
    assert_eq!(of.fixture.cost(&subscription, &query).total, number("4"), "3 before, 1 since");
    let metric = block_on(of.fixture.account.fetch_metric(of.metric)).unwrap();
    assert_eq!(of.fixture.usage(&changed, &metric).as_deref(), Some("150"), "by whom counts now");
}

#[test]
fn subscriptions_2_1_an_edit_lists_others_and_null_clears() {
    let of = family();
    let subscription = of.subscribe(Some(&[of.a]));
    for (customer, n) in [("a", "100"), ("b", "200"), ("parent", "400")] {
        of.use_now(customer, customer, n);
    }
    let edit = |to: Patch<UsageCustomers>| {
        run(of.edit(&subscription, to)).unwrap();
        of.total(&subscription)
    };
    assert_eq!(edit(Patch::Keep), "1");
    assert_eq!(edit(Patch::Set(self::of(&[of.a, of.b]))), "3");
    assert_eq!(edit(Patch::Clear), "4");
    of.use_now("b", "more", "1000");
    assert_eq!(edit(Patch::Set(self::of(&[of.b]))), "12");
}

#[test]
fn subscriptions_1_5_invoices_bill_what_all_of_them_used_and_name_them() {
    let of = invoiced_with(|fixture, metric| {
        let mut usage = fixture.usage_at("2", metric);
        usage.invoice_grouping_key = Some("region".parse().unwrap());
        vec![usage]
    });
    let ada = block_on(of.fixture.account.fetch_customer(external("ada"))).unwrap().id;
    let [a, b] = ["a", "b"].map(|name| of.fixture.child(name, ada));
    of.fixture.set("2026-12-31T00:00:00Z");
    of.subscribe_with("2027-01-01T00:00:00Z", |new| new.usage_customers = Some(self::of(&[a, b])));
    of.fixture.set("2027-01-05T00:00:00Z");
    let now = at("2027-01-05T00:00:00Z");
    let events = [("a", "3"), ("b", "4"), ("ada", "100")];
    let events = events.map(|(customer, n)| event(customer, customer, now, n));
    run(of.fixture.account.ingest(events)).unwrap();
    of.fixture.tick_at("2027-02-05T00:00:00Z");
    let invoices = of.fixture.invoices(SETTLED);
    assert_eq!(all(&invoices), ["00001 issued 2027-02-01: usage 14 = 14"]);
    let line = &invoices[0].lines[0];
    assert_eq!(line.usage_customers, Some(self::of(&[a, b])));
    assert_eq!(line.parts.len(), 1, "{line:?}");
    assert_eq!(line.parts[0].quantity, number("7"), "all without a region");
}

#[test]
fn subscriptions_1_5_whoever_left_is_corrected_and_its_former_parent_goes_on() {
    let of = family();
    let subscription = of.subscribe(None);
    let metric = block_on(of.fixture.account.fetch_metric(of.metric)).unwrap();
    let price = run(of.fixture.account.create_price(of.fixture.usage_at("1", &metric))).unwrap();
    let new = NewPriceInterval::new(price.id, at("2026-03-01T00:00:00Z"));
    let add = vec![NewPriceInterval { usage_customers: Some(self::of(&[of.a])), ..new }];
    let changes = IntervalChanges { add, ..IntervalChanges::default() };
    let changed = run(of.fixture.account.change_intervals(subscription.id, changes)).unwrap();
    let id = changed.price_intervals.last().unwrap().id;
    let edit = PriceIntervalEdit { usage_customers: Patch::Clear, ..PriceIntervalEdit::new(id) };
    let changes = IntervalChanges { edit: vec![edit], ..IntervalChanges::default() };
    run(of.fixture.account.change_intervals(subscription.id, changes)).unwrap();
    run(of.fixture.parent_of(of.a, Patch::Clear)).unwrap();
    // Who was a parent may become a child of who was its child.
    run(of.fixture.parent_of(of.b, Patch::Clear)).unwrap();
    run(of.fixture.join(of.parent, of.a)).unwrap();
    let mut new = NewSubscription::new(of.a, of.plan.id);
    new.usage_customers = Some(self::of(&[of.a, of.parent]));
    let counting = run(of.fixture.account.create_subscription(new)).unwrap();
    let mut new = NewBackfill::new(between("2026-03-10T10:00:00Z", "2026-03-10T11:00:00Z"));
    (new.customer, new.close_time) = (Some(of.a.into()), Some(at("2026-03-10T13:00:00Z")));
    let backfill = run(of.fixture.account.create_backfill(new)).unwrap();
    let filled = event("a", "filled", at("2026-03-10T10:30:00Z"), "7");
    run(of.fixture.account.ingest_backfill(backfill.id, [filled])).unwrap();
    of.fixture.set("2026-03-10T14:00:00Z");
    of.use_now("parent", "own", "50");
    of.fixture.tick();
    assert_eq!(of.total(&subscription), "50.5", "50 at 0.01, and 50 at 1");
    assert_eq!(of.total(&counting), "0.57");
}

#[test]
fn subscriptions_1_5_corrections_of_a_family_come_in_the_order_of_their_instants() {
    let bill = |ticks: bool| {
        let of = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
        let ada = block_on(of.fixture.account.fetch_customer(external("ada"))).unwrap().id;
        let [a, b] = ["a", "b"].map(|name| of.fixture.child(name, ada));
        of.fixture.set("2026-12-31T00:00:00Z");
        let customers = Some(self::of(&[ada, a, b]));
        of.subscribe_with("2027-01-01T00:00:00Z", |new| new.usage_customers = customers);
        of.fixture.set("2027-01-31T12:00:00Z");
        // One is reflected before the invoice is issued, the other one behind it.
        for (who, close) in [
            ("b", "2027-02-01T10:00:00Z"),
            ("a", "2027-02-02T12:30:00Z"),
            ("ada", "2027-02-01T09:00:00Z"),
        ] {
            let mut new = NewBackfill::new(between("2027-01-30T00:00:00Z", "2027-01-30T01:00:00Z"));
            (new.customer, new.close_time) = (Some(external(who).into()), Some(at(close)));
            let backfill = run(of.fixture.account.create_backfill(new)).unwrap();
            let filled = event(who, &format!("filled {who}"), at("2027-01-30T00:30:00Z"), "3");
            run(of.fixture.account.ingest_backfill(backfill.id, [filled])).unwrap();
        }
        if ticks {
            for hour in 0..40 {
                of.fixture.set(&format!("2027-02-{:02}T{:02}:45:00Z", 1 + hour / 24, hour % 24));
                of.fixture.tick();
            }
        }
        of.fixture.set("2027-02-02T14:00:00Z");
        // Whoever writes for this child finds that its own correction comes first.
        let name = Some(name("other"));
        run(of.fixture.account.update_customer(a, CustomerUpdate { name, ..Default::default() }))
            .unwrap();
        of.fixture.tick();
        all(&of.fixture.invoices(SETTLED))
    };
    let expected = bill(true);
    assert!(!expected.is_empty());
    assert_eq!(bill(false), expected);
}

#[test]
fn subscriptions_1_5_a_subscription_has_few_different_lists() {
    let of = family();
    let Family { parent, a, b, .. } = of;
    let subscription = of.subscribe(Some(&[parent, a, b]));
    let metric = block_on(of.fixture.account.fetch_metric(of.metric)).unwrap();
    let add = |customers: &[CustomerId]| {
        let price =
            run(of.fixture.account.create_price(of.fixture.usage_at("1", &metric))).unwrap();
        let new = NewPriceInterval::new(price.id, at("2026-03-01T00:00:00Z"));
        let add = vec![NewPriceInterval { usage_customers: Some(self::of(customers)), ..new }];
        let changes = IntervalChanges { add, ..IntervalChanges::default() };
        of.fixture.account.change_intervals(subscription.id, changes)
    };
    for customers in [&[a][..], &[b], &[parent, a], &[parent, b], &[a]] {
        run(add(customers)).unwrap();
    }
    constraint(refused(&of.fixture, add(&[a, b])), "6 different lists of customers");
}

#[test]
fn subscriptions_1_5_14_what_a_deleted_child_used_counts_on_and_nobody_lists_it_anew() {
    let of = family();
    let subscription = of.subscribe(Some(&[of.a, of.b]));
    of.use_now("a", "1", "300");
    of.use_now("b", "2", "100");
    run(of.fixture.account.delete_customer(of.a)).unwrap();
    of.use_now("b", "3", "100");
    assert_eq!(of.total(&subscription), "5");
    // It stays where it is listed, and is no customer for other lists.
    run(of.edit(&subscription, Patch::Set(self::of(&[of.a])))).unwrap();
    assert_eq!(of.total(&subscription), "3");
    let (kind, _) = refused(&of.fixture, of.subscribing(Some(&[of.a])));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
}
