//! What is shown on one line, whatever it says.

use std::{
    error::Error,
    fmt::{self, Display, Write},
};

/// Shows an error and all of its causes on one line, the outermost first:
/// `what is due waits: store is unavailable: No space left on device (os error 28)`.
///
/// ```
/// use std::io;
/// use example_server::Chain;
///
/// let full = io::Error::from(io::ErrorKind::StorageFull);
/// assert_eq!(Chain(&full).to_string(), "no storage space");
/// ```
#[derive(Debug)]
pub struct Chain<'a>(pub &'a (dyn Error + 'static));

impl Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaped(f), "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            write!(Escaped(f), ": {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

/// Shows a value with what would break the line apart, or hide a part of it, escaped.
///
/// ```
/// use example_server::OneLine;
///
/// assert_eq!(OneLine("paid\n2026-03-01 ERROR").to_string(), r"paid\n2026-03-01 ERROR");
/// ```
#[derive(Debug)]
pub struct OneLine<T>(pub T);

impl<T: Display> Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaped(f), "{}", self.0)
    }
}

struct Escaped<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| match c {
            // Control characters, separators of lines, and what turns the direction of a text.
            _ if c.is_control() => write!(self.0, "{}", c.escape_default()),
            '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
                write!(self.0, "{}", c.escape_default())
            }
            _ => self.0.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use accrue::store::StoreError;

    use super::*;

    #[test]
    fn every_cause_is_shown() {
        let full = io::Error::other("No space left on device");
        let error = StoreError::unavailable("a commit failed").with_source(full);
        let error = accrue::Error::from(error);
        let shown = Chain(&error).to_string();
        assert!(shown.ends_with("a commit failed: No space left on device"), "{shown}");
        assert_eq!(shown.matches("No space left").count(), 1, "{shown}");
    }

    #[test]
    fn nothing_breaks_a_line() {
        let wrong = "a\r\nb\u{1b}[31mc\0\u{85}\u{2028}\u{202e}d";
        let shown = OneLine(wrong).to_string();
        assert_eq!(shown, r"a\r\nb\u{1b}[31mc\u{0}\u{85}\u{2028}\u{202e}d");
        assert_eq!(Chain(&io::Error::other(wrong)).to_string(), shown);
        assert_eq!(OneLine("größer 🦀").to_string(), "größer 🦀");
    }
}
