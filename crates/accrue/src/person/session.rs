use serde::{Deserialize, Serialize};

use crate::{
    PersonId, SessionId, Timestamp, limits,
    token::{SecretHash, Token},
};

/// Session of a person that has signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Person that it is of.
    pub person_id: PersonId,
    /// Instant at which it was opened.
    pub created_at: Timestamp,
    /// Instant of a request in it: the last one, or one of the 5 minutes before that.
    pub last_used_at: Timestamp,
    /// First instant at which it is over, however it is used.
    pub ends_at: Timestamp,
}

impl Session {
    /// Tells whether it is over.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        let idle = self.last_used_at.saturating_add(limits::SESSION_IDLE);
        now >= idle.min(self.ends_at)
    }
}

/// Token of a session: `accrue_session_` and 88 hexadecimal digits.
pub type SessionToken = Token<SessionId>;

/// Session with the token that was made for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenedSession {
    /// The session.
    pub session: Session,
    /// Its token, which is shown only once.
    pub token: SessionToken,
}

/// Stored row of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionEntry {
    pub(crate) session: Session,
    secret: SecretHash,
}

impl SessionEntry {
    pub(crate) fn open(person_id: PersonId, token: &SessionToken, now: Timestamp) -> Self {
        let session = Session {
            id: token.id(),
            person_id,
            created_at: now,
            last_used_at: now,
            ends_at: now.saturating_add(limits::SESSION_LIFE),
        };
        Self { session, secret: token.hash() }
    }

    /// Tells whether a token is good for it at an instant.
    pub(crate) fn admits(&self, token: &SessionToken, now: Timestamp) -> bool {
        let is_secret = self.secret.is(&token.hash());
        token.id() == self.session.id && !self.session.is_over(now) && is_secret.into()
    }

    /// Tells whether a request at an instant is to be written down.
    pub(crate) fn is_stale(&self, now: Timestamp) -> bool {
        now >= self.session.last_used_at.saturating_add(limits::SESSION_USE)
    }

    /// Notes a request.
    pub(crate) fn used(mut self, now: Timestamp) -> Self {
        self.session.last_used_at = self.session.last_used_at.max(now);
        self
    }
}

const _: () = assert!(limits::SESSION_USE.as_secs() < limits::SESSION_IDLE.as_secs());
