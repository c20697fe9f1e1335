//! Subscriptions that cost something, and what their alerts tell, as short as tests like it.

use accrue::{
    AlertId, CustomerId, Decimal, PriceId, PricingUnit, Timeframe,
    alert::{Alert, Cause, Exceeded, GroupsExceeded, LicensesReached, NewAlert},
    cost::{Cost, CostQuery},
    metric::Metric,
    plan::{Plan, PlanPrice},
    price::{BillingMode, Cadence, Charge, Model, NewPrice, Unit},
    subscription::{NewSubscription, Subscription},
    webhook::{Body, Message},
};

use crate::support::{
    credited,
    fixture::{Fixture, SUM, at, block_on, number, run, thresholds},
};

/// A customer `ada` on a plan with prices, from noon of the 10th of March 2026 on.
pub(crate) struct Priced {
    pub(crate) fixture: Fixture,
    pub(crate) metric: Metric,
    pub(crate) plan: Plan,
    pub(crate) customer: CustomerId,
    pub(crate) subscription: Subscription,
}

/// Subscribes to prices that may rate the sum of `n`.
pub(crate) fn priced<const N: usize>(
    prices: impl FnOnce(&Fixture, &Metric) -> [NewPrice; N],
) -> Priced {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let prices = prices(&fixture, &metric).map(PlanPrice::from);
    let plan = fixture.priced_plan(prices);
    let customer = fixture.customer("ada").id;
    let subscription = fixture.subscribe(customer, &plan);
    fixture.messages();
    Priced { fixture, metric, plan, customer, subscription }
}

/// A subscription whose only price is 1 for each unit of the sum of `n`.
pub(crate) fn metered() -> Priced {
    priced(|fixture, metric| [fixture.usage_at("1", metric)])
}

impl Priced {
    /// An alert on the subscription.
    pub(crate) fn alert(&self, new: NewAlert) -> Alert {
        let create = self.fixture.account.create_subscription_alert(self.subscription.id, new);
        run(create).unwrap()
    }

    /// An alert on the plan.
    pub(crate) fn plan_alert(&self, new: NewAlert) -> Alert {
        run(self.fixture.account.create_plan_alert(self.plan.id, new)).unwrap()
    }

    /// Ingests one event of `ada` now, with the property `n`.
    pub(crate) fn use_now(&self, key: &str, n: &str) {
        self.fixture.use_now("ada", key, n);
    }

    pub(crate) fn told(&self) -> Vec<String> {
        self.fixture.told()
    }

    /// The prices of the plan, in its order.
    pub(crate) fn prices(&self) -> Vec<PriceId> {
        self.fixture.prices_of(&self.plan)
    }

    /// So many prices that are in no plan.
    pub(crate) fn other_prices(&self, count: usize) -> Vec<PriceId> {
        let new = self.fixture.usage_at("1", &self.metric);
        let create = |_| run(self.fixture.account.create_price(new.clone())).unwrap().id;
        (0..count).map(create).collect()
    }

    /// What the subscription costs in its current billing period.
    pub(crate) fn cost(&self) -> Cost {
        self.fixture.cost(&self.subscription, &CostQuery::default())
    }

    /// What the subscription costs between two instants.
    pub(crate) fn cost_between(&self, start: &str, end: &str) -> Cost {
        let query = CostQuery { timeframe: between(start, end).into(), ..CostQuery::default() };
        self.fixture.cost(&self.subscription, &query)
    }
}

impl Fixture {
    /// A monthly price of so much for each unit of a metric.
    pub(crate) fn usage_at(&self, unit_amount: &str, metric: &Metric) -> NewPrice {
        let mut new = self.per_unit(metric, Cadence::Monthly);
        let model = Model::Unit(Unit::new(number(unit_amount)));
        new.charge = Charge::Usage { metric_id: metric.id, model }.into();
        new
    }

    /// A fee of one unit.
    pub(crate) fn fee_of(&self, amount: &str, cadence: Cadence, mode: BillingMode) -> NewPrice {
        let mut new = self.fee(cadence);
        let model = Model::Unit(Unit::new(number(amount)));
        new.charge = Charge::Fixed { quantity: Decimal::from(1), model, billing_mode: mode }.into();
        new
    }

    pub(crate) fn advance_fee(&self, amount: &str) -> NewPrice {
        self.fee_of(amount, Cadence::Monthly, BillingMode::InAdvance)
    }

    pub(crate) fn arrear_fee(&self, amount: &str) -> NewPrice {
        self.fee_of(amount, Cadence::Monthly, BillingMode::InArrear)
    }

    pub(crate) fn prices_of(&self, plan: &Plan) -> Vec<PriceId> {
        let version = self.account.fetch_plan_version(plan.id, plan.version);
        block_on(version).unwrap().prices.iter().map(|price| price.id).collect()
    }

    pub(crate) fn create(&self, new: NewSubscription) -> Subscription {
        run(self.account.create_subscription(new)).unwrap()
    }

    /// The one cost that a query answers.
    pub(crate) fn cost(&self, subscription: &Subscription, query: &CostQuery) -> Cost {
        let costs = block_on(self.account.subscription_costs(subscription.id, query)).unwrap();
        let [cost] = <[Cost; 1]>::try_from(costs).unwrap();
        cost
    }

    /// Applies everything that is due.
    pub(crate) fn tick(&self) {
        while block_on(self.billing.tick(10)).unwrap().more {}
    }

    /// Reads and acknowledges every message that waits, however many there are.
    pub(crate) fn drain(&self) -> Vec<Message> {
        let mut all = Vec::new();
        loop {
            let messages = self.messages();
            if messages.is_empty() {
                return all;
            }
            all.extend(messages);
        }
    }

    /// Reads and acknowledges every message, and gives those of alerts as
    /// `kind threshold threshold: before -> after by cause`.
    pub(crate) fn told(&self) -> Vec<String> {
        self.drain().iter().filter_map(|message| described(&message.body)).collect()
    }

    /// The same for every message, with its instant, and the begin of an alert's billing period.
    pub(crate) fn dated(&self) -> Vec<String> {
        let describe = |message: &Message| {
            let at = short(message.created_at);
            match exceeded(message) {
                Some(exceeded) => {
                    let of = short(exceeded.timeframe.start());
                    format!("{at} {} of {of}", describe(exceeded))
                }
                None => format!("{at} {}", message.message_type()),
            }
        };
        self.drain().iter().map(describe).collect()
    }

    pub(crate) fn disable(&self, id: AlertId) {
        run(self.account.disable_alert(id)).unwrap();
    }

    pub(crate) fn enable(&self, id: AlertId) {
        run(self.account.enable_alert(id)).unwrap();
    }

    pub(crate) fn rethreshold(&self, id: AlertId, values: &[&str]) {
        run(self.account.update_alert(id, thresholds(values))).unwrap();
    }
}

pub(crate) fn exceeded(message: &Message) -> Option<&Exceeded> {
    exceeded_of(&message.body)
}

fn exceeded_of(body: &Body) -> Option<&Exceeded> {
    match body {
        Body::UsageExceeded(exceeded)
        | Body::CostExceeded(exceeded)
        | Body::SpendExceeded(exceeded) => Some(exceeded),
        _ => None,
    }
}

/// What the message of an alert says.
pub(crate) fn described(body: &Body) -> Option<String> {
    match body {
        Body::CreditBalanceDropped(crossed)
        | Body::CreditBalanceDepleted(crossed)
        | Body::CreditBalanceRecovered(crossed) => Some(credited::describe(crossed)),
        Body::GroupedCostExceeded(exceeded) => Some(describe_groups(exceeded)),
        Body::LicenseBalanceThresholdReached(reached) => Some(describe_licenses(reached)),
        Body::AlertDisabled(of) => {
            Some(format!("disabled: {} groups, at most {}", of.cardinality, of.cardinality_limit))
        }
        _ => exceeded_of(body).map(describe),
    }
}

fn describe_groups(exceeded: &GroupsExceeded) -> String {
    let groups = exceeded.groups.iter().map(|of| {
        assert_eq!(Some(&of.threshold), of.thresholds.last());
        let values = (of.value_before.as_ref(), &of.value_after);
        crossed(&of.group_values.join("/"), &of.thresholds, values)
    });
    let groups: Vec<_> = groups.collect();
    format!("{} by {}", groups.join(", "), cause(&exceeded.cause))
}

fn describe_licenses(reached: &LicensesReached) -> String {
    let licenses = reached.licenses.iter().map(|of| {
        assert_eq!(Some(&of.threshold), of.thresholds.last());
        let values = (of.value_before.as_ref(), &of.value_after);
        crossed(of.external_license_id.as_str(), &of.thresholds, values)
    });
    let licenses: Vec<_> = licenses.collect();
    format!("{} by {}", licenses.join(", "), cause(&reached.cause))
}

/// What somebody has crossed, with the values before and after.
fn crossed(
    who: &str,
    thresholds: &[Decimal],
    (before, after): (Option<&Decimal>, &Decimal),
) -> String {
    let thresholds: Vec<_> = thresholds.iter().map(Decimal::to_string).collect();
    let before = before.map_or("none".to_owned(), Decimal::to_string);
    format!("{who} {}: {before} -> {after}", thresholds.join(" "))
}

fn describe(exceeded: &Exceeded) -> String {
    let kind = exceeded.alert.condition.alert_type().trim_end_matches("_exceeded");
    let values = (exceeded.value_before.as_ref(), &exceeded.value_after);
    format!("{} by {}", crossed(kind, &exceeded.thresholds, values), cause(&exceeded.cause))
}

/// What made an alert fire.
pub(crate) fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Event { idempotency_key, .. } => format!("event {idempotency_key}"),
        Cause::Backfill { .. } => "backfill".to_owned(),
        Cause::Configuration { .. } => "configuration".to_owned(),
        Cause::Period { timestamp } => format!("period {}", short(*timestamp)),
        Cause::Subscription { .. } => "subscription".to_owned(),
        Cause::Credit { .. } => "credit".to_owned(),
        Cause::Expiry { .. } => "expiry".to_owned(),
        other => panic!("{other:?}"),
    }
}

/// An instant without its fraction where that is zero.
fn short(at: accrue::Timestamp) -> String {
    at.to_string().replace(".000000Z", "Z")
}

pub(crate) fn cost_alert(values: &[&str]) -> NewAlert {
    NewAlert::cost_exceeded(thresholds(values))
}

pub(crate) fn spend_alert(currency: &str, values: &[&str]) -> NewAlert {
    NewAlert::spend_exceeded(unit(currency), thresholds(values))
}

pub(crate) fn unit(text: &str) -> PricingUnit {
    PricingUnit::parse(text).unwrap()
}

pub(crate) fn between(start: &str, end: &str) -> Timeframe {
    Timeframe::new(at(start), at(end)).unwrap()
}

pub(crate) const NOTHING: [&str; 0] = [];
