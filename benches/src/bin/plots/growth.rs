use serde::Deserialize;

use crate::svg::{Anchor, COLOURS, GREY, Svg, short};

/// What `growth` found of a backend.
#[derive(Deserialize)]
pub(crate) struct Growth {
    backend: String,
    stages: Vec<Stage>,
}

#[derive(Deserialize)]
struct Stage {
    stored: u64,
    ingest: Span,
}

#[derive(Deserialize)]
struct Span {
    all: f64,
    own: f64,
}

const LEFT: f64 = 60.0;
const WIDTH: f64 = 560.0;
const TOP: f64 = 60.0;
const HEIGHT: f64 = 260.0;
const MARGIN: f64 = 110.0;
/// How many parts the scale has.
const PARTS: u32 = 5;

/// What an event of a batch costs where so many are stored: a line of all, and a dashed one of the
/// engine's own share, for each backend.
pub(crate) fn picture(runs: &[Growth]) -> String {
    let stages = || runs.iter().flat_map(|run| &run.stages);
    let most = stages().map(|stage| stage.ingest.all).fold(1.0, f64::max) * 1.1;
    let power = |stage: &Stage| (stage.stored as f64).log10();
    let low = stages().map(power).fold(f64::MAX, f64::min);
    let high = stages().map(power).fold(f64::MIN, f64::max);
    let x = |stage: &Stage| LEFT + WIDTH * (power(stage) - low) / (high - low).max(1.0);
    let y = |nanoseconds: f64| TOP + HEIGHT * (1.0 - nanoseconds / most);
    let mut svg = Svg::new(LEFT + WIDTH + MARGIN, TOP + HEIGHT + 40.0);
    let title = "an event of a batch of 500, in µs, by events stored";
    svg.text(10.0, 20.0, Anchor::Start, title);
    svg.text(10.0, 40.0, Anchor::Start, "line: all of it; dashed: the engine's own share");
    for part in 0..=PARTS {
        let at = most * f64::from(part) / f64::from(PARTS);
        svg.line((LEFT, y(at)), (LEFT + WIDTH, y(at)), GREY);
        svg.text(LEFT - 8.0, y(at) + 4.0, Anchor::End, &short(at / 1e3));
    }
    for stage in runs.first().into_iter().flat_map(|run| &run.stages) {
        let stored = short(stage.stored as f64);
        svg.text(x(stage), TOP + HEIGHT + 20.0, Anchor::Middle, &stored);
    }
    for (run, colour) in runs.iter().zip(COLOURS.iter().rev()) {
        let line = |of: fn(&Span) -> f64| -> Vec<_> {
            run.stages.iter().map(|stage| (x(stage), y(of(&stage.ingest)))).collect()
        };
        let all = line(|span| span.all);
        if let Some((x, y)) = all.last() {
            svg.text(x + 8.0, y + 4.0, Anchor::Start, &run.backend);
        }
        svg.path(&all, colour, false);
        svg.path(&line(|span| span.own), colour, true);
    }
    svg.finish()
}
