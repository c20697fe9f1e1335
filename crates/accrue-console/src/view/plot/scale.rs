//! From figures to places on a picture.
#![expect(clippy::float_arithmetic, reason = "places on a picture are no figures")]

use accrue::Decimal;

/// The most lines across.
const TICKS: i32 = 5;

/// Scale from figures to places: zero is always on it.
pub(super) struct Scale {
    low: f64,
    high: f64,
    /// Distance between two lines: a digit, and a power of ten.
    step: (i32, i32),
    bottom: f64,
    top: f64,
}

impl Scale {
    /// Makes the scale of figures between two places: that of the least, and that of the greatest.
    /// Lines are a least distance apart: 1 where figures are counts, which have no halves.
    pub(super) fn of(
        figures: impl Iterator<Item = f64>,
        least_step: f64,
        (bottom, top): (f64, f64),
    ) -> Self {
        let (least, greatest) = figures
            .fold((0.0_f64, 0.0_f64), |(least, greatest), of| (least.min(of), greatest.max(of)));
        let span = if greatest > least { greatest - least } else { 1.0 };
        let step = nice((span / f64::from(TICKS)).max(least_step));
        let width = value(step, 1);
        let low = (least / width).floor() * width;
        let high = ((greatest / width).ceil() * width).max(low + width);
        Self { low, high, step, bottom, top }
    }

    /// Returns the least and the greatest figure with their places, for the script that lets a line be dragged.
    pub(super) fn ends(&self) -> String {
        format!("{} {} {} {}", self.low, self.bottom, self.high, self.top)
    }

    /// Returns the place of a figure.
    pub(super) fn place(&self, figure: f64) -> f64 {
        let share = (figure - self.low) / (self.high - self.low);
        self.bottom + (self.top - self.bottom) * share
    }

    /// Returns the places of the lines across, with what they say.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let width = value(self.step, 1);
        // As many as there is room for; some more where the figures are not above zero.
        let numbers = (-2 * TICKS..=2 * TICKS).map(|number| (number, f64::from(number) * width));
        let half = width / 2.0;
        let shown = numbers.filter(|(_, at)| *at > self.low - half && *at < self.high + half);
        shown.map(|(number, at)| (self.place(at), label(self.step, number))).collect()
    }
}

/// Reads a figure as a place: digits that a picture cannot show are cut.
pub(super) fn float(figure: &Decimal) -> f64 {
    figure.to_string().parse().unwrap_or(0.0)
}

/// Returns the least of 1, 2 and 5 times a power of ten that a distance is not above.
fn nice(distance: f64) -> (i32, i32) {
    for power in -30..=40 {
        for digit in [1, 2, 5] {
            if value((digit, power), 1) >= distance {
                return (digit, power);
            }
        }
    }
    (1, 40)
}

fn value((digit, power): (i32, i32), times: i32) -> f64 {
    f64::from(digit) * 10.0_f64.powi(power) * f64::from(times)
}

/// Writes a multiple of a distance: its digits are exact.
fn label((digit, power): (i32, i32), times: i32) -> String {
    let whole = digit.saturating_mul(times);
    if whole == 0 {
        return "0".to_owned();
    }
    let (sign, digits) = (if whole < 0 { "−" } else { "" }, whole.unsigned_abs().to_string());
    let zeros = usize::try_from(power).unwrap_or(0);
    let text = match usize::try_from(power.saturating_neg()) {
        Ok(places) if places > 0 => {
            let padded = format!("{digits:0>width$}", width = places.saturating_add(1));
            let (whole, rest) = padded.split_at(padded.len().saturating_sub(places));
            let rest = rest.trim_end_matches('0');
            if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
        }
        _ => short(digits, zeros),
    };
    format!("{sign}{text}")
}

/// Writes a whole number, thousands and more by their names.
fn short(digits: String, zeros: usize) -> String {
    let text = format!("{digits}{}", "0".repeat(zeros));
    for (name, places) in [("T", 12), ("G", 9), ("M", 6), ("k", 3)] {
        let cut = text.len().checked_sub(places).filter(|cut| *cut > 0);
        let Some((whole, rest)) = cut.map(|cut| text.split_at(cut)) else { continue };
        let rest = rest.trim_end_matches('0');
        if rest.len() <= 1 && whole.len() <= 4 {
            let point = if rest.is_empty() { "" } else { "." };
            return format!("{whole}{point}{rest}{name}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_exact() {
        let check = |step, times, expect: &str| assert_eq!(label(step, times), expect);
        check((5, -2), 3, "0.15");
        check((2, -1), 5, "1");
        check((1, 0), 7, "7");
        check((5, 2), 3, "1.5k");
        check((2, 6), 2, "4M");
        check((1, -3), -2, "−0.002");
        check((5, 20), 0, "0");
    }

    #[test]
    fn counts_have_no_halves() {
        let labels = |least: f64| {
            let scale = Scale::of([2.0].into_iter(), least, (200.0, 0.0));
            scale.ticks().into_iter().map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(labels(1.0), ["0", "1", "2"]);
        assert_eq!(labels(0.0), ["0", "0.5", "1", "1.5", "2"]);
    }

    #[test]
    fn zero_is_on_the_scale_and_lines_are_few() {
        for figures in [vec![], vec![3.0], vec![-5.0, -1.0], vec![1e26], vec![0.0007, 0.001]] {
            let scale = Scale::of(figures.iter().copied(), 0.0, (200.0, 0.0));
            let ticks = scale.ticks();
            assert!((2..=7).contains(&ticks.len()), "{figures:?}: {ticks:?}");
            assert!(ticks.iter().any(|(_, label)| label == "0"));
            assert!(figures.iter().all(|of| (0.0..=200.0).contains(&scale.place(*of))));
        }
    }
}
