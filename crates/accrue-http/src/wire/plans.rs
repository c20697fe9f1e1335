//! Plans and their versions on the wire (wire 5.1).

use accrue::{
    Currency, ExternalId, JsonNumber, Metadata, Name, PriceId,
    plan::{
        self, DefaultVersion, PlanStatus, PlanUpdate, PlanVersion as Number, PlanVersionChange,
        PricedVersion,
    },
    related::Related,
};

use super::{
    carried::{Kept, Stored, carried},
    not_built::{AnyObject, NotBuilt},
    prices::{Nothing, PlanPriceIn, Price},
};
use crate::{
    json::Json,
    problem::{Problem, Violations},
    shape::{
        Describe, Maybe, MetadataIn, Moment, Read, Reader, Schema, Whole, Words, choices,
        metadata_update, new_metadata, request, response,
    },
};

request! {
    /// A plan to create, with its first version.
    pub(crate) struct NewPlan {
        /// What people call it.
        name: Name,
        /// The currency that it is invoiced in.
        currency: Currency,
        /// The prices of its first version.
        prices: Vec<NewPlanPrice>,
        /// The caller's alias for its id.
        external_plan_id: Option<ExternalId>,
        /// What it is.
        description: Option<Words>,
        /// Texts of the caller's own.
        metadata: MetadataIn,
        /// How many days after its issue an invoice is due: stored and given back.
        net_terms: Option<Kept<Whole<0, 1_000_000>>>,
        /// What invoices say where nothing else is said: stored and given back.
        default_invoice_memo: Option<Kept<String>>,
        /// A plan is active; drafts are not available.
        status: Option<NewPlanStatus>,
        /// Not available with a value.
        adjustments: Option<NotBuilt<Vec<AnyObject>>>,
        /// Not available with a value.
        plan_phases: Option<NotBuilt<Vec<AnyObject>>>,
    }

    /// A price of a version to create.
    pub(crate) struct NewPlanPrice {
        /// The price.
        price: Option<PlanPriceIn>,
        /// Not available with a value.
        allocation_price: Option<NotBuilt<AnyObject>>,
        /// Not available with a value.
        license_allocation_price: Option<NotBuilt<AnyObject>>,
        /// Not available with a value.
        plan_phase_order: Option<NotBuilt<JsonNumber>>,
    }

    /// What to change of a plan.
    pub(crate) struct UpdatePlan {
        /// The caller's alias for its id; null removes it.
        external_plan_id: Maybe<ExternalId>,
        /// What it is; null removes it.
        description: Maybe<Words>,
        /// Texts to set, or to remove where they are null; null removes all.
        metadata: MetadataIn,
    }

    /// A version to create from the latest one.
    pub(crate) struct NewVersion {
        /// Its number: one above the highest.
        version: Whole<1, 4_294_967_295>,
        /// Prices that come to those of the latest version.
        add_prices: Option<Vec<NewPlanPrice>>,
        /// Prices of the latest version that go.
        remove_prices: Option<Vec<RemovedPrice>>,
        /// Prices of the latest version that others take the place of.
        replace_prices: Option<Vec<ReplacedPrice>>,
        /// Whether subscriptions are created on it from now on.
        set_as_default: Option<bool>,
        /// Not available with a value.
        add_adjustments: Option<NotBuilt<Vec<AnyObject>>>,
        /// Not available with a value.
        remove_adjustments: Option<NotBuilt<Vec<AnyObject>>>,
        /// Not available with a value.
        replace_adjustments: Option<NotBuilt<Vec<AnyObject>>>,
    }

    /// A price that goes.
    pub(crate) struct RemovedPrice {
        /// Which one.
        price_id: PriceId,
        /// Not available with a value.
        plan_phase_order: Option<NotBuilt<JsonNumber>>,
    }

    /// A price that another takes the place of.
    pub(crate) struct ReplacedPrice {
        /// Which one.
        replaces_price_id: PriceId,
        /// The price that takes its place.
        price: Option<PlanPriceIn>,
        /// Not available with a value.
        allocation_price: Option<NotBuilt<AnyObject>>,
        /// Not available with a value.
        license_allocation_price: Option<NotBuilt<AnyObject>>,
        /// Not available with a value.
        plan_phase_order: Option<NotBuilt<JsonNumber>>,
    }

    /// The version that subscriptions are created on from now on.
    pub(crate) struct SetDefaultVersion {
        /// Its number.
        version: Whole<1, 4_294_967_295>,
    }

    /// Which page of the plans, and which of them.
    pub(crate) struct PlanListQuery {
        /// How many rows a page has at most.
        limit: Option<Whole<1, 100>>,
        /// Where the page begins: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Where they stand.
        status: Option<PlanStatus>,
        /// Created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Moment>,
        /// Created later.
        "created_at[gt]" created_at_gt: Option<Moment>,
        /// Created earlier.
        "created_at[lt]" created_at_lt: Option<Moment>,
        /// Created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Moment>,
    }
}

response! {
    /// A plan, with the prices of one of its versions.
    pub(crate) struct Plan {
        /// Its id.
        id: String,
        /// The caller's alias for the id.
        external_plan_id: Option<ExternalId>,
        /// What people call it.
        name: Name,
        /// What it is; empty where nothing was said.
        description: String,
        /// When it was created.
        created_at: Moment,
        /// Where it stands.
        status: PlanStatus,
        /// The number of the version.
        version: u32,
        /// The prices of the version.
        prices: Vec<Price>,
        /// The currency that it is invoiced in.
        currency: Currency,
        /// The currency that it is invoiced in.
        invoicing_currency: Currency,
        /// How many days after its issue an invoice is due.
        net_terms: Stored,
        /// What invoices say where nothing else is said.
        default_invoice_memo: Stored,
        /// What is sold: the plan itself.
        product: Product,
        /// Whether it begins with a trial: none does.
        trial_config: TrialConfig,
        /// None: prices have adjustments of their own.
        adjustments: Vec<String>,
        /// Always null: plans have no phases.
        plan_phases: Nothing,
        /// Always null: no plan comes from another.
        base_plan: Nothing,
        /// Always null: no plan comes from another.
        base_plan_id: Nothing,
        /// Always null: prices have discounts of their own.
        discount: Nothing,
        /// Always null: prices have minima of their own.
        minimum: Nothing,
        /// Always null: prices have minima of their own.
        minimum_amount: Nothing,
        /// Always null: prices have maxima of their own.
        maximum: Nothing,
        /// Always null: prices have maxima of their own.
        maximum_amount: Nothing,
        /// Texts of the caller's own.
        metadata: Metadata,
    }

    /// What is sold.
    pub(crate) struct Product {
        /// Its id.
        id: String,
        /// What people call it.
        name: Name,
        /// When it was created.
        created_at: Moment,
    }

    /// Whether a plan begins with a trial.
    pub(crate) struct TrialConfig {
        /// How long it is: null, since there is none.
        trial_period: Nothing,
        /// What its length is counted in.
        trial_period_unit: &'static str,
    }

    /// A version of a plan.
    pub(crate) struct PlanVersion {
        /// Its number.
        version: u32,
        /// When it was created.
        created_at: Moment,
        /// Its prices.
        prices: Vec<Price>,
        /// None: prices have adjustments of their own.
        adjustments: Vec<String>,
        /// Always null: plans have no phases.
        plan_phases: Nothing,
    }
}

/// Where a plan stands that is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewPlanStatus {
    Active,
    Draft,
}

choices! {
    PlanStatus {
        "active" => PlanStatus::Active,
        "archived" => PlanStatus::Archived,
        "draft" => PlanStatus::Draft,
    }
    NewPlanStatus {
        "active" => NewPlanStatus::Active,
        "draft" => NewPlanStatus::Draft,
    }
}

/// The number of a version in a path. A text that is none is the number of no version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VersionNumber(pub(crate) Number);

impl Read for VersionNumber {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let Json::String(text) = json else { return reader.unexpected(json, at, "a string") };
        match text.parse() {
            Ok(number) => Some(Self(Number::new(number))),
            Err(_) => reader.unknown("plan version"),
        }
    }
}

impl Describe for VersionNumber {
    fn schema() -> Schema {
        Schema::Integer { least: 1, most: i64::from(u32::MAX) }
    }
}

/// Returns the number that a body has.
pub(crate) fn number<const LEAST: i64, const MOST: i64>(version: Whole<LEAST, MOST>) -> Number {
    Number::new(u32::try_from(version.0).unwrap_or(u32::MAX))
}

impl TryFrom<NewPlan> for plan::NewPlan {
    type Error = Problem;

    fn try_from(new: NewPlan) -> Result<Self, Problem> {
        let mut plan = Self::new(new.name, new.currency);
        let mut violations = Violations::default();
        plan.prices = added("/prices", new.prices, new.currency, &mut violations);
        if !violations.is_empty() {
            return Err(violations.into());
        }
        plan.external_plan_id = new.external_plan_id;
        plan.description = new.description.and_then(|words| words.0);
        plan.metadata = new_metadata(new.metadata);
        plan.carried = carried(&[
            ("net_terms", new.net_terms.as_ref().map(Kept::text)),
            ("default_invoice_memo", new.default_invoice_memo.as_ref().map(Kept::text)),
        ])?;
        if new.status == Some(NewPlanStatus::Draft) {
            return Err(Problem::feature_not_available("drafts of plans are not available"));
        }
        Ok(plan)
    }
}

/// Makes the prices of a list, and tells of each that is missing.
fn added(
    at: &str,
    prices: Vec<NewPlanPrice>,
    currency: Currency,
    violations: &mut Violations,
) -> Vec<plan::PlanPrice> {
    let prices = prices.into_iter().enumerate();
    let given = |(index, new): (usize, NewPlanPrice)| {
        given(new.price, currency, || format!("{at}/{index}"), violations)
    };
    prices.filter_map(given).collect()
}

fn given(
    price: Option<PlanPriceIn>,
    currency: Currency,
    at: impl Fn() -> String,
    violations: &mut Violations,
) -> Option<plan::PlanPrice> {
    if price.is_none() {
        violations.push(format!("{}/price", at()), "is missing");
    }
    price.map(|price| price.into_price(currency).into())
}

impl From<UpdatePlan> for PlanUpdate {
    fn from(update: UpdatePlan) -> Self {
        Self {
            external_plan_id: update.external_plan_id.into(),
            description: update.description.and_then(|words| words.0).into(),
            metadata: metadata_update(update.metadata),
            ..Self::default()
        }
    }
}

impl NewVersion {
    /// Makes what the engine is asked for, for a plan that is invoiced in a currency.
    pub(crate) fn into_change(self, currency: Currency) -> Result<PlanVersionChange, Problem> {
        let mut violations = Violations::default();
        let added = self.add_prices.unwrap_or_default();
        let add = self::added("/add_prices", added, currency, &mut violations);
        let removed = self.remove_prices.into_iter().flatten().map(|removed| removed.price_id);
        let replaced = self.replace_prices.into_iter().flatten().enumerate();
        let replaced = replaced.filter_map(|(index, replaced)| {
            let at = || format!("/replace_prices/{index}");
            let price = given(replaced.price, currency, at, &mut violations)?;
            Some((replaced.replaces_price_id, price))
        });
        let replace = replaced.collect();
        if !violations.is_empty() {
            return Err(violations.into());
        }
        Ok(PlanVersionChange {
            version: Some(number(self.version)),
            add,
            remove: removed.collect(),
            replace,
            default: match self.set_as_default {
                Some(true) => DefaultVersion::Replace,
                Some(false) | None => DefaultVersion::Keep,
            },
        })
    }
}

impl Plan {
    /// Writes a plan with its default version.
    pub(crate) fn of(plan: &plan::Plan, related: &Related) -> Self {
        Self::with_version(plan, plan.version, related)
    }

    /// Writes a plan with one of its versions.
    pub(crate) fn with_version(plan: &plan::Plan, version: Number, related: &Related) -> Self {
        let priced = related.version(plan.id, version);
        let prices = priced.map(|priced| prices(priced, related));
        Self {
            id: plan.id.to_string(),
            external_plan_id: plan.external_plan_id.clone(),
            name: plan.name.clone(),
            description: plan.description.as_deref().unwrap_or_default().to_owned(),
            created_at: plan.created_at.into(),
            status: plan.status(),
            version: version.number(),
            prices: prices.unwrap_or_default(),
            currency: plan.currency,
            invoicing_currency: plan.currency,
            net_terms: Stored::of(&plan.carried, "net_terms"),
            default_invoice_memo: Stored::of(&plan.carried, "default_invoice_memo"),
            product: Product {
                id: plan.id.to_string(),
                name: plan.name.clone(),
                created_at: plan.created_at.into(),
            },
            trial_config: TrialConfig { trial_period: Nothing, trial_period_unit: "days" },
            adjustments: Vec::new(),
            plan_phases: Nothing,
            base_plan: Nothing,
            base_plan_id: Nothing,
            discount: Nothing,
            minimum: Nothing,
            minimum_amount: Nothing,
            maximum: Nothing,
            maximum_amount: Nothing,
            metadata: plan.metadata.clone(),
        }
    }
}

impl PlanVersion {
    /// Writes a version, with what its prices name.
    pub(crate) fn of(version: &PricedVersion, related: &Related) -> Self {
        Self {
            version: version.version.number(),
            created_at: version.created_at.into(),
            prices: prices(version, related),
            adjustments: Vec::new(),
            plan_phases: Nothing,
        }
    }
}

fn prices(version: &PricedVersion, related: &Related) -> Vec<Price> {
    version.prices.iter().map(|price| Price::of(price, related)).collect()
}
