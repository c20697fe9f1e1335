use super::{Backfill, Effect};
use crate::{
    BackfillId, CustomerId, Timeframe, Timestamp,
    expression::{Expression, Fields},
};

/// A backfill that is reflected for a customer: what it brings, and what it hides.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    /// Number of events of the customer that had been accepted when it was reflected: it hides none
    /// that came later.
    pub(crate) accepted: u64,
    pub(crate) backfill: Backfill,
}

/// The backfills that are reflected for a customer within some days, in any order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlays(pub(crate) Vec<Overlay>);

impl Overlays {
    /// Tells whether a backfill is among them.
    pub(crate) fn has(&self, id: BackfillId) -> bool {
        self.0.iter().any(|overlay| overlay.backfill.id == id)
    }

    /// Adds a backfill, or takes it away.
    pub(crate) fn correct(&mut self, backfill: &Backfill, effect: Effect, accepted: u64) {
        self.0.retain(|overlay| overlay.backfill.id != backfill.id);
        if effect == Effect::Reflect {
            self.0.push(Overlay { accepted, backfill: backfill.clone() });
        }
    }

    /// Tells whether an event is hidden that was accepted as the customer's so-many-th, and was
    /// brought by a backfill or by none.
    pub(crate) fn hide(
        &self,
        accepted: u64,
        brought_by: Option<BackfillId>,
        event: &Fields<'_>,
    ) -> bool {
        self.hiding(accepted, brought_by, event).is_some()
    }

    /// Returns a backfill that hides an event.
    pub(crate) fn hiding(
        &self,
        accepted: u64,
        brought_by: Option<BackfillId>,
        event: &Fields<'_>,
    ) -> Option<BackfillId> {
        let mut others = self.0.iter().filter(|overlay| brought_by != Some(overlay.backfill.id));
        let hiding = others.find(|of| accepted <= of.accepted && of.backfill.replaces(event));
        hiding.map(|overlay| overlay.backfill.id)
    }

    /// Returns the most comparisons that it takes to tell whether an event is hidden.
    pub(crate) fn terms(&self) -> usize {
        let filters = self.0.iter().filter_map(|of| of.backfill.deprecation_filter.as_ref());
        filters.map(Expression::terms).fold(self.0.len(), usize::saturating_add)
    }

    /// Lists the backfills that may have brought events of a timeframe.
    pub(crate) fn bringing(&self, timeframe: Timeframe) -> impl Iterator<Item = BackfillId> {
        let own = self.0.iter().map(|overlay| &overlay.backfill);
        let within = own.filter(move |own| own.timeframe.overlaps(timeframe));
        within.map(|backfill| backfill.id)
    }
}

impl Backfill {
    /// Tells whether it hides an event that was there before it.
    fn replaces(&self, event: &Fields<'_>) -> bool {
        let matches = || self.deprecation_filter.as_ref().is_none_or(|of| of.matches(event));
        self.replace_existing_events && self.timeframe.contains(event.timestamp()) && matches()
    }

    /// Tells whether the event of another backfill or of none, of the customer and at the instant
    /// given, never counts while this one is reflected.
    pub(crate) fn surely_hides(&self, customer_id: CustomerId, at: Timestamp) -> bool {
        let is_own = self.customer_id.is_none_or(|own| own == customer_id);
        let is_whole = self.replace_existing_events && self.deprecation_filter.is_none();
        is_whole && is_own && self.timeframe.contains(at)
    }
}
