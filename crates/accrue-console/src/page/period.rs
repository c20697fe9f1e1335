//! Which billing period of a subscription a page shows.

use std::time::Duration;

use accrue::{Timeframe, Timestamp, subscription::Subscription, usage::QueryTimeframe};
use maud::{Markup, html};

use crate::{
    request::Fields,
    view::{
        form::{Control, Faults, Field, Form},
        time,
    },
    visit::Visit,
};

/// The smallest stretch of time.
const MICRO: Duration = Duration::from_micros(1);
/// Billing periods that there is a choice of.
const PERIODS: usize = 24;

/// Returns the newest billing periods that have begun, the last one first.
pub(super) fn newest_periods(of: &Subscription, now: Timestamp) -> Vec<Timeframe> {
    let periods = of.periods();
    let before = |at: Timestamp| periods.containing(at.saturating_sub(MICRO));
    let last = match of.end_date.filter(|end| *end <= now) {
        Some(end) => before(end),
        None => periods.containing(now),
    };
    std::iter::successors(last, |period| before(period.start())).take(PERIODS).collect()
}

/// The billing period that is shown.
pub(super) struct Period {
    all: Vec<Timeframe>,
    /// The one that is chosen; none where none has begun.
    chosen: Option<Timeframe>,
    now: Timestamp,
}

impl Period {
    /// Returns the one that the query asks for; the last one where it asks for none that there is.
    pub(super) fn chosen(visit: &Visit, of: &Subscription, now: Timestamp) -> Self {
        let all = newest_periods(of, now);
        let start = visit.query.get("period").and_then(|text| Timestamp::parse(text).ok());
        let chosen = all.iter().find(|period| Some(period.start()) == start);
        Self { chosen: chosen.or(all.first()).copied(), all, now }
    }

    /// Returns it where it is over: the current one has no end yet.
    fn over(&self) -> Option<Timeframe> {
        self.chosen.filter(|period| period.end() <= self.now)
    }

    /// Returns what is asked for.
    pub(super) fn timeframe(&self) -> QueryTimeframe {
        self.over().map_or(QueryTimeframe::Current, Into::into)
    }

    /// Names it within a heading.
    pub(super) fn title(&self) -> String {
        match self.over() {
            Some(period) => format!("the billing period {}", span(period)),
            None => "this billing period".to_owned(),
        }
    }

    /// Draws the choice, where there is one.
    pub(super) fn form(&self, visit: &Visit) -> Markup {
        let choices: Vec<_> =
            self.all.iter().map(|of| (of.start().to_string(), span(*of))).collect();
        let choices: Vec<_> =
            choices.iter().map(|(value, text)| (value.as_str(), text.as_str())).collect();
        let chosen = self.chosen.map(|of| of.start().to_string());
        let typed = Fields::of([("period", chosen.unwrap_or_default())]);
        let form = Form { name: "shown", typed: &typed, faults: &Faults::default() };
        let field = Field {
            name: "period",
            label: "Billing period (UTC)",
            hint: "",
            control: Control::Choice(&choices),
        };
        html! {
            @if choices.len() > 1 {
                form.row method="get" {
                    (form.field(&field))
                    (kept(visit, "group"))
                    button type="submit" { "Show" }
                }
            }
        }
    }
}

/// Keeps what another form of the page has chosen.
pub(super) fn kept(visit: &Visit, name: &str) -> Markup {
    html! { @if let Some(value) = visit.query.get(name) { input type="hidden" name=(name) value=(value); } }
}

/// Names the days of a billing period, in UTC.
pub(super) fn span(of: Timeframe) -> String {
    format!("from {} to {}", time::day(of.start()), time::day(last_instant(of)))
}

/// Returns the last instant of a timeframe, whose day is the one that it ends with.
pub(super) fn last_instant(timeframe: Timeframe) -> Timestamp {
    timeframe.end().saturating_sub(MICRO).max(timeframe.start())
}
