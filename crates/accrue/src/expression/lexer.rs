use super::{
    condition::Comparison,
    token::{Keyword, Kind, Token},
};

/// Cuts a text into tokens, one at a time, in time linear in the text.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    rest: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(source: &'a str) -> Self {
        Self { rest: source, position: 0 }
    }

    /// Cuts off the next token; at the end, again and again the end.
    pub(super) fn advance(&mut self) -> Token<'a> {
        self.skip(leading(self.rest, |c| c.is_ascii_whitespace()));
        let (kind, length) = measure(self.rest);
        let position = self.position;
        Token { kind, text: self.skip(length), position }
    }

    fn skip(&mut self, length: usize) -> &'a str {
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        self.position = self.position.saturating_add(length);
        text
    }
}

/// Returns the kind of the token that a text begins with, and its number of bytes.
fn measure(text: &str) -> (Kind, usize) {
    let mut characters = text.chars();
    let (Some(first), second) = (characters.next(), characters.next()) else {
        return (Kind::End, 0);
    };
    match (first, second) {
        ('(', _) => (Kind::Open, 1),
        (')', _) => (Kind::Close, 1),
        (',', _) => (Kind::Comma, 1),
        ('*', _) => (Kind::Star, 1),
        (';', _) => (Kind::Semicolon, 1),
        ('=', _) => (Kind::Comparison(Comparison::Equal), 1),
        ('!', Some('=')) | ('<', Some('>')) => (Kind::Comparison(Comparison::NotEqual), 2),
        ('<', Some('=')) => (Kind::Comparison(Comparison::AtMost), 2),
        ('<', _) => (Kind::Comparison(Comparison::Less), 1),
        ('>', Some('=')) => (Kind::Comparison(Comparison::AtLeast), 2),
        ('>', _) => (Kind::Comparison(Comparison::Greater), 1),
        ('\'', _) => measure_quoted(text, '\'', Kind::Text),
        ('"', _) => measure_quoted(text, '"', Kind::QuotedName),
        ('0'..='9' | '.', _) | ('-', Some('0'..='9' | '.')) => (Kind::Number, number_length(text)),
        _ if is_word(first) => measure_word(text),
        _ => (Kind::Unknown, first.len_utf8()),
    }
}

fn measure_quoted(text: &str, quote: char, kind: Kind) -> (Kind, usize) {
    let mut quotes = text.match_indices(quote).map(|(index, _)| index).skip(1).peekable();
    while let Some(index) = quotes.next() {
        let end = index.saturating_add(quote.len_utf8());
        if quotes.next_if_eq(&end).is_none() {
            return (kind, end);
        }
    }
    (Kind::Unclosed(quote), text.len())
}

/// Returns the number of bytes of all that is written as one number, so that an error shows `1x`
/// and not `x`.
fn number_length(text: &str) -> usize {
    let mut before = 'e';
    leading(text, |c| {
        let signs_exponent = matches!(before, 'e' | 'E') && matches!(c, '+' | '-');
        before = c;
        signs_exponent || is_word(c)
    })
}

fn measure_word(text: &str) -> (Kind, usize) {
    let length = leading(text, is_word);
    let word = text.get(..length).unwrap_or(text);
    let kind = match Keyword::find(word) {
        Some(keyword) => Kind::Keyword(keyword),
        None if word.is_ascii() => Kind::Name,
        None => Kind::ForeignWord,
    };
    (kind, length)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

/// Returns the number of bytes of leading characters that are alike.
fn leading(text: &str, mut alike: impl FnMut(char) -> bool) -> usize {
    text.find(|c| !alike(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(source);
        let mut tokens = vec![lexer.advance()];
        while tokens.last().is_some_and(|token| token.kind != Kind::End) {
            tokens.push(lexer.advance());
        }
        tokens.pop();
        tokens
    }

    #[test]
    fn a_token_ends_where_the_next_begins() {
        let check = |source: &str, expect: &[&str]| {
            let found: Vec<_> = tokens(source).iter().map(|token| token.text).collect();
            assert_eq!(found, expect, "{source}");
        };
        check("", &[]);
        check(" \t\r\n", &[]);
        check(
            "a<=b<>c!=d>=e<f>g=h",
            &["a", "<=", "b", "<>", "c", "!=", "d", ">=", "e", "<", "f", ">", "g", "=", "h"],
        );
        check("a<-1", &["a", "<", "-1"]);
        check("a-1", &["a", "-1"]);
        check("a - 1", &["a", "-", "1"]);
        check("--1", &["-", "-1"]);
        check("1e-3-2", &["1e-3", "-2"]);
        check("1E+3+2", &["1E+3", "+", "2"]);
        check("1and 2", &["1and", "2"]);
        check(".5 -.5 5.", &[".5", "-.5", "5."]);
        check("a.b_1.c", &["a.b_1.c"]);
        check("'it''s''''' 'x'", &["'it''s'''''", "'x'"]);
        check("'a''b'", &["'a''b'"]);
        check("''", &["''"]);
        check("\"a\"\"b\"\"\"", &["\"a\"\"b\"\"\""]);
        check("'a\"b' \"c'd\"", &["'a\"b'", "\"c'd\""]);
        check("'x'and'y'", &["'x'", "and", "'y'"]);
        check("(a,*);", &["(", "a", ",", "*", ")", ";"]);
        check("größe ~", &["größe", "~"]);
    }

    #[test]
    fn a_token_has_one_kind() {
        let check = |source: &str, expect: Kind| {
            let found: Vec<_> = tokens(source).iter().map(|token| token.kind).collect();
            assert_eq!(found, [expect], "{source}");
        };
        check("an", Kind::Name);
        check("_x", Kind::Name);
        check("aNd", Kind::Keyword(Keyword::And));
        check("\"and\"", Kind::QuotedName);
        check("'and'", Kind::Text);
        check("'and", Kind::Unclosed('\''));
        check("'and''", Kind::Unclosed('\''));
        check("'", Kind::Unclosed('\''));
        check("\"and", Kind::Unclosed('"'));
        check("1x", Kind::Number);
        check("ö", Kind::ForeignWord);
        check("!", Kind::Unknown);
        check("\u{a0}", Kind::Unknown);
        check("🦀", Kind::Unknown);
    }

    #[test]
    fn quotes_are_taken_off_and_doubled_ones_are_one() {
        let check = |source: &str, expect: &str| {
            assert_eq!(tokens(source)[0].unquoted(), expect, "{source}");
        };
        check("''", "");
        check("''''", "'");
        check("'it''s'", "it's");
        check("'a\"\"b'", "a\"\"b");
        check("\"a\"\"b\"", "a\"b");
        check("\"a''b\"", "a''b");
    }
}
