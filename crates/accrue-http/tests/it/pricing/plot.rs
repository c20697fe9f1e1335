//! Plots of what models cost, as SVG that is readable in light and in dark, and by readers of screens.

#![allow(clippy::float_arithmetic, reason = "places on a picture are no figures")]

use std::fmt::Write as _;

use accrue::Decimal;

use super::entry::number;

/// What is drawn of a model.
pub(super) struct Picture {
    pub(super) model: &'static str,
    pub(super) unit: &'static str,
    /// The most units.
    pub(super) to: u32,
    pub(super) curves: Vec<Curve>,
    /// The example of the page, where it lies on a line.
    pub(super) example: Option<(Decimal, Decimal)>,
}

/// What so many units cost, in the order of their number.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) points: Vec<(Decimal, Decimal)>,
}

/// The size of a picture, and where its plot lies: sized for a phone, so that its texts are readable there.
const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 366.0;
const TOP: f64 = 58.0;
const BOTTOM: f64 = 222.0;

/// The style of all plots. Lines differ in colour and in their dashes.
pub(super) const STYLE: &str = "\
.plot text { font: 13px system-ui, sans-serif; fill: #52565c; }
.plot .back { fill: #fff; }
.plot .grid { stroke: #e3e6ea; }
.plot .axis { stroke: #8a9099; }
.plot path { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
.plot .line0 { stroke: #0b6bcb; }
.plot .line1 { stroke: #b4480b; stroke-dasharray: 7 4; }
.plot .line2 { stroke: #18794e; stroke-dasharray: 2 4; }
.plot circle { fill: #1c2024; stroke: #fff; stroke-width: 2; }
.plot .said { fill: #1c2024; font-weight: 600; }
@media (prefers-color-scheme: dark) {
  .plot text { fill: #b0b6be; }
  .plot .back { fill: #15171a; }
  .plot .grid { stroke: #2b2f34; }
  .plot .axis { stroke: #6d747d; }
  .plot .line0 { stroke: #6cb4ff; }
  .plot .line1 { stroke: #ffa866; }
  .plot .line2 { stroke: #5bc98f; }
  .plot circle { fill: #e8eaed; stroke: #15171a; }
  .plot .said { fill: #e8eaed; }
}
";

impl Picture {
    /// The picture as a file of its own.
    pub(super) fn file(&self) -> String {
        let style = format!("<style>\n{STYLE}</style>\n");
        self.draw(" xmlns=\"http://www.w3.org/2000/svg\"", &style)
    }

    /// The picture as a part of a page that has the style.
    pub(super) fn inline(&self) -> String {
        self.draw("", "")
    }

    fn draw(&self, namespace: &str, style: &str) -> String {
        let (id, title) = (self.model, self.title());
        let mut svg = format!(
            "<svg{namespace} class=\"plot\" width=\"480\" height=\"324\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             role=\"img\" aria-labelledby=\"plot-{id}-title plot-{id}-desc\">\n\
             <title id=\"plot-{id}-title\">{title}</title>\n\
             <desc id=\"plot-{id}-desc\">{}</desc>\n{style}\
             <rect class=\"back\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n",
            self.description(),
        );
        let across = Scale::of(float(&Decimal::from(self.to)), 5.0, (LEFT, RIGHT));
        let most = self.curves.iter().flat_map(|curve| &curve.points).map(|(_, cost)| float(cost));
        let up = Scale::of(most.fold(0.0, f64::max), 5.0, (BOTTOM, TOP));
        add(&mut svg, &axes(&across, &up, self.unit));
        add(&mut svg, &self.legend());
        for (place, curve) in self.curves.iter().enumerate() {
            add(&mut svg, &curve.draw(place, &across, &up));
        }
        if let Some((x, cost)) = &self.example {
            let (x, y) = (across.place(float(x)), up.place(float(cost)));
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>");
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn title(&self) -> String {
        format!("What {} cost with {}", self.unit, self.model)
    }

    /// What the lines say, in words: what a quarter, a half and all of the units cost.
    fn description(&self) -> String {
        let quarters = [1, 2, 3, 4].map(|part| Decimal::from(part * self.to) * number("0.25"));
        let lines = self.curves.iter().map(|curve| {
            let costs = quarters.iter().filter_map(|x| {
                let (_, cost) = curve.points.iter().find(|(at, _)| at >= x)?;
                Some(format!("{} cost {}", grouped(&x.to_string()), money(cost)))
            });
            let costs = costs.collect::<Vec<_>>().join(", ");
            if curve.name.is_empty() { costs } else { format!("{}: {costs}", curve.name) }
        });
        format!("{}.", lines.collect::<Vec<_>>().join("; "))
    }

    /// The names of the lines, each after a piece of it.
    fn legend(&self) -> String {
        let mut svg = String::new();
        let mut x = LEFT;
        for (place, curve) in self.curves.iter().enumerate().filter(|(_, of)| !of.name.is_empty()) {
            let _ = writeln!(
                svg,
                "<path class=\"line{place}\" d=\"M{x:.0} 18h24\"/>\n\
                 <text class=\"said\" x=\"{:.0}\" y=\"22\">{}</text>",
                x + 30.0,
                curve.name,
            );
            // A letter of this size takes some eight places.
            x += 46.0 + 8.0 * f64::from(u32::try_from(curve.name.chars().count()).unwrap_or(0));
        }
        svg
    }
}

impl Curve {
    fn draw(&self, place: usize, across: &Scale, up: &Scale) -> String {
        let places =
            self.points.iter().map(|(x, cost)| (across.place(float(x)), up.place(float(cost))));
        let mut kept: Vec<(f64, f64)> = Vec::new();
        for point in places {
            // What lies between two others on one line says nothing.
            while let [.., before, last] = kept[..]
                && is_between(before, last, point)
            {
                kept.pop();
            }
            kept.push(point);
        }
        let points = kept.iter().map(|(x, y)| format!("{x:.1} {y:.1}"));
        let points = points.collect::<Vec<_>>().join("L");
        format!("<path class=\"line{place}\" d=\"M{points}\"/>\n")
    }
}

fn is_between(before: (f64, f64), middle: (f64, f64), after: (f64, f64)) -> bool {
    let (x, y) = (after.0 - before.0, after.1 - before.1);
    let off = x * (middle.1 - before.1) - y * (middle.0 - before.0);
    off.abs() < 0.01 * (x.abs() + y.abs()).max(0.01)
}

/// The lines across and upwards, with what they say.
fn axes(across: &Scale, up: &Scale, unit: &str) -> String {
    let mut svg = String::new();
    for (y, label) in up.ticks() {
        let class = if y == BOTTOM { "axis" } else { "grid" };
        let _ = writeln!(
            svg,
            "<line class=\"{class}\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\"/>\n\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 7.0,
            y + 4.5,
        );
    }
    for (x, label) in across.ticks() {
        let _ = writeln!(
            svg,
            "<line class=\"axis\" x1=\"{x:.1}\" y1=\"{BOTTOM}\" x2=\"{x:.1}\" y2=\"{}\"/>\n\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            BOTTOM + 4.0,
            BOTTOM + 19.0,
        );
    }
    let middle = (LEFT + RIGHT) / 2.0;
    let _ = writeln!(
        svg,
        "<text class=\"said\" x=\"{}\" y=\"44\" text-anchor=\"end\">USD</text>\n\
         <text class=\"said\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{unit}</text>",
        LEFT - 7.0,
        BOTTOM + 40.0,
    );
    svg
}

/// Scale from figures to places, from zero on.
struct Scale {
    most: f64,
    step: f64,
    ends: (f64, f64),
}

impl Scale {
    /// Makes the scale up to a figure, with about so many lines.
    fn of(most: f64, lines: f64, ends: (f64, f64)) -> Self {
        let steps = (-3..9).flat_map(|power| [1.0, 2.0, 5.0].map(|of| of * 10.0_f64.powi(power)));
        let step = steps.into_iter().find(|step| *step >= most / lines).unwrap_or(most);
        Self { most: ((most / step) - 0.001).ceil() * step, step, ends }
    }

    fn place(&self, figure: f64) -> f64 {
        self.ends.0 + (self.ends.1 - self.ends.0) * figure / self.most
    }

    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let ticks = (0..12).map(|of| f64::from(of) * self.step);
        let shown = ticks.take_while(|at| *at < self.most + self.step / 2.0);
        shown.map(|at| {
            let places = if self.step < 1.0 { 1 } else { 0 };
            (self.place(at), grouped(&format!("{at:.places$}")))
        })
    }
}

fn float(figure: &Decimal) -> f64 {
    figure.to_string().parse().unwrap()
}

fn add(svg: &mut String, more: &str) {
    svg.push_str(more);
}

/// Writes a number with its thousands apart.
pub(super) fn grouped(number: &str) -> String {
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    let mut text = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    if rest.is_empty() { text } else { format!("{text}.{rest}") }
}

/// Writes an amount: cents are two places.
pub(super) fn money(amount: &Decimal) -> String {
    let text = grouped(&amount.to_string());
    match text.split_once('.') {
        Some((_, places)) if places.len() == 1 => format!("{text}0"),
        Some(_) => text,
        None => format!("{text}.00"),
    }
}
