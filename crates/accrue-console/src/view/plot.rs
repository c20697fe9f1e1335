//! Plots of figures over time, drawn as SVG. Figures stay decimals: only places on the picture are floats.
#![expect(clippy::float_arithmetic, reason = "places on a picture are no figures")]

mod scale;

use accrue::Decimal;
use maud::{Markup, PreEscaped, html};

use self::scale::{Scale, float};
use super::{
    number::grouped,
    part::{Column, empty, table},
};

/// How figures are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A bar for each: figures that each count for a stretch of time.
    Bars,
    /// A line that goes on with each, at the end of its stretch.
    Line,
}

/// How much room a plot has: all, or half of it beside another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    All,
    Half,
}

impl Room {
    /// Returns the width of the picture.
    const fn width(self) -> f64 {
        match self {
            Self::All => 960.0,
            Self::Half => 480.0,
        }
    }

    /// Returns the most labels below it.
    const fn labels(self) -> usize {
        match self {
            Self::All => 8,
            Self::Half => 4,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::All => "plot all",
            Self::Half => "plot half",
        }
    }
}

/// A figure of a plot.
pub(crate) struct Point {
    /// Stretch of time that it is of.
    pub(crate) label: String,
    /// None where there is none.
    pub(crate) value: Option<Decimal>,
}

/// A value that is drawn across the plot, such as a threshold of an alert.
pub(crate) struct Mark {
    pub(crate) value: Decimal,
    pub(crate) label: String,
}

/// Plot of figures over time.
pub(crate) struct Plot<'a> {
    /// Name that its ids begin with.
    pub(crate) id: &'a str,
    pub(crate) title: String,
    /// What a figure is of, such as `events` or `USD`.
    pub(crate) unit: String,
    /// Name of the column of the stretches, in the table.
    pub(crate) over: &'a str,
    pub(crate) shape: Shape,
    pub(crate) room: Room,
    pub(crate) points: Vec<Point>,
    pub(crate) marks: Vec<Mark>,
}

/// Height of the picture, and what is kept free for labels: left, right, top and below.
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 14.0;
const BELOW: f64 = 26.0;

impl Plot<'_> {
    /// Draws it, with its figures as a table behind a disclosure.
    pub(crate) fn draw(&self) -> Markup {
        if self.points.iter().all(|point| point.value.is_none()) {
            return empty(&self.title, "There are no figures for this time yet.");
        }
        html! {
            figure class=(self.room.class()) {
                figcaption { (self.title) span.unit { (self.unit) } }
                div.scroll tabindex="0" role="region" aria-label=(format!("{}: plot", self.title)) { (self.picture()) }
                details.data {
                    summary { "Figures as a table" }
                    (table(&format!("{}: figures", self.title), &[Column::Text(self.over), Column::Number(&self.unit)], &self.rows()))
                }
            }
        }
    }

    fn rows(&self) -> Markup {
        html! {
            @for point in &self.points {
                tr {
                    th scope="row" { (point.label) }
                    td.number {
                        @match &point.value { Some(value) => (grouped(value)), None => "–" }
                    }
                }
            }
        }
    }

    /// Says in words what is drawn.
    fn summary(&self) -> String {
        let mut known = self.points.iter().filter_map(|of| Some((of.value.as_ref()?, &of.label)));
        let greatest = known.clone().max_by(|one, other| one.0.cmp(other.0));
        let last = known.next_back();
        let said = |word: &str, of: Option<(&Decimal, &String)>| {
            of.map(|(value, label)| format!(" {word} {} ({label}).", grouped(value)))
        };
        let marks =
            self.marks.iter().map(|mark| format!(" {}: {}.", mark.label, grouped(&mark.value)));
        format!(
            "{} stretches of time, in {}.{}{}{}",
            self.points.len(),
            self.unit,
            said("Greatest:", greatest).unwrap_or_default(),
            said("Last:", last).unwrap_or_default(),
            marks.collect::<String>()
        )
    }

    fn picture(&self) -> Markup {
        let values = self.points.iter().filter_map(|point| point.value.as_ref());
        let all = values.chain(self.marks.iter().map(|mark| &mark.value)).map(float);
        let mut known = self.points.iter().filter_map(|point| point.value.as_ref());
        let least_step = if known.all(|of| !of.to_string().contains('.')) { 1.0 } else { 0.0 };
        let scale = Scale::of(all, least_step, (HEIGHT - BELOW, TOP));
        let (title_id, text_id) = (format!("{}-title", self.id), format!("{}-text", self.id));
        let labelled = format!("{title_id} {text_id}");
        html! {
            svg viewBox=(format!("0 0 {} {HEIGHT}", self.room.width())) role="img" aria-labelledby=(labelled)
                data-ends=(scale.ends()) {
                title id=(title_id) { (self.title) }
                desc id=(text_id) { (self.summary()) }
                @for (place, label) in scale.ticks() {
                    line.grid x1=(px(LEFT)) x2=(px(self.room.width() - RIGHT)) y1=(px(place)) y2=(px(place)) {}
                    text.tick x=(px(LEFT - 8.0)) y=(px(place + 4.0)) text-anchor="end" { (label) }
                }
                (self.figures(&scale))
                (self.labels())
                @for mark in &self.marks {
                    @let place = scale.place(float(&mark.value));
                    line.mark x1=(px(LEFT)) x2=(px(self.room.width() - RIGHT)) y1=(px(place)) y2=(px(place)) {}
                    // At the newest end, which is what a narrow screen shows first.
                    text.mark x=(px(self.room.width() - RIGHT - 6.0)) y=(px(place - 5.0)) text-anchor="end" {
                        (mark.label) " " (grouped(&mark.value))
                    }
                }
            }
        }
    }

    fn figures(&self, scale: &Scale) -> Markup {
        let zero = scale.place(0.0);
        let step = (self.room.width() - LEFT - RIGHT) / number(self.points.len().max(1));
        let places = self.points.iter().enumerate().filter_map(|(at, point)| {
            let place = scale.place(float(point.value.as_ref()?));
            Some((LEFT + step * number(at), place, point))
        });
        match self.shape {
            Shape::Bars => html! {
                @for (left, place, point) in places {
                    @let (top, height) = (place.min(zero), (place - zero).abs());
                    rect.bar x=(px(left + step * 0.12)) width=(px(step * 0.76)) y=(px(top)) height=(px(height)) {
                        title { (point.label) ": " (point.value.as_ref().map(grouped).unwrap_or_default()) }
                    }
                }
            },
            Shape::Line => {
                let mut path = String::new();
                for (left, place, _) in places {
                    let order = if path.is_empty() { 'M' } else { 'L' };
                    path.push_str(&format!("{order}{} {}", px(left + step / 2.0), px(place)));
                }
                // It is made of letters and digits alone.
                html! { path.line d=(PreEscaped(path)) fill="none" {} }
            }
        }
    }

    /// Labels some of the stretches, the first and the last among them.
    fn labels(&self) -> Markup {
        let count = self.points.len();
        let every = count.div_ceil(self.room.labels()).max(1);
        let step = (self.room.width() - LEFT - RIGHT) / number(count.max(1));
        let shown = self.points.iter().enumerate().filter(|(at, _)| at % every == 0);
        html! {
            @for (at, point) in shown {
                text.tick x=(px(LEFT + step * (number(at) + 0.5))) y=(px(HEIGHT - 8.0)) text-anchor="middle" {
                    (short(&point.label))
                }
            }
        }
    }
}

/// Shortens the label of a stretch: its year is that of the others.
fn short(label: &str) -> &str {
    let year = label.get(..5).is_some_and(|year| year.ends_with('-'));
    label.get(5..).filter(|_| year).unwrap_or(label)
}

/// Writes a place on the picture.
fn px(place: f64) -> String {
    let text = format!("{place:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(shape: Shape, values: &[Option<&str>], marks: &[&str]) -> String {
        let decimal = |text: &&str| Decimal::parse(text).unwrap();
        let points = values.iter().enumerate().map(|(at, value)| Point {
            label: format!("2026-03-{:02}", at + 1),
            value: value.as_ref().map(decimal),
        });
        let marks =
            marks.iter().map(|value| Mark { value: decimal(value), label: "alert <1>".to_owned() });
        let plot = Plot {
            id: "p",
            title: "Tokens & more".to_owned(),
            unit: "tokens".to_owned(),
            over: "Day",
            shape,
            room: Room::Half,
            points: points.collect(),
            marks: marks.collect(),
        };
        plot.draw().into_string()
    }

    #[test]
    fn the_picture_is_as_it_was() {
        let bars = plot(Shape::Bars, &[Some("100"), None, Some("250.5")], &["200"]);
        let line = plot(Shape::Line, &[Some("-1"), Some("0"), Some("2.5")], &[]);
        let found = format!("{bars}\n{line}\n");
        if std::env::var_os("BLESS_GOLDEN").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/view/plot/golden.html");
            std::fs::write(path, &found).unwrap();
        }
        assert_eq!(found, include_str!("plot/golden.html"));
    }

    #[test]
    fn nothing_is_drawn_of_no_figures() {
        assert!(!plot(Shape::Line, &[None, None], &["1"]).contains("<svg"));
        assert!(!plot(Shape::Bars, &[], &[]).contains("<svg"));
    }

    #[test]
    fn every_figure_is_in_the_table_to_the_last_digit() {
        let digits = "1234567890123456789.000000001";
        let found = plot(Shape::Bars, &[Some(digits)], &[]);
        assert!(found.contains("1,234,567,890,123,456,789.000000001"));
        assert!(!found.contains("alert <1>") && !found.contains("style="));
    }

    #[test]
    fn places_are_numbers_whatever_the_figures_are() {
        for values in [&["0"][..], &["1e27", "-1e27"], &["0.000000000001"], &["7", "7", "7"]] {
            let values: Vec<_> = values.iter().map(|value| Some(*value)).collect();
            let found = plot(Shape::Line, &values, &["9999999999999999999999999999"]);
            assert!(!found.contains("NaN") && !found.contains("inf"), "{found}");
        }
    }
}
