use std::fmt;

use accrue_benches::Outcome;

/// A number with at most two digits behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figure {
    hundredths: u64,
}

impl Figure {
    /// A sum over some calls, or events, for one of them.
    pub(crate) fn mean(sum: u64, of: u64) -> Self {
        Self { hundredths: divide(sum * 100, of) }
    }

    /// The nearest number without digits behind the point.
    pub(crate) fn whole(self) -> Self {
        Self { hundredths: divide(self.hundredths, 100) * 100 }
    }

    /// A part of it; a large one without digits behind the point.
    pub(super) fn part(self, of: u64) -> Self {
        let part = Self { hundredths: divide(self.hundredths, of) };
        if part.hundredths < 100_000 { part } else { part.whole() }
    }

    /// Tells whether it is as much as another, give or take so many per cent of the other.
    pub(super) fn is_within(self, per_cent: u64, budget: Self) -> bool {
        self.hundredths.abs_diff(budget.hundredths) * 100 <= budget.hundredths * per_cent
    }

    /// Says how much more or less it is than another.
    pub(super) fn off(self, budget: Self) -> String {
        let by = self.hundredths.abs_diff(budget.hundredths);
        let direction = if self.hundredths < budget.hundredths { "less" } else { "more" };
        match budget.hundredths {
            0 => direction.to_owned(),
            budget => {
                let tenths = divide(by * 1_000, budget);
                format!("{}.{} % {direction}", tenths / 10, tenths % 10)
            }
        }
    }

    pub(super) fn parse(text: &str) -> Outcome<Self> {
        let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{}{behind:0<2}", whole.replace(',', ""));
        match digits.parse() {
            Ok(hundredths) if !whole.is_empty() && behind.len() <= 2 => Ok(Self { hundredths }),
            _ => Err(format!("found {text:?}, expected a number such as 1,234.56").into()),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&thousands(self.hundredths / 100))?;
        match self.hundredths % 100 {
            0 => Ok(()),
            behind if behind % 10 == 0 => write!(f, ".{}", behind / 10),
            behind => write!(f, ".{behind:02}"),
        }
    }
}

/// A number with a comma before each three digits.
pub(super) fn thousands(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", thousands(number / 1_000), number % 1_000),
    }
}

/// Divides, to the nearest.
fn divide(number: u64, by: u64) -> u64 {
    let by = by.max(1);
    (number + by / 2) / by
}

#[cfg(test)]
mod tests {
    use super::Figure;

    #[track_caller]
    fn check(sum: u64, of: u64, expected: &str) {
        let figure = Figure::mean(sum, of);
        assert_eq!(figure.to_string(), expected);
        assert_eq!(Figure::parse(expected).unwrap(), figure);
    }

    #[test]
    fn a_figure_is_read_as_it_is_written() {
        check(0, 1, "0");
        check(12, 1, "12");
        check(1, 2, "0.5");
        check(2, 3, "0.67");
        check(1, 64, "0.02");
        check(1_000, 1, "1,000");
        check(24_690_241, 20, "1,234,512.05");
    }

    #[test]
    fn other_texts_are_no_figures() {
        for text in ["", "a", "1.234", "-1", "1.-2"] {
            assert!(Figure::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn it_says_how_far_off_it_is() {
        let [budget, more, less] = [1_000, 1_031, 900].map(|sum| Figure::mean(sum, 1));
        assert_eq!(more.off(budget), "3.1 % more");
        assert_eq!(less.off(budget), "10.0 % less");
        assert_eq!(more.off(Figure::mean(0, 1)), "more");
    }
}
