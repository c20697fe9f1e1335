use std::fmt::{self, Display};

use accrue::Decimal;

use crate::{setup::decimal, table::grouped};

/// The most rows of a plot, above and below zero together.
const ROWS: u64 = 10;

/// What stands in the first column of each month, where a column is a week.
const MONTHS: &str = "Jan Feb Mar  Apr May Jun  Jul Aug Sep  Oct Nov Dec";

/// How much of a row a column fills: a little, half of it, all of it.
const UPWARDS: [char; 3] = ['▁', '▄', '█'];
const DOWNWARDS: [char; 3] = ['▔', '▀', '█'];

/// A column for each value, up or down from zero.
pub(super) struct Plot(pub(super) Vec<Decimal>);

impl Display for Plot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = self.step();
        let (above, below) = self.rows(&step);
        for row in (0..above).rev() {
            let label = Decimal::from(row + 1) * step.clone();
            let cells = self.0.iter().map(|value| cell(value, row, &step, UPWARDS));
            writeln!(f, "{:>8} ┤{}", grouped(label), cells.collect::<String>().trim_end())?;
        }
        writeln!(f, "{:>8} ┼{}", 0, "─".repeat(self.0.len()))?;
        for row in 0..below {
            let label = -(Decimal::from(row + 1) * step.clone());
            let cells = self.0.iter().map(|value| cell(&-value.clone(), row, &step, DOWNWARDS));
            writeln!(f, "{:>8} ┤{}", grouped(label), cells.collect::<String>().trim_end())?;
        }
        write!(f, "{:>8}  {MONTHS}", "")
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
        let (most, least) = (self.0.iter().max(), self.0.iter().min());
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
        let check = |values: &[&str], expect: &[&str]| {
            let plot = Plot(values.iter().map(|value| decimal(value)).collect()).to_string();
            let lines: Vec<_> = plot.lines().collect();
            let (_, rows) = lines.split_last().unwrap();
            let rows: Vec<_> = rows.iter().map(|row| row.trim_start()).collect();
            assert_eq!(rows, expect);
        };
        check(&[], &["0 ┼"]);
        check(&["0", "0"], &["0 ┼──"]);
        check(&["1", "0.5", "0.1", "0", "-1.5"], &["1 ┤█▄▁", "0 ┼─────", "-1 ┤    █", "-2 ┤    ▀"]);
        let expect = ["1,200 ┤▁", "1,000 ┤█", "800 ┤█", "600 ┤█▁", "400 ┤██", "200 ┤██", "0 ┼──"];
        check(&["1010", "450"], &expect);
    }
}
