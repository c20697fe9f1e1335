//! Plans and their versions on the wire (wire 5.1).

use std::{borrow::Cow, collections::BTreeMap};

use accrue::{
    Currency, ExternalId, Metadata, Name, PriceId,
    plan::{
        self, DefaultVersion, PlanStatus, PlanUpdate, PlanVersion as Number, PlanVersionChange,
        PricedVersion,
    },
    price::{self, NewAdjustment, NewPrice, PhaseOrder, ScopedAdjustment},
    related::Related,
};

use super::{
    adjustments::{
        Adjustment, NewPlanAdjustment, PlanDiscount, PlanMaximum, PlanMinimum, RemovedAdjustment,
        ReplacedAdjustment,
    },
    amounts::Amount,
    carried::{Kept, carried, text, whole},
    pages::Limit,
    phases::{self, NewPlanPhase, PhaseNumber, PlanPhase, PlanVersionPhase, TrialConfig, phases},
    prices::{LicensePriceIn, NewAllocationPriceIn, PlanPriceIn, Price},
};
use crate::{
    json::Json,
    problem::Problem,
    shape::{
        Describe, Fields, Maybe, MetadataIn, Moment, Nothing, Read, Reader, Schema, Whole, Words,
        choices, metadata_update, new_metadata, request, response,
    },
    wire::dates::{Date, created},
};

request! {
    /// A plan to create, with its first version.
    pub(crate) struct NewPlan {
        /// Its name.
        name: Name,
        /// Currency of its invoices.
        currency: Currency,
        /// Prices of its first version.
        prices: Vec<NewPlanPrice>,
        /// External id: the caller's own alias.
        external_plan_id: Option<ExternalId>,
        /// Its description.
        description: Option<Words>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
        /// Days that customers have to pay, where their subscription says nothing else.
        net_terms: Option<Kept<Whole<0, 365>>>,
        /// Text for the customer on invoices that have none of their own.
        default_invoice_memo: Option<Kept<String>>,
        /// Its status: no subscription is created on a draft, until the host makes it active.
        status: Option<NewPlanStatus>,
        /// Discounts, minimums and maximums over its prices.
        adjustments: Option<Vec<NewPlanAdjustment>>,
        /// Phases, one after the other: each price and adjustment is of one of them then.
        plan_phases: Option<Vec<NewPlanPhase>>,
    }

    /// A price of a version to create.
    pub(crate) struct NewPlanPrice => names_one_price {
        /// Price.
        price: Option<PlanPriceIn>,
        /// Credits that are given with each period, in place of a price.
        allocation_price: Option<NewAllocationPriceIn>,
        /// Price of licenses, with what each of them may use in a period, in place of a price.
        license_allocation_price: Option<LicensePriceIn>,
        /// Number of the phase that the price is of, where the plan has phases.
        plan_phase_order: Option<PhaseNumber>,
    }

    /// Changes to a plan.
    pub(crate) struct UpdatePlan {
        /// Its name from now on; null keeps it.
        name: Option<Name>,
        /// External id: the caller's own alias; null removes it.
        external_plan_id: Maybe<ExternalId>,
        /// Its description; null removes it.
        description: Maybe<Words>,
        /// Metadata to set, or to remove where a value is null; null removes all.
        metadata: MetadataIn,
    }

    /// A version to create from the latest one.
    pub(crate) struct NewVersion {
        /// Its number: one above the highest.
        version: Whole<1, 4_294_967_295>,
        /// Prices to add to those of the latest version.
        add_prices: Option<Vec<NewPlanPrice>>,
        /// Prices of the latest version to remove.
        remove_prices: Option<Vec<RemovedPrice>>,
        /// Prices of the latest version to replace by others.
        replace_prices: Option<Vec<ReplacedPrice>>,
        /// True if it becomes the default version, that of new subscriptions.
        set_as_default: Option<bool>,
        /// Adjustments to add to those of the latest version.
        add_adjustments: Option<Vec<NewPlanAdjustment>>,
        /// Adjustments of the latest version to remove.
        remove_adjustments: Option<Vec<RemovedAdjustment>>,
        /// Adjustments of the latest version to replace by others.
        replace_adjustments: Option<Vec<ReplacedAdjustment>>,
    }

    /// A price to remove.
    pub(crate) struct RemovedPrice {
        /// Id of the price.
        price_id: PriceId,
        /// Number of the phase that the price is of, where the plan has phases.
        plan_phase_order: Option<PhaseNumber>,
    }

    /// A price to replace by another.
    pub(crate) struct ReplacedPrice => names_one_price {
        /// Id of the price to replace.
        replaces_price_id: PriceId,
        /// Price that takes its place.
        price: Option<PlanPriceIn>,
        /// Credits that are given with each period, in place of a price.
        allocation_price: Option<NewAllocationPriceIn>,
        /// Price of licenses, with what each of them may use in a period, in place of a price.
        license_allocation_price: Option<LicensePriceIn>,
        /// Number of the phase that the price is of, where the plan has phases.
        plan_phase_order: Option<PhaseNumber>,
    }

    /// The default version of a plan: that of new subscriptions.
    pub(crate) struct SetDefaultVersion {
        /// Its number.
        version: Whole<1, 4_294_967_295>,
    }

    /// Filters and page of a list of plans.
    pub(crate) struct PlanListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Status of the plans.
        status: Option<PlanStatus>,
        /// Plans created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Date>,
        /// Plans created after this instant.
        "created_at[gt]" created_at_gt: Option<Date>,
        /// Plans created before this instant.
        "created_at[lt]" created_at_lt: Option<Date>,
        /// Plans created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Date>,
    }
}

created!(PlanListQuery);

response! {
    /// A plan, with the prices of one of its versions.
    pub(crate) struct Plan {
        /// Its id.
        id: String,
        /// External id: the caller's own alias.
        external_plan_id: Option<ExternalId>,
        /// Its name.
        name: Name,
        /// Its description; empty where nothing was said.
        description: String,
        /// Instant of its creation.
        created_at: Moment,
        /// Its status.
        status: PlanStatus,
        /// Number of the version.
        version: u32,
        /// Prices of the version.
        prices: Vec<Price>,
        /// Currency of its invoices.
        currency: Currency,
        /// Currency of its invoices.
        invoicing_currency: Currency,
        /// Number of days between issue and due date of an invoice.
        net_terms: Option<u32>,
        /// Memo of invoices that have none of their own.
        default_invoice_memo: Option<String>,
        /// Product that is sold: the plan itself.
        product: Product,
        /// Trial that it begins with.
        trial_config: TrialConfig,
        /// Discounts, minimums and maximums over its prices.
        adjustments: Vec<Adjustment>,
        /// Its phases; null where it has none.
        plan_phases: Option<Vec<PlanPhase>>,
        /// Always null: no plan comes from another.
        base_plan: Nothing,
        /// Always null: no plan comes from another.
        base_plan_id: Nothing,
        /// The first discount of its adjustments.
        discount: Option<PlanDiscount>,
        /// The first minimum of its adjustments.
        minimum: Option<PlanMinimum>,
        /// Amount of that minimum.
        minimum_amount: Option<Amount>,
        /// The first maximum of its adjustments.
        maximum: Option<PlanMaximum>,
        /// Amount of that maximum.
        maximum_amount: Option<Amount>,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
    }

    /// The product that is sold.
    pub(crate) struct Product {
        /// Its id.
        id: String,
        /// Its name.
        name: Name,
        /// Instant of its creation.
        created_at: Moment,
    }

    /// A version of a plan.
    pub(crate) struct PlanVersion {
        /// Its number.
        version: u32,
        /// Instant of its creation.
        created_at: Moment,
        /// Its prices.
        prices: Vec<Price>,
        /// Discounts, minimums and maximums over its prices.
        adjustments: Vec<Adjustment>,
        /// The phases of the plan; null where it has none.
        plan_phases: Option<Vec<PlanVersionPhase>>,
    }
}

/// The status of a plan to create.
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
        plan.prices = added(new.prices, new.currency);
        plan.adjustments = new.adjustments.into_iter().flatten().map(NewAdjustment::from).collect();
        plan.phases = phases(new.plan_phases)?;
        plan.external_plan_id = new.external_plan_id;
        plan.description = new.description.and_then(|words| words.0);
        plan.metadata = new_metadata(new.metadata);
        plan.carried = carried(&[
            ("net_terms", new.net_terms.as_ref().map(Kept::text)),
            ("default_invoice_memo", new.default_invoice_memo.as_ref().map(Kept::text)),
        ])?;
        plan.is_draft = new.status == Some(NewPlanStatus::Draft);
        Ok(plan)
    }
}

fn names_one_price(fields: &Fields<'_>, reader: &mut Reader) {
    fields.names_one_of(&["price", "allocation_price", "license_allocation_price"], reader);
}

/// Makes the prices of a list.
fn added(prices: Vec<NewPlanPrice>, currency: Currency) -> Vec<plan::PlanPrice> {
    let prices = prices.into_iter();
    let given = |new: NewPlanPrice| {
        let phase = new.plan_phase_order.map(phases::phase);
        let licenses = new.license_allocation_price;
        given((new.price, new.allocation_price, licenses), phase, currency)
    };
    prices.filter_map(given).collect()
}

/// A price of a list, in one of its forms.
type GivenPrice = (Option<PlanPriceIn>, Option<NewAllocationPriceIn>, Option<LicensePriceIn>);

fn given(
    (price, allocation, licenses): GivenPrice,
    plan_phase_order: Option<PhaseOrder>,
    currency: Currency,
) -> Option<plan::PlanPrice> {
    let price = price.map(|of| of.into_price(currency));
    let price = price.or_else(|| Some(licenses?.into_price(currency)));
    let price = price.map(|of| NewPrice { plan_phase_order, ..of }.into());
    price.or_else(|| {
        let of = allocation?.into_price();
        Some(price::NewAllocationPrice { plan_phase_order, ..of }.into())
    })
}

impl From<NewPlanAdjustment> for NewAdjustment {
    fn from(new: NewPlanAdjustment) -> Self {
        let plan_phase_order = new.plan_phase_order.map(phases::phase);
        Self { plan_phase_order, ..new.adjustment.0 }
    }
}

impl From<UpdatePlan> for PlanUpdate {
    fn from(update: UpdatePlan) -> Self {
        Self {
            name: update.name,
            external_plan_id: update.external_plan_id.into(),
            description: update.description.and_then(|words| words.0).into(),
            metadata: metadata_update(update.metadata),
            ..Self::default()
        }
    }
}

impl NewVersion {
    /// Makes the change for the engine, of a plan that is invoiced in a currency.
    pub(crate) fn into_change(self, currency: Currency) -> Result<PlanVersionChange, Problem> {
        let add = added(self.add_prices.unwrap_or_default(), currency);
        let mut price_phases = BTreeMap::new();
        let mut note = |id: PriceId, said: Option<PhaseNumber>| {
            price_phases.extend(said.map(|said| (id, phases::phase(said))));
            id
        };
        let removed = self.remove_prices.into_iter().flatten();
        let removed: Vec<_> =
            removed.map(|removed| note(removed.price_id, removed.plan_phase_order)).collect();
        let replaced = self.replace_prices.into_iter().flatten();
        let replaced = replaced.filter_map(|replaced| {
            let price = given(
                (replaced.price, replaced.allocation_price, replaced.license_allocation_price),
                None,
                currency,
            )?;
            Some((note(replaced.replaces_price_id, replaced.plan_phase_order), price))
        });
        let replace = replaced.collect();
        let adjustments = self.add_adjustments.into_iter().flatten();
        let gone: Vec<_> = self.remove_adjustments.into_iter().flatten().collect();
        let said = gone
            .iter()
            .filter_map(|of| Some((of.adjustment_id, phases::phase(of.plan_phase_order?))));
        let adjustment_phases = said.collect();
        let others = self.replace_adjustments.into_iter().flatten();
        Ok(PlanVersionChange {
            version: Some(number(self.version)),
            add,
            remove: removed,
            replace,
            price_phases,
            add_adjustments: adjustments.map(NewAdjustment::from).collect(),
            remove_adjustments: gone.iter().map(|of| of.adjustment_id).collect(),
            replace_adjustments: others
                .map(|of| {
                    let plan_phase_order = of.plan_phase_order.map(phases::phase);
                    let new = NewAdjustment { plan_phase_order, ..of.adjustment.0 };
                    (of.replaces_adjustment_id, new)
                })
                .collect(),
            adjustment_phases,
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
        let currency = plan.currency;
        let adjustments = priced.map(|priced| Adjustment::of_version(priced, currency));
        let minimum = priced.and_then(|priced| PlanMinimum::first(priced, None, currency));
        let maximum = priced.and_then(|priced| PlanMaximum::first(priced, None, currency));
        Self {
            id: plan.id.to_string(),
            external_plan_id: plan.external_plan_id.clone(),
            name: plan.name.clone(),
            description: plan.description.as_deref().unwrap_or_default().to_owned(),
            created_at: plan.created_at.into(),
            status: plan.status,
            version: version.number(),
            prices: prices.unwrap_or_default(),
            currency: plan.currency,
            invoicing_currency: plan.currency,
            net_terms: whole(&plan.carried, "net_terms"),
            default_invoice_memo: text(&plan.carried, "default_invoice_memo"),
            product: Product {
                id: plan.id.to_string(),
                name: plan.name.clone(),
                created_at: plan.created_at.into(),
            },
            trial_config: TrialConfig::of(plan),
            adjustments: adjustments.unwrap_or_default(),
            plan_phases: PlanPhase::all(plan, priced, currency),
            base_plan: Nothing,
            base_plan_id: Nothing,
            discount: priced.and_then(|priced| PlanDiscount::first(priced, None, currency)),
            minimum_amount: minimum.as_ref().map(|of| of.minimum_amount.clone()),
            minimum,
            maximum_amount: maximum.as_ref().map(|of| of.maximum_amount.clone()),
            maximum,
            metadata: plan.metadata.clone(),
        }
    }
}

impl PlanVersion {
    /// Writes a version, with the resources that its prices name.
    pub(crate) fn of(version: &PricedVersion, related: &Related) -> Self {
        let plan = related.plan(version.plan_id);
        let adjustments = plan.map(|plan| Adjustment::of_version(version, plan.currency));
        Self {
            version: version.version.number(),
            created_at: version.created_at.into(),
            prices: prices(version, related),
            adjustments: adjustments.unwrap_or_default(),
            plan_phases: plan.and_then(PlanVersionPhase::all),
        }
    }
}

fn prices(version: &PricedVersion, related: &Related) -> Vec<Price> {
    let prices = version.prices.iter().map(|price| {
        let replaced = version.replaces.get(&price.id).copied();
        Price::of(&adjusted(price, version), related).in_place_of(replaced)
    });
    prices.collect()
}

/// Returns a price with what a version adjusts of it by itself, behind its own adjustments (invoicing 14.4).
fn adjusted<'a>(price: &'a price::Price, version: &PricedVersion) -> Cow<'a, price::Price> {
    let mut shown = Cow::Borrowed(price);
    let of_price = |of: &&ScopedAdjustment| !of.scope.is_invoice_level && of.scope.holds(price);
    for of in version.adjustments.iter().filter(of_price) {
        let own = &mut shown.to_mut().adjustments;
        match &of.adjustment {
            price::Adjustment::Discount(discount) => own.discounts.push(discount.clone()),
            price::Adjustment::Minimum(least) => {
                own.minimum.get_or_insert_with(|| least.clone());
            }
            price::Adjustment::Maximum(most) => {
                own.maximum.get_or_insert_with(|| most.clone());
            }
            _ => {}
        }
    }
    shown
}
