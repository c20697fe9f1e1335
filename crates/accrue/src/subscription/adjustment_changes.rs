use serde::{Deserialize, Serialize};

use super::{AdjustmentInterval, Cut, Terms, phases::Stretch};
use crate::{
    AdjustmentId, Error, Timestamp,
    price::{
        AdjustmentIds, NewAdjustment, Price, References, ScopedAdjustment, check_adjustments,
        remaining,
    },
};

/// Changes to the adjustments of a plan version for one subscription (invoicing 14.3).
///
/// Those of the version are removed and replaced first, and then more are added: a replacement is in force
/// as long as what it takes the place of would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdjustmentChanges {
    /// Adjustments to add to those of the version.
    pub add: Vec<AddedAdjustment>,
    /// Adjustments of the version to leave out.
    pub remove: Vec<AdjustmentId>,
    /// Adjustments of the version to replace, each with its replacement.
    pub replace: Vec<(AdjustmentId, NewAdjustment)>,
}

/// Adjustment to add to a subscription, and when it is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedAdjustment {
    /// The adjustment.
    pub adjustment: NewAdjustment,
    /// Its first instant: that of the subscription, of its plan or of the phase, where none is given.
    pub start_date: Option<Timestamp>,
    /// First instant after it: that of the phase, or none, where none is given.
    pub end_date: Option<Timestamp>,
}

impl From<NewAdjustment> for AddedAdjustment {
    /// Adds it from the start of the subscription on.
    fn from(adjustment: NewAdjustment) -> Self {
        Self { adjustment, start_date: None, end_date: None }
    }
}

impl AdjustmentChanges {
    /// Tells whether nothing changes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty() && self.replace.is_empty()
    }

    /// Returns the adjustments that are new, each with the field in which it was given.
    pub(crate) fn added(&self) -> Vec<(String, &NewAdjustment)> {
        let replace = self.replace.iter().enumerate();
        let replace = replace
            .map(|(index, (_, new))| (format!("replace_adjustments[{index}].adjustment"), new));
        let add = self.add.iter().enumerate();
        let add = add
            .map(|(index, new)| (format!("add_adjustments[{index}].adjustment"), &new.adjustment));
        replace.chain(add).collect()
    }
}

/// Cuts the intervals of what a plan version and a subscription agree on beside the prices' own adjustments: those
/// of the version, with changes for the subscription, within the stretches of its phases and up to its end.
pub(super) fn agreed(
    terms: &Terms<'_>,
    cut: &Cut,
    stretches: &[Stretch],
    (prices, references): (&[Price], &References),
    end: Option<Timestamp>,
) -> Result<Vec<AdjustmentInterval>, Error> {
    let (of_version, AdjustmentChanges { add, remove, replace }) = terms.adjustments;
    let version = cut.plan_version.number();
    let mut ids = AdjustmentIds::new(cut.seed.as_bytes(), version, cut.created_at);
    let made = (prices, references);
    let mut all = remaining(of_version, remove, replace, &mut ids, made)?;
    all.retain_mut(|of| terms.prices.follow(of));
    let stretch = |of: &ScopedAdjustment| Stretch::of(of.scope.plan_phase_order, stretches);
    let entered = all.iter().filter_map(|of| Some((of, stretch(of)?)));
    let entered =
        entered.map(|(of, life)| life.cut(cut).agreed(of, prices, (life.start, life.end)));
    let mut intervals: Vec<_> = entered.collect();
    for (index, added) in add.iter().enumerate() {
        let at = format!("add_adjustments[{index}]");
        let phase = added.adjustment.plan_phase_order;
        let stretch = Stretch::of(phase, stretches);
        terms.check_phase(phase, &at, stretch.is_some())?;
        let Some(stretch) = stretch else { continue };
        let dates = added.dates(&at, stretch, end)?;
        let new = added.adjustment.decide(ids.next(), None, made);
        let new = new.map_err(|error| error.within(&format!("{at}.adjustment")))?;
        intervals.push(stretch.cut(cut).agreed(&new, prices, dates));
        all.push(new);
    }
    check_adjustments(&all)?;
    Ok(intervals)
}

impl AddedAdjustment {
    /// Decides when it is in force, within a stretch and up to the end of a life.
    fn dates(
        &self,
        at: &str,
        stretch: &Stretch,
        end: Option<Timestamp>,
    ) -> Result<(Timestamp, Option<Timestamp>), Error> {
        let start = stretch.start;
        let own = self.start_date.unwrap_or(start);
        let last = stretch.end.into_iter().chain(end).min();
        let is_within =
            start <= own && self.end_date.is_none_or(|to| last.is_none_or(|last| to <= last));
        if !is_within {
            let detail = format!("the dates of {at} are not within the subscription");
            return Err(Error::constraint(detail));
        }
        match self.end_date.or(last).filter(|end| *end <= own) {
            Some(end) => {
                let detail = format!("the end {end} of {at} is not after its start {own}");
                Err(Error::constraint(detail))
            }
            None => Ok((own, self.end_date.or(stretch.end))),
        }
    }
}
