use accrue::{
    Account, CustomerId, ExternalId, ItemId, Timeframe, Timestamp, Zone,
    alert::NewAlert,
    plan::NewPlan,
    price::{Cadence, Model, NewPrice, Unit},
    subscription::{NewSubscription, Subscription},
};

use crate::{
    Error,
    error::Doing as _,
    setup::{
        Metrics, OUTPUT_TOKENS, REQUESTS, create_item, credits, decimal, external, name,
        new_customer, thresholds, usd, watch,
    },
};

const MONTHLY_FEE: &str = "50";
const OUTPUT_TOKEN: &str = "0.0001";
const COST_THRESHOLDS: [&str; 2] = ["60", "100"];
/// At which balance the alert on low credits fires.
pub(super) const LOW: &str = "20";

/// A customer of the year, as it is written out.
#[derive(Debug)]
pub(super) struct Profile {
    name: &'static str,
    zone: &'static str,
    /// Its first and its last instant: New Year there, and the next one.
    year: [&'static str; 2],
    /// The credits that it is given.
    pub(super) grant: u64,
    /// How many months what it is given lasts.
    pub(super) grant_months: usize,
    /// Whether it is given the same again when that time is over.
    pub(super) is_renewed: bool,
    /// What it buys when its credits run low, if it does.
    pub(super) top_up: Option<u64>,
    /// When it says so, the instant at which it leaves.
    pub(super) leaves: Option<[&'static str; 2]>,
    /// How many requests it makes in a day, month by month.
    pub(super) requests: [u64; 12],
}

const PROFILES: [Profile; 5] = [
    Profile {
        name: "pacific",
        zone: "America/Los_Angeles",
        year: ["2026-01-01T00:00:00-08:00", "2027-01-01T00:00:00-08:00"],
        grant: 100,
        grant_months: 1,
        is_renewed: true,
        top_up: None,
        leaves: None,
        requests: [2, 3, 2, 3, 2, 3, 2, 1, 2, 3, 3, 2],
    },
    Profile {
        name: "spree",
        zone: "Europe/Berlin",
        year: ["2026-01-01T00:00:00+01:00", "2027-01-01T00:00:00+01:00"],
        grant: 200,
        grant_months: 3,
        is_renewed: true,
        top_up: Some(50),
        leaves: None,
        requests: [1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6],
    },
    Profile {
        name: "ganga",
        zone: "Asia/Kolkata",
        year: ["2026-01-01T00:00:00+05:30", "2027-01-01T00:00:00+05:30"],
        grant: 60,
        grant_months: 1,
        is_renewed: true,
        top_up: None,
        leaves: None,
        requests: [1, 2, 4, 1, 1, 5, 2, 1, 3, 2, 6, 1],
    },
    Profile {
        name: "moana",
        zone: "Pacific/Auckland",
        year: ["2026-01-01T00:00:00+13:00", "2027-01-01T00:00:00+13:00"],
        grant: 150,
        grant_months: 3,
        is_renewed: true,
        top_up: None,
        leaves: Some(["2026-08-20T09:00:00+12:00", "2026-09-15T00:00:00+12:00"]),
        requests: [2, 2, 2, 3, 2, 2, 1, 1, 1, 0, 0, 0],
    },
    Profile {
        name: "thames",
        zone: "Europe/London",
        year: ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"],
        grant: 120,
        grant_months: 6,
        is_renewed: false,
        top_up: None,
        leaves: None,
        requests: [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
    },
];

/// A customer that was created, with its subscription.
#[derive(Debug)]
pub(super) struct Customer {
    pub(super) profile: &'static Profile,
    pub(super) id: CustomerId,
    pub(super) external: ExternalId,
    pub(super) subscription: Subscription,
}

/// What was set up before the year began.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) metrics: Metrics,
    pub(super) customers: Vec<Customer>,
}

/// The instant at which everything is set up: it is not 2026 anywhere yet.
pub(super) fn eve() -> Timestamp {
    instant("2025-12-31T00:00:00Z")
}

/// The instant at which it is 2027 in the first of the zones.
pub(super) fn first_new_year() -> Timestamp {
    instant("2026-12-31T11:00:00Z")
}

/// An instant at which it is 2027 everywhere.
pub(super) fn end() -> Timestamp {
    instant("2027-01-02T00:00:00Z")
}

fn instant(text: &str) -> Timestamp {
    Timestamp::parse(text).expect("an instant in RFC 3339")
}

impl Setup {
    /// Creates everything, and subscribes every customer from its own New Year on.
    pub(super) async fn create(account: &Account) -> Result<Self, Error> {
        let item = create_item(account).await.doing("create the item")?;
        let metrics = Metrics::create(account, item).await.doing("create the metrics")?;
        let plan = create_plan(account, item, &metrics).await.doing("create the plan")?;
        let mut customers = Vec::new();
        for profile in &PROFILES {
            let customer = create_customer(account, profile, &plan).await;
            customers.push(customer.doing("create a customer")?);
        }
        Ok(Self { metrics, customers })
    }
}

async fn create_plan(
    account: &Account,
    item: ItemId,
    metrics: &Metrics,
) -> Result<ExternalId, accrue::Error> {
    let alias = external("team");
    let each = |amount| Model::Unit(Unit { unit_amount: decimal(amount) });
    let (monthly, fee) = (Cadence::Monthly, decimal(MONTHLY_FEE));
    let [tokens, requests] = [OUTPUT_TOKENS, REQUESTS].map(|metric| metrics.id(metric));
    let mut plan = NewPlan::new(name("Team"), usd());
    plan.external_plan_id = Some(alias.clone());
    plan.prices = [
        NewPrice::fee_in_advance(name("monthly fee"), item, usd(), monthly, fee),
        NewPrice::usage(name(OUTPUT_TOKENS), item, usd(), monthly, tokens, each(OUTPUT_TOKEN)),
        NewPrice::usage(name(REQUESTS), item, credits(), monthly, requests, each("1")),
    ]
    .map(Into::into)
    .into();
    account.create_plan(plan).await?;
    let cost = NewAlert::cost_exceeded(thresholds(&COST_THRESHOLDS)?);
    account.create_plan_alert(alias.clone(), cost).await?;
    Ok(alias)
}

async fn create_customer(
    account: &Account,
    profile: &'static Profile,
    plan: &ExternalId,
) -> Result<Customer, accrue::Error> {
    let mut new = new_customer(external(profile.name));
    new.timezone = Some(Zone::parse(profile.zone).expect("a zone"));
    let id = account.create_customer(new).await?.id;
    watch(account, id, &[LOW]).await?;
    let mut new = NewSubscription::new(id, plan.clone());
    let [new_year, _] = profile.year;
    new.start_date = Some(instant(new_year));
    let subscription = account.create_subscription(new).await?;
    Ok(Customer { profile, id, external: external(profile.name), subscription })
}

impl Customer {
    /// Returns its year, from its own New Year to the next.
    pub(super) fn year(&self) -> Timeframe {
        let [start, end] = self.profile.year.map(instant);
        Timeframe::new(start, end).expect("a year ends after it starts")
    }

    /// Returns when it says that it leaves, and when it does.
    pub(super) fn leaves(&self) -> Option<[Timestamp; 2]> {
        self.profile.leaves.map(|leaves| leaves.map(instant))
    }

    /// Returns its months, in its own time zone.
    pub(super) fn months(&self) -> Vec<Timeframe> {
        self.subscription.periods().overlapping(self.year()).collect()
    }
}
