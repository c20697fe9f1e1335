use std::borrow::Cow;

use super::token::{Kind, Token};
use crate::limits;

/// Error in the text of an expression or of a metric's SQL, and its position.
///
/// ```
/// use accrue::expression::Expression;
///
/// let error = Expression::parse("tokens > 100 AN region = 'eu'").unwrap_err();
/// assert_eq!(error.position(), 13);
/// assert_eq!(error.to_string(), "at character 14: found `AN`, expected `AND`, `OR` or the end");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {character}: found {found}, expected {expected}")]
pub struct ExpressionError {
    position: usize,
    character: usize,
    found: Cow<'static, str>,
    expected: Cow<'static, str>,
}

/// Number of characters of a token that an error shows.
const EXCERPT_CHARACTERS: usize = 40;

impl ExpressionError {
    /// Returns its position in bytes: so many bytes of the text are right.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Returns its position for people, in characters: the first one is 1.
    #[must_use]
    pub const fn character(&self) -> usize {
        self.character
    }

    /// Returns the description of what was found there.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }

    /// Returns the description of what was expected there.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    pub(super) fn unexpected(
        source: &str,
        token: Token<'_>,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (found, expected) = match token.kind {
            Kind::End => ("the end".into(), expected.into()),
            Kind::Unclosed(quote) => {
                ("quoted text that does not end".into(), format!("a closing `{quote}`").into())
            }
            _ => (format!("`{}`", excerpt(token.text)).into(), expected.into()),
        };
        Self::at(source, token.position, found, expected)
    }

    pub(super) fn too_long(source: &str) -> Self {
        let boundary = |position: &usize| source.is_char_boundary(*position);
        let position = (0..=limits::EXPRESSION_BYTES).rev().find(boundary).unwrap_or(0);
        let found = format!("a text of {} bytes", source.len());
        let expected = format!("at most {}", limits::EXPRESSION_BYTES);
        Self::at(source, position, found.into(), expected.into())
    }

    fn at(
        source: &str,
        position: usize,
        found: Cow<'static, str>,
        expected: Cow<'static, str>,
    ) -> Self {
        let before = source.get(..position).unwrap_or(source);
        let character = before.chars().count().saturating_add(1);
        Self { position, character, found, expected }
    }
}

/// Shows a token in one line that is not long.
fn excerpt(text: &str) -> String {
    let mut excerpt = String::new();
    for c in text.chars().take(EXCERPT_CHARACTERS) {
        let plain = c == ' ' || !(c.is_control() || c.is_whitespace());
        if plain {
            excerpt.push(c);
        } else {
            excerpt.extend(c.escape_default());
        }
    }
    if text.chars().nth(EXCERPT_CHARACTERS).is_some() {
        excerpt.push('…');
    }
    excerpt
}
