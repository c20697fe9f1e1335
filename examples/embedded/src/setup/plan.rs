//! What it costs: a plan with its prices, and the alerts for everybody who subscribes to it.

use accrue::{
    Account, ExternalId, ItemId, PricingUnit,
    alert::NewAlert,
    plan::NewPlan,
    price::{Cadence, Model, NewPrice, Tier, Tiered, Unit},
};

use super::{
    metrics::{INPUT_TOKENS, Metrics, OUTPUT_TOKENS, REQUESTS},
    words::{credits, decimal, external, name, thresholds, usd},
};

const MONTHLY_FEE: &str = "20";
const INPUT_TOKEN: &str = "0.000001";
/// In credits.
const REQUEST: &str = "0.0025";
/// From above which output token, up to and including which, each one costs how much.
const OUTPUT_TOKEN_TIERS: [(&str, Option<&str>, &str); 3] = [
    ("0", Some("100000"), "0.00001"),
    ("100000", Some("300000"), "0.000008"),
    ("300000", None, "0.000005"),
];

const OUTPUT_TOKENS_THRESHOLDS: [&str; 3] = ["100000", "250000", "400000"];
const COST_THRESHOLDS: [&str; 3] = ["21", "22.5", "25"];

/// Creates the plan with its alerts. Returns its alias.
pub(super) async fn create(
    account: &Account,
    item: ItemId,
    metrics: &Metrics,
) -> Result<ExternalId, accrue::Error> {
    let alias = external("pay-as-you-go");
    let mut plan = NewPlan::new(name("Pay as you go"), usd());
    plan.external_plan_id = Some(alias.clone());
    plan.prices = prices(item, metrics).map(Into::into).into();
    account.create_plan(plan).await?;

    let at = thresholds(&OUTPUT_TOKENS_THRESHOLDS)?;
    let usage = NewAlert::usage_exceeded(metrics.id(OUTPUT_TOKENS), at);
    account.create_plan_alert(alias.clone(), usage).await?;
    let cost = NewAlert::cost_exceeded(thresholds(&COST_THRESHOLDS)?);
    account.create_plan_alert(alias.clone(), cost).await?;
    Ok(alias)
}

fn prices(item: ItemId, metrics: &Metrics) -> [NewPrice; 4] {
    let monthly = |named, unit: PricingUnit| {
        NewPrice::builder(name(named), item).billed(Cadence::Monthly, unit)
    };
    let usage = |metric, unit, model| monthly(metric, unit).usage(metrics.id(metric), model);
    let each = |amount| Model::Unit(Unit::new(decimal(amount)));
    let tiers = OUTPUT_TOKEN_TIERS.map(|(first_unit, last_unit, unit_amount)| {
        Tier::new(decimal(first_unit), last_unit.map(decimal), decimal(unit_amount))
    });
    [
        monthly("monthly fee", usd().into()).fee_in_advance(decimal(MONTHLY_FEE)),
        usage(OUTPUT_TOKENS, usd().into(), Model::Tiered(Tiered::new(tiers))),
        usage(INPUT_TOKENS, usd().into(), each(INPUT_TOKEN)),
        usage(REQUESTS, credits(), each(REQUEST)),
    ]
}
