use accrue::{
    Currency, Decimal, ExternalId, IdOr, InstantRange, JsonNumber, PlanId, RedemptionCode, Zone,
    expression::Expression,
    plan::PlanVersion,
    related::Related,
    subscription::{
        BillingCycleAlignment, PlanChange, PlanChangeTiming, PlanStretch, UsageCustomers,
    },
};
use serde::Serialize;

use super::{
    new::{AnchorIn, adjustment_changes, one_of},
    price_changes::{
        AddedPriceIn, LeftOutPrice, PriceChangesIn, ReplacingPrice, check_overrides,
        has_local_date, needs_currency,
    },
};
use crate::{
    problem::{Problem, Violations},
    shape::{Moment, Whole, choices, request, response},
    wire::{
        adjustments::{AddedAdjustmentIn, LeftOutAdjustment, ReplacingAdjustment},
        carried::{Kept, carried},
        dates::{Bounds, Date, any_is_local},
        pages::Limit,
        phases::{PhaseNumber, phase},
        prices::PriceOverrideIn,
    },
};

request! {
    /// A change of the plan of a subscription.
    pub(crate) struct SchedulePlanChange {
        /// Option that decides when it takes effect.
        change_option: PlanChangeOption,
        /// Date, for the option `requested_date`: without an offset in the customer's zone.
        change_date: Option<Date>,
        /// Plan that it changes to.
        plan_id: Option<PlanId>,
        /// External id of the plan.
        external_plan_id: Option<ExternalId>,
        /// Version of the plan: its default one where nothing is said.
        plan_version_number: Option<Whole<1, 4_294_967_295>>,
        /// Option that decides where billing periods begin: as before where nothing is said.
        billing_cycle_alignment: Option<Alignment>,
        /// True if billing periods begin with the change.
        align_billing_with_plan_change_date: Option<bool>,
        /// Day on which billing periods begin.
        billing_cycle_anchor_configuration: Option<AnchorIn>,
        /// Code of a coupon that it redeems with the change.
        coupon_redemption_code: Option<RedemptionCode>,
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
        /// Adjustments to add to those of the plan.
        add_adjustments: Option<Vec<AddedAdjustmentIn>>,
        /// Adjustments of the plan to leave out.
        remove_adjustments: Option<Vec<LeftOutAdjustment>>,
        /// Adjustments of the plan to replace by others.
        replace_adjustments: Option<Vec<ReplacingAdjustment>>,
        /// Prices to add to those of the plan.
        add_prices: Option<Vec<AddedPriceIn>>,
        /// Prices of the plan to leave out.
        remove_prices: Option<Vec<LeftOutPrice>>,
        /// Prices of the plan to replace: by others, or fees by another quantity.
        replace_prices: Option<Vec<ReplacingPrice>>,
        /// Other numbers of prices of the plan, in place of changes to its prices and adjustments.
        price_overrides: Option<Vec<PriceOverrideIn>>,
        /// Number of days of its trial: as the plan says where nothing is said, and no trial where it is zero. A
        /// subscription has one trial in its life.
        trial_duration_days: Option<Whole<0, 999_999>>,
        /// Number of the phase of the plan that it begins with: the first one where nothing is said.
        initial_phase_order: Option<PhaseNumber>,
        /// Condition on the events that count for its prices, beside those of their metrics: none where none is given.
        filter: Option<Expression>,
        /// Customers whose usage counts: the customer itself, or its children; the customer alone where none are given.
        usage_customer_ids: Option<UsageCustomers>,
        /// Amount that one unit of a pricing unit is invoiced as, in place of the conversion rate of its prices;
        /// above zero.
        per_credit_overage_amount: Option<Kept<JsonNumber>>,
        /// Amount that one unit of a pricing unit is invoiced as, in place of the conversion rate of its prices;
        /// above zero.
        credits_overage_rate: Option<Kept<JsonNumber>>,
    }

    /// Filters and page of the plans of a subscription.
    pub(crate) struct ScheduleQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Plans that begin at this instant or later.
        "start_date[gte]" start_date_gte: Option<Date>,
        /// Plans that begin after this instant.
        "start_date[gt]" start_date_gt: Option<Date>,
        /// Plans that begin before this instant.
        "start_date[lt]" start_date_lt: Option<Date>,
        /// Plans that begin at this instant or earlier.
        "start_date[lte]" start_date_lte: Option<Date>,
    }
}

response! {
    /// A plan that a subscription is on for a while.
    pub(crate) struct SubscriptionScheduleItem {
        /// Its first instant.
        start_date: Moment,
        /// First instant after it; null where no end is known.
        end_date: Option<Moment>,
        /// Instant at which it was asked for.
        created_at: Moment,
        /// The plan; null for a contract.
        plan: Option<ScheduledPlan>,
    }

    /// A plan by its names.
    pub(crate) struct ScheduledPlan {
        /// Its id.
        id: Option<String>,
        /// External id: the caller's own alias.
        external_plan_id: Option<ExternalId>,
        /// Its name.
        name: Option<String>,
    }
}

/// The option that decides when a plan changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlanChangeOption {
    RequestedDate,
    EndOfSubscriptionTerm,
    Immediate,
}

/// The option that decides where billing periods begin after a change of plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Alignment {
    Unchanged,
    PlanChangeDate,
    StartOfMonth,
}

choices! {
    PlanChangeOption {
        "requested_date" => PlanChangeOption::RequestedDate,
        "end_of_subscription_term" => PlanChangeOption::EndOfSubscriptionTerm,
        "immediate" => PlanChangeOption::Immediate,
    }
    "BillingCycleAlignment" Alignment {
        "unchanged" => Alignment::Unchanged,
        "plan_change_date" => Alignment::PlanChangeDate,
        "start_of_month" => Alignment::StartOfMonth,
    }
}

impl PlanChangeOption {
    pub(crate) const fn of(when: PlanChangeTiming) -> Self {
        match when {
            PlanChangeTiming::EndOfSubscriptionTerm => Self::EndOfSubscriptionTerm,
            PlanChangeTiming::RequestedDate(_) => Self::RequestedDate,
            _ => Self::Immediate,
        }
    }
}

impl Alignment {
    pub(crate) const fn of(of: BillingCycleAlignment) -> Option<Self> {
        Some(match of {
            BillingCycleAlignment::Unchanged => Self::Unchanged,
            BillingCycleAlignment::PlanChangeDate => Self::PlanChangeDate,
            BillingCycleAlignment::StartOfMonth => Self::StartOfMonth,
            _ => return None,
        })
    }
}

impl SchedulePlanChange {
    /// Tells whether a date of it is one of the customer's zone.
    pub(crate) fn has_local_date(&self) -> bool {
        let mut added = self.add_adjustments.iter().flatten();
        any_is_local([&self.change_date])
            || has_local_date(self.add_prices.as_ref())
            || added.any(|of| any_is_local([&of.start_date, &of.end_date]))
    }

    /// Returns the plan whose currency its prices are in, where they need one.
    pub(crate) fn plan_of_prices(&self) -> Option<IdOr<PlanId>> {
        let needs_currency = needs_currency(self.add_prices.as_ref(), self.replace_prices.as_ref());
        let external = self.external_plan_id.clone().map(IdOr::External);
        self.plan_id.map(IdOr::Id).or(external).filter(|_| needs_currency)
    }

    /// Makes the change for the engine, where dates are those of a zone and prices have the currency of its plan.
    pub(crate) fn into_change(
        self,
        zone: &Zone,
        currency: Option<Currency>,
    ) -> Result<PlanChange, Problem> {
        let mut violations = Violations::default();
        let plan = one_of("plan", self.plan_id, self.external_plan_id.clone(), &mut violations);
        let alignment = self.alignment(&mut violations);
        let others = [
            ("add_prices", self.add_prices.is_some()),
            ("remove_prices", self.remove_prices.is_some()),
            ("replace_prices", self.replace_prices.is_some()),
            ("add_adjustments", self.add_adjustments.is_some()),
            ("remove_adjustments", self.remove_adjustments.is_some()),
            ("replace_adjustments", self.replace_adjustments.is_some()),
        ];
        check_overrides(self.price_overrides.as_ref(), others, &mut violations);
        let when = self.when(zone, &mut violations)?;
        let (Some(plan), Some(alignment), Some(when)) = (plan, alignment, when) else {
            return Err(violations.into());
        };
        if !violations.is_empty() {
            return Err(violations.into());
        }
        let version = |number: Whole<1, 4_294_967_295>| u32::try_from(number.0).unwrap_or(u32::MAX);
        let carried = carried(&[
            ("auto_collection", self.auto_collection.as_ref().map(Kept::text)),
            ("auto_issuance", self.auto_issuance.as_ref().map(Kept::text)),
            ("default_invoice_memo", self.default_invoice_memo.as_ref().map(Kept::text)),
            ("invoicing_threshold", self.invoicing_threshold.as_ref().map(Kept::text)),
            ("net_terms", self.net_terms.as_ref().map(Kept::text)),
            ("credits_overage_rate", self.credits_overage_rate.as_ref().map(Kept::text)),
            ("per_credit_overage_amount", self.per_credit_overage_amount.as_ref().map(Kept::text)),
        ])?;
        let prices = PriceChangesIn {
            add: self.add_prices,
            remove: self.remove_prices,
            replace: self.replace_prices,
            overrides: self.price_overrides,
        };
        Ok(PlanChange {
            prices: prices.into_changes(zone, currency)?,
            plan_version: self.plan_version_number.map(version).map(PlanVersion::new),
            when,
            alignment,
            adjustments: adjustment_changes(
                self.add_adjustments,
                self.remove_adjustments,
                self.replace_adjustments,
                zone,
            )?,
            initial_phase: self.initial_phase_order.map(phase),
            trial_days: self.trial_duration_days.map(Whole::count),
            filter: self.filter,
            usage_customers: self.usage_customer_ids,
            coupon_redemption_code: self.coupon_redemption_code,
            carried,
            ..PlanChange::immediate(plan)
        })
    }

    fn when(
        &self,
        zone: &Zone,
        violations: &mut Violations,
    ) -> Result<Option<PlanChangeTiming>, Problem> {
        let at = "/change_date";
        Ok(match (self.change_option, &self.change_date) {
            (PlanChangeOption::RequestedDate, Some(date)) => {
                Some(PlanChangeTiming::RequestedDate(date.in_zone(zone, at)?))
            }
            (PlanChangeOption::RequestedDate, None) => {
                violations.push(at, "is missing, which the option requested_date needs");
                None
            }
            (_, Some(_)) => {
                violations.push(at, "belongs to the option requested_date");
                None
            }
            (PlanChangeOption::EndOfSubscriptionTerm, None) => {
                Some(PlanChangeTiming::EndOfSubscriptionTerm)
            }
            (PlanChangeOption::Immediate, None) => Some(PlanChangeTiming::Immediate),
        })
    }

    /// Makes the alignment, given in one way (subscriptions 3.2).
    fn alignment(&self, violations: &mut Violations) -> Option<BillingCycleAlignment> {
        let by_word = self.billing_cycle_alignment.map(|of| match of {
            Alignment::Unchanged => BillingCycleAlignment::Unchanged,
            Alignment::PlanChangeDate => BillingCycleAlignment::PlanChangeDate,
            Alignment::StartOfMonth => BillingCycleAlignment::StartOfMonth,
        });
        let is_aligned = self.align_billing_with_plan_change_date == Some(true);
        let by_flag = is_aligned.then_some(BillingCycleAlignment::PlanChangeDate);
        let by_day = self.billing_cycle_anchor_configuration.as_ref();
        let by_day = by_day.map(|of| BillingCycleAlignment::Anchor(of.anchor()));
        let mut given = [by_word, by_flag, by_day].into_iter().flatten();
        let first = given.next().unwrap_or_default();
        if given.next().is_some() {
            let message = "is there beside another of billing_cycle_alignment, \
                           align_billing_with_plan_change_date and \
                           billing_cycle_anchor_configuration, expected one";
            violations.push("/billing_cycle_alignment", message);
            return None;
        }
        Some(first)
    }
}

impl ScheduleQuery {
    fn bounds(&self) -> Bounds<'_> {
        Bounds {
            field: "start_date",
            gte: &self.start_date_gte,
            gt: &self.start_date_gt,
            lt: &self.start_date_lt,
            lte: &self.start_date_lte,
        }
    }

    /// Tells whether a bound of it is one of the customer's zone.
    pub(crate) fn has_local_date(&self) -> bool {
        self.bounds().are_local()
    }

    /// Makes the range of the starts, where dates are those of a zone.
    pub(crate) fn starts(&self, zone: &Zone) -> Result<InstantRange, Problem> {
        self.bounds().range(zone)
    }
}

impl SubscriptionScheduleItem {
    pub(crate) fn of(stretch: &PlanStretch, related: &Related) -> Self {
        Self {
            start_date: stretch.start_date.into(),
            end_date: stretch.end_date.map(Moment::from),
            created_at: stretch.created_at.into(),
            plan: stretch.plan_id.map(|id| ScheduledPlan::of(id, related)),
        }
    }
}

impl ScheduledPlan {
    fn of(id: PlanId, related: &Related) -> Self {
        let plan = related.plan(id);
        Self {
            id: Some(id.to_string()),
            external_plan_id: plan.and_then(|plan| plan.external_plan_id.clone()),
            name: plan.map(|plan| plan.name.to_string()),
        }
    }
}
