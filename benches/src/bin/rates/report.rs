use std::fmt::Write as _;

use accrue_benches::Backend;
use serde::Serialize;

use crate::{
    operation::Operation,
    sides::{Name, Statements},
};

/// The figures of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    figures: Vec<Figure>,
}

/// How fast one side does an operation with so many callers.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    operation: Operation,
    title: &'static str,
    callers: u64,
    side: Name,
    /// The median of the rounds.
    per_second: f64,
    rounds: Vec<f64>,
}

impl Figure {
    pub(crate) fn new(operation: Operation, callers: u64, side: Name, rounds: Vec<f64>) -> Self {
        let mut sorted = rounds.clone();
        sorted.sort_by(f64::total_cmp);
        let per_second = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        Self { operation, title: operation.title(), callers, side, per_second, rounds }
    }
}

impl Report {
    pub(crate) fn add(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// With how many callers it was measured.
    pub(crate) fn callers(&self) -> Vec<u64> {
        let mut callers: Vec<_> = self.figures.iter().map(|figure| figure.callers).collect();
        callers.sort_unstable();
        callers.dedup();
        callers
    }

    /// The backends on which the engine was measured.
    pub(crate) fn backends(&self) -> Vec<Backend> {
        let mut backends = Vec::new();
        for figure in &self.figures {
            match figure.side {
                Name::Accrue(backend) if !backends.contains(&backend) => backends.push(backend),
                _ => {}
            }
        }
        backends
    }

    /// The rate of one side to that of another.
    pub(crate) fn ratio(
        &self,
        operation: Operation,
        callers: u64,
        of: Name,
        to: Name,
    ) -> Option<f64> {
        Some(self.rate(operation, callers, of)? / self.rate(operation, callers, to)?)
    }

    fn rate(&self, operation: Operation, callers: u64, side: Name) -> Option<f64> {
        let is_it = |figure: &&Figure| {
            (figure.operation, figure.callers, figure.side) == (operation, callers, side)
        };
        self.figures.iter().find(is_it).map(|figure| figure.per_second)
    }

    /// A line for each side and, below the engine's, one for each of those that it is compared with.
    pub(crate) fn table(&self, operation: Operation) -> String {
        let mut text = format!("{}\n", operation.title());
        let callers = self.callers();
        let heads = callers.iter().map(|callers| match callers {
            1 => "1 caller".to_owned(),
            callers => format!("{callers} callers"),
        });
        line(&mut text, "", heads.map(Some));
        for side in self.sides(operation) {
            let rates = callers.iter().map(|callers| self.rate(operation, *callers, side));
            line(&mut text, &side.to_string(), rates.map(|rate| rate.map(thousands)));
            let (is_durable, raw) = match side {
                Name::Accrue(backend) => (backend.is_durable(), Some(Name::Raw(backend))),
                Name::AccruePostgres(_) => (true, None),
                Name::AppendLog | Name::Postgres(_) | Name::Raw(_) => continue,
            };
            let ratios = |ratio: &dyn Fn(u64) -> Option<f64>| {
                let ratios = callers.iter().map(|callers| ratio(*callers));
                ratios.map(|ratio| ratio.map(|ratio| format!("{ratio:.2}"))).collect::<Vec<_>>()
            };
            let to = |to| ratios(&|callers| self.ratio(operation, callers, side, to));
            let to_postgres = |statements| to(Name::Postgres(statements));
            let of_log = if is_durable { to(Name::AppendLog) } else { Vec::new() };
            for (name, ratios) in [
                ("  of raw", raw.map(to).unwrap_or_default()),
                ("  of append log", of_log),
                ("  of postgres, by event", to_postgres(Statements::Many)),
                ("  of postgres, at once", to_postgres(Statements::One)),
            ] {
                if ratios.iter().any(Option::is_some) {
                    line(&mut text, name, ratios.into_iter());
                }
            }
        }
        text
    }

    fn sides(&self, operation: Operation) -> Vec<Name> {
        let mut sides = Vec::new();
        for figure in self.figures.iter().filter(|figure| figure.operation == operation) {
            if !sides.contains(&figure.side) {
                sides.push(figure.side);
            }
        }
        sides
    }
}

fn line(text: &mut String, name: &str, cells: impl Iterator<Item = Option<String>>) {
    let mut line = format!("{name:<26}");
    for cell in cells {
        // Writing to a string cannot fail.
        let _ = write!(line, "{:>13}", cell.unwrap_or_else(|| "–".to_owned()));
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

/// A whole number with its thousands apart.
fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
