use std::fmt;

use accrue_benches::Outcome;

use super::{Build, COLUMNS, Column, Figure, Row, Table, figure::thousands};

/// What the line begins with that says what it was measured with.
const WITH: &str = "Measured with ";
/// What a cell has where there is no figure.
const NONE: &str = "–";

impl Table {
    /// Reads a page. Figures per event are not read: they follow from those per call.
    pub(crate) fn parse(page: &str) -> Outcome<Self> {
        let with = page.lines().find_map(|line| line.strip_prefix(WITH)?.strip_suffix('.'));
        let lines = page.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
        let rows = lines.skip(2).map(Row::parse).collect::<Outcome<_>>()?;
        let with = with.ok_or_else(|| format!("found no line that begins with {WITH:?}"))?;
        let build = Build::ALL.into_iter().find(|build| page.starts_with(&build.head()));
        let build = build.ok_or("found a page that begins with none of the texts it may")?;
        Ok(Self { build, with: with.to_owned(), rows })
    }

    /// The table alone.
    pub(crate) fn lines(&self) -> String {
        let rows: Vec<_> = self.rows.iter().map(Row::cells).collect();
        lines(&rows)
    }

    /// The table, with the budget under each row of which there is one.
    pub(crate) fn beside(&self, budget: &Self) -> String {
        let rows = self.rows.iter().flat_map(|row| {
            let mut budget = budget.row(&row.name).map(Row::cells);
            if let Some(name) = budget.as_mut().and_then(|cells| cells.first_mut()) {
                "  budget".clone_into(name);
            }
            [Some(row.cells()), budget].into_iter().flatten()
        });
        lines(&rows.collect::<Vec<_>>())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{WITH}{}.\n\n{}", self.build.head(), self.with, self.lines())
    }
}

impl Row {
    fn parse(line: &str) -> Outcome<Self> {
        let wrong = || format!("found {line:?}, expected a row of {} cells", titles().len());
        let mut cells = line.split('|').map(str::trim);
        let name = cells.next().ok_or_else(wrong)?.to_owned();
        let events = match cells.next().ok_or_else(wrong)? {
            NONE => 0,
            events => events.replace(',', "").parse()?,
        };
        let mut figures = [None; COLUMNS.len()];
        for (column, figure) in COLUMNS.iter().zip(&mut figures) {
            let cell = cells.next().ok_or_else(wrong)?;
            *figure = if cell == NONE { None } else { Some(Figure::parse(cell)?) };
            if column.is_per_event {
                cells.next().ok_or_else(wrong)?;
            }
        }
        match cells.next() {
            None => Ok(Self { name, events, figures }),
            Some(_) => Err(wrong().into()),
        }
    }

    fn cells(&self) -> Vec<String> {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
        let events = Some(self.events).filter(|events| *events > 0).map(thousands);
        let figures = COLUMNS.iter().zip(self.figures).flat_map(|(column, figure)| {
            let of_event =
                figure.filter(|_| self.events > 1).map(|figure| figure.part(self.events));
            let of_event = or_none(of_event.map(|figure| figure.to_string()));
            let of_call = or_none(figure.map(|figure| figure.to_string()));
            [Some(of_call), Some(of_event).filter(|_| column.is_per_event)].into_iter().flatten()
        });
        [self.name.clone(), or_none(events)].into_iter().chain(figures).collect()
    }
}

fn titles() -> Vec<String> {
    let columns = COLUMNS.iter().flat_map(|Column { title, is_per_event, .. }| {
        [Some(*title), is_per_event.then_some("per event")].into_iter().flatten()
    });
    ["a call of", "events"].into_iter().chain(columns).map(str::to_owned).collect()
}

/// Cells in columns: names to the left, figures to the right.
fn lines(rows: &[Vec<String>]) -> String {
    let titles = titles();
    let width = |place: usize| {
        let cells = rows.iter().chain([&titles]).filter_map(|row| row.get(place));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..titles.len()).map(width).collect();
    let line = |cells: &[String]| {
        let cells =
            cells.iter().zip(&widths).enumerate().map(|(place, (cell, width))| match place {
                0 => format!("| {cell:<width$} "),
                _ => format!("| {cell:>width$} "),
            });
        format!("{}|\n", cells.collect::<String>())
    };
    let rule = widths.iter().enumerate().map(|(place, width)| match place {
        0 => format!("|{}", "-".repeat(width + 2)),
        _ => format!("|{}:", "-".repeat(width + 1)),
    });
    let rule = format!("{}|\n", rule.collect::<String>());
    [line(&titles), rule].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Build, COLUMNS, Figure, Row, Table};

    fn table() -> Table {
        let figures = |sums: [u64; COLUMNS.len()]| sums.map(|sum| Some(Figure::mean(sum, 4)));
        let batch = figures([123_456_788, 10_001, 20, 40, 1_000, 8, 4]);
        let rows = vec![
            Row { name: "a batch".to_owned(), events: 500, figures: batch },
            Row { name: "a list".to_owned(), events: 0, figures: figures([4, 4, 4, 0, 0, 2, 4]) },
        ];
        Table { build: Build::Release, with: "a compiler 1.0, a target".to_owned(), rows }
    }

    #[test]
    fn a_page_is_read_as_it_was_written() {
        for build in Build::ALL {
            let table = Table { build, ..table() };
            assert_eq!(Table::parse(&table.to_string()).unwrap(), table);
        }
    }

    #[test]
    fn columns_are_aligned() {
        let lines = table().lines();
        let widths = lines.lines().map(|line| line.chars().count());
        assert_eq!(widths.collect::<std::collections::BTreeSet<_>>().len(), 1, "{lines}");
    }

    #[test]
    fn events_have_their_part() {
        let page = table().to_string();
        assert!(page.contains("30,864,197 |    61,728 |"), "{page}");
    }

    #[test]
    fn the_budget_stands_below() {
        let beside = table().beside(&table());
        assert_eq!(beside.lines().filter(|line| line.starts_with("|   budget ")).count(), 2);
    }

    #[test]
    fn a_row_with_too_few_or_too_many_cells_is_refused() {
        let page = table().to_string();
        assert!(Table::parse(&page.replace(" 0.5 |", " 0.5 | 1 |")).is_err());
        assert!(Table::parse(&page.replace(" 0.5 |", "")).is_err());
        assert!(Table::parse(&page.replace("0.5", "half")).is_err());
    }
}
