//! The audit log: who did what, and when.
//!
//! An entry is written in the commit of the effect that it tells of: there is none without the other
//! (`docs/decisions/audited-in-the-commit.md`). It names what an operation was about, and has nothing of what
//! it was given: no bodies, and no secrets.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AccountId, AuditEntryId, Name, PersonId, Timestamp, limits, page::InstantRange, person::Person,
};

/// Who an operation is done by, for the audit log.
///
/// ```
/// use accrue::{Name, audit::Actor};
///
/// let actor = Actor::host(Name::parse("nightly import")?).for_request(Name::parse("req-17")?);
/// assert_eq!(actor.name().as_str(), "nightly import");
/// # Ok::<(), accrue::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    who: Who,
    request: Option<Name>,
}

impl Actor {
    /// A person.
    #[must_use]
    pub fn person(person: &Person) -> Self {
        Self { who: Who::Person { id: person.id, name: person.name.clone() }, request: None }
    }

    /// The host itself, or whatever it calls by a name.
    #[must_use]
    pub const fn host(name: Name) -> Self {
        Self { who: Who::Host { name }, request: None }
    }

    /// Names the request that it acts in, so that entries are found by what a log says of it.
    #[must_use]
    pub fn for_request(self, request: Name) -> Self {
        Self { request: Some(request), ..self }
    }

    /// Returns its name.
    #[must_use]
    pub const fn name(&self) -> &Name {
        self.who.name()
    }

    /// Writes down what it did.
    pub(crate) fn entry(
        &self,
        (id, at): (AuditEntryId, Timestamp),
        account: Option<AccountId>,
        operation: &'static str,
        subject: Option<String>,
    ) -> AuditEntry {
        let (who, request_id) = (self.who.clone(), self.request.clone());
        AuditEntry { id, at, who, account, operation: operation.to_owned(), subject, request_id }
    }
}

/// Whoever an entry of the audit log is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Who {
    /// A person.
    Person {
        /// Its id.
        id: PersonId,
        /// Its name at that time.
        name: Name,
    },
    /// The host, by a name of its own.
    Host {
        /// The name.
        name: Name,
    },
}

impl Who {
    /// Returns its name.
    #[must_use]
    pub const fn name(&self) -> &Name {
        match self {
            Self::Person { name, .. } | Self::Host { name } => name,
        }
    }

    /// Returns the id of a person.
    #[must_use]
    pub const fn person(&self) -> Option<PersonId> {
        match self {
            Self::Person { id, .. } => Some(*id),
            Self::Host { .. } => None,
        }
    }
}

/// Entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditEntry {
    /// Its id.
    pub id: AuditEntryId,
    /// Instant of the operation.
    pub at: Timestamp,
    /// Who did it.
    pub who: Who,
    /// Account that it was done in; none where it was about people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountId>,
    /// Name of the operation, such as `create_customer`.
    pub operation: String,
    /// What it was about, where one text says that: the id, the alias or the name of a resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Name of the request that it was done in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Name>,
}

/// Filter of the audit log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Range of the instants of the operations.
    pub at: InstantRange,
    /// Whose entries are wanted.
    pub of: AuditOf,
}

/// Whose entries of the audit log are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditOf {
    /// All.
    #[default]
    Everybody,
    /// Those of operations in an account.
    Account(AccountId),
    /// Those of a person.
    Person(PersonId),
}

/// Returns what the arguments of an operation say that it is about: the id or the alias that comes first,
/// else the name of what is made, else the customer that it is for. Nothing else of them is looked at.
pub(crate) fn subject_of(arguments: &Value) -> Option<String> {
    let text = match arguments {
        Value::String(text) => Some(text.as_str()),
        Value::Array(parts) => return subject_of(parts.first()?),
        Value::Object(of) => {
            let known = ["id", "external", "name", "external_customer_id"];
            let found = known.iter().find_map(|member| of.get(*member)?.as_str());
            if found.is_none() {
                return ["customer", "customer_id"]
                    .iter()
                    .find_map(|of_id| subject_of(of.get(*of_id)?));
            }
            found
        }
        _ => None,
    };
    text.map(|text| text.chars().take(limits::AUDIT_SUBJECT_CHARACTERS).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(arguments: Value, expect: Option<&str>) {
        assert_eq!(subject_of(&arguments).as_deref(), expect, "{arguments}");
    }

    #[test]
    fn a_subject_is_what_comes_first() {
        check(json!("0198"), Some("0198"));
        check(json!(["0198", {"name": "Ada"}]), Some("0198"));
        check(json!([{"external": "ada"}, {"token": "tok"}]), Some("ada"));
        check(json!({"name": "Ada", "email": "ada@example.com"}), Some("Ada"));
        check(json!({"customer": {"id": "0198"}, "timeframe": {}}), Some("0198"));
    }

    #[test]
    fn nothing_else_is_one() {
        for none in
            [json!(null), json!([]), json!({"token": "tok_1", "url": "https://a/?s=1"}), json!(7)]
        {
            check(none, None);
        }
        let long = "x".repeat(1_000);
        check(json!(long), Some(&"x".repeat(limits::AUDIT_SUBJECT_CHARACTERS)));
    }
}
