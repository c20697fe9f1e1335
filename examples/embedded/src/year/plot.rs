use std::fmt::{self, Display};

use accrue::Decimal;

use crate::{setup::decimal, table::grouped};

/// The most rows of a plot, above and below zero together.
const ROWS: u64 = 10;

/// How much of a row a column fills: a little, half of it, all of it.
const UPWARDS: [char; 3] = ['▁', '▄', '█'];
const DOWNWARDS: [char; 3] = ['▔', '▀', '█'];

/// A column for each value, up or down from zero.
pub(super) struct Plot {
    pub(super) values: Vec<Decimal>,
    pub(super) axis: Axis,
}

/// What each column of a year is.
#[derive(Clone, Copy)]
pub(super) enum Axis {
    Weeks,
    Months,
}

impl Axis {
    /// Names the months, each where it begins.
    const fn labels(self) -> &'static str {
        match self {
            Self::Weeks => "Jan Feb Mar  Apr May Jun  Jul Aug Sep  Oct Nov Dec",
            Self::Months => "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
        }
    }

    /// Writes cells of one row beside each other.
    fn row(self, cells: impl Iterator<Item = char>) -> String {
        match self {
            Self::Weeks => cells.collect(),
            Self::Months => cells.flat_map(|cell| [cell, cell, cell, ' ']).collect(),
        }
    }
}

impl Display for Plot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = self.step();
        let (above, below) = self.rows(&step);
        for row in (0..above).rev() {
            let label = Decimal::from(row + 1) * step.clone();
            let cells = self.values.iter().map(|value| cell(value, row, &step, UPWARDS));
            writeln!(f, "{:>8} ┤{}", grouped(label), self.axis.row(cells).trim_end())?;
        }
        let width = self.axis.row(self.values.iter().map(|_| '─')).trim_end().chars().count();
        writeln!(f, "{:>8} ┼{}", 0, "─".repeat(width))?;
        for row in 0..below {
            let label = -(Decimal::from(row + 1) * step.clone());
            let cells =
                self.values.iter().map(|value| cell(&-value.clone(), row, &step, DOWNWARDS));
            writeln!(f, "{:>8} ┤{}", grouped(label), self.axis.row(cells).trim_end())?;
        }
        write!(f, "{:>8}  {}", "", self.axis.labels())
    }
}

impl Plot {
    /// Finds the smallest of 1, 2, 5, 10, 20, 50, … with which the plot is not too high.
    fn step(&self) -> Decimal {
        let mut ten = Decimal::from(1);
        loop {
            for leading in [1, 2, 5] {
                let step = Decimal::from(leading) * ten.clone();
                let (above, below) = self.rows(&step);
                if above + below <= ROWS {
                    return step;
                }
            }
            ten = ten * Decimal::from(10);
        }
    }

    /// Counts the rows above and below zero, at most one more than fit.
    fn rows(&self, step: &Decimal) -> (u64, u64) {
        let rows = |value: Decimal| {
            let reaches = |rows: &u64| Decimal::from(*rows) * step.clone() >= value;
            (0..=ROWS).find(reaches).unwrap_or(ROWS + 1)
        };
        let (most, least) = (self.values.iter().max(), self.values.iter().min());
        let above = rows(most.cloned().unwrap_or_default());
        (above, rows(-least.cloned().unwrap_or_default()))
    }
}

/// What a value fills of a row, counted from zero on.
fn cell(value: &Decimal, row: u64, step: &Decimal, [little, half, all]: [char; 3]) -> char {
    let from = Decimal::from(row) * step.clone();
    if *value >= from.clone() + step.clone() {
        all
    } else if *value >= from.clone() + step.clone() * decimal("0.5") {
        half
    } else if *value > from {
        little
    } else {
        ' '
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_up_and_down_from_zero() {
        let check = |axis, values: &[&str], expect: &[&str]| {
            let values = values.iter().map(|value| decimal(value)).collect();
            let plot = Plot { values, axis }.to_string();
            let lines: Vec<_> = plot.lines().collect();
            let (_, rows) = lines.split_last().unwrap();
            let rows: Vec<_> = rows.iter().map(|row| row.trim_start()).collect();
            assert_eq!(rows, expect);
        };
        let weeks = |values: &[&str], expect: &[&str]| check(Axis::Weeks, values, expect);
        weeks(&[], &["0 ┼"]);
        weeks(&["0", "0"], &["0 ┼──"]);
        weeks(&["1", "0.5", "0.1", "0", "-1.5"], &["1 ┤█▄▁", "0 ┼─────", "-1 ┤    █", "-2 ┤    ▀"]);
        let expect = ["1,200 ┤▁", "1,000 ┤█", "800 ┤█", "600 ┤█▁", "400 ┤██", "200 ┤██", "0 ┼──"];
        weeks(&["1010", "450"], &expect);
        check(Axis::Months, &["1", "0", "0.5"], &["1 ┤███     ▄▄▄", "0 ┼───────────"]);
    }
}
