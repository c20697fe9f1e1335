//! Stored form: every metric and cell is named once, and figures stand in the order of the names.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{OpenAlerts, OpenTotal, OpenUsage, OpenWindow};
use crate::{
    AlertId, MetricId, SubscriptionId, Timestamp,
    alert::Fired,
    meter::CellHash,
    subscription::PeriodKey,
    usage::{Aggregate, BucketSlot, Hour, Stretch, Total, Window},
};

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Form<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<MetricId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cells: Vec<CellHash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_window: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_hour: Option<Place>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    windows: Vec<(Place, BucketSlot, Figures<'a>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hours: Vec<(Place, u64)>,
    /// Start and end of the key, and the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    totals: Vec<(SubscriptionId, Micros, Micros, Micros, Figures<'a>)>,
    /// Start and end of the billing period.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fired: Vec<(SubscriptionId, Micros, Micros, Vec<(AlertId, Fired)>)>,
}

/// Figures by the names, without those that are missing behind the last one.
type Figures<'a> = Vec<Option<Cow<'a, Aggregate>>>;

/// Number of a window or an hour, counted from 1970.
type Place = i64;

/// Instant in microseconds: more than a number of JSON is safe for.
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

fn place<const MINUTES: i64>(of: Stretch<MINUTES>) -> Place {
    of.number()
}

/// Names of figures, each once.
struct Names {
    metrics: Vec<MetricId>,
    cells: Vec<CellHash>,
}

impl Names {
    fn of(usage: &OpenUsage) -> Self {
        let windows = usage.windows.iter().map(|of| &of.total);
        let all = || windows.clone().chain(usage.totals.values().map(|of| &of.total));
        let metrics: BTreeSet<_> = all().flat_map(|total| total.metrics.keys()).collect();
        let cells: BTreeSet<_> = all().flat_map(|total| total.cells.keys()).collect();
        Self {
            metrics: metrics.into_iter().copied().collect(),
            cells: cells.into_iter().copied().collect(),
        }
    }

    fn figures<'a>(&self, total: &'a Total) -> Figures<'a> {
        let mut figures = Vec::with_capacity(self.metrics.len().saturating_add(self.cells.len()));
        figures.extend(self.metrics.iter().map(|id| total.metrics.get(id).map(Cow::Borrowed)));
        figures.extend(self.cells.iter().map(|id| total.cells.get(id).map(Cow::Borrowed)));
        let last = figures.iter().rposition(Option::is_some);
        figures.truncate(last.map_or(0, |last| last.saturating_add(1)));
        figures
    }

    /// Returns the total of figures; none where there are more of them than names.
    fn total(&self, figures: Figures<'_>) -> Option<Total> {
        let names = self.metrics.len().saturating_add(self.cells.len());
        if figures.len() > names {
            return None;
        }
        let mut figures = figures.into_iter().map(|figure| figure.map(Cow::into_owned));
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

impl Serialize for OpenUsage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = Names::of(self);
        let windows = self.windows.iter();
        let totals = self.totals.iter().map(|((id, key), of)| {
            let figures = names.figures(&of.total);
            (*id, Micros(key.start), Micros(key.end), Micros(of.end), figures)
        });
        let fired = self.fired.iter().map(|((id, start), of)| {
            let fired = of.fired.iter().map(|(alert, fired)| (*alert, fired.clone()));
            (*id, Micros(*start), Micros(of.end), fired.collect())
        });
        let form = Form {
            latest_window: self.latest_window.map(place),
            latest_hour: self.latest_hour.map(place),
            windows: windows
                .map(|of| (place(of.window), of.slot, names.figures(&of.total)))
                .collect(),
            hours: self.hours.iter().map(|(hour, events)| (place(*hour), *events)).collect(),
            totals: totals.collect(),
            fired: fired.collect(),
            cells: Vec::new(),
            metrics: Vec::new(),
        };
        let Names { metrics, cells } = names;
        Form { metrics, cells, ..form }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for OpenUsage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = Form::deserialize(deserializer)?;
        form.read().ok_or_else(|| de::Error::custom("open usage has more figures than names"))
    }
}

impl Form<'_> {
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
