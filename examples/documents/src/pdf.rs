//! Sheets as a PDF file.

use std::fmt;

use krilla::{
    Document,
    color::rgb,
    geom::{PathBuilder, Point, Rect},
    metadata::Metadata,
    page::PageSettings,
    paint::Fill,
    surface::Surface,
    text::Font,
};

use crate::{
    Paper,
    fonts::Weight,
    sheet::{HEIGHT, Ink, Mark, WIDTH},
};

/// A document could not be made.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct PdfError {
    what: String,
}

impl PdfError {
    fn new(what: impl fmt::Display) -> Self {
        Self { what: what.to_string() }
    }
}

/// The fonts of a document.
struct Fonts {
    regular: Font,
    semi_bold: Font,
}

impl Fonts {
    fn new() -> Option<Self> {
        Some(Self { regular: Weight::Regular.font()?, semi_bold: Weight::SemiBold.font()? })
    }

    fn of(&self, weight: Weight) -> Font {
        match weight {
            Weight::Regular => self.regular.clone(),
            Weight::SemiBold => self.semi_bold.clone(),
        }
    }
}

impl Paper {
    /// Makes a PDF file of it.
    ///
    /// # Errors
    ///
    /// Where a font or a page cannot be made.
    pub fn pdf(&self) -> Result<Vec<u8>, PdfError> {
        let fonts = Fonts::new().ok_or_else(|| PdfError::new("a font cannot be read"))?;
        let mut document = Document::new();
        let title = format!("{} {}", self.title, self.number);
        let authors = self.seller.lines.first().cloned().into_iter().collect();
        let metadata = Metadata::new().title(title).authors(authors).language("en".to_owned());
        document.set_metadata(metadata);
        for marks in self.set() {
            let size = PageSettings::from_wh(WIDTH, HEIGHT)
                .ok_or_else(|| PdfError::new("a sheet has no size"))?;
            let mut page = document.start_page_with(size);
            let mut surface = page.surface();
            for mark in &marks {
                draw(&mut surface, mark, &fonts);
            }
            surface.finish();
            page.finish();
        }
        document.finish().map_err(|error| PdfError::new(format!("{error:?}")))
    }
}

fn draw(surface: &mut Surface<'_>, mark: &Mark, fonts: &Fonts) {
    match mark {
        Mark::Text { x, y, style, text } => {
            let shaped = style.weight.shape(text);
            surface.set_fill(Some(fill(style.ink)));
            let start = Point::from_xy(*x, *y);
            let font = fonts.of(style.weight);
            surface.draw_glyphs(start, &shaped.glyphs, font, text, style.size, false);
        }
        Mark::Box { x, y, width, height, ink } => {
            let Some(area) = Rect::from_xywh(*x, *y, *width, *height) else { return };
            let mut path = PathBuilder::new();
            path.push_rect(area);
            if let Some(path) = path.finish() {
                surface.set_fill(Some(fill(*ink)));
                surface.draw_path(&path);
            }
        }
    }
}

fn fill(Ink(red, green, blue): Ink) -> Fill {
    Fill { paint: rgb::Color::new(red, green, blue).into(), ..Fill::default() }
}
