use accrue::{
    Account, ExternalId, ItemId, PricingUnit, Zone,
    alert::NewAlert,
    plan::NewPlan,
    price::{Cadence, Model, NewPrice, Unit},
    subscription::NewSubscription,
};

use super::{
    calendar::instant,
    customer::Customer,
    profile::{PROFILES, Profile},
};
use crate::{
    Error,
    error::Doing as _,
    setup::{
        Metrics, OUTPUT_TOKENS, REQUESTS, create_item, credits, decimal, external, name,
        new_customer, thresholds, turn_invoices_on, usd, watch,
    },
};

const MONTHLY_FEE: &str = "50";
const OUTPUT_TOKEN: &str = "0.0001";
const COST_THRESHOLDS: [&str; 1] = ["70"];
/// At which balance the alert on low credits fires.
pub(super) const LOW: &str = "20";

/// What was set up before the year began.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) metrics: Metrics,
    pub(super) customers: Vec<Customer>,
}

impl Setup {
    /// Creates everything, and subscribes every customer from its own New Year on.
    pub(super) async fn create(account: &Account) -> Result<Self, Error> {
        turn_invoices_on(account).await.doing("turn invoices on")?;
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
    let each = |amount| Model::Unit(Unit::new(decimal(amount)));
    let monthly = |named, unit: PricingUnit| {
        NewPrice::builder(name(named), item).billed(Cadence::Monthly, unit)
    };
    let [tokens, requests] = [OUTPUT_TOKENS, REQUESTS].map(|metric| metrics.id(metric));
    let mut plan = NewPlan::new(name("Team"), usd());
    plan.external_plan_id = Some(alias.clone());
    plan.prices = [
        monthly("monthly fee", usd().into()).fee_in_advance(decimal(MONTHLY_FEE)),
        monthly(OUTPUT_TOKENS, usd().into()).usage(tokens, each(OUTPUT_TOKEN)),
        monthly(REQUESTS, credits()).usage(requests, each("1")),
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
