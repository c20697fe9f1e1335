//! Usage that events still move, kept in one row (`docs/decisions/open-usage-in-the-head.md`).

mod form;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::{
    AlertId, SubscriptionId, Timestamp,
    alert::Fired,
    limits,
    subscription::PeriodKey,
    usage::{Aggregate, BucketSlot, Hour, Total, Window},
};

/// Usage of a customer that events still move: windows, hours and billing periods that are open. It is
/// kept with the row that guards everything of the customer.
///
/// What is in it is in no other row, and what is not in it is in rows of its own. A figure gets its place
/// when it begins: here, as long as there is room, or in a row for all of its life. So a window or an
/// hour can open only if it is later than all that there were, of which there may be rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenUsage {
    /// Latest window that may have figures.
    latest_window: Option<Window>,
    /// Latest hour that may have a count.
    latest_hour: Option<Hour>,
    /// Oldest first.
    windows: Vec<OpenWindow>,
    hours: BTreeMap<Hour, u64>,
    totals: BTreeMap<(SubscriptionId, PeriodKey), OpenTotal>,
    fired: BTreeMap<(SubscriptionId, Timestamp), OpenAlerts>,
}

/// Window that is open, with its figures in the slot that counted when it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenWindow {
    pub(crate) window: Window,
    pub(crate) slot: BucketSlot,
    pub(crate) total: Total,
}

/// Stretch of a subscription's life that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenTotal {
    /// Instant at which it ends.
    pub(crate) end: Timestamp,
    pub(crate) total: Total,
}

/// Alerts of a billing period that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenAlerts {
    /// Instant at which it ends.
    pub(crate) end: Timestamp,
    /// Thresholds that have fired, of each alert of which it is known.
    pub(crate) fired: BTreeMap<AlertId, Fired>,
}

/// Figures that have become too old to be open, or too many: they get rows of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closed {
    pub(crate) windows: Vec<OpenWindow>,
    pub(crate) totals: Vec<((SubscriptionId, PeriodKey), Total)>,
    pub(crate) fired: Vec<((SubscriptionId, Timestamp), BTreeMap<AlertId, Fired>)>,
}

/// Bytes of a figure, about: its form, and its part of the names.
const FIGURE_BYTES: usize = 80;
/// Bytes of a stretch or a billing period without its figures, about.
const PERIOD_BYTES: usize = 120;

impl OpenUsage {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether it is known from when on windows and hours can open.
    pub(crate) const fn has_begun(&self) -> bool {
        self.latest_window.is_some() && self.latest_hour.is_some()
    }

    /// Takes for granted that there may be rows of figures up to an instant, where nothing is known of that.
    pub(crate) fn begin_behind(&mut self, latest: Timestamp) {
        self.latest_window.get_or_insert(Window::of(latest));
        self.latest_hour.get_or_insert(Hour::of(latest));
    }

    /// Returns the figures of a window in a slot, where it is open.
    pub(crate) fn window(&self, window: Window, slot: BucketSlot) -> Option<&Total> {
        let found = self.windows.iter().find(|of| of.window == window && of.slot == slot);
        found.map(|of| &of.total)
    }

    /// Returns the figures of a window in a slot, where it is open, to be changed.
    pub(crate) fn window_mut(&mut self, window: Window, slot: BucketSlot) -> Option<&mut Total> {
        let found = self.windows.iter_mut().find(|of| of.window == window && of.slot == slot);
        found.map(|of| &mut of.total)
    }

    /// Returns the windows that are open.
    pub(crate) fn windows(&self) -> &[OpenWindow] {
        &self.windows
    }

    /// Tells whether a window would begin: nothing is there of it.
    pub(crate) fn begins_window(&self, window: Window) -> bool {
        self.latest_window.is_none_or(|latest| latest < window)
    }

    /// Notes that there are rows of a window.
    pub(crate) fn note_window(&mut self, window: Window) {
        self.latest_window = self.latest_window.max(Some(window));
    }

    /// Opens a window that begins. Returns the one that is closed for it.
    pub(crate) fn open_window(&mut self, new: OpenWindow) -> Option<OpenWindow> {
        self.note_window(new.window);
        self.windows.push(new);
        (self.windows.len() > limits::OPEN_WINDOWS).then(|| self.windows.remove(0))
    }

    /// Forgets the windows that are not to be kept.
    pub(crate) fn drop_windows(&mut self, is_kept: impl Fn(&OpenWindow) -> bool) {
        self.windows.retain(is_kept);
    }

    /// Returns how many events an hour has, where it is open, to be changed.
    pub(crate) fn hour_mut(&mut self, hour: Hour) -> Option<&mut u64> {
        self.hours.get_mut(&hour)
    }

    /// Returns how many events an hour has, where it is open.
    pub(crate) fn hour(&self, hour: Hour) -> Option<u64> {
        self.hours.get(&hour).copied()
    }

    /// Tells whether an hour would begin: nothing is there of it.
    pub(crate) fn begins_hour(&self, hour: Hour) -> bool {
        self.latest_hour.is_none_or(|latest| latest < hour)
    }

    /// Notes that there is a row of an hour.
    pub(crate) fn note_hour(&mut self, hour: Hour) {
        self.latest_hour = self.latest_hour.max(Some(hour));
    }

    /// Opens an hour that begins. Returns the one that is closed for it.
    pub(crate) fn open_hour(&mut self, hour: Hour, events: u64) -> Option<(Hour, u64)> {
        self.note_hour(hour);
        self.hours.insert(hour, events);
        (self.hours.len() > limits::OPEN_HOURS).then(|| self.hours.pop_first()).flatten()
    }

    /// Forgets an hour.
    pub(crate) fn drop_hour(&mut self, hour: Hour) {
        self.hours.remove(&hour);
    }

    /// Returns what a stretch adds up to, where it is open.
    pub(crate) fn total(&self, id: SubscriptionId, key: PeriodKey) -> Option<&Total> {
        self.totals.get(&(id, key)).map(|of| &of.total)
    }

    /// Returns what a stretch adds up to, where it is open, to be changed.
    pub(crate) fn total_mut(&mut self, id: SubscriptionId, key: PeriodKey) -> Option<&mut Total> {
        self.totals.get_mut(&(id, key)).map(|of| &mut of.total)
    }

    /// Opens a stretch that begins.
    pub(crate) fn open_total(&mut self, id: SubscriptionId, key: PeriodKey, new: OpenTotal) {
        self.totals.insert((id, key), new);
    }

    /// Forgets a stretch. Returns what was there.
    pub(crate) fn drop_total(&mut self, id: SubscriptionId, key: PeriodKey) -> Option<Total> {
        self.totals.remove(&(id, key)).map(|of| of.total)
    }

    /// Returns which thresholds of an alert have fired in a billing period, where that is known here.
    pub(crate) fn fired(
        &self,
        id: SubscriptionId,
        start: Timestamp,
        alert: AlertId,
    ) -> Option<&Fired> {
        self.fired.get(&(id, start))?.fired.get(&alert)
    }

    /// Writes which thresholds of an alert have fired, where that is known here. Tells whether it is.
    pub(crate) fn put_fired(
        &mut self,
        (id, start, alert): (SubscriptionId, Timestamp, AlertId),
        fired: Fired,
    ) -> bool {
        let known = self.fired.get_mut(&(id, start)).and_then(|of| of.fired.get_mut(&alert));
        known.map(|known| *known = fired).is_some()
    }

    /// Begins to know which thresholds of an alert have fired in a billing period, up to its end.
    pub(crate) fn open_fired(
        &mut self,
        (id, start, alert): (SubscriptionId, Timestamp, AlertId),
        end: Timestamp,
        fired: Fired,
    ) {
        let new = || OpenAlerts { end, fired: BTreeMap::new() };
        self.fired.entry((id, start)).or_insert_with(new).fired.insert(alert, fired);
    }

    /// Tells whether there is room for a stretch or an alert more, with so many figures.
    pub(crate) fn has_room(&self, figures: usize) -> bool {
        let new = figures.saturating_mul(FIGURE_BYTES).saturating_add(PERIOD_BYTES);
        self.bytes().saturating_add(new) <= limits::OPEN_BYTES
    }

    /// Tells whether something ended before an instant, or is too much.
    pub(crate) fn is_to_close(&self, oldest: Timestamp) -> bool {
        self.totals.values().any(|of| of.end <= oldest)
            || self.fired.values().any(|of| of.end <= oldest)
            || self.bytes() > limits::OPEN_BYTES
    }

    /// Closes the stretches and billing periods that ended before an instant.
    pub(crate) fn close_before(&mut self, oldest: Timestamp) -> Closed {
        let mut closed = Closed::default();
        let ended = self.totals.iter().filter(|(_, of)| of.end <= oldest);
        let ended: Vec<_> = ended.map(|(of, _)| *of).collect();
        for of in ended {
            closed.totals.extend(self.totals.remove(&of).map(|gone| (of, gone.total)));
        }
        let ended = self.fired.iter().filter(|(_, of)| of.end <= oldest);
        let ended: Vec<_> = ended.map(|(of, _)| *of).collect();
        for of in ended {
            closed.fired.extend(self.fired.remove(&of).map(|gone| (of, gone.fired)));
        }
        closed
    }

    /// Closes the stretches that have the most figures, and then windows, until it is no longer than it
    /// may be.
    pub(crate) fn close_too_many(&mut self) -> Closed {
        let mut closed = Closed::default();
        while self.bytes() > limits::OPEN_BYTES {
            let largest = self.totals.iter().max_by_key(|(_, of)| of.total.count());
            let largest = largest.map(|(of, total)| (*of, total.total.count()));
            let in_windows = self.windows.iter().map(|of| of.total.count()).max();
            match largest {
                Some((of, figures)) if Some(figures) >= in_windows => {
                    closed.totals.extend(self.totals.remove(&of).map(|gone| (of, gone.total)));
                }
                _ if !self.windows.is_empty() => closed.windows.push(self.windows.remove(0)),
                _ => closed.fired.extend(self.fired.pop_first().map(|(of, gone)| (of, gone.fired))),
            }
        }
        closed
    }

    /// Returns how many bytes it has, about.
    fn bytes(&self) -> usize {
        let windows = self.windows.iter().map(|of| bytes(&of.total));
        let totals = self.totals.values().map(|of| bytes(&of.total));
        let fired = self.fired.values().map(|of| {
            let fired = of.fired.values().map(|fired| fired.count().saturating_add(1));
            fired.sum::<usize>().saturating_mul(FIGURE_BYTES).saturating_add(PERIOD_BYTES)
        });
        windows.chain(totals).chain(fired).fold(0, usize::saturating_add)
    }
}

fn bytes(total: &Total) -> usize {
    let key = |of: &Aggregate| match of {
        Aggregate::Latest(latest) => latest.key.as_str().len(),
        _ => 0,
    };
    let keys = total.metrics.values().chain(total.cells.values()).map(key);
    let figures = total.count().saturating_mul(FIGURE_BYTES);
    keys.fold(figures.saturating_add(PERIOD_BYTES), usize::saturating_add)
}
