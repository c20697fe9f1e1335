use std::time::Duration;

use accrue::store::Store;
use accrue_benches::{Outcome, Stopwatch, now};
use serde::Serialize;

/// How long something took.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Span {
    /// All of it, in nanoseconds.
    pub(crate) all: f64,
    /// What was not spent in calls of the store, in nanoseconds.
    pub(crate) own: f64,
}

impl Span {
    /// Does something once.
    pub(crate) fn of<S: Store>(
        store: &Stopwatch<S>,
        call: impl FnOnce() -> Outcome<()>,
    ) -> Outcome<Self> {
        let _ = store.take();
        let start = now();
        call()?;
        let all = start.elapsed();
        let own = all.saturating_sub(store.take());
        let nanoseconds = |span: Duration| span.as_secs_f64() * 1e9;
        Ok(Self { all: nanoseconds(all), own: nanoseconds(own) })
    }

    /// What each of so many took together.
    pub(crate) fn each(spans: &[Self], count: u64) -> Self {
        let sum = |of: fn(&Self) -> f64| spans.iter().map(of).sum::<f64>() / count as f64;
        Self { all: sum(|span| span.all), own: sum(|span| span.own) }
    }

    /// The median.
    pub(crate) fn median(spans: &[Self]) -> Self {
        let median = |of: fn(&Self) -> f64| {
            let mut all: Vec<_> = spans.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or_default()
        };
        Self { all: median(|span| span.all), own: median(|span| span.own) }
    }
}
