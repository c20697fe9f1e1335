//! Typefaces: how wide a text is, and of which glyphs it is made.

use std::{ops::Range, sync::LazyLock};

use krilla::text::{Font, GlyphId, KrillaGlyph};
use rustybuzz::{Face, Feature, UnicodeBuffer, ttf_parser::Tag};

/// How bold a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    SemiBold,
}

/// A text as glyphs, in parts of its size.
pub(crate) struct Shaped {
    pub(crate) glyphs: Vec<KrillaGlyph>,
    pub(crate) width: f32,
}

static REGULAR: Data = Data(include_bytes!("../fonts/Inter-Regular.ttf"));
static SEMI_BOLD: Data = Data(include_bytes!("../fonts/Inter-SemiBold.ttf"));

static FACES: LazyLock<[Option<Face<'static>>; 2]> =
    LazyLock::new(|| [REGULAR.0, SEMI_BOLD.0].map(|bytes| Face::from_slice(bytes, 0)));

/// The bytes of a font that is part of the program.
#[derive(Clone, Copy)]
struct Data(&'static [u8]);

impl Weight {
    fn data(self) -> Data {
        match self {
            Self::Regular => REGULAR,
            Self::SemiBold => SEMI_BOLD,
        }
    }

    /// Returns the font, for a document to embed what it uses of it.
    pub(crate) fn font(self) -> Option<Font> {
        Font::new(self.data().0.to_vec().into(), 0)
    }

    fn face(self) -> Option<&'static Face<'static>> {
        let [regular, semi_bold] = &*FACES;
        match self {
            Self::Regular => regular.as_ref(),
            Self::SemiBold => semi_bold.as_ref(),
        }
    }

    /// Makes glyphs of a line of text. Digits of a figure are all of one width, so that figures stand under each
    /// other.
    pub(crate) fn shape(self, text: &str) -> Shaped {
        let Some(face) = self.face() else { return Shaped { glyphs: Vec::new(), width: 0.0 } };
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        buffer.guess_segment_properties();
        let is_figure = !text.contains(char::is_alphabetic);
        let digits = Feature::new(Tag::from_bytes(b"tnum"), u32::from(is_figure), ..);
        let shaped = rustybuzz::shape(face, &[digits], buffer);
        let em = number(face.units_per_em());
        let starts: Vec<_> = shaped.glyph_infos().iter().map(|of| place(of.cluster)).collect();
        let glyphs: Vec<_> = shaped
            .glyph_infos()
            .iter()
            .zip(shaped.glyph_positions())
            .zip(&starts)
            .map(|((info, position), start)| {
                KrillaGlyph::new(
                    GlyphId::new(info.glyph_id),
                    number(position.x_advance) / em,
                    number(position.x_offset) / em,
                    number(position.y_offset) / em,
                    number(position.y_advance) / em,
                    cluster(*start, &starts, text.len()),
                    None,
                )
            })
            .collect();
        let width = glyphs.iter().map(|glyph| glyph.x_advance).sum();
        Shaped { glyphs, width }
    }

    pub(crate) fn width(self, text: &str, size: f32) -> f32 {
        self.shape(text).width * size
    }

    /// Breaks a text into lines that are no wider than so much: between words, and within one that is wider
    /// itself.
    pub(crate) fn wrap(self, text: &str, size: f32, width: f32) -> Vec<String> {
        let fits = |line: &str| self.width(line, size) <= width;
        let mut lines = Vec::new();
        for paragraph in text.lines() {
            let mut line = String::new();
            for word in paragraph.split_whitespace() {
                let longer =
                    if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
                if fits(&longer) {
                    line = longer;
                    continue;
                }
                if !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                for letter in word.chars() {
                    line.push(letter);
                    if !fits(&line) && line.chars().count() > 1 {
                        line.pop();
                        lines.push(std::mem::replace(&mut line, letter.to_string()));
                    }
                }
            }
            lines.push(line);
        }
        lines
    }
}

/// Returns the bytes of the text that a glyph is of.
fn cluster(start: usize, starts: &[usize], end: usize) -> Range<usize> {
    let next = starts.iter().copied().filter(|other| *other > start).min();
    start..next.unwrap_or(end)
}

fn place(cluster: u32) -> usize {
    usize::try_from(cluster).unwrap_or(usize::MAX)
}

/// Units of a font: no glyph has more than sixteen bits of them.
fn number(units: i32) -> f32 {
    f32::from(i16::try_from(units).unwrap_or(i16::MAX))
}
