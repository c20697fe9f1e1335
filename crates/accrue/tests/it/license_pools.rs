//! Pools of licenses: what usage draws from them, and what is charged beyond (subscriptions 7.4).

use accrue::{
    CustomerId, ErrorKind, PropertyName, Zone,
    account::Configuration,
    cost::CostQuery,
    credit::NewLedgerEntry,
    invoice::{Invoice, InvoiceStatus},
    license::{LicenseGrouping, LicenseType, LicenseUsage, LicenseUsageQuery},
    metric::Metric,
    plan::{NewPlan, NewPlanVersion, PlanPrice},
    price::{Adjustment, Cadence, Discount, LicenseAllocation, NewAdjustment, NewPrice},
    subscription::{
        FeeQuantityChange, IntervalChanges, IntervalDate, NewPriceInterval, PlanChange,
        PlanChangeTiming,
    },
    usage::{Event, PropertyValue, View},
    webhook::Body,
};

use crate::{
    licenses::{Licensed, START},
    support::{
        credited::CREDITS,
        fixture::{Fixture, SUM, at, block_on, event, name, number, refused, run, usd},
        priced::{between, unit},
    },
};

const CONSTRAINT: ErrorKind = ErrorKind::ConstraintViolation;

/// An event of `n` calls of a user, at an instant that is its key.
pub(crate) fn calls(user: &str, instant: &str, n: &str) -> Event {
    let mut event = event("ada", &format!("{user}/{instant}"), at(instant), n);
    let user = (PropertyName::parse("user").unwrap(), PropertyValue::Text(user.into()));
    let own = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    event.properties = own.chain([user]).collect();
    event
}

/// An account that invoices, and a subscription to five seats with a hundred credits each a month: a call costs one,
/// which is worth half a dollar.
pub(crate) fn pooled(writes_off: bool) -> Licensed {
    pooled_with(|allocation| allocation.write_off_overage = writes_off)
}

fn pooled_with(with: impl FnOnce(&mut LicenseAllocation)) -> Licensed {
    pooled_of(SUM, with)
}

pub(crate) fn pooled_of(sql: &str, with: impl FnOnce(&mut LicenseAllocation)) -> Licensed {
    let fixture = Fixture::new();
    let mut configuration = Configuration::default();
    (configuration.features.invoices, configuration.timezone) = (true, Zone::UTC);
    configuration.grace_period = std::time::Duration::from_secs(28 * 86_400);
    run(fixture.account.configure(configuration)).unwrap();
    let (metric, license_type) = (fixture.metric(sql), fixture.license_type());
    let mut allocation = LicenseAllocation::new(unit(CREDITS), number("100"));
    with(&mut allocation);
    let prices = fixture.pool_prices(&metric, &license_type, allocation);
    let plan = fixture.priced_plan(prices.map(Into::into));
    let fee = fixture.prices_of(&plan)[0];
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe_from(ada.id, &plan, Some(START));
    fixture.tick();
    fixture.messages();
    Licensed { fixture, license_type, subscription, fee }
}

impl Fixture {
    /// Five seats, each with a pool, and what a call costs: one credit, which is worth half a dollar.
    pub(crate) fn pool_prices(
        &self,
        metric: &Metric,
        license_type: &LicenseType,
        allocation: LicenseAllocation,
    ) -> [NewPrice; 2] {
        let mut usage = self.usage_at("1", metric);
        (usage.license_type_id, usage.currency) = (Some(license_type.id), unit(CREDITS));
        usage.conversion_rate = Some(number("0.5").into());
        let mut fee = self.seats(license_type, 5);
        fee.license_allocations = vec![allocation];
        [fee, usage]
    }
}

impl Licensed {
    pub(crate) fn customer(&self) -> CustomerId {
        self.subscription.customer_id
    }

    pub(crate) fn give_credits(&self, amount: &str) {
        let new = NewLedgerEntry::increment(unit(CREDITS), number(amount));
        run(self.fixture.account.create_ledger_entry(self.customer(), new)).unwrap();
    }

    pub(crate) fn take(&self, events: impl IntoIterator<Item = Event>) {
        run(self.fixture.account.ingest(events)).unwrap();
    }

    /// What is left of a thousand credits.
    pub(crate) fn left(&self) -> String {
        self.fixture.standing(self.customer(), CREDITS)
    }

    /// What usage has cost in the current period, in credits.
    pub(crate) fn cost(&self) -> String {
        let query = CostQuery { currency: Some(unit(CREDITS)), ..CostQuery::default() };
        self.fixture.cost(&self.subscription, &query).subtotal.to_string()
    }

    /// The rows of usage, as `name allocated consumed eligible shared remaining`.
    fn figures(&self, query: &LicenseUsageQuery) -> Vec<String> {
        let page = accrue::PageRequest::default();
        let (id, license_type) = (self.subscription.id, self.license_type.id);
        let found = self.fixture.account.license_usage(id, license_type, query, &page);
        let shown = |row: &LicenseUsage| {
            format!(
                "{} {} {} {} {} {}",
                row.external_license_id.as_deref().unwrap_or("all"),
                row.allocated_credits,
                row.consumed_credits,
                row.allocation_eligible_credits,
                row.shared_pool_credits,
                row.remaining_credits
            )
        };
        block_on(found).unwrap().data.iter().map(shown).collect()
    }

    /// Alice is active all March, Bob from the 16th on.
    fn give_march(&self) {
        self.give(self.between("alice", "2026-03-01", ""));
        self.give(self.between("bob", "2026-03-16", ""));
    }

    /// They use what the example says.
    fn use_march(&self) {
        self.fixture.set("2026-03-12T12:00:00Z");
        self.take([
            calls("alice", "2026-03-10T10:00:00Z", "60"),
            calls("bob", "2026-03-12T10:00:00Z", "40"),
        ]);
        self.fixture.set("2026-03-31T12:00:00Z");
        self.take([calls("alice", "2026-03-20T10:00:00Z", "70")]);
        self.take([calls("bob", "2026-03-30T10:00:00Z", "30")]);
    }

    /// The draft that bills March.
    fn bill(&self) -> Invoice {
        let drafts = self.fixture.invoices(&[InvoiceStatus::Draft]);
        drafts.into_iter().find(|of| of.invoice_date == at("2026-04-01T00:00:00Z")).unwrap()
    }

    /// The line of usage, as its quantity, subtotal, credits applied and amount.
    fn line(&self) -> [String; 4] {
        let bill = self.bill();
        let line = bill.lines.iter().find(|line| line.currency == unit(CREDITS)).unwrap();
        [&line.quantity, &line.subtotal, &line.credits_applied, &line.amount]
            .map(ToString::to_string)
    }
}

#[test]
fn subscriptions_7_4_example_of_alice_and_bob() {
    let of = pooled(false);
    of.give_credits("1000");
    of.give_march();
    of.use_march();
    let rows = of.figures(&LicenseUsageQuery::default());
    assert_eq!(rows, ["alice 100 130 130 0 0", "bob 100 70 30 40 70"]);
    assert_eq!(of.left(), "930: 930, 0", "30 of alice and 40 of bob");
    assert_eq!(of.cost(), "70");
    assert_eq!(of.line(), ["200", "70", "70", "0"]);
    // Pools are no entries, and no part of the customer's credits (7.4.13).
    let ledger =
        block_on(of.fixture.account.credit_balance(of.customer(), &unit(CREDITS))).unwrap();
    assert_eq!(ledger.balance, Some(number("930")));
}

#[test]
fn subscriptions_7_4_example_with_write_off_overage() {
    let of = pooled(true);
    of.give_credits("1000");
    of.give_march();
    of.use_march();
    let rows = of.figures(&LicenseUsageQuery::default());
    assert_eq!(rows, ["alice 100 130 130 0 0", "bob 100 70 30 40 70"]);
    assert_eq!(of.left(), "960: 960, 0", "what bob used before he was active");
    assert_eq!(of.line(), ["200", "40", "40", "0"]);
}

#[test]
fn subscriptions_7_4_10_beyond_the_pool_blocks_are_drawn_and_then_it_is_billed() {
    let of = pooled(false);
    of.give_credits("25");
    of.give_march();
    of.use_march();
    assert_eq!(of.left(), "-45: 0, 45");
    // 45 credits at half a dollar.
    assert_eq!(of.line(), ["200", "70", "25", "22.5"]);
    let bill = of.bill();
    let line = bill.lines.iter().find(|line| line.currency == unit(CREDITS)).unwrap();
    let parts = line.sub_lines().into_iter().map(|(part, amount)| {
        format!("{} {} {amount}", part.name.as_deref().unwrap_or_default(), part.quantity)
    });
    let parts: Vec<_> = parts.collect();
    assert_eq!(
        parts,
        ["alice 130 130", "Allocation 1 -100", "bob 40 40", "bob 30 30", "Allocation 1 -30"]
    );
}

#[test]
fn subscriptions_7_4_9_the_pool_is_drawn_event_by_event() {
    let of = pooled(false);
    of.give_credits("1000");
    of.give(of.between("alice", "2026-03-01", ""));
    let mut steps = Vec::new();
    for (hour, n) in [("01", "60"), ("02", "30"), ("03", "25"), ("04", "5")] {
        of.take([calls("alice", &format!("2026-03-10T{hour}:00:00Z"), n)]);
        steps.push(of.left());
    }
    assert_eq!(steps, ["1000: 1000, 0", "1000: 1000, 0", "985: 985, 0", "980: 980, 0"]);
}

#[test]
fn subscriptions_7_4_6_usage_that_names_no_license_is_charged_as_usual() {
    let of = pooled(false);
    of.give_credits("1000");
    of.give(of.between("alice", "2026-03-01", ""));
    of.take([
        event("ada", "without a user", at("2026-03-10T01:00:00Z"), "7"),
        calls("nobody", "2026-03-10T02:00:00Z", "5"),
        calls("alice", "2026-03-10T03:00:00Z", "3"),
    ]);
    assert_eq!((of.left(), of.cost()), ("988: 988, 0".to_owned(), "12".to_owned()));
}

#[test]
fn subscriptions_7_4_4_usage_in_another_currency_is_charged_as_usual() {
    let of = pooled_with(|allocation| allocation.currency = unit("USD"));
    of.give_credits("1000");
    of.give(of.between("alice", "2026-03-01", ""));
    of.take([calls("alice", "2026-03-10T03:00:00Z", "3")]);
    assert_eq!(of.left(), "997: 997, 0");
    // Nothing draws from it: it is there all the same.
    let rows = of.figures(&LicenseUsageQuery::default());
    assert_eq!(rows, ["alice 100 0 0 0 100", "alice 0 3 3 0 0"]);
}

#[test]
fn subscriptions_7_4_4_a_license_has_a_pool_in_each_currency_and_usage_draws_from_its_own() {
    let fixture = Fixture::new();
    let (metric, license_type) = (fixture.metric(SUM), fixture.license_type());
    let allocation = LicenseAllocation::new(unit(CREDITS), number("100"));
    let [mut fee, in_credits] = fixture.pool_prices(&metric, &license_type, allocation);
    fee.license_allocations.push(LicenseAllocation::new(unit("USD"), number("10")));
    let mut in_dollars = fixture.usage_at("0.5", &metric);
    in_dollars.license_type_id = Some(license_type.id);
    let plan = fixture.priced_plan([fee, in_credits, in_dollars].map(Into::into));
    let [fee, _, in_dollars] = fixture.prices_of(&plan)[..] else { panic!("three prices") };
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe_from(ada.id, &plan, Some(START));
    let of = Licensed { fixture, license_type, subscription, fee };
    of.give_credits("1000");
    of.give(of.between("alice", "2026-03-01", ""));
    let dollars = || {
        let query = CostQuery { currency: Some(unit("USD")), ..CostQuery::default() };
        let cost = of.fixture.cost(&of.subscription, &query);
        let line = cost.lines.iter().find(|line| line.price_id == in_dollars);
        line.unwrap().subtotal.to_string()
    };
    of.take([calls("alice", "2026-03-10T03:00:00Z", "30")]);
    assert_eq!(
        (of.left().as_str(), of.cost().as_str(), dollars().as_str()),
        ("1000: 1000, 0", "0", "5")
    );
    of.take([calls("alice", "2026-03-10T04:00:00Z", "80")]);
    assert_eq!(
        (of.left().as_str(), of.cost().as_str(), dollars().as_str()),
        ("990: 990, 0", "10", "45")
    );
}

#[test]
fn subscriptions_7_4_8_a_pool_is_full_again_with_each_period_and_does_not_roll_over() {
    let of = pooled(false);
    of.give_credits("1000");
    of.give(of.between("alice", "2026-03-01", ""));
    of.take([calls("alice", "2026-03-10T03:00:00Z", "20")]);
    of.fixture.set("2026-04-02T12:00:00Z");
    of.take([calls("alice", "2026-04-02T03:00:00Z", "110")]);
    assert_eq!((of.left(), of.cost()), ("990: 990, 0".to_owned(), "10".to_owned()));
    let date = |text: &str| accrue::CivilDate::parse(text).ok();
    let query = LicenseUsageQuery {
        start_date: date("2026-03-01"),
        end_date: date("2026-05-01"),
        ..LicenseUsageQuery::default()
    };
    // Of March 80 are lost.
    assert_eq!(of.figures(&query), ["alice 200 130 130 0 80"]);
    let grouping = LicenseGrouping::LicenseAndDay;
    let days = LicenseUsageQuery {
        start_date: date("2026-04-01"),
        end_date: date("2026-04-03"),
        grouping,
    };
    assert_eq!(of.figures(&days), ["alice 100 0 0 0 100", "alice 100 110 110 0 0"]);
}

#[test]
fn subscriptions_7_4_13_a_pool_is_no_entry_of_a_ledger_and_none_of_the_customers_credits() {
    let of = pooled(false);
    of.give(of.between("alice", "2026-03-01", ""));
    of.take([calls("alice", "2026-03-10T03:00:00Z", "20")]);
    let account = &of.fixture.account;
    let page = accrue::PageRequest::first_of_ledger(1_000).unwrap();
    let (ledger, any) = (unit(CREDITS), accrue::credit::LedgerFilter::default());
    let entries = account.list_ledger_entries(of.customer(), &ledger, &any, &page);
    assert_eq!(block_on(entries).unwrap().data, []);
    let balance = block_on(account.credit_balance(of.customer(), &ledger)).unwrap();
    assert_eq!((balance.balance, of.cost()), (None, "0".to_owned()));
}

#[test]
fn subscriptions_7_4_8_a_pool_ends_with_the_license_and_another_license_has_its_own() {
    let of = pooled(false);
    of.give_credits("1000");
    let first = of.give(of.between("alice", "2026-03-01", ""));
    of.take([calls("alice", "2026-03-10T03:00:00Z", "90")]);
    of.end(first.id, "2026-03-11").unwrap();
    of.fixture.set("2026-03-14T12:00:00Z");
    of.take([calls("alice", "2026-03-11T00:00:00Z", "5")]);
    assert_eq!(of.left(), "995: 995, 0", "it is not active any more");
    of.give(of.between("alice", "2026-03-13", ""));
    of.take([calls("alice", "2026-03-13T00:00:00Z", "100")]);
    assert_eq!(of.left(), "995: 995, 0", "it has a pool of its own");
    of.take([calls("alice", "2026-03-14T00:00:00Z", "1")]);
    assert_eq!(of.left(), "994: 994, 0");
    assert_eq!(of.cost(), "6");
}

#[test]
fn subscriptions_7_4_12_and_7_6_5_a_message_with_each_period_tells_of_full_pools() {
    let of = pooled(false);
    let told = || -> Vec<_> {
        let messages = of.fixture.drain().into_iter();
        let resets = messages.filter_map(|message| match message.body {
            Body::LicenseAllocationReset { timeframe, pools, .. } => {
                let amounts = pools.iter().map(|pool| format!("{} {}", pool.amount, pool.currency));
                let text =
                    format!("{} {}", timeframe.start(), amounts.collect::<Vec<_>>().join(", "));
                Some((message.created_at, text))
            }
            _ => None,
        });
        resets.collect()
    };
    assert_eq!(told(), [], "that of March was told of with the first tick");
    of.fixture.set("2026-05-02T00:00:00Z");
    of.fixture.tick();
    let of_month = |start: &str| (at(start), format!("{} 100 credits", at(start)));
    let expected = ["2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z"].map(of_month);
    assert_eq!(told(), expected);
}

#[test]
fn subscriptions_7_4_prices_that_cannot_draw_from_one_pool_are_refused() {
    let fixture = Fixture::new();
    let (metric, license_type) = (fixture.metric(SUM), fixture.license_type());
    let mut usage = fixture.usage_at("1", &metric);
    (usage.license_type_id, usage.currency) = (Some(license_type.id), unit(CREDITS));
    let mut fee = fixture.seats(&license_type, 5);
    fee.license_allocations = vec![LicenseAllocation::new(unit(CREDITS), number("100"))];
    let planned = |prices: &[NewPrice]| {
        let prices = prices.iter().cloned().map(PlanPrice::from);
        let mut new = NewPlan::new(name("plan"), usd());
        new.prices = prices.collect();
        run(fixture.account.create_plan(new)).err().map(|error| error.kind())
    };
    assert_eq!(planned(&[fee.clone(), usage.clone()]), None);
    let twice = [fee.clone(), usage.clone(), usage.clone()];
    assert_eq!(planned(&twice), Some(CONSTRAINT), "both would draw from one pool");
    let annual = NewPrice { cadence: Cadence::Annual, ..usage.clone() };
    assert_eq!(planned(&[fee.clone(), annual]), Some(CONSTRAINT), "periods are others");
    let in_usd = NewPrice { currency: unit("USD"), cadence: Cadence::Annual, ..usage.clone() };
    assert_eq!(planned(&[fee.clone(), usage, in_usd]), None, "it draws from nothing");
}

#[test]
fn subscriptions_7_4_a_second_price_that_would_draw_is_refused_for_a_subscription() {
    let of = pooled(false);
    let metric = of.fixture.metric(SUM);
    let mut usage = of.fixture.usage_at("1", &metric);
    (usage.license_type_id, usage.currency) = (Some(of.license_type.id), unit(CREDITS));
    let add = |new: NewPrice| IntervalChanges {
        add: vec![NewPriceInterval::new(new, IntervalDate::At(at("2026-04-01T00:00:00Z")))],
        ..IntervalChanges::default()
    };
    let change = |new| of.fixture.account.change_intervals(of.subscription.id, add(new));
    assert_eq!(refused(&of.fixture, change(usage.clone())).0, CONSTRAINT);
    run(change(NewPrice { license_type_id: None, ..usage })).unwrap();
}

#[test]
fn subscriptions_7_4_costs_of_days_add_up_to_the_invoice() {
    let of = pooled(false);
    of.give_march();
    of.use_march();
    let query = CostQuery {
        currency: Some(unit(CREDITS)),
        timeframe: between("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z").into(),
        view: View::Periodic,
    };
    let costs =
        block_on(of.fixture.account.subscription_costs(of.subscription.id, &query)).unwrap();
    let days = costs.iter().filter(|of| !of.subtotal.is_zero());
    let days: Vec<_> = days.map(|of| format!("{} {}", of.timeframe.start(), of.subtotal)).collect();
    let on = |day: &str, amount: &str| format!("{} {amount}", at(&format!("{day}T00:00:00Z")));
    assert_eq!(days, [on("2026-03-12", "40"), on("2026-03-20", "30")]);
    assert_eq!(of.line()[1], "70");
}

#[test]
fn subscriptions_7_4_7_another_allocation_counts_for_periods_that_its_fee_is_in_force_in() {
    let of = pooled(false);
    of.give_credits("1000");
    of.give(of.between("alice", "2026-03-01", ""));
    of.take([calls("alice", "2026-03-10T03:00:00Z", "130")]);
    assert_eq!(of.left(), "970: 970, 0");
    let change = FeeQuantityChange::immediate(of.fee, number("7"));
    run(of.fixture.account.update_fixed_fee_quantity(of.subscription.id, change)).unwrap();
    assert_eq!(of.left(), "970: 970, 0", "more seats are no more credits of each");
    let mut fee = of.fixture.seats(&of.license_type, 5);
    fee.license_allocations = vec![LicenseAllocation::new(unit(CREDITS), number("150"))];
    let usage = of.subscription.price_intervals[1].price_id;
    let prices = [PlanPrice::from(fee), PlanPrice::from(usage)];
    let plan = of.subscription.plan_id.unwrap();
    let version = run(of.fixture.account.create_plan_version(plan, NewPlanVersion::new(prices)));
    let version = version.unwrap();
    let april = PlanChangeTiming::RequestedDate(at("2026-04-01T00:00:00Z"));
    let mut change = PlanChange::immediate(plan);
    change.when = april;
    change.plan_version = Some(version.version);
    run(of.fixture.account.schedule_plan_change(of.subscription.id, change)).unwrap();
    assert_eq!(of.left(), "970: 970, 0");
    of.fixture.set("2026-04-02T12:00:00Z");
    of.take([calls("alice", "2026-04-02T03:00:00Z", "160")]);
    assert_eq!(of.left(), "960: 960, 0");
}

#[test]
fn subscriptions_7_4_units_are_not_taken_off_usage_that_draws() {
    let fixture = Fixture::new();
    let (metric, license_type) = (fixture.metric(SUM), fixture.license_type());
    let mut usage = fixture.usage_at("1", &metric);
    (usage.license_type_id, usage.currency) = (Some(license_type.id), unit(CREDITS));
    let mut fee = fixture.seats(&license_type, 5);
    fee.license_allocations = vec![LicenseAllocation::new(unit(CREDITS), number("100"))];
    let off = Discount::Usage(number("10"));
    let mut new = NewPlan::new(name("plan"), usd());
    let mut own = usage.clone();
    own.adjustments.discounts = vec![off.clone()];
    new.prices = vec![fee.clone().into(), own.into()];
    let refused = |new| run(fixture.account.create_plan(new)).unwrap_err().kind();
    assert_eq!(refused(new.clone()), CONSTRAINT);
    new.prices = vec![fee.into(), usage.into()];
    new.adjustments = vec![NewAdjustment::new(Adjustment::Discount(off))];
    assert_eq!(refused(new), CONSTRAINT);
}
