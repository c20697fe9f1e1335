//! People who work with the engine through an application of the host: their roles, invitations, passwords
//! and sessions.
//!
//! They belong to the host, not to an account. A password is hashed by the application, and is an opaque
//! text here; of invitations and sessions only the SHA-256 of their secrets is kept.

mod invitation;
mod session;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::{
    invitation::{Acceptance, Invitation, InvitationToken, NewPerson, SentInvitation},
    session::{OpenedSession, Session, SessionToken},
};
pub(crate) use self::{
    invitation::{InvitationEntry, Invitee},
    session::SessionEntry,
};
use crate::{Email, Error, Name, PersonId, Timestamp, limits};

/// What a person may do. Each role may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees everything but secrets.
    Read,
    /// Changes what customers use and pay.
    Operate,
    /// Changes who may do what: API keys, people and accounts.
    Admin,
}

impl Role {
    /// Every role, from the least.
    pub const ALL: [Self; 3] = [Self::Read, Self::Operate, Self::Admin];

    /// Returns its name, such as `operate`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Operate => "operate",
            Self::Admin => "admin",
        }
    }

    /// Parses a role by its name; none where there is no such role.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Person who works with the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Person {
    /// Its id.
    pub id: PersonId,
    /// Its name.
    pub name: Name,
    /// Its e-mail address. No two people have one that differs in case only.
    pub email: Email,
    /// What it may do.
    pub role: Role,
    /// Instant at which it accepted its invitation.
    pub created_at: Timestamp,
    /// Instant from which it is not let in any more.
    pub disabled_at: Option<Timestamp>,
}

impl Person {
    /// Tells whether it is let in.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.disabled_at.is_none()
    }

    /// Tells whether it is one of those of whom one has to be left.
    pub(crate) fn is_enabled_admin(&self) -> bool {
        self.is_enabled() && self.role == Role::Admin
    }
}

/// Digest that e-mail addresses are compared by: of their lower case.
pub(crate) fn email_digest(email: &Email) -> [u8; 32] {
    crate::id::digest(&[email.as_str().to_lowercase().as_bytes()])
}

/// Hash of a password, as the application that made it writes it: a PHC text of 1 to 1,024 bytes. It is
/// not shown where it is not [asked for](Self::as_str).
///
/// ```
/// use accrue::person::PasswordHash;
///
/// let hash = PasswordHash::parse("$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaA")?;
/// assert_eq!(format!("{hash:?}"), "PasswordHash(..)");
/// # Ok::<(), accrue::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Takes the hash of a password.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where it is empty, too long, or no `$` is
    /// first: a password is not stored as it is.
    pub fn parse(text: impl Into<String>) -> Result<Self, Error> {
        let text = text.into();
        let most = limits::PASSWORD_HASH_BYTES;
        if text.len() > most || !text.starts_with('$') || text.chars().any(char::is_control) {
            let message = format!("expected a PHC text of at most {most} bytes");
            return Err(Error::invalid("password", message));
        }
        Ok(Self(text))
    }

    /// Returns its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

/// Stored row of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PersonEntry {
    pub(crate) person: Person,
    pub(crate) password: PasswordHash,
}

/// Number of people that one has to be left of: a change of any of them writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PeopleHead {
    /// People, disabled ones included.
    pub(crate) people: usize,
    /// Admins that are not disabled.
    pub(crate) admins: usize,
}

impl PeopleHead {
    /// Counts one more person.
    pub(crate) fn add(self, person: &Person) -> Result<Self, Error> {
        let most = limits::PEOPLE;
        if self.people >= most {
            return Err(Error::constraint(format!("there are {} people, the most", self.people)));
        }
        let admins = self.admins.saturating_add(usize::from(person.is_enabled_admin()));
        Ok(Self { people: self.people.saturating_add(1), admins })
    }

    /// Counts a person that has changed.
    pub(crate) fn change(self, before: &Person, after: &Person) -> Result<Self, Error> {
        let others = self.admins.saturating_sub(usize::from(before.is_enabled_admin()));
        let admins = others.saturating_add(usize::from(after.is_enabled_admin()));
        if admins == 0 {
            return Err(Error::constraint("nobody else is an admin that is not disabled"));
        }
        Ok(Self { admins, ..self })
    }
}

/// Where a person is, by its e-mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PersonAlias {
    pub(crate) person: PersonId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_ordered_and_read_back() {
        assert!(Role::Read < Role::Operate && Role::Operate < Role::Admin);
        for role in Role::ALL {
            assert_eq!(Role::parse(&role.to_string()), Some(role));
        }
        assert_eq!(Role::parse("Admin"), None);
    }

    #[test]
    fn a_password_is_no_hash() {
        for text in ["", "correct horse battery staple", "$a\nb", &"$".repeat(1_025)] {
            assert!(PasswordHash::parse(text).is_err(), "{text}");
        }
        assert!(PasswordHash::parse("$".repeat(1_024)).is_ok());
    }

    #[test]
    fn addresses_are_compared_in_lower_case() {
        let digest = |text| email_digest(&Email::parse(text).unwrap());
        assert_eq!(digest("Ada@Example.com"), digest("ada@example.COM"));
        assert_ne!(digest("ada@example.com"), digest("bob@example.com"));
    }
}
