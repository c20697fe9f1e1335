//! Stored form: every metric and cell is named once, and figures stand in the order of the names.
//!
//! ```json
//! {
//!   "metrics": ["019cd6f9-…", "019cd6fa-…"],
//!   "latest_window": 1970148, "latest_hour": 492537,
//!   "windows": [[1970148, "a", [{"sum": "6"}, {"count": 2}]]],
//!   "hours": [[492537, 2]],
//!   "totals": [["019cd6fb-…", "1773100800000000", "1775779200000000", "1775779200000000", [{"sum": "6"}]]],
//!   "fired": [["019cd6fb-…", "1773100800000000", "1775779200000000", [["019cd6fc-…", ["5"]]]]]
//! }
//! ```
//!
//! Windows and hours are counted from 1970, and have their slot and their figures. A total has the start and
//! the end of its key, and its end; alerts have those of their billing period. Instants are microseconds, as
//! texts: more than a number of JSON is safe for. Figures that are missing are null, or left out at the end.

use std::{borrow::Cow, collections::BTreeMap, iter::Peekable};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de,
    ser::{SerializeMap, SerializeSeq},
};

use super::{OpenAlerts, OpenTotal, OpenUsage, OpenWindow};
use crate::{
    AlertId, MetricId, SubscriptionId, Timestamp,
    alert::Fired,
    meter::CellHash,
    subscription::PeriodKey,
    usage::{Aggregate, BucketSlot, Hour, Total, Window},
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Form {
    metrics: Vec<MetricId>,
    cells: Vec<CellHash>,
    latest_window: Option<Place>,
    latest_hour: Option<Place>,
    windows: Vec<(Place, BucketSlot, Figures)>,
    hours: Vec<(Place, u64)>,
    totals: Vec<(SubscriptionId, Micros, Micros, Micros, Figures)>,
    fired: Vec<(SubscriptionId, Micros, Micros, Alerts)>,
}

/// Figures by the names, without those that are missing behind the last one.
type Figures = Vec<Option<Aggregate>>;

/// Alerts, with the thresholds that have fired.
type Alerts = Vec<(AlertId, Fired)>;

/// Number of a window or an hour, counted from 1970.
type Place = i64;

/// Instant in microseconds.
struct Micros(Timestamp);

impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(itoa::Buffer::new().format(self.0.micros()))
    }
}

impl<'de> Deserialize<'de> for Micros {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let micros = text.parse().map_err(de::Error::custom)?;
        Timestamp::from_micros(micros).map(Self).map_err(de::Error::custom)
    }
}

/// Names of figures, each once, in order.
struct Names {
    metrics: Vec<MetricId>,
    cells: Vec<CellHash>,
}

impl Names {
    fn of(usage: &OpenUsage) -> Self {
        let windows = usage.windows.iter().map(|of| &of.total);
        let totals = windows.chain(usage.totals.values().map(|of| &of.total));
        let (mut metrics, mut cells) = (Vec::new(), Vec::new());
        for total in totals {
            metrics.extend(total.metrics.keys().copied());
            cells.extend(total.cells.keys().copied());
        }
        metrics.sort_unstable();
        metrics.dedup();
        cells.sort_unstable();
        cells.dedup();
        Self { metrics, cells }
    }

    /// Returns the total of figures; none where there are more of them than names.
    fn total(&self, figures: Figures) -> Option<Total> {
        if figures.len() > self.metrics.len().saturating_add(self.cells.len()) {
            return None;
        }
        let mut figures = figures.into_iter();
        let mut total = Total::default();
        for id in &self.metrics {
            total.metrics.extend(figures.next().flatten().map(|figure| (*id, figure)));
        }
        for id in &self.cells {
            total.cells.extend(figures.next().flatten().map(|figure| (*id, figure)));
        }
        Some(total)
    }
}

/// Figures of a total, by names among which are all of its own.
struct Named<'a>(&'a Names, &'a Total);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(names, total) = self;
        let mut figures = serializer.serialize_seq(None)?;
        let mut metrics = total.metrics.iter().peekable();
        for id in &names.metrics {
            if metrics.peek().is_none() && total.cells.is_empty() {
                break;
            }
            figures.serialize_element(&figure_of(&mut metrics, id))?;
        }
        let mut cells = total.cells.iter().peekable();
        for id in &names.cells {
            if cells.peek().is_none() {
                break;
            }
            figures.serialize_element(&figure_of(&mut cells, id))?;
        }
        figures.end()
    }
}

/// Takes the next figure where it is that of a name.
fn figure_of<'f, Id: PartialEq + 'f>(
    figures: &mut Peekable<impl Iterator<Item = (&'f Id, &'f Aggregate)>>,
    name: &Id,
) -> Option<&'f Aggregate> {
    figures.next_if(|(id, _)| *id == name).map(|(_, figure)| figure)
}

/// Elements that are written one by one.
struct Each<I>(I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

impl Serialize for OpenUsage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = &Names::of(self);
        let mut form = serializer.serialize_map(None)?;
        if !names.metrics.is_empty() {
            form.serialize_entry("metrics", &names.metrics)?;
        }
        if !names.cells.is_empty() {
            form.serialize_entry("cells", &names.cells)?;
        }
        if let Some(latest) = self.latest_window {
            form.serialize_entry("latest_window", &latest.number())?;
        }
        if let Some(latest) = self.latest_hour {
            form.serialize_entry("latest_hour", &latest.number())?;
        }
        if !self.windows.is_empty() {
            let windows = self.windows.iter();
            let windows = windows.map(|of| (of.window.number(), of.slot, Named(names, &of.total)));
            form.serialize_entry("windows", &Each(windows))?;
        }
        if !self.hours.is_empty() {
            let hours = self.hours.iter().map(|(hour, events)| (hour.number(), *events));
            form.serialize_entry("hours", &Each(hours))?;
        }
        if !self.totals.is_empty() {
            let totals = self.totals.iter().map(|((id, key), of)| {
                let figures = Named(names, &of.total);
                (*id, Micros(key.start), Micros(key.end), Micros(of.end), figures)
            });
            form.serialize_entry("totals", &Each(totals))?;
        }
        if !self.fired.is_empty() {
            let fired = self.fired.iter().map(|((id, start), of)| {
                (*id, Micros(*start), Micros(of.end), Each(of.fired.iter()))
            });
            form.serialize_entry("fired", &Each(fired))?;
        }
        form.end()
    }
}

impl<'de> Deserialize<'de> for OpenUsage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = Form::deserialize(deserializer)?;
        form.read().ok_or_else(|| de::Error::custom("open usage has more figures than names"))
    }
}

impl Form {
    fn read(self) -> Option<OpenUsage> {
        let names = Names { metrics: self.metrics, cells: self.cells };
        let windows = self.windows.into_iter().map(|(window, slot, figures)| {
            let (window, total) = (Window::numbered(window)?, names.total(figures)?);
            Some(OpenWindow { window, slot, total })
        });
        let totals = self.totals.into_iter().map(|(id, start, end, ends, figures)| {
            let (key, total) = (PeriodKey { start: start.0, end: end.0 }, names.total(figures)?);
            Some(((id, key), OpenTotal { end: ends.0, total }))
        });
        let fired = self.fired.into_iter().map(|(id, start, end, fired)| {
            let fired: BTreeMap<_, _> = fired.into_iter().collect();
            ((id, start.0), OpenAlerts { end: end.0, fired })
        });
        let hours =
            self.hours.into_iter().map(|(hour, events)| Some((Hour::numbered(hour)?, events)));
        Some(OpenUsage {
            latest_window: self.latest_window.and_then(Window::numbered),
            latest_hour: self.latest_hour.and_then(Hour::numbered),
            windows: windows.collect::<Option<_>>()?,
            hours: hours.collect::<Option<_>>()?,
            totals: totals.collect::<Option<_>>()?,
            fired: fired.collect(),
        })
    }
}
