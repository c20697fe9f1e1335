use super::{COLUMNS, Column, PER_CENT, Row, Slack, Table};

/// Says what is not as it is budgeted, one line for each. Every row of the budget is to be found, and
/// nothing else; what was not measured of a row is not compared.
pub(crate) fn compare(budget: &Table, found: &Table) -> Vec<String> {
    let mut breaches = Vec::new();
    for row in &found.rows {
        match budget.row(&row.name) {
            Some(budget) => breaches.extend(off(budget, row)),
            None => breaches.push(format!("{}: it is measured, and has no budget", row.name)),
        }
    }
    let gone = budget.rows.iter().filter(|row| found.row(&row.name).is_none());
    breaches.extend(gone.map(|row| format!("{}: it has a budget, and is not measured", row.name)));
    breaches
}

impl Table {
    pub(crate) fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }
}

fn off(budget: &Row, found: &Row) -> Vec<String> {
    let name = &found.name;
    let mut breaches = Vec::new();
    if found.events != budget.events {
        let (budget, found) = (budget.events, found.events);
        breaches.push(format!("{name}: events: budget {budget}, found {found}"));
    }
    for (column, (budget, found)) in COLUMNS.iter().zip(budget.figures.iter().zip(found.figures)) {
        let Some(found) = found else { continue };
        let title = column.title;
        match *budget {
            None => breaches.push(format!("{name}: {title}: no budget, found {found}")),
            Some(budget) if found.is_within(column.per_cent(), budget) => {}
            Some(budget) => breaches.push(format!(
                "{name}: {title}: budget {budget}, found {found}, {}",
                found.off(budget)
            )),
        }
    }
    breaches
}

impl Column {
    const fn per_cent(self) -> u64 {
        match self.slack {
            Slack::None => 0,
            Slack::Some => PER_CENT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, Row, Table, compare};
    use crate::table::{Build, Figure};

    fn row(name: &str, change: impl FnOnce(&mut [u64; COLUMNS.len()])) -> Row {
        let mut sums = [10_000, 200, 3_000, 10, 1_000, 20, 5];
        change(&mut sums);
        let figures = sums.map(|sum| Some(Figure::mean(sum, 1)));
        Row { name: name.to_owned(), events: 1, figures }
    }

    fn table(rows: impl Into<Vec<Row>>) -> Table {
        Table { build: Build::Release, with: "a compiler".to_owned(), rows: rows.into() }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut [u64; COLUMNS.len()]), expected: &[&str]) {
        let budget = table([row("a", |_| {})]);
        assert_eq!(compare(&budget, &table([row("a", change)])), expected);
    }

    #[test]
    fn within_three_per_cent_nothing_is_said() {
        check(|_| {}, &[]);
        check(|sums| sums[0] = 10_300, &[]);
        check(|sums| sums[0] = 9_700, &[]);
        check(|sums| sums[4] = 1_030, &[]);
    }

    #[test]
    fn more_is_a_breach() {
        let said = "a: instructions: budget 10,000, found 10,400, 4.0 % more";
        check(|sums| sums[0] = 10_400, &[said]);
        let said = "a: instructions: budget 10,000, found 10,301, 3.0 % more";
        check(|sums| sums[0] = 10_301, &[said]);
    }

    #[test]
    fn less_is_a_breach_too() {
        check(|sums| sums[1] = 150, &["a: allocations: budget 200, found 150, 25.0 % less"]);
    }

    #[test]
    fn rows_and_calls_are_exact() {
        let rows = "a: rows written: budget 10, found 11, 10.0 % more";
        let calls = "a: store calls: budget 5, found 4, 20.0 % less";
        check(|sums| (sums[3], sums[6]) = (11, 4), &[rows, calls]);
    }

    #[test]
    fn a_row_without_a_budget_is_a_breach() {
        let found = table([row("a", |_| {}), row("b", |_| {})]);
        let budget = table([row("a", |_| {})]);
        assert_eq!(compare(&budget, &found), ["b: it is measured, and has no budget"]);
    }

    #[test]
    fn a_budget_without_a_row_is_a_breach() {
        let budget = table([row("a", |_| {}), row("b", |_| {})]);
        let found = table([row("a", |_| {})]);
        assert_eq!(compare(&budget, &found), ["b: it has a budget, and is not measured"]);
    }

    #[test]
    fn what_was_not_measured_is_not_compared() {
        let budget = table([row("a", |_| {})]);
        let found = table([row("a", |sums| sums[0] = 1).counts()]);
        assert!(compare(&budget, &found).is_empty());
    }
}
