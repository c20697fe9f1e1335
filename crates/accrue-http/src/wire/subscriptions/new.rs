use accrue::{
    Currency, CustomerId, Decimal, ExternalId, IdOr, JsonNumber, Name, PlanId, RedemptionCode,
    Zone,
    expression::Expression,
    plan::PlanVersion,
    price::NewAdjustment,
    subscription::{self, AddedAdjustment, AdjustmentChanges, BillingAnchor, UsageCustomers},
};

use super::price_changes::{
    AddedPriceIn, LeftOutPrice, PriceChangesIn, ReplacingPrice, check_overrides, has_local_date,
    needs_currency,
};
use crate::{
    problem::{Problem, Violations},
    shape::{MetadataIn, Whole, choices, new_metadata, request},
    wire::{
        adjustments::{AddedAdjustmentIn, LeftOutAdjustment, ReplacingAdjustment},
        carried::{Kept, carried},
        dates::{Date, any_is_local},
        phases::{PhaseNumber, phase},
        prices::PriceOverrideIn,
    },
};

request! {
    /// A subscription to create.
    pub(crate) struct NewSubscription {
        /// Customer of the subscription.
        customer_id: Option<CustomerId>,
        /// External id of the customer.
        external_customer_id: Option<ExternalId>,
        /// Plan of the subscription: none of a contract, which needs a name, a currency, both dates, net terms and
        /// prices of its own.
        plan_id: Option<PlanId>,
        /// External id of the plan.
        external_plan_id: Option<ExternalId>,
        /// Version of the plan: its default one where nothing is said.
        plan_version_number: Option<Whole<1, 4_294_967_295>>,
        /// Its name.
        name: Option<Name>,
        /// Currency of its invoices: that of the plan.
        currency: Option<Currency>,
        /// Its first instant, a date without an offset in the customer's zone: the start of the current day there
        /// where nothing is said.
        start_date: Option<Date>,
        /// First instant after it, likewise.
        end_date: Option<Date>,
        /// True if its billing periods begin with it, and not with a month.
        align_billing_with_subscription_start_date: Option<bool>,
        /// Day on which its billing periods begin.
        billing_cycle_anchor_configuration: Option<AnchorIn>,
        /// Code of a coupon that it redeems with its start.
        coupon_redemption_code: Option<RedemptionCode>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
        /// True if its invoices are collected without a request.
        auto_collection: Option<Kept<bool>>,
        /// True if its invoices are issued without approval.
        auto_issuance: Option<Kept<bool>>,
        /// Memo of its invoices.
        default_invoice_memo: Option<Kept<String>>,
        /// Amount that usage may come to in a billing period before it is invoiced, above zero.
        invoicing_threshold: Option<Kept<Decimal>>,
        /// Number of days between issue and due date of an invoice.
        net_terms: Option<Kept<Whole<0, 1_000_000>>>,
        /// Marketplace that it was bought in: stored.
        external_marketplace: Option<Kept<Marketplace>>,
        /// Its id in the marketplace: stored.
        external_marketplace_reporting_id: Option<Kept<String>>,
        /// Region of the marketplace: stored.
        aws_region: Option<Kept<String>>,
        /// Adjustments to add to those of the plan.
        add_adjustments: Option<Vec<AddedAdjustmentIn>>,
        /// Prices to add to those of the plan.
        add_prices: Option<Vec<AddedPriceIn>>,
        /// Amount that one unit of a pricing unit is invoiced as, in place of the conversion rate of its prices;
        /// above zero.
        credits_overage_rate: Option<Kept<JsonNumber>>,
        /// Condition on the events that count for its prices, beside those of their metrics.
        filter: Option<Expression>,
        /// Number of the phase of the plan that it begins with: the first one where nothing is said.
        initial_phase_order: Option<PhaseNumber>,
        /// Amount that one unit of a pricing unit is invoiced as, in place of the conversion rate of its prices;
        /// above zero.
        per_credit_overage_amount: Option<Kept<JsonNumber>>,
        /// Other numbers of prices of the plan, in place of changes to its prices and adjustments.
        price_overrides: Option<Vec<PriceOverrideIn>>,
        /// Adjustments of the plan to leave out.
        remove_adjustments: Option<Vec<LeftOutAdjustment>>,
        /// Prices of the plan to leave out.
        remove_prices: Option<Vec<LeftOutPrice>>,
        /// Adjustments of the plan to replace by others.
        replace_adjustments: Option<Vec<ReplacingAdjustment>>,
        /// Prices of the plan to replace: by others, or fees by another quantity.
        replace_prices: Option<Vec<ReplacingPrice>>,
        /// Number of days of its trial: as the plan says where nothing is said, and no trial where it is zero.
        trial_duration_days: Option<Whole<0, 999_999>>,
        /// Customers whose usage counts: the customer itself, or its children; the customer alone where none are given.
        usage_customer_ids: Option<UsageCustomers>,
    }

    /// The day on which billing periods begin.
    pub(crate) struct AnchorIn {
        /// Day of a month: the last one of a month that is shorter.
        day: Whole<1, 31>,
        /// Month that a longer period begins in.
        month: Option<Whole<1, 12>>,
        /// Year that a longer period begins in.
        year: Option<Whole<1, 9_999>>,
    }
}

/// A marketplace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Marketplace {
    Google,
    Aws,
    Azure,
}

choices! {
    Marketplace {
        "google" => Marketplace::Google,
        "aws" => Marketplace::Aws,
        "azure" => Marketplace::Azure,
    }
}

impl NewSubscription {
    /// Returns the customer whose zone its dates are in, where they need one.
    pub(crate) fn customer_of_dates(&self) -> Option<IdOr<CustomerId>> {
        let added = self.add_adjustments.iter().flatten();
        let is_local = any_is_local([&self.start_date, &self.end_date])
            || added.into_iter().any(|of| any_is_local([&of.start_date, &of.end_date]))
            || has_local_date(self.add_prices.as_ref());
        let external = self.external_customer_id.clone().map(IdOr::External);
        self.customer_id.map(IdOr::Id).or(external).filter(|_| is_local)
    }

    /// Returns the plan whose currency its prices are in, where they need one.
    pub(crate) fn plan_of_prices(&self) -> Option<IdOr<PlanId>> {
        let needs_currency = needs_currency(self.add_prices.as_ref(), self.replace_prices.as_ref());
        let external = self.external_plan_id.clone().map(IdOr::External);
        self.plan_id.map(IdOr::Id).or(external).filter(|_| needs_currency)
    }

    /// Makes the subscription to create, where dates are those of a zone and prices have the currency of its plan.
    pub(crate) fn into_new(
        self,
        zone: &Zone,
        currency: Option<Currency>,
    ) -> Result<subscription::NewSubscription, Problem> {
        let mut new = self;
        let mut violations = Violations::default();
        let others = [
            ("add_prices", new.add_prices.is_some()),
            ("remove_prices", new.remove_prices.is_some()),
            ("replace_prices", new.replace_prices.is_some()),
            ("add_adjustments", new.add_adjustments.is_some()),
            ("remove_adjustments", new.remove_adjustments.is_some()),
            ("replace_adjustments", new.replace_adjustments.is_some()),
        ];
        check_overrides(new.price_overrides.as_ref(), others, &mut violations);
        let prices = PriceChangesIn {
            add: new.add_prices.take(),
            remove: new.remove_prices.take(),
            replace: new.replace_prices.take(),
            overrides: new.price_overrides.take(),
        };
        let adjustments = adjustment_changes(
            new.add_adjustments.take(),
            new.remove_adjustments.take(),
            new.replace_adjustments.take(),
            zone,
        )?;
        let customer =
            one_of("customer", new.customer_id, new.external_customer_id.clone(), &mut violations);
        let external_plan = new.external_plan_id.clone();
        let plan = at_most_one_of("plan", new.plan_id, external_plan, &mut violations);
        let anchor = new.anchor(&mut violations);
        new.check_marketplace(&mut violations);
        let (Some(customer), Some(anchor)) = (customer, anchor) else {
            return Err(violations.into());
        };
        if !violations.is_empty() {
            return Err(violations.into());
        }
        // A contract is invoiced in the currency that it says.
        let of_contract = new.currency.filter(|_| plan.is_none());
        let prices = prices.into_changes(zone, currency.or(of_contract))?;
        let version = |number: Whole<1, 4_294_967_295>| u32::try_from(number.0).unwrap_or(u32::MAX);
        let carried = carried(&[
            ("auto_collection", new.auto_collection.as_ref().map(Kept::text)),
            ("auto_issuance", new.auto_issuance.as_ref().map(Kept::text)),
            ("default_invoice_memo", new.default_invoice_memo.as_ref().map(Kept::text)),
            ("invoicing_threshold", new.invoicing_threshold.as_ref().map(Kept::text)),
            ("net_terms", new.net_terms.as_ref().map(Kept::text)),
            ("external_marketplace", new.external_marketplace.as_ref().map(Kept::text)),
            (
                "external_marketplace_reporting_id",
                new.external_marketplace_reporting_id.as_ref().map(Kept::text),
            ),
            ("aws_region", new.aws_region.as_ref().map(Kept::text)),
            ("credits_overage_rate", new.credits_overage_rate.as_ref().map(Kept::text)),
            ("per_credit_overage_amount", new.per_credit_overage_amount.as_ref().map(Kept::text)),
        ])?;
        let mut subscription = subscription::NewSubscription::on(customer, plan);
        subscription.plan_version = new.plan_version_number.map(version).map(PlanVersion::new);
        subscription.currency = new.currency;
        subscription.name = new.name;
        let start_date = new.start_date.map(|date| date.in_zone(zone, "/start_date"));
        let end_date = new.end_date.map(|date| date.in_zone(zone, "/end_date"));
        (subscription.start_date, subscription.end_date) =
            (start_date.transpose()?, end_date.transpose()?);
        subscription.anchor = anchor;
        subscription.prices = prices;
        subscription.adjustments = adjustments;
        subscription.initial_phase = new.initial_phase_order.map(phase);
        subscription.filter = new.filter;
        subscription.usage_customers = new.usage_customer_ids;
        subscription.trial_days = new.trial_duration_days.map(Whole::count);
        subscription.coupon_redemption_code = new.coupon_redemption_code;
        subscription.metadata = new_metadata(new.metadata);
        subscription.carried = carried;
        Ok(subscription)
    }

    /// Refuses what belongs to a marketplace that is not named (subscriptions 1.12).
    fn check_marketplace(&self, violations: &mut Violations) {
        let marketplace = self.external_marketplace.as_ref().map(|of| of.value);
        if self.external_marketplace_reporting_id.is_some() && marketplace.is_none() {
            let message = "is there without external_marketplace";
            violations.push("/external_marketplace_reporting_id", message);
        }
        if self.aws_region.is_some() && !matches!(marketplace, Some(Marketplace::Aws)) {
            violations.push("/aws_region", "is there without the external_marketplace aws");
        }
    }

    fn anchor(&self, violations: &mut Violations) -> Option<BillingAnchor> {
        let aligned = self.align_billing_with_subscription_start_date == Some(true);
        match (&self.billing_cycle_anchor_configuration, aligned) {
            (None, false) => Some(BillingAnchor::FirstOfMonth),
            (None, true) => Some(BillingAnchor::SubscriptionStart),
            (Some(anchor), false) => Some(anchor.anchor()),
            (Some(_), true) => {
                violations.push(
                    "/billing_cycle_anchor_configuration",
                    "is there beside align_billing_with_subscription_start_date, expected one",
                );
                None
            }
        }
    }
}

impl AnchorIn {
    /// Makes the anchor for the engine.
    pub(super) fn anchor(&self) -> BillingAnchor {
        BillingAnchor::Day {
            day: u8::try_from(self.day.0).unwrap_or(u8::MAX),
            month: self.month.map(|month| u8::try_from(month.0).unwrap_or(u8::MAX)),
            year: self.year.map(|year| u16::try_from(year.0).unwrap_or(u16::MAX)),
        }
    }
}

/// Makes the changes to the adjustments of a plan, where dates are those of a zone.
pub(super) fn adjustment_changes(
    add: Option<Vec<AddedAdjustmentIn>>,
    remove: Option<Vec<LeftOutAdjustment>>,
    replace: Option<Vec<ReplacingAdjustment>>,
    zone: &Zone,
) -> Result<AdjustmentChanges, Problem> {
    let mut added = Vec::new();
    for (index, of) in add.into_iter().flatten().enumerate() {
        let date = |date: Option<Date>, name: &str| {
            let at = format!("/add_adjustments/{index}/{name}");
            date.map(|date| date.in_zone(zone, &at)).transpose()
        };
        added.push(AddedAdjustment {
            adjustment: NewAdjustment {
                plan_phase_order: of.plan_phase_order.map(phase),
                ..of.adjustment.0
            },
            start_date: date(of.start_date, "start_date")?,
            end_date: date(of.end_date, "end_date")?,
        });
    }
    let replace = replace.into_iter().flatten();
    Ok(AdjustmentChanges {
        add: added,
        remove: remove.into_iter().flatten().map(|of| of.adjustment_id).collect(),
        replace: replace.map(|of| (of.replaces_adjustment_id, of.adjustment.0)).collect(),
    })
}

/// Reads an id or an external id: one of them has to be there.
pub(crate) fn one_of<Id>(
    what: &str,
    id: Option<Id>,
    external: Option<ExternalId>,
    violations: &mut Violations,
) -> Option<IdOr<Id>> {
    match (id, external) {
        (None, None) => {
            let message = format!("is missing, as is external_{what}_id: expected one of the two");
            violations.push(format!("/{what}_id"), message);
            None
        }
        (id, external) => at_most_one_of(what, id, external, violations),
    }
}

/// Reads an id or an external id, where one of them is there.
fn at_most_one_of<Id>(
    what: &str,
    id: Option<Id>,
    external: Option<ExternalId>,
    violations: &mut Violations,
) -> Option<IdOr<Id>> {
    if id.is_some() && external.is_some() {
        let message = format!("is there beside {what}_id, expected one of the two");
        violations.push(format!("/external_{what}_id"), message);
        return None;
    }
    id.map(IdOr::Id).or(external.map(IdOr::External))
}
