use serde::Deserialize;

use crate::svg::{Anchor, COLOURS, GREY, Svg, short};

/// What `rates` found.
#[derive(Deserialize)]
pub(crate) struct Rates {
    figures: Vec<Figure>,
}

#[derive(Deserialize)]
struct Figure {
    operation: String,
    title: String,
    callers: u64,
    side: String,
    per_second: f64,
}

const LEFT: f64 = 170.0;
const WIDTH: f64 = 560.0;
const ROW: f64 = 26.0;
const TOP: f64 = 60.0;
const MARGIN: f64 = 30.0;

/// A picture of each operation: a row for each side, a dot for each number of callers, on a
/// logarithmic scale.
pub(crate) fn pictures(rates: &Rates) -> Vec<(String, String)> {
    let operations = distinct(rates.figures.iter().map(|figure| figure.operation.as_str()));
    operations
        .into_iter()
        .map(|operation| {
            let of = rates.figures.iter().filter(|figure| figure.operation == operation);
            (operation.to_owned(), picture(&of.collect::<Vec<_>>()))
        })
        .collect()
}

fn picture(figures: &[&Figure]) -> String {
    let sides = distinct(figures.iter().map(|figure| figure.side.as_str()));
    let callers = distinct(figures.iter().map(|figure| figure.callers));
    let power = |pick: fn(f64, f64) -> f64, start: f64| {
        figures.iter().map(|figure| figure.per_second.log10()).fold(start, pick)
    };
    let (low, high) = (power(f64::min, f64::MAX).floor(), power(f64::max, f64::MIN).ceil());
    let x = |rate: f64| LEFT + WIDTH * (rate.log10() - low) / (high - low).max(1.0);
    let bottom = TOP + ROW * sides.len() as f64;
    let mut svg = Svg::new(LEFT + WIDTH + MARGIN, bottom + MARGIN);
    let title = figures.first().map_or("", |figure| figure.title.as_str());
    svg.text(10.0, 20.0, Anchor::Start, title);
    for (at, callers) in callers.iter().enumerate() {
        let left = LEFT + 110.0 * at as f64;
        svg.dot(left, 40.0, colour(at));
        let unit = if *callers == 1 { "caller" } else { "callers" };
        svg.text(left + 10.0, 44.0, Anchor::Start, &format!("{callers} {unit}"));
    }
    let mut mark = low;
    while mark <= high {
        let rate = 10_f64.powf(mark);
        svg.line((x(rate), TOP), (x(rate), bottom), GREY);
        svg.text(x(rate), bottom + 18.0, Anchor::Middle, &short(rate));
        mark += 1.0;
    }
    for (row, side) in sides.iter().enumerate() {
        let y = TOP + ROW * (row as f64 + 0.5);
        svg.text(LEFT - 12.0, y + 4.0, Anchor::End, side);
        svg.line((LEFT, y), (LEFT + WIDTH, y), GREY);
        for figure in figures.iter().filter(|figure| figure.side == *side) {
            let at = callers.iter().position(|callers| *callers == figure.callers);
            svg.dot(x(figure.per_second), y, colour(at.unwrap_or_default()));
        }
    }
    svg.finish()
}

fn colour(at: usize) -> &'static str {
    COLOURS.get(at % COLOURS.len()).copied().unwrap_or(GREY)
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut distinct, one| {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
        distinct
    })
}
