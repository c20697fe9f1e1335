use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{DefaultVersion, PlanPrice, PlanVersion, prices};
use crate::{
    AdjustmentId, Error, PlanId, PriceId, Timestamp,
    price::{
        AdjustmentIds, AdjustmentScope, NewAdjustment, PhaseOrder, Price, References,
        ScopedAdjustment, check_adjustments, remaining, same_phase,
    },
};

/// Version of a plan to create from its latest one: with the prices of that, some of them removed or
/// replaced, and with more.
///
/// ```
/// use accrue::{ExternalId, plan::PlanVersionChange};
///
/// let mut change = PlanVersionChange::default();
/// change.add = vec![ExternalId::parse("support")?.into()];
/// # Ok::<(), accrue::TextError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanVersionChange {
    /// Number of the version: it must be one above the highest, and is where none is given.
    pub version: Option<PlanVersion>,
    /// Prices to add behind those of the latest version.
    pub add: Vec<PlanPrice>,
    /// Prices of the latest version to remove.
    pub remove: Vec<PriceId>,
    /// Prices of the latest version to replace, each with its replacement.
    pub replace: Vec<(PriceId, PlanPrice)>,
    /// Phases that prices to remove or to replace are of, as the caller knows them: another one is refused.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub price_phases: BTreeMap<PriceId, PhaseOrder>,
    /// Adjustments to add behind those of the latest version.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub add_adjustments: Vec<NewAdjustment>,
    /// Adjustments of the latest version to remove.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remove_adjustments: Vec<AdjustmentId>,
    /// Adjustments of the latest version to replace, each with its replacement.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_adjustments: Vec<(AdjustmentId, NewAdjustment)>,
    /// Phases that adjustments to remove are of, as the caller knows them: another one is refused.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub adjustment_phases: BTreeMap<AdjustmentId, PhaseOrder>,
    /// Effect on the plan's default version.
    pub default: DefaultVersion,
}

/// Price of a version to create, with the field in which it was given.
pub(crate) struct Placed {
    pub(crate) at: String,
    pub(crate) price: PlanPrice,
    /// Price of an earlier version whose place it takes.
    pub(super) replaces: Option<PriceId>,
}

impl Placed {
    /// Returns the prices of a list, each with its place in it.
    pub(crate) fn all(prices: &[PlanPrice]) -> Vec<Self> {
        let placed = prices.iter().enumerate();
        placed.map(|(index, price)| Self::new("prices", index, price)).collect()
    }

    pub(crate) fn new(list: &str, index: usize, price: &PlanPrice) -> Self {
        let at = format!("{list}[{index}].{}", price.field());
        Self { at, price: price.clone(), replaces: None }
    }

    /// Returns what a request calls the prices that it makes.
    pub(crate) fn references(all: &[Self], made: &[Price]) -> Result<References, Error> {
        let mut references = References::default();
        for (placed, price) in all.iter().zip(made) {
            let PlanPrice::New(new) = &placed.price else { continue };
            if let Some(name) = &new.reference_id {
                references.note(&placed.at, name, price.id)?;
            }
        }
        Ok(references)
    }
}

/// Adjustments of a version to create: those of the version before, and what becomes of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreed<'a> {
    latest: &'a [ScopedAdjustment],
    remove: &'a [AdjustmentId],
    replace: &'a [(AdjustmentId, NewAdjustment)],
    /// Field in which those are given that are added.
    at: &'static str,
    add: &'a [NewAdjustment],
}

impl<'a> Agreed<'a> {
    /// Gives a version some adjustments of its own.
    pub(crate) fn new(adjustments: &'a [NewAdjustment]) -> Self {
        Self { at: "adjustments", add: adjustments, ..Self::default() }
    }

    /// Gives a version those of the latest one, with some changes.
    pub(crate) fn changed(
        latest: &'a [ScopedAdjustment],
        change: &'a PlanVersionChange,
    ) -> Result<Self, Error> {
        for AdjustmentScope { id, plan_phase_order, .. } in latest.iter().map(|of| &of.scope) {
            let said = change.adjustment_phases.get(id).copied();
            same_phase(said, *plan_phase_order, &format_args!("the adjustment {id}"))?;
        }
        Ok(Self {
            latest,
            remove: &change.remove_adjustments,
            replace: &change.replace_adjustments,
            at: "add_adjustments",
            add: &change.add_adjustments,
        })
    }

    /// Returns those of the version before.
    pub(crate) const fn latest(self) -> &'a [ScopedAdjustment] {
        self.latest
    }

    /// Returns the adjustments that are new, each with the field in which it was given.
    pub(crate) fn added(self) -> Vec<(String, &'a NewAdjustment)> {
        let replace = self.replace.iter().enumerate();
        let replace = replace
            .map(|(index, (_, new))| (format!("replace_adjustments[{index}].adjustment"), new));
        let add = self.add.iter().enumerate();
        let add = add.map(|(index, new)| (format!("{}[{index}].adjustment", self.at), new));
        replace.chain(add).collect()
    }

    /// Decides the adjustments of a version with some prices.
    pub(super) fn decide(
        self,
        (plan_id, version): (PlanId, PlanVersion),
        (prices, references): (&[Price], &References),
        now: Timestamp,
    ) -> Result<Vec<ScopedAdjustment>, Error> {
        let mut ids = AdjustmentIds::new(plan_id.as_bytes(), version.number(), now);
        let made = (prices, references);
        let mut all = remaining(self.latest, self.remove, self.replace, &mut ids, made)?;
        // One of the latest version may be over prices that are new.
        all.iter().try_for_each(|of| of.check_over(prices))?;
        for (index, new) in self.add.iter().enumerate() {
            let new = new.decide(ids.next(), None, made);
            let at = format!("{}[{index}].adjustment", self.at);
            all.push(new.map_err(|error| error.within(&at))?);
        }
        check_adjustments(&all)?;
        Ok(all)
    }
}

impl PlanVersionChange {
    /// Decides the prices of the version, given those of the latest one, and which of them took whose places.
    pub(crate) fn decide(
        &self,
        next: PlanVersion,
        (latest, replaces): (&[Price], &BTreeMap<PriceId, PriceId>),
    ) -> Result<Vec<Placed>, Error> {
        if let Some(version) = self.version.filter(|version| *version != next) {
            let (found, next) = (version.number(), next.number());
            let detail = format!("found version {found}, expected {next}: one above the highest");
            return Err(Error::constraint(detail));
        }
        let mut gone = BTreeSet::new();
        for id in self.remove.iter().chain(self.replace.iter().map(|(id, _)| id)) {
            let Some(price) = latest.iter().find(|price| price.id == *id) else {
                let detail = format!("the price {id} is none of the latest version");
                return Err(Error::constraint(detail));
            };
            let said = self.price_phases.get(id).copied();
            same_phase(said, price.plan_phase_order, &format_args!("the price {id}"))?;
            if !gone.insert(*id) {
                let detail = format!("the price {id} is removed or replaced twice");
                return Err(Error::constraint(detail));
            }
        }
        let stays = |old: &Price| {
            let id = old.id;
            let mut others = self.replace.iter().enumerate();
            match others.find(|(_, (replaced, _))| *replaced == id) {
                Some((index, (_, price))) => {
                    let price = price.clone().in_phase(old.plan_phase_order);
                    let placed = Placed::new("replace_prices", index, &price);
                    Some(Placed { replaces: Some(id), ..placed })
                }
                None if gone.contains(&id) => None,
                None => {
                    let replaces = replaces.get(&id).copied();
                    Some(Placed { at: String::new(), price: id.into(), replaces })
                }
            }
        };
        let added = self.add.iter().enumerate();
        let added = added.map(|(index, price)| Placed::new("add_prices", index, price));
        let all: Vec<_> = latest.iter().filter_map(stays).chain(added).collect();
        prices::check_number("add_prices", all.len())?;
        Ok(all)
    }
}
