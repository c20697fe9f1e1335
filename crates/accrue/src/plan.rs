//! Plans that customers subscribe to, in numbered versions.

mod change;
mod filter;
mod migration;
mod phase;
mod prices;
mod version;

use serde::{Deserialize, Serialize};

pub use self::{
    change::PlanVersionChange,
    filter::PlanFilter,
    migration::{Migration, MigrationStatus, MigrationTiming, NewMigration},
    phase::{NewPhase, PhaseDuration, PhaseUnit, PlanPhase, PlanTrial},
    prices::PlanPrice,
    version::{DefaultVersion, NewPlanVersion, PricedVersion},
};
pub(crate) use self::{
    change::{Agreed, Placed},
    migration::Moved,
    phase::{check_days, check_phase},
    prices::cells,
};
pub use crate::price::PhaseOrder;
use crate::{
    Carried, CarriedUpdate, Currency, Description, Error, ExternalId, Metadata, MetadataUpdate,
    Name, Patch, PlanId, Timestamp,
    customer::{AttributeValue, PreviousAttributes, changed},
    metadata,
    price::NewAdjustment,
};

/// Number of a version of a plan, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanVersion(u32);

impl PlanVersion {
    /// Number of the version that a plan begins with.
    pub const FIRST: Self = Self(1);

    /// Creates a version number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the number after it.
    pub(crate) fn next(self) -> Result<Self, Error> {
        let next = self.0.checked_add(1).map(Self);
        next.ok_or_else(|| Error::constraint("the plan has every version that there can be"))
    }
}

/// Plan: prices that customers subscribe to, in numbered versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan {
    /// Its id.
    pub id: PlanId,
    /// The caller's alias for the id, unique in the account.
    pub external_plan_id: Option<ExternalId>,
    /// Its name.
    pub name: Name,
    /// Its description.
    pub description: Option<Description>,
    /// Its status.
    #[serde(default, skip_serializing_if = "PlanStatus::is_active")]
    pub status: PlanStatus,
    /// Currency that it is invoiced in.
    pub currency: Currency,
    /// Version that subscriptions are created on unless they choose another.
    pub version: PlanVersion,
    /// Its phases, one after the other; none where it has always the same prices (subscriptions 1.8).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PlanPhase>,
    /// Trial that its subscriptions begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<PlanTrial>,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Fields that the engine has no use for.
    #[serde(default, skip_serializing_if = "Carried::is_empty")]
    pub carried: Carried,
    /// Instant at which it was created.
    pub created_at: Timestamp,
    /// Highest version of the plan.
    pub(crate) latest_version: PlanVersion,
}

/// Status of a plan (wire 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanStatus {
    /// Plan that subscriptions can be created on.
    #[default]
    Active,
    /// Plan that no subscription comes to any more. Those that it has stay.
    Archived,
    /// Plan that is not ready: it has no subscriptions yet.
    Draft,
}

impl PlanStatus {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
            Self::Draft => "draft",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in a reference")]
    const fn is_active(&self) -> bool {
        matches!(self, Self::Active)
    }
}

/// Plan to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewPlan {
    /// Its name.
    pub name: Name,
    /// Currency that it is invoiced in.
    pub currency: Currency,
    /// Prices of its first version.
    pub prices: Vec<PlanPrice>,
    /// Adjustments of its first version, over prices of that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<NewAdjustment>,
    /// Its phases, in their order: every price and every adjustment is of one of them, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<NewPhase>,
    /// Trial that its subscriptions begin with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial: Option<PlanTrial>,
    /// The caller's alias, unique in the account.
    pub external_plan_id: Option<ExternalId>,
    /// Its description.
    pub description: Option<Description>,
    /// True for one that is not ready: it can be subscribed to once an [update](PlanUpdate::status) makes it active.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_draft: bool,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Fields that the engine has no use for.
    pub carried: Carried,
}

impl NewPlan {
    /// Prepares a plan with the values that every plan needs, and without prices.
    #[must_use]
    pub const fn new(name: Name, currency: Currency) -> Self {
        Self {
            name,
            currency,
            prices: Vec::new(),
            adjustments: Vec::new(),
            phases: Vec::new(),
            trial: None,
            external_plan_id: None,
            description: None,
            is_draft: false,
            metadata: Metadata::new(),
            carried: Carried::NONE,
        }
    }

    pub(crate) fn decide(self, id: PlanId, now: Timestamp) -> Result<Plan, Error> {
        metadata::check(&self.metadata)?;
        prices::check_count(&self.prices)?;
        if let Some(trial) = &self.trial {
            trial.check(self.currency)?;
        }
        Ok(Plan {
            id,
            external_plan_id: self.external_plan_id,
            name: self.name,
            description: self.description,
            status: if self.is_draft { PlanStatus::Draft } else { PlanStatus::Active },
            currency: self.currency,
            version: PlanVersion::FIRST,
            phases: phase::decide_phases(id, &self.phases, now)?,
            trial: self.trial,
            metadata: self.metadata,
            carried: self.carried,
            created_at: now,
            latest_version: PlanVersion::FIRST,
        })
    }
}

/// Changes to a plan. Its prices change with another version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanUpdate {
    /// Its name from now on; `None` keeps it.
    pub name: Option<Name>,
    /// Change of the caller's alias, unique in the account. The one that it had is free again.
    pub external_plan_id: Patch<ExternalId>,
    /// Change of its description.
    pub description: Patch<Description>,
    /// Its status from now on; `None` keeps it. What was active or archived once is no draft any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<PlanStatus>,
    /// Changes to its metadata.
    pub metadata: MetadataUpdate,
    /// Changes to the fields that the engine has no use for.
    pub carried: CarriedUpdate,
}

impl PlanUpdate {
    pub(crate) fn decide(self, mut plan: Plan) -> Result<Plan, Error> {
        if self.status == Some(PlanStatus::Draft) && plan.status != PlanStatus::Draft {
            let id = plan.id;
            return Err(Error::constraint(format!(
                "the plan {id} was ready: it is no draft any more"
            )));
        }
        plan.status = self.status.unwrap_or(plan.status);
        plan.name = self.name.unwrap_or(plan.name);
        self.external_plan_id.apply(&mut plan.external_plan_id);
        self.description.apply(&mut plan.description);
        self.metadata.apply(&mut plan.metadata)?;
        self.carried.apply(&mut plan.carried)?;
        Ok(plan)
    }
}

impl Plan {
    /// Refuses subscriptions to a plan that is a draft, or archived.
    pub(crate) fn check_active(&self) -> Result<(), Error> {
        let (id, status) = (self.id, self.status.name());
        match self.status {
            PlanStatus::Active => Ok(()),
            _ => Err(Error::constraint(format!(
                "the plan {id} takes no subscriptions: it is {status}"
            ))),
        }
    }

    /// Notes a version that was created.
    pub(crate) fn with_version(mut self, version: PlanVersion, default: DefaultVersion) -> Self {
        self.latest_version = version;
        match default {
            DefaultVersion::Keep => self,
            DefaultVersion::Replace => self.with_default(version),
        }
    }

    /// Changes the version that new subscriptions are created on.
    pub(crate) const fn with_default(mut self, version: PlanVersion) -> Self {
        self.version = version;
        self
    }
}

/// Lists the fields that differ, with their values in `before`.
pub(crate) fn previous_attributes(before: &Plan, after: &Plan) -> PreviousAttributes {
    let fields = |plan: &Plan| {
        let optional = |text: Option<&str>| AttributeValue::Text(text.map(str::to_owned));
        [
            ("name", optional(Some(&plan.name))),
            ("external_plan_id", optional(plan.external_plan_id.as_deref())),
            ("description", optional(plan.description.as_deref())),
            ("status", optional(Some(plan.status.name()))),
            ("metadata", AttributeValue::Metadata(plan.metadata.clone())),
        ]
    };
    changed(fields(before), fields(after)).collect()
}
