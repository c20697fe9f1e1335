//! Plans: what customers subscribe to, in numbered versions.

mod change;
mod filter;
mod prices;
mod version;

use serde::{Deserialize, Serialize};

pub(crate) use self::change::Placed;
pub use self::{
    change::PlanVersionChange,
    filter::PlanFilter,
    prices::PlanPrice,
    version::{DefaultVersion, NewPlanVersion, PricedVersion},
};
use crate::{
    Carried, CarriedUpdate, Currency, Description, Error, ExternalId, Metadata, MetadataUpdate,
    Name, Patch, PlanId, Timestamp, metadata,
};

/// The number of a version of a plan, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanVersion(u32);

impl PlanVersion {
    /// The version that a plan begins with.
    pub const FIRST: Self = Self(1);

    /// Makes a version number.
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

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan {
    /// Its id.
    pub id: PlanId,
    /// The caller's alias for the id, unique in the account.
    pub external_plan_id: Option<ExternalId>,
    /// Its name.
    pub name: Name,
    /// What it is.
    pub description: Option<Description>,
    /// The currency that it is invoiced in.
    pub currency: Currency,
    /// The version that subscriptions are created on unless they choose another.
    pub version: PlanVersion,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Fields that the engine has no use for.
    #[serde(default, skip_serializing_if = "Carried::is_empty")]
    pub carried: Carried,
    /// When it was created.
    pub created_at: Timestamp,
    /// The highest version that there is.
    pub(crate) latest_version: PlanVersion,
}

/// Where a plan stands (wire 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanStatus {
    /// Subscriptions can be created on it: so they can on every plan.
    Active,
    /// They can not. Nothing archives a plan: a list of those that are is empty.
    Archived,
    /// It is not ready. Nothing makes a plan that is: a list of them is empty.
    Draft,
}

/// A plan to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewPlan {
    /// Its name.
    pub name: Name,
    /// The currency that it is invoiced in.
    pub currency: Currency,
    /// The prices of its first version.
    pub prices: Vec<PlanPrice>,
    /// The caller's alias, unique in the account.
    pub external_plan_id: Option<ExternalId>,
    /// What it is.
    pub description: Option<Description>,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Fields that the engine has no use for.
    pub carried: Carried,
}

impl NewPlan {
    /// A plan with what every plan needs, and without prices.
    #[must_use]
    pub const fn new(name: Name, currency: Currency) -> Self {
        Self {
            name,
            currency,
            prices: Vec::new(),
            external_plan_id: None,
            description: None,
            metadata: Metadata::new(),
            carried: Carried::NONE,
        }
    }

    pub(crate) fn decide(self, id: PlanId, now: Timestamp) -> Result<Plan, Error> {
        metadata::check(&self.metadata)?;
        prices::check_count(&self.prices)?;
        Ok(Plan {
            id,
            external_plan_id: self.external_plan_id,
            name: self.name,
            description: self.description,
            currency: self.currency,
            version: PlanVersion::FIRST,
            metadata: self.metadata,
            carried: self.carried,
            created_at: now,
            latest_version: PlanVersion::FIRST,
        })
    }
}

/// What to change of a plan. What it charges is changed by another version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanUpdate {
    /// The caller's alias, unique in the account. The one that it had is free again.
    pub external_plan_id: Patch<ExternalId>,
    /// What it is.
    pub description: Patch<Description>,
    /// The caller's own strings.
    pub metadata: MetadataUpdate,
    /// Fields that the engine has no use for.
    pub carried: CarriedUpdate,
}

impl PlanUpdate {
    pub(crate) fn decide(self, mut plan: Plan) -> Result<Plan, Error> {
        self.external_plan_id.apply(&mut plan.external_plan_id);
        self.description.apply(&mut plan.description);
        self.metadata.apply(&mut plan.metadata)?;
        self.carried.apply(&mut plan.carried)?;
        Ok(plan)
    }
}

impl Plan {
    /// Returns where it stands.
    #[must_use]
    pub const fn status(&self) -> PlanStatus {
        PlanStatus::Active
    }

    /// Takes in a version that was created.
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
