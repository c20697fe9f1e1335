//! Sessions in the portal on the wire (invoicing 16.3).

use accrue::portal::{self, NewPortalSession, OtherSessions};

use crate::shape::{Moment, Whole, request, response};

request! {
    /// A session in the portal to make.
    pub(crate) struct CreatePortalSession {
        /// Minutes that it lasts: 60 where nothing is said.
        expires_in_minutes: Option<Whole<1, 180>>,
        /// True, or nothing, if the other sessions of the customer end.
        invalidate_existing: Option<bool>,
    }
}

response! {
    /// A session of a customer in the portal.
    pub(crate) struct PortalSession {
        /// Its id.
        id: String,
        /// Customer that it is of.
        customer_id: String,
        /// Instant at which it was made.
        created_at: Moment,
        /// First instant at which it is over.
        expires_at: Option<Moment>,
        /// Address that opens it. Whoever has it is the customer.
        url: String,
    }
}

impl CreatePortalSession {
    pub(crate) fn into_new(self) -> NewPortalSession {
        let default = NewPortalSession::default();
        let minutes = self.expires_in_minutes.and_then(|of| u16::try_from(of.size()).ok());
        let others = match self.invalidate_existing {
            Some(false) => OtherSessions::GoOn,
            _ => OtherSessions::End,
        };
        NewPortalSession { minutes: minutes.unwrap_or(default.minutes), others }
    }
}

impl PortalSession {
    pub(crate) fn of(session: &portal::PortalSession, url: String) -> Self {
        Self {
            id: session.id.to_string(),
            customer_id: session.customer_id.to_string(),
            created_at: session.created_at.into(),
            expires_at: Some(session.expires_at.into()),
            url,
        }
    }
}
