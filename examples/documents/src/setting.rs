//! Setting a document: what goes where on its sheets.

use crate::{
    Paper,
    fonts::Weight,
    paper::{Entry, Figure, Party},
    sheet::{
        ACCENT, BLACK, BOTTOM, GREY, HEIGHT, Ink, LEFT, Mark, RIGHT, RULE, Sheets, Style, TOP,
        WASH, WIDTH,
    },
};

const SMALL: Style = Style::plain(8.5);
const TEXT: Style = Style::plain(9.5);
const LABEL: Style = Style::plain(8.0).ink(GREY);
const TITLE: Style = Style::plain(22.0).bold();
const HEADLINE: Style = Style::plain(17.0).bold();

/// Where quantities end.
const QUANTITY: f32 = RIGHT - 110.0;
/// Where the names of sums begin.
const SUMS: f32 = LEFT + 240.0;
/// Width of the names of rows.
const NAMES: f32 = QUANTITY - LEFT - 75.0;
/// What parts are set in by.
const INDENT: f32 = 12.0;
/// Height of the head of the table.
const HEAD: f32 = 22.0;

impl Paper {
    /// Sets it on as many sheets as it takes.
    pub(crate) fn set(&self) -> Vec<Vec<Mark>> {
        let mut sheets = Sheets::default();
        sheets.begin(TOP);
        self.set_head(&mut sheets);
        self.set_parties(&mut sheets);
        self.set_headline(&mut sheets);
        self.set_table_head(&mut sheets);
        for entry in &self.entries {
            self.set_entry(&mut sheets, entry);
        }
        self.set_figures(&mut sheets);
        for note in &self.notes {
            self.set_note(&mut sheets, note);
        }
        self.set_feet(&mut sheets);
        sheets.all
    }

    /// Sets the title, and whoever bills.
    fn set_head(&self, sheets: &mut Sheets) {
        sheets.fill(0.0, 0.0, WIDTH, 6.0, ACCENT);
        let top = sheets.y + 12.0;
        sheets.text_to(RIGHT, top, TITLE, &self.title);
        sheets.text_to(RIGHT, top + 16.0, TEXT.ink(GREY), &self.number);
        let width = 300.0;
        let mut y = top;
        for (place, line) in self.seller.lines.iter().enumerate() {
            let style = if place == 0 { Style::plain(13.0).bold() } else { SMALL.ink(GREY) };
            y = sheets.paragraph(LEFT, y, width, style, line);
            if place == 0 {
                y -= 3.0;
            }
        }
        sheets.y = y.max(top + 34.0) + 22.0;
    }

    /// Sets whom it is for beside numbers and dates.
    fn set_parties(&self, sheets: &mut Sheets) {
        let top = sheets.y;
        let column = (RIGHT - LEFT) / 3.0;
        let mut end = top;
        let mut x = LEFT;
        for party in self.parties.iter().take(2) {
            sheets.text(x, top, LABEL, &party.title);
            let mut y = top + 14.0;
            for (place, line) in party.lines.iter().enumerate() {
                let style = if place == 0 { TEXT.bold() } else { TEXT };
                y = sheets.paragraph(x, y, column - 18.0, style, line);
            }
            end = end.max(y);
            x += column;
        }
        let x = LEFT + column * 2.0;
        let mut y = top;
        for fact in &self.facts {
            sheets.text(x, y, LABEL, &fact.name);
            y = sheets.paragraph(x, y + 12.5, RIGHT - x, TEXT.bold(), &fact.value) + 4.0;
        }
        sheets.y = end.max(y) + 12.0;
    }

    fn set_headline(&self, sheets: &mut Sheets) {
        let height = 52.0;
        if !sheets.has_room(height) {
            self.turn(sheets);
        }
        sheets.fill(LEFT, sheets.y - 8.0, RIGHT - LEFT, height, WASH);
        sheets.fill(LEFT, sheets.y - 8.0, 3.0, height, ACCENT);
        sheets.text(LEFT + 16.0, sheets.y + 14.0, HEADLINE, &self.headline);
        sheets.text(LEFT + 16.0, sheets.y + 31.0, SMALL.ink(GREY), &self.subline);
        sheets.y += height + 18.0;
    }

    fn set_table_head(&self, sheets: &mut Sheets) {
        if !sheets.has_room(HEAD * 3.0) {
            self.turn(sheets);
        }
        let y = sheets.y;
        sheets.text(LEFT, y, LABEL, "Description");
        if self.entries.iter().any(|entry| !entry.quantity.is_empty()) {
            sheets.text_to(QUANTITY, y, LABEL, "Quantity");
        }
        sheets.text_to(RIGHT, y, LABEL, &format!("Amount in {}", self.currency));
        sheets.rule(y + 7.0, BLACK);
        sheets.y += HEAD;
    }

    /// Begins another sheet.
    fn turn(&self, sheets: &mut Sheets) {
        sheets.begin(TOP);
        let y = sheets.y;
        sheets.fill(0.0, 0.0, WIDTH, 6.0, ACCENT);
        sheets.text(LEFT, y, SMALL.ink(GREY), &format!("{} {}", self.title, self.number));
        sheets.y += 28.0;
    }

    /// Goes on with the table on another sheet where so much has no room on this one.
    fn make_room(&self, sheets: &mut Sheets, height: f32) {
        if !sheets.has_room(height) {
            self.turn(sheets);
            self.set_table_head(sheets);
        }
    }

    fn set_entry(&self, sheets: &mut Sheets, entry: &Entry) {
        let name = TEXT.bold().wrap(&entry.name, NAMES);
        // A row is broken only where it takes more than half a sheet.
        let small = count(entry.parts.len() + entry.changes.len() + 1);
        let total = count(usize::from(entry.total.is_some()));
        let height = (count(name.len()) + total) * TEXT.leading() + small * SMALL.leading();
        self.make_room(sheets, height.min((BOTTOM - TOP) / 2.0));
        let y = sheets.y;
        sheets.text_to(QUANTITY, y, TEXT, &entry.quantity);
        sheets.text_to(RIGHT, y, TEXT, &entry.amount);
        for line in &name {
            self.make_room(sheets, TEXT.leading());
            sheets.text(LEFT, sheets.y, TEXT.bold(), line);
            sheets.y += TEXT.leading();
        }
        sheets.text(LEFT, sheets.y, SMALL.ink(GREY), &entry.period);
        sheets.y += SMALL.leading() + 1.0;
        for [name, quantity, amount] in &entry.parts {
            self.set_part(sheets, name, quantity, amount);
        }
        for Figure { name, amount, .. } in &entry.changes {
            self.set_part(sheets, name, "", amount);
        }
        if let Some(total) = &entry.total {
            self.make_room(sheets, TEXT.leading());
            sheets.y += 2.0;
            sheets.text_to(QUANTITY, sheets.y, SMALL.ink(GREY), "Charged");
            sheets.text_to(RIGHT, sheets.y, TEXT.bold(), total);
            sheets.y += TEXT.leading();
        }
        sheets.rule(sheets.y - 5.0, RULE);
        sheets.y += 12.0;
    }

    /// Sets a part of a row, or what changes it.
    fn set_part(&self, sheets: &mut Sheets, name: &str, quantity: &str, amount: &str) {
        let style = SMALL.ink(GREY);
        let lines = style.wrap(name, NAMES - INDENT);
        self.make_room(sheets, style.leading());
        sheets.text_to(QUANTITY, sheets.y, style, quantity);
        sheets.text_to(RIGHT, sheets.y, style, amount);
        for line in &lines {
            self.make_room(sheets, style.leading());
            sheets.text(LEFT + INDENT, sheets.y, style, line);
            sheets.y += style.leading();
        }
    }

    fn set_figures(&self, sheets: &mut Sheets) {
        sheets.y += 4.0;
        let height = count(self.figures.len()) * 22.0;
        if !sheets.has_room(height.min((BOTTOM - TOP) / 2.0)) {
            self.turn(sheets);
        }
        for (place, figure) in self.figures.iter().enumerate() {
            let is_last = place + 1 == self.figures.len();
            let style = if figure.is_strong { TEXT.bold() } else { TEXT };
            let lines = style.wrap(&figure.name, RIGHT - SUMS - 110.0);
            if !sheets.has_room(24.0) {
                self.turn(sheets);
            }
            if figure.is_strong {
                sheets.fill(SUMS, sheets.y - 11.0, RIGHT - SUMS, 0.75, rule_of(is_last));
                sheets.y += 4.0;
            }
            sheets.text_to(RIGHT, sheets.y, style, &figure.amount);
            for line in &lines {
                sheets.text(SUMS, sheets.y, style, line);
                sheets.y += 16.0;
            }
            sheets.y += if figure.is_strong { 4.0 } else { 1.0 };
        }
        sheets.y += 18.0;
    }

    fn set_note(&self, sheets: &mut Sheets, note: &Party) {
        if !sheets.has_room(40.0) {
            self.turn(sheets);
        }
        sheets.text(LEFT, sheets.y, LABEL, &note.title);
        sheets.y += 14.0;
        for paragraph in &note.lines {
            for line in TEXT.wrap(paragraph, RIGHT - LEFT) {
                if !sheets.has_room(TEXT.leading()) {
                    self.turn(sheets);
                }
                sheets.text(LEFT, sheets.y, TEXT, &line);
                sheets.y += TEXT.leading();
            }
        }
    }

    /// Sets whose it is and the number of the sheet at the foot of each.
    fn set_feet(&self, sheets: &mut Sheets) {
        let count = sheets.all.len();
        let seller = self.seller.lines.first().map_or("", String::as_str);
        let style = LABEL;
        let y = HEIGHT - 40.0;
        for (place, sheet) in sheets.all.iter_mut().enumerate() {
            let mut foot = Sheets { all: vec![std::mem::take(sheet)], y };
            foot.rule(y - 14.0, RULE);
            let left = format!("{seller}  \u{b7}  {} {}", self.title, self.number);
            let first = Weight::Regular.wrap(&left, style.size, 400.0).into_iter().next();
            foot.text(LEFT, y, style, &first.unwrap_or_default());
            foot.text_to(RIGHT, y, style, &format!("Page {} of {count}", place + 1));
            *sheet = foot.all.pop().unwrap_or_default();
        }
    }
}

fn rule_of(is_last: bool) -> Ink {
    if is_last { BLACK } else { RULE }
}

/// Counts lines, of which there are not so many that it matters.
fn count(lines: usize) -> f32 {
    f32::from(u16::try_from(lines).unwrap_or(u16::MAX))
}
