//! Prices that give credits with their periods (subscriptions 9.3, 1.2).

use accrue::{
    CustomerId, Decimal, ErrorKind, IdOr,
    credit::{BlockSource, CreditBlock, CreditBlockFilter},
    plan::{NewPlan, Plan, PlanPrice},
    price::{
        AllocationExpiry, Cadence, CreditAllocation, Cycle, FilterOperator, FilterValues,
        NewAllocationPrice, PriceClass, PriceFilter,
    },
    subscription::{
        AddedPrice, Cancellation, FeeQuantityChange, NewPriceInterval, NewSubscription,
        PriceIntervalEdit, ReplacedPrice, Subscription,
    },
};

use crate::{
    changed_plans::on,
    invoices::{DRAFT, Invoiced, SETTLED, all},
    price_intervals::{adding, constraint},
    support::{
        credited::CREDITS,
        fixture::{Fixture, at, block_on, external, name, number, refused, run, usd},
        priced::unit,
    },
};

const APRIL: &str = "2027-04-01T00:00:00Z";
const MAY: &str = "2027-05-01T00:00:00Z";

/// 500 credits each month, at 0.02, which are lost with the month.
fn allocation() -> NewAllocationPrice {
    let mut new = NewAllocationPrice::new(unit(CREDITS), number("500"), Cadence::Monthly);
    new.expiry = AllocationExpiry::EndOfCadence;
    new.per_unit_cost_basis = number("0.02").into();
    new
}

fn free(expiry: AllocationExpiry) -> NewAllocationPrice {
    let per_unit_cost_basis = Decimal::zero().into();
    NewAllocationPrice { expiry, per_unit_cost_basis, ..allocation() }
}

/// An account that invoices, and usage of one credit for each unit.
struct Allocated {
    invoiced: Invoiced,
    customer: CustomerId,
}

impl Allocated {
    fn new() -> Self {
        let invoiced = crate::invoices::invoiced_with(|fixture, metric| {
            let mut usage = fixture.usage_at("1", metric);
            usage.currency = unit(CREDITS);
            usage.conversion_rate = Some(number("0.1").into());
            vec![usage]
        });
        invoiced.fixture.set(APRIL);
        let ada = block_on(invoiced.fixture.account.fetch_customer(external("ada"))).unwrap();
        Self { invoiced, customer: ada.id }
    }

    fn fixture(&self) -> &Fixture {
        &self.invoiced.fixture
    }

    /// The plan of the account, with a price more.
    fn plan(&self, new: impl Into<PlanPrice>) -> Plan {
        let usage = self.fixture().prices_of(&self.invoiced.plan)[0];
        let mut plan = NewPlan::new(name("plan"), usd());
        plan.prices = vec![usage.into(), new.into()];
        run(self.fixture().account.create_plan(plan)).unwrap()
    }

    /// Subscribes `ada` to it.
    fn subscribe(&self, start: &str, new: impl Into<PlanPrice>) -> Subscription {
        let plan = self.plan(new);
        let ada: IdOr<_> = external("ada").into();
        let mut new = NewSubscription::new(ada, plan.id);
        new.anchor = accrue::subscription::BillingAnchor::FirstOfMonth;
        new.start_date = Some(at(start));
        let created = run(self.fixture().account.create_subscription(new)).unwrap();
        self.fixture().tick();
        created
    }

    fn every_block(&self) -> Vec<CreditBlock> {
        let filter = CreditBlockFilter { include_all_blocks: true, ..Default::default() };
        self.fixture().blocks(self.customer, filter)
    }

    /// All blocks, oldest first, as `balance of what was given, until its expiry`.
    fn blocks(&self) -> Vec<String> {
        let show = |block: &CreditBlock| {
            let given = block.maximum_initial_balance.clone().unwrap_or_default();
            let until = block.expiry_date.map(|at| at.to_string()[..10].to_owned());
            format!("{} of {given} until {}", block.balance, until.unwrap_or("-".into()))
        };
        self.every_block().iter().map(show).collect()
    }

    fn balance(&self) -> Decimal {
        let credits = unit(CREDITS);
        let found = self.fixture().account.credit_balance(self.customer, &credits);
        block_on(found).unwrap().balance.unwrap_or_default()
    }
}

#[test]
fn subscriptions_9_3_1_and_6_to_8_credits_are_given_with_each_cadence_and_invoiced() {
    let of = Allocated::new();
    let fixture = of.fixture();
    let subscription = of.subscribe(APRIL, allocation());
    assert_eq!(of.blocks(), ["500 of 500 until 2027-05-01"]);
    let settled = all(&fixture.invoices(SETTLED));
    assert_eq!(settled, ["00001 issued 2027-04-01: Included Allocation (credits) 10 = 10"]);
    let types = fixture.message_types();
    assert!(types.contains(&"customer.credit_ledger_incremented"), "{types:?}");

    fixture.set("2027-04-10T00:00:00Z");
    of.invoiced.use_at("a", "2027-04-10T00:00:00Z", "120");
    assert_eq!(of.blocks(), ["380 of 500 until 2027-05-01"]);
    fixture.tick_at(MAY);
    assert_eq!(of.blocks(), ["0 of 500 until 2027-05-01", "500 of 500 until 2027-06-01"]);
    let [first, _] = of.every_block().try_into().unwrap();
    assert_eq!((first.source, first.effective_date), (BlockSource::Allocation, Some(at(APRIL))));
    let allocation = first.allocation.unwrap();
    assert_eq!(allocation.subscription_id, subscription.id);
    assert!(!allocation.terms.allows_rollover());
    fixture.tick_at("2027-05-05T00:00:00Z");
    let settled = all(&fixture.invoices(SETTLED));
    let may = "00002 issued 2027-05-01: usage 0, Included Allocation (credits) 10 = 10";
    assert_eq!(settled[0], may, "120 are paid for by credits");
}

#[test]
fn subscriptions_9_3_with_rollover_it_is_there_with_the_next() {
    let of = Allocated::new();
    of.subscribe(APRIL, free(AllocationExpiry::Never));
    of.fixture().set("2027-04-10T00:00:00Z");
    of.invoiced.use_at("a", "2027-04-10T00:00:00Z", "120");
    of.fixture().tick_at(MAY);
    assert_eq!(of.blocks(), ["380 of 500 until -", "500 of 500 until -"]);
    assert_eq!(of.balance(), number("880"));
    assert_eq!(
        all(&of.fixture().invoices(DRAFT)),
        ["DRAFT draft 2027-06-01: usage 0 = 0", "DRAFT draft 2027-05-01: usage 0 = 0"],
        "what costs nothing is on no invoice"
    );
}

#[test]
fn subscriptions_9_3_2_a_custom_expiration_runs_from_the_grant_on() {
    let of = Allocated::new();
    of.subscribe("2027-04-16T09:00:00Z", free(AllocationExpiry::After(Cycle::Days(45))));
    of.fixture().tick_at(MAY);
    let expected = ["500 of 500 until 2027-05-31", "500 of 500 until 2027-06-15"];
    assert_eq!(of.blocks(), expected);
    let first = of.every_block()[0].expiry_date;
    assert_eq!(first, Some(at("2027-05-31T09:00:00Z")));
    of.fixture().tick_at("2027-06-01T00:00:00Z");
    assert_eq!(of.balance(), number("1000"));
}

#[test]
fn subscriptions_9_3_3_a_partial_period_gives_and_costs_all_of_it() {
    let of = Allocated::new();
    let subscription = of.subscribe("2027-04-20T00:00:00Z", allocation());
    of.fixture().tick_at("2027-04-20T00:00:00Z");
    assert_eq!(of.blocks(), ["500 of 500 until 2027-05-01"]);
    let settled = all(&of.fixture().invoices(SETTLED));
    assert_eq!(settled, ["00001 issued 2027-04-20: Included Allocation (credits) 10 = 10"]);
    of.fixture().tick_at(MAY);
    let end = Cancellation::RequestedDate(at("2027-05-11T00:00:00Z"));
    run(of.fixture().account.cancel_subscription(subscription.id, end)).unwrap();
    assert_eq!(of.blocks()[1], "500 of 500 until 2027-05-11");
    of.fixture().tick_at("2027-06-05T00:00:00Z");
    let total: Decimal = of.fixture().invoices(SETTLED).iter().map(|of| of.total.clone()).sum();
    assert_eq!(total, number("20"), "two periods, and no note");
}

#[test]
fn subscriptions_9_3_4_one_time_gives_once() {
    let of = Allocated::new();
    let once = NewAllocationPrice { cadence: Cadence::OneTime, ..free(AllocationExpiry::Never) };
    of.subscribe(APRIL, once.clone());
    of.fixture().tick_at("2027-07-01T00:00:00Z");
    assert_eq!(of.blocks(), ["500 of 500 until -"]);
    let ends = NewAllocationPrice { expiry: AllocationExpiry::EndOfCadence, ..once };
    let mut plan = NewPlan::new(name("plan"), usd());
    plan.prices = vec![ends.into()];
    let (kind, message) = refused(of.fixture(), of.fixture().account.create_plan(plan));
    assert_eq!(kind, ErrorKind::RequestValidation);
    assert!(message.contains("prices[0].allocation_price.expires_at_end_of_cadence"), "{message}");
}

#[test]
fn subscriptions_9_3_5_with_the_end_its_credits_expire_and_others_stay() {
    let of = Allocated::new();
    let subscription = of.subscribe(APRIL, free(AllocationExpiry::Never));
    let fixture = of.fixture();
    fixture.set("2027-04-02T00:00:00Z");
    let bought = accrue::credit::NewLedgerEntry::increment(unit(CREDITS), number("7"));
    run(fixture.account.create_ledger_entry(of.customer, bought)).unwrap();
    fixture.set("2027-04-10T00:00:00Z");
    let end = Cancellation::RequestedDate(at("2027-04-20T00:00:00Z"));
    run(fixture.account.cancel_subscription(subscription.id, end)).unwrap();
    assert_eq!(of.blocks(), ["500 of 500 until 2027-04-20", "7 of 7 until -"]);
    fixture.tick();
    run(fixture.account.unschedule_cancellation(subscription.id)).unwrap();
    assert_eq!(of.blocks(), ["500 of 500 until -", "7 of 7 until -"]);
    fixture.tick();
    run(fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate)).unwrap();
    assert_eq!(of.blocks(), ["0 of 500 until 2027-04-10", "7 of 7 until -"]);
    assert_eq!(of.balance(), number("7"));
}

#[test]
fn subscriptions_9_3_5_a_plan_change_ends_the_credits_of_the_old_plan() {
    let of = Allocated::new();
    let subscription = of.subscribe(APRIL, free(AllocationExpiry::Never));
    let fixture = of.fixture();
    let mut other = free(AllocationExpiry::Never);
    other.amount = number("80");
    let other = of.plan(other);
    fixture.tick_at("2027-04-10T00:00:00Z");
    let change = on(&other, "2027-04-21T00:00:00Z");
    run(fixture.account.schedule_plan_change(subscription.id, change.clone())).unwrap();
    assert_eq!(of.blocks(), ["500 of 500 until 2027-04-21"]);
    fixture.tick();
    run(fixture.account.unschedule_plan_changes(subscription.id)).unwrap();
    assert_eq!(of.blocks(), ["500 of 500 until -"]);
    fixture.tick();
    run(fixture.account.schedule_plan_change(subscription.id, change)).unwrap();
    fixture.tick_at("2027-04-21T00:00:00Z");
    assert_eq!(of.blocks(), ["0 of 500 until 2027-04-21", "80 of 80 until -"]);
}

#[test]
fn subscriptions_9_3_5_with_its_interval_its_credits_expire() {
    let of = Allocated::new();
    let subscription = of.subscribe(APRIL, free(AllocationExpiry::Never));
    let fixture = of.fixture();
    fixture.tick_at("2027-04-10T00:00:00Z");
    let gives = &subscription.price_intervals[1];
    let end = PriceIntervalEdit::ending(gives.id, at("2027-04-05T00:00:00Z"));
    let changes = accrue::subscription::IntervalChanges { edit: vec![end], ..Default::default() };
    run(fixture.account.change_intervals(subscription.id, changes)).unwrap();
    assert_eq!(of.blocks(), ["0 of 500 until 2027-04-10"], "it is lost now, and not before");
    fixture.tick();
    let more = NewPriceInterval::new(allocation(), at("2027-04-10T00:00:00Z"));
    run(fixture.account.change_intervals(subscription.id, adding(more))).unwrap();
    fixture.tick();
    assert_eq!(of.blocks()[1], "500 of 500 until 2027-05-01");
    fixture.tick_at("2027-06-01T00:00:00Z");
    assert_eq!(of.blocks().len(), 4);
}

#[test]
fn subscriptions_1_7_10_credits_are_given_from_the_end_of_the_trial_on() {
    let of = Allocated::new();
    let plan = of.plan(allocation());
    let mut new = NewSubscription::new(of.customer, plan.id);
    (new.start_date, new.trial_days) = (Some(at(APRIL)), Some(14));
    run(of.fixture().account.create_subscription(new)).unwrap();
    of.fixture().tick_at("2027-04-14T00:00:00Z");
    assert!(of.blocks().is_empty());
    of.fixture().tick_at("2027-04-15T00:00:00Z");
    assert_eq!(of.blocks(), ["500 of 500 until 2027-05-01"]);
    of.fixture().tick_at(MAY);
    assert_eq!(of.blocks()[1], "500 of 500 until 2027-06-01");
}

#[test]
fn subscriptions_3_2_17_what_the_old_plan_gave_expires_and_what_was_granted_stays() {
    let of = Allocated::new();
    let subscription = of.subscribe(APRIL, free(AllocationExpiry::Never));
    let fixture = of.fixture();
    fixture.tick_at("2027-04-02T00:00:00Z");
    let granted = accrue::credit::NewLedgerEntry::increment(unit(CREDITS), number("7"));
    run(fixture.account.create_ledger_entry(of.customer, granted)).unwrap();
    let change = on(&of.invoiced.plan, "2027-04-21T00:00:00Z");
    run(fixture.account.schedule_plan_change(subscription.id, change)).unwrap();
    fixture.tick_at("2027-04-20T00:00:00Z");
    assert_eq!(of.balance(), number("507"));
    fixture.tick_at("2027-04-21T00:00:00Z");
    assert_eq!(of.blocks(), ["0 of 500 until 2027-04-21", "7 of 7 until -"]);
    assert_eq!(of.balance(), number("7"));
}

#[test]
fn subscriptions_1_2_a_subscription_has_allocations_of_its_own() {
    let of = Allocated::new();
    let fixture = of.fixture();
    let plan = of.plan(free(AllocationExpiry::EndOfCadence));
    let [_, given] = fixture.prices_of(&plan).try_into().unwrap();
    let ada: IdOr<_> = external("ada").into();
    let mut new = NewSubscription::new(ada, plan.id);
    let mut more = free(AllocationExpiry::EndOfCadence);
    more.amount = number("3");
    new.prices.replace = vec![ReplacedPrice::by(given, more.clone())];
    more.amount = number("4");
    new.prices.add = vec![AddedPrice::new(more)];
    run(fixture.account.create_subscription(new)).unwrap();
    fixture.tick();
    let mut found = of.blocks();
    found.sort();
    assert_eq!(found, ["3 of 3 until 2027-05-01", "4 of 4 until 2027-05-01"]);
}

#[test]
fn subscriptions_9_3_its_price_is_a_fee_of_the_item_of_its_credits() {
    let of = Allocated::new();
    let fixture = of.fixture();
    let price = |plan: &Plan| {
        let id = fixture.prices_of(plan)[1];
        block_on(fixture.account.fetch_price(id)).unwrap()
    };
    let [one, other] = [(), ()].map(|()| price(&of.plan(allocation())));
    assert_eq!(one.name.as_str(), "Included Allocation (credits)");
    assert_eq!(one.item_id, other.item_id, "all allocations of a unit share an item");
    assert_eq!(one.currency, usd().into());
    let CreditAllocation { currency, expiry, .. } = one.credit_allocation.clone().unwrap();
    assert_eq!((currency, expiry), (unit(CREDITS), AllocationExpiry::EndOfCadence));
    let item = fixture.item();
    let own = NewAllocationPrice { item_id: Some(item.id), ..allocation() };
    assert_eq!(price(&of.plan(own)).name, item.name);

    let subscription = of.subscribe(APRIL, allocation());
    let gives = subscription.price_intervals[1].price_id;
    let change = FeeQuantityChange::immediate(gives, number("7"));
    let call = fixture.account.update_fixed_fee_quantity(subscription.id, change);
    assert!(constraint(refused(fixture, call)).contains("gives credits"));
}

#[test]
fn subscriptions_9_3_filters_go_to_the_block() {
    let of = Allocated::new();
    let other = of.fixture().item().id;
    let only = |values| PriceFilter { operator: FilterOperator::Includes, values };
    let mut new = free(AllocationExpiry::Never);
    new.filters = vec![only(FilterValues::ItemId([other].into()))];
    of.subscribe(APRIL, new.clone());
    of.fixture().set("2027-04-10T00:00:00Z");
    of.invoiced.use_at("a", "2027-04-10T00:00:00Z", "120");
    assert_eq!(of.blocks()[0], "500 of 500 until -", "usage is of another item");
    assert_eq!(of.every_block()[0].filters, new.filters);
    new.filters = vec![only(FilterValues::PriceType([PriceClass::Usage].into()))];
    let mut plan = NewPlan::new(name("plan"), usd());
    plan.prices = vec![new.into()];
    let (kind, message) = refused(of.fixture(), of.fixture().account.create_plan(plan));
    assert_eq!(kind, ErrorKind::RequestValidation);
    assert!(message.contains("prices[0].allocation_price.filters[0].field"), "{message}");
}

#[test]
fn subscriptions_9_3_what_is_wrong_with_an_allocation_is_refused() {
    let of = Allocated::new();
    let fixture = of.fixture();
    let check = |new: NewAllocationPrice, expect: &str| {
        let mut plan = NewPlan::new(name("plan"), usd());
        plan.prices = vec![new.into()];
        let (kind, message) = refused(fixture, fixture.account.create_plan(plan));
        assert_eq!(kind, ErrorKind::RequestValidation, "{message}");
        assert!(message.contains(expect), "{message}");
    };
    check(
        NewAllocationPrice { amount: Decimal::zero(), ..allocation() },
        "allocation_price.amount",
    );
    let below = number("-1").into();
    let below = NewAllocationPrice { per_unit_cost_basis: below, ..allocation() };
    check(below, "allocation_price.per_unit_cost_basis");
    let custom = Cadence::Custom(Cycle::Days(3));
    check(NewAllocationPrice { cadence: custom, ..allocation() }, "allocation_price.cadence");
    let never = AllocationExpiry::After(Cycle::Days(0));
    check(free(never), "allocation_price.custom_expiration.duration");
    fixture.credits(false);
    fixture.messages();
    let mut plan = NewPlan::new(name("plan"), usd());
    plan.prices = vec![allocation().into()];
    let (kind, _) = refused(fixture, fixture.account.create_plan(plan));
    assert_eq!(kind, ErrorKind::FeatureNotAvailable);
}

#[test]
fn late_time_gives_what_each_period_would_have() {
    let of = Allocated::new();
    of.subscribe(APRIL, free(AllocationExpiry::EndOfCadence));
    of.fixture().tick_at("2027-07-10T00:00:00Z");
    let expected = [
        "0 of 500 until 2027-05-01",
        "0 of 500 until 2027-06-01",
        "0 of 500 until 2027-07-01",
        "500 of 500 until 2027-08-01",
    ];
    assert_eq!(of.blocks(), expected);
}

#[test]
fn what_is_overdrawn_is_invoiced_and_not_paid_off_by_what_comes_next() {
    let of = Allocated::new();
    of.subscribe(APRIL, free(AllocationExpiry::EndOfCadence));
    of.fixture().set("2027-04-10T00:00:00Z");
    of.invoiced.use_at("a", "2027-04-10T00:00:00Z", "620");
    assert_eq!(of.balance(), number("-120"));
    of.fixture().tick_at(MAY);
    of.fixture().tick_at("2027-05-05T00:00:00Z");
    assert_eq!(all(&of.fixture().invoices(SETTLED)), ["00001 issued 2027-05-01: usage 12 = 12"]);
    assert_eq!(of.blocks().last().unwrap(), "500 of 500 until 2027-06-01");
    assert_eq!(of.balance(), number("500"));
}

#[test]
fn an_expiry_that_the_caller_has_moved_stays_but_for_the_end_of_the_price() {
    let of = Allocated::new();
    let subscription = of.subscribe(APRIL, free(AllocationExpiry::EndOfCadence));
    let fixture = of.fixture();
    fixture.set("2027-04-10T00:00:00Z");
    let block = of.every_block()[0].id;
    let later = at("2027-12-31T00:00:00Z");
    let moved = accrue::credit::NewLedgerEntry::expiration_change(unit(CREDITS), block, later);
    run(fixture.account.create_ledger_entry(of.customer, moved)).unwrap();
    let end = Cancellation::RequestedDate(at("2027-08-01T00:00:00Z"));
    run(fixture.account.cancel_subscription(subscription.id, end)).unwrap();
    assert_eq!(of.blocks()[1], "500 of 500 until 2027-08-01");
    fixture.tick();
    run(fixture.account.unschedule_cancellation(subscription.id)).unwrap();
    assert_eq!(of.blocks()[1], "500 of 500 until 2027-12-31");
}

#[test]
fn a_price_that_begins_anew_at_the_begin_of_a_period_gives_in_place_of_what_it_gave() {
    let of = Allocated::new();
    let subscription = of.subscribe(APRIL, free(AllocationExpiry::Never));
    let fixture = of.fixture();
    fixture.tick_at("2027-04-10T00:00:00Z");
    let plan = block_on(fixture.account.fetch_plan(subscription.plan_id.unwrap())).unwrap();
    let change = on(&plan, APRIL);
    run(fixture.account.schedule_plan_change(subscription.id, change)).unwrap();
    fixture.tick();
    assert_eq!(of.balance(), number("500"));
    let gives = &of.every_block()[1].allocation.clone().unwrap();
    let moved = block_on(fixture.account.fetch_subscription(subscription.id)).unwrap();
    assert_eq!(moved.price_intervals.last().unwrap().id, gives.price_interval_id);
    let mut earlier = PriceIntervalEdit::new(gives.price_interval_id);
    earlier.start_date = Some(at("2027-03-01T00:00:00Z").into());
    let changes =
        accrue::subscription::IntervalChanges { edit: vec![earlier], ..Default::default() };
    let call = fixture.account.change_intervals(subscription.id, changes);
    assert_eq!(refused(fixture, call).0, ErrorKind::ConstraintViolation);
}

#[test]
fn usage_from_before_a_subscription_draws_on_what_it_gives() {
    let of = Allocated::new();
    of.fixture().set("2027-04-10T00:00:00Z");
    of.invoiced.use_at("a", "2027-04-10T00:00:00Z", "120");
    of.subscribe(APRIL, free(AllocationExpiry::EndOfCadence));
    assert_eq!(of.blocks(), ["380 of 500 until 2027-05-01"]);
}
