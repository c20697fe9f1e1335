//! Portal sessions: for how long a customer may see what the host's portal shows (invoicing 16.3).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{CustomerId, Error, PortalSessionId, Timestamp, limits};

/// Session of a customer in the portal of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PortalSession {
    /// Its id.
    pub id: PortalSessionId,
    /// Customer that it is of.
    pub customer_id: CustomerId,
    /// Instant at which it was made.
    pub created_at: Timestamp,
    /// First instant at which it is over.
    pub expires_at: Timestamp,
}

/// Session to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NewPortalSession {
    /// Minutes that it lasts: 1 to [180](limits::PORTAL_MINUTES).
    pub minutes: u16,
    /// Which sessions the customer has then.
    pub others: OtherSessions,
}

/// What becomes of the other sessions of a customer when a new one is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum OtherSessions {
    /// They end.
    #[default]
    End,
    /// They go on.
    GoOn,
}

impl Default for NewPortalSession {
    /// One of an hour, which ends the others.
    fn default() -> Self {
        Self { minutes: 60, others: OtherSessions::End }
    }
}

/// Sessions of a customer that were not over when the last one was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PortalSessions {
    sessions: Vec<PortalSession>,
}

impl PortalSessions {
    /// Adds a session.
    pub(crate) fn add(
        &mut self,
        new: NewPortalSession,
        (id, customer_id): (PortalSessionId, CustomerId),
        now: Timestamp,
    ) -> Result<PortalSession, Error> {
        let most = limits::PORTAL_MINUTES;
        if !(1..=most).contains(&new.minutes) {
            let message = format!("found {}, expected 1 to {most}", new.minutes);
            return Err(Error::invalid("expires_in_minutes", message));
        }
        self.sessions.retain(|of| new.others == OtherSessions::GoOn && now < of.expires_at);
        let count = self.sessions.len();
        if count >= limits::PORTAL_SESSIONS {
            let detail = format!("the customer has {count} sessions, the most");
            return Err(Error::constraint(detail));
        }
        let expires_at = now.saturating_add(Duration::from_secs(u64::from(new.minutes) * 60));
        let session = PortalSession { id, customer_id, created_at: now, expires_at };
        self.sessions.push(session.clone());
        Ok(session)
    }

    /// Returns a session that is not over.
    pub(crate) fn find(self, id: PortalSessionId, now: Timestamp) -> Option<PortalSession> {
        self.sessions.into_iter().find(|of| of.id == id && now < of.expires_at)
    }
}
