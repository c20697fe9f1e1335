//! Sheets of paper: what is drawn where.

use crate::fonts::Weight;

/// Size of a sheet of A4, in points.
pub(crate) const WIDTH: f32 = 595.0;
pub(crate) const HEIGHT: f32 = 842.0;
/// What is left free at the sides.
pub(crate) const MARGIN: f32 = 50.0;
/// Where the text begins, and where it ends.
pub(crate) const LEFT: f32 = MARGIN;
pub(crate) const RIGHT: f32 = WIDTH - MARGIN;
/// Where a sheet that goes on begins, and where each ends.
pub(crate) const TOP: f32 = 56.0;
pub(crate) const BOTTOM: f32 = HEIGHT - 72.0;

/// Colors: of text, of what stands back, of rules and of what stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ink(pub(crate) u8, pub(crate) u8, pub(crate) u8);

pub(crate) const BLACK: Ink = Ink(0x16, 0x1c, 0x2d);
pub(crate) const GREY: Ink = Ink(0x5b, 0x64, 0x78);
pub(crate) const RULE: Ink = Ink(0xdd, 0xe1, 0xe8);
pub(crate) const WASH: Ink = Ink(0xf4, 0xf6, 0xf9);
pub(crate) const ACCENT: Ink = Ink(0x1d, 0x4e, 0xd8);

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    pub(crate) size: f32,
    pub(crate) weight: Weight,
    pub(crate) ink: Ink,
}

/// A mark on a sheet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    /// A line of text, whose base line begins there.
    Text { x: f32, y: f32, style: Style, text: String },
    /// A rectangle that is filled.
    Box { x: f32, y: f32, width: f32, height: f32, ink: Ink },
}

/// Sheets that are written from top to bottom, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Sheets {
    pub(crate) all: Vec<Vec<Mark>>,
    /// Where the next thing goes on the last one.
    pub(crate) y: f32,
}

impl Style {
    pub(crate) const fn plain(size: f32) -> Self {
        Self { size, weight: Weight::Regular, ink: BLACK }
    }

    pub(crate) const fn bold(self) -> Self {
        Self { weight: Weight::SemiBold, ..self }
    }

    pub(crate) const fn ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    /// Returns the distance of base lines.
    pub(crate) fn leading(self) -> f32 {
        self.size * 1.42
    }

    pub(crate) fn wrap(self, text: &str, width: f32) -> Vec<String> {
        self.weight.wrap(text, self.size, width)
    }
}

impl Sheets {
    pub(crate) fn begin(&mut self, y: f32) {
        self.all.push(Vec::new());
        self.y = y;
    }

    fn mark(&mut self, mark: Mark) {
        if let Some(sheet) = self.all.last_mut() {
            sheet.push(mark);
        }
    }

    /// Tells whether so much fits on the sheet.
    pub(crate) fn has_room(&self, height: f32) -> bool {
        self.y + height <= BOTTOM
    }

    pub(crate) fn text(&mut self, x: f32, y: f32, style: Style, text: &str) {
        self.mark(Mark::Text { x, y, style, text: text.to_owned() });
    }

    /// Writes a text that ends there.
    pub(crate) fn text_to(&mut self, right: f32, y: f32, style: Style, text: &str) {
        let x = right - style.weight.width(text, style.size);
        self.text(x, y, style, text);
    }

    /// Writes a text of several lines from a base line on, and returns the base line after it.
    pub(crate) fn paragraph(
        &mut self,
        x: f32,
        y: f32,
        width: f32,
        style: Style,
        text: &str,
    ) -> f32 {
        let mut y = y;
        for line in style.wrap(text, width) {
            self.text(x, y, style, &line);
            y += style.leading();
        }
        y
    }

    pub(crate) fn fill(&mut self, x: f32, y: f32, width: f32, height: f32, ink: Ink) {
        self.mark(Mark::Box { x, y, width, height, ink });
    }

    /// Draws a rule over the whole width.
    pub(crate) fn rule(&mut self, y: f32, ink: Ink) {
        self.fill(LEFT, y, RIGHT - LEFT, 0.75, ink);
    }
}
