use std::fmt::{Display, Write as _};

/// A picture that is being drawn.
pub(crate) struct Svg(String);

/// Where a text stands at its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The colours of what is told apart, which differ in lightness too.
pub(crate) const COLOURS: [&str; 4] = ["#9ecae1", "#4292c6", "#08306b", "#d94801"];
/// The colour of lines that only help the eye.
pub(crate) const GREY: &str = "#cccccc";

impl Svg {
    /// A white picture, in pixels.
    pub(crate) fn new(width: f64, height: f64) -> Self {
        let mut svg = Self(String::new());
        svg.add(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"
        ));
        svg
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    pub(crate) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str) {
        self.add(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
        ));
    }

    pub(crate) fn path(&mut self, points: &[(f64, f64)], colour: &str, is_dashed: bool) {
        let points = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
        let points = points.collect::<Vec<_>>().join(" ");
        let dashes = if is_dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        self.add(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>"
        ));
    }

    pub(crate) fn dot(&mut self, x: f64, y: f64, colour: &str) {
        self.add(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{colour}\"/>"));
    }

    pub(crate) fn finish(mut self) -> String {
        self.add("</svg>");
        self.0
    }

    fn add(&mut self, element: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{element}");
    }
}

/// A short text of a number: 1.2k, 35k, 2M.
pub(crate) fn short(number: f64) -> String {
    let (number, unit) = match number {
        number if number >= 1e6 => (number / 1e6, "M"),
        number if number >= 1e3 => (number / 1e3, "k"),
        number => (number, ""),
    };
    if number < 10.0 && number.fract() > 0.05 {
        format!("{number:.1}{unit}")
    } else {
        format!("{number:.0}{unit}")
    }
}
