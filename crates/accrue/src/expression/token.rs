use super::condition::Comparison;

/// A piece of the text, and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    /// Text as it is written, quotes included.
    pub(crate) text: &'a str,
    /// Number of bytes before it.
    pub(crate) position: usize,
}

/// Kind of a token. Whatever the text, it has tokens: text that fits nothing is a token too, so
/// that only the parser, which knows what it expected, makes errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    QuotedName,
    Text,
    /// Text that begins like a number. It may turn out to be none.
    Number,
    Keyword(Keyword),
    Comparison(Comparison),
    Open,
    Close,
    Comma,
    Star,
    Semicolon,
    /// Quoted text up to the end, without this closing quote.
    Unclosed(char),
    /// A word with letters outside ASCII.
    ForeignWord,
    Unknown,
    End,
}

impl Token<'_> {
    /// Returns the quoted text, a doubled quote being one.
    pub(super) fn unquoted(&self) -> String {
        let quote = if self.kind == Kind::Text { "'" } else { "\"" };
        let inner = self.text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        inner.unwrap_or(self.text).replace(&quote.repeat(2), quote)
    }
}

/// Names the reserved words.
macro_rules! keywords {
    ($($name:ident: $word:literal,)*) => {
        /// A word that is a name only in double quotes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Keyword {
            $($name,)*
        }

        impl Keyword {
            /// Finds the keyword that a word is, in any case.
            pub(super) fn find(word: &str) -> Option<Self> {
                $(if word.eq_ignore_ascii_case($word) {
                    return Some(Self::$name);
                })*
                None
            }

            /// Returns it as errors show it.
            pub(super) const fn quoted(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("`", $word, "`"),)*
                }
            }
        }
    };
}

// Those without a use yet are reserved so that the language can grow into them.
keywords! {
    And: "AND",
    Between: "BETWEEN",
    Case: "CASE",
    Distinct: "DISTINCT",
    Else: "ELSE",
    End: "END",
    False: "FALSE",
    From: "FROM",
    In: "IN",
    Is: "IS",
    Like: "LIKE",
    Not: "NOT",
    Null: "NULL",
    Or: "OR",
    Select: "SELECT",
    Then: "THEN",
    True: "TRUE",
    When: "WHEN",
    Where: "WHERE",
}
