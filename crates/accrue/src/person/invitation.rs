use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{PasswordHash, Person, Role};
use crate::{
    Email, Error, InvitationId, Name, PersonId, Timestamp, limits,
    token::{SecretHash, Token},
};

/// Person to invite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPerson {
    /// Its name.
    pub name: Name,
    /// Its e-mail address.
    pub email: Email,
    /// What it is to be allowed.
    pub role: Role,
}

/// Invitation of a person, for one use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Invitation {
    /// Its id.
    pub id: InvitationId,
    /// Person that is invited; none in the invitation of the first person, who says it itself.
    pub person: Option<NewPerson>,
    /// Id of the person, where it is there already: it chooses another password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets: Option<PersonId>,
    /// Instant at which it was made.
    pub created_at: Timestamp,
    /// First instant at which it is not good any more.
    pub expires_at: Timestamp,
}

impl Invitation {
    /// Returns what its person is to be allowed: the first person is an admin.
    #[must_use]
    pub fn role(&self) -> Role {
        self.person.as_ref().map_or(Role::Admin, |person| person.role)
    }
}

/// Token of an invitation: `accrue_invitation_` and 88 hexadecimal digits.
pub type InvitationToken = Token<InvitationId>;

/// Invitation with the token that was made for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SentInvitation {
    /// The invitation.
    pub invitation: Invitation,
    /// Its token, which is shown only once.
    pub token: InvitationToken,
}

/// Whom an invitation is for.
#[derive(Clone, Debug)]
pub(crate) enum Invitee {
    /// The first person, who says who it is.
    First,
    /// Somebody who is not there yet.
    New(NewPerson),
    /// A person that is there, and chooses another password.
    Known(Person),
}

impl Invitee {
    /// Returns for how many hours its invitation is good.
    const fn hours(&self) -> u64 {
        match self {
            Self::New(_) => limits::INVITATION_HOURS,
            Self::First | Self::Known(_) => limits::SHORT_INVITATION_HOURS,
        }
    }
}

/// What a person says that accepts an invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// Hash of its password.
    pub password: PasswordHash,
    /// Its name, where that is not the one of the invitation.
    pub name: Option<Name>,
    /// Its e-mail address, where the invitation has none.
    pub email: Option<Email>,
}

impl Acceptance {
    /// Accepts an invitation that says who the person is.
    #[must_use]
    pub const fn new(password: PasswordHash) -> Self {
        Self { password, name: None, email: None }
    }

    /// Accepts the invitation of the first person, who is this.
    #[must_use]
    pub const fn of(name: Name, email: Email, password: PasswordHash) -> Self {
        Self { password, name: Some(name), email: Some(email) }
    }

    /// Returns who accepts an invitation.
    pub(crate) fn person(&self, invitation: &Invitation) -> Result<NewPerson, Error> {
        let role = invitation.role();
        let invited = invitation.person.as_ref();
        let name = self.name.clone().or_else(|| invited.map(|person| person.name.clone()));
        let email = invited.map(|person| person.email.clone()).or_else(|| self.email.clone());
        let missing = |field| Error::invalid(field, "the invitation names nobody");
        Ok(NewPerson {
            name: name.ok_or_else(|| missing("name"))?,
            email: email.ok_or_else(|| missing("email"))?,
            role,
        })
    }
}

/// Stored row of an invitation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InvitationEntry {
    pub(crate) invitation: Invitation,
    secret: SecretHash,
}

impl InvitationEntry {
    /// Invites somebody.
    pub(crate) fn new(invitee: Invitee, token: &InvitationToken, now: Timestamp) -> Self {
        let hours = invitee.hours();
        let expires_at = now.saturating_add(Duration::from_secs(hours.saturating_mul(60 * 60)));
        let (person, resets) = match invitee {
            Invitee::First => (None, None),
            Invitee::New(person) => (Some(person), None),
            Invitee::Known(Person { id, name, email, role, .. }) => {
                (Some(NewPerson { name, email, role }), Some(id))
            }
        };
        let invitation = Invitation { id: token.id(), person, resets, created_at: now, expires_at };
        Self { invitation, secret: token.hash() }
    }

    /// Tells whether a token is good for it at an instant.
    pub(crate) fn admits(&self, token: &InvitationToken, now: Timestamp) -> bool {
        let is_secret = self.secret.is(&token.hash());
        token.id() == self.invitation.id && now < self.invitation.expires_at && is_secret.into()
    }
}
