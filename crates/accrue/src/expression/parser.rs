use std::{borrow::Cow, num::NonZeroU64};

use super::{
    ExpressionError, Field,
    condition::{Case, Condition, Function, Literal, Operand, When},
    lexer::Lexer,
    token::{Keyword, Kind, Token},
};
use crate::{Decimal, DecimalError, PropertyName, Timestamp, limits};

#[cfg(test)]
mod tests;

/// Reads a text from left to right, one token ahead, and never goes back.
///
/// It recurses once per level of parentheses, `NOT` and `CASE`, whose number is bounded.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    source: &'a str,
    lexer: Lexer<'a>,
    /// The first token that is not consumed.
    token: Token<'a>,
    /// End of the last consumed token.
    end: usize,
    depth: usize,
    /// Tokens other than an end that could follow what is consumed.
    follow: Option<&'static str>,
}

/// Tokens that could follow a boolean by itself: it may become an operand.
const OPERATOR: &str = "an operator";
/// Tokens that could follow a condition that is complete.
const CONNECTIVE: &str = "`AND`, `OR`";

/// Functions by their names, each with the most arguments that it takes.
const FUNCTIONS: [(&str, Function, usize); 6] = [
    ("coalesce", Function::Coalesce, usize::MAX),
    ("lower", Function::Lower, 1),
    ("upper", Function::Upper, 1),
    ("minute_floor_timestamp_millis", Function::FloorMillis(millis(60)), 1),
    ("hour_floor_timestamp_millis", Function::FloorMillis(millis(60 * 60)), 1),
    ("day_floor_timestamp_millis", Function::FloorMillis(millis(24 * 60 * 60)), 1),
];

const fn millis(seconds: u64) -> NonZeroU64 {
    match NonZeroU64::new(seconds.saturating_mul(1_000)) {
        Some(millis) => millis,
        None => NonZeroU64::MIN,
    }
}

type Result<T> = std::result::Result<T, ExpressionError>;

impl<'a> Parser<'a> {
    pub(crate) fn new(source: &'a str) -> Result<Self> {
        if source.len() > limits::EXPRESSION_BYTES {
            return Err(ExpressionError::too_long(source));
        }
        let mut lexer = Lexer::new(source);
        let token = lexer.advance();
        Ok(Self { source, lexer, token, end: 0, depth: 0, follow: None })
    }

    /// Returns the first token that is not consumed.
    pub(crate) const fn token(&self) -> Token<'a> {
        self.token
    }

    /// Returns the text that is consumed since a position.
    pub(crate) fn text_since(&self, position: usize) -> &'a str {
        self.source.get(position..self.end).unwrap_or_default()
    }

    /// Consumes a token if it is next.
    pub(crate) fn accept(&mut self, kind: Kind) -> bool {
        let found = self.token.kind == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Consumes a token that must be next.
    pub(crate) fn expect(
        &mut self,
        kind: Kind,
        expected: impl Into<Cow<'static, str>>,
    ) -> Result<()> {
        if self.accept(kind) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Consumes a keyword that must be next.
    pub(crate) fn expect_keyword(&mut self, keyword: Keyword) -> Result<()> {
        self.expect(Kind::Keyword(keyword), keyword.quoted())
    }

    /// Consumes the end, which must be next.
    pub(crate) fn finish(mut self) -> Result<()> {
        let expected = self.or("the end");
        self.expect(Kind::End, expected)
    }

    /// Returns the error that the next token is not what could be there.
    pub(crate) fn unexpected(&self, expected: impl Into<Cow<'static, str>>) -> ExpressionError {
        self.unexpected_at(self.token, expected)
    }

    /// Returns the error that a token is not what could be there.
    pub(crate) fn unexpected_at(
        &self,
        token: Token<'_>,
        expected: impl Into<Cow<'static, str>>,
    ) -> ExpressionError {
        ExpressionError::unexpected(self.source, token, expected)
    }

    /// Notes the tokens other than an end that could follow, for errors.
    pub(crate) const fn could_follow(&mut self, follow: Option<&'static str>) {
        self.follow = follow;
    }

    /// Reads a condition up to where it can not go on.
    pub(crate) fn condition(&mut self) -> Result<Condition> {
        let first = self.conjunction()?;
        if self.token.kind != Kind::Keyword(Keyword::Or) {
            return Ok(first);
        }
        let mut conditions = vec![first];
        while self.accept(Kind::Keyword(Keyword::Or)) {
            conditions.push(self.conjunction()?);
        }
        Ok(Condition::Any(conditions))
    }

    fn conjunction(&mut self) -> Result<Condition> {
        let first = self.negation()?;
        if self.token.kind != Kind::Keyword(Keyword::And) {
            return Ok(first);
        }
        let mut conditions = vec![first];
        while self.accept(Kind::Keyword(Keyword::And)) {
            conditions.push(self.negation()?);
        }
        Ok(Condition::All(conditions))
    }

    fn negation(&mut self) -> Result<Condition> {
        match self.token.kind {
            Kind::Keyword(Keyword::Not) => {
                self.descend()?;
                let condition = self.negation()?;
                self.ascend();
                Ok(Condition::Not(Box::new(condition)))
            }
            Kind::Open => {
                self.descend()?;
                let condition = self.condition()?;
                let expected = self.or("`)`");
                self.expect(Kind::Close, expected)?;
                self.ascend();
                self.could_follow(Some(CONNECTIVE));
                Ok(condition)
            }
            _ => self.predicate(),
        }
    }

    /// Consumes a token that opens a level.
    fn descend(&mut self) -> Result<()> {
        if self.depth == limits::EXPRESSION_DEPTH {
            let bound = limits::EXPRESSION_DEPTH;
            return Err(self.unexpected(format!("at most {bound} levels of `NOT`, `(` and `CASE`")));
        }
        self.depth = self.depth.saturating_add(1);
        self.advance();
        Ok(())
    }

    const fn ascend(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn predicate(&mut self) -> Result<Condition> {
        let token = self.token;
        let left = self.operand("a condition")?;
        let condition = match self.token.kind {
            Kind::Comparison(comparison) => {
                self.advance();
                let right_token = self.token;
                let right = self.operand("a property or a literal")?;
                let (left, right) = match (left, right) {
                    (Operand::Literal(literal), right @ Operand::Field(Field::Timestamp)) => {
                        (Operand::Literal(self.instant(token, literal)?), right)
                    }
                    (left @ Operand::Field(Field::Timestamp), Operand::Literal(literal)) => {
                        (left, Operand::Literal(self.instant(right_token, literal)?))
                    }
                    operands => operands,
                };
                Condition::Compare(left, comparison, right)
            }
            Kind::Keyword(Keyword::Is) => {
                self.advance();
                self.null_test(left)?
            }
            Kind::Keyword(Keyword::In) => self.membership(left)?,
            Kind::Keyword(Keyword::Not) => {
                self.advance();
                Condition::Not(Box::new(self.membership(left)?))
            }
            _ if left.may_hold() => {
                self.could_follow(Some(OPERATOR));
                return Ok(Condition::Holds(left));
            }
            _ => return Err(self.unexpected(OPERATOR)),
        };
        self.could_follow(Some(CONNECTIVE));
        Ok(condition)
    }

    fn null_test(&mut self, operand: Operand) -> Result<Condition> {
        if self.accept(Kind::Keyword(Keyword::Not)) {
            self.expect_keyword(Keyword::Null)?;
            return Ok(Condition::Not(Box::new(Condition::IsNull(operand))));
        }
        self.expect(Kind::Keyword(Keyword::Null), "`NULL` or `NOT NULL`")?;
        Ok(Condition::IsNull(operand))
    }

    fn membership(&mut self, operand: Operand) -> Result<Condition> {
        self.expect_keyword(Keyword::In)?;
        self.expect(Kind::Open, "`(`")?;
        let mut literals = Vec::new();
        loop {
            let token = self.token;
            let literal = self.literal()?;
            literals.push(match operand {
                Operand::Field(Field::Timestamp) => self.instant(token, literal)?,
                _ => literal,
            });
            if !self.accept(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Close, "`,` or `)`")?;
        Ok(Condition::In(operand, literals))
    }

    fn operand(&mut self, expected: &'static str) -> Result<Operand> {
        match self.token.kind {
            Kind::Text
            | Kind::Number
            | Kind::Keyword(Keyword::True | Keyword::False | Keyword::Null) => {
                self.literal().map(Operand::Literal)
            }
            Kind::Keyword(Keyword::Case) => self.case(),
            _ => {
                let name = self.token;
                let field = self.field(expected)?;
                if name.kind == Kind::Name && self.token.kind == Kind::Open {
                    return self.call(name);
                }
                Ok(Operand::Field(field))
            }
        }
    }

    /// Reads a choice between operands.
    fn case(&mut self) -> Result<Operand> {
        const OPERAND: &str = "a property or a literal";
        self.descend()?;
        let is_simple = self.token.kind != Kind::Keyword(Keyword::When);
        let subject =
            if is_simple { Some(self.operand("`WHEN`, a property or a literal")?) } else { None };
        let mut branches = Vec::new();
        self.expect_keyword(Keyword::When)?;
        loop {
            let when = match &subject {
                Some(_) => When::Equals(self.operand(OPERAND)?),
                None => When::Holds(self.condition()?),
            };
            let expected = self.or("`THEN`");
            self.expect(Kind::Keyword(Keyword::Then), expected)?;
            self.could_follow(None);
            branches.push((when, self.operand(OPERAND)?));
            if !self.accept(Kind::Keyword(Keyword::When)) {
                break;
            }
        }
        let has_other = self.accept(Kind::Keyword(Keyword::Else));
        let otherwise = if has_other { Some(self.operand(OPERAND)?) } else { None };
        let expected = if has_other { "`END`" } else { "`WHEN`, `ELSE` or `END`" };
        self.expect(Kind::Keyword(Keyword::End), expected)?;
        self.ascend();
        Ok(Operand::Case(Box::new(Case { subject, branches, otherwise })))
    }

    /// Reads the arguments of a function, whose name is consumed.
    fn call(&mut self, name: Token<'a>) -> Result<Operand> {
        let found = FUNCTIONS.iter().find(|(word, ..)| word.eq_ignore_ascii_case(name.text));
        let Some((_, function, most)) = found else {
            let names: Vec<_> = FUNCTIONS.iter().map(|(word, ..)| *word).collect();
            return Err(self.unexpected_at(name, format!("one of {}", names.join(", "))));
        };
        self.descend()?;
        let mut arguments = vec![self.operand("a property or a literal")?];
        while arguments.len() < *most && self.accept(Kind::Comma) {
            arguments.push(self.operand("a property or a literal")?);
        }
        self.expect(Kind::Close, if *most > 1 { "`,` or `)`" } else { "`)`" })?;
        self.ascend();
        Ok(Operand::Call(*function, arguments))
    }

    /// Reads an operand that is all of the text.
    pub(crate) fn only_operand(mut self) -> Result<Operand> {
        let operand = self.operand("a property or a literal")?;
        self.could_follow(Some(OPERATOR));
        self.finish()?;
        Ok(operand)
    }

    /// Reads a field of the event.
    pub(crate) fn field(&mut self, expected: &'static str) -> Result<Field> {
        let field = match (self.token.kind, self.token.text) {
            (Kind::Name, "event_name") => Field::EventName,
            (Kind::Name, "timestamp") => Field::Timestamp,
            (Kind::Name, "timestamp_millis") => Field::TimestampMillis,
            (Kind::Name, name) => Field::Property(self.property(name)?),
            (Kind::QuotedName, _) => Field::Property(self.property(&self.token.unquoted())?),
            (Kind::Keyword(_) | Kind::ForeignWord, _) => {
                let hint = "a property of that name goes in double quotes";
                return Err(self.unexpected(format!("{expected} ({hint})")));
            }
            _ => return Err(self.unexpected(expected)),
        };
        self.advance();
        Ok(field)
    }

    fn property(&self, name: &str) -> Result<PropertyName> {
        PropertyName::parse(name).map_err(|_| {
            let bound = limits::PROPERTY_NAME_BYTES;
            self.unexpected(format!("the name of a property, of 1 to {bound} bytes"))
        })
    }

    fn literal(&mut self) -> Result<Literal> {
        let literal = match self.token.kind {
            Kind::Text => Literal::Text(self.token.unquoted().into()),
            Kind::Number => Literal::Number(self.number()?),
            Kind::Keyword(Keyword::True) => Literal::Boolean(true),
            Kind::Keyword(Keyword::False) => Literal::Boolean(false),
            Kind::Keyword(Keyword::Null) => Literal::Null,
            _ => return Err(self.unexpected("a literal")),
        };
        self.advance();
        Ok(literal)
    }

    fn number(&self) -> Result<Decimal> {
        Decimal::parse(self.token.text).map_err(|error| {
            self.unexpected(match error {
                DecimalError::NotANumber => "a number as JSON writes it".into(),
                DecimalError::TooManyDigits { .. } => {
                    format!("a number with at most {} significant digits", limits::DECIMAL_DIGITS)
                }
                DecimalError::TooManyPlaces => {
                    let bound = limits::DECIMAL_PLACES;
                    format!("a number with at most {bound} digits behind the point")
                }
                DecimalError::TooLarge => {
                    format!("a number below 10^{} in magnitude", limits::DECIMAL_MAGNITUDE)
                }
            })
        })
    }

    /// Parses a string beside `timestamp` as an instant.
    fn instant(&self, token: Token<'_>, literal: Literal) -> Result<Literal> {
        let Literal::Text(text) = literal else { return Ok(literal) };
        Timestamp::parse(&text)
            .map(Literal::Instant)
            .map_err(|_| self.unexpected_at(token, "a date and time as in '2026-03-01T00:00:00Z'"))
    }

    fn or(&self, end: &str) -> String {
        match self.follow {
            Some(follow) => format!("{follow} or {end}"),
            None => end.to_owned(),
        }
    }

    fn advance(&mut self) {
        self.end = self.token.position.saturating_add(self.token.text.len());
        self.token = self.lexer.advance();
    }
}

impl Operand {
    /// Tells whether it can be true: what never can is half of a comparison.
    const fn may_hold(&self) -> bool {
        matches!(
            self,
            Self::Field(Field::Property(_))
                | Self::Literal(Literal::Boolean(_) | Literal::Null)
                | Self::Case(_)
                | Self::Call(..)
        )
    }
}
