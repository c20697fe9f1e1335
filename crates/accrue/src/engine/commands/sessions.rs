//! Sessions of people: opened, looked up with each request, and closed.

use async_trait::async_trait;

use crate::{
    Error, PersonId, SessionId,
    engine::{
        Billing,
        kernel::{Command, Stop, Transaction, apply_open, apply_step},
        rows::people,
    },
    limits,
    person::{OpenedSession, Person, Session, SessionEntry, SessionToken},
    schema::{self, Nothing},
};

/// Sessions of people.
impl Billing {
    /// Opens a session of a person. It is over [12 hours](crate::limits::SESSION_IDLE) after the last request, and
    /// [7 days](crate::limits::SESSION_LIFE) after it was opened. Of [50](crate::limits::SESSIONS) that are open the one
    /// that was used longest ago is closed for it.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the person is disabled.
    pub async fn open_session(&self, person: PersonId) -> Result<OpenedSession, Error> {
        apply_open(&self.host(), &Open { person }).await
    }

    /// Returns the session that a token is for, with its person; none where it is no token, for none, over, or
    /// the person is disabled. Nobody is told which of these.
    ///
    /// It reads two rows, and notes the request at most once in [5 minutes](crate::limits::SESSION_USE).
    ///
    /// # Errors
    ///
    /// [`Internal`](crate::ErrorKind::Internal) where the store fails: nobody is let in then.
    pub async fn session(&self, token: &str) -> Result<Option<(Person, Session)>, Error> {
        let Some(token) = SessionToken::parse(token) else { return Ok(None) };
        let host = self.host();
        let mut tx = host.reading();
        let Some(entry) = tx.get(&schema::session(token.id())).await? else { return Ok(None) };
        if !entry.admits(&token, tx.now) {
            return Ok(None);
        }
        let found = tx.get(&schema::person(entry.session.person_id)).await?;
        let Some(person) = found.map(|found| found.person).filter(Person::is_enabled) else {
            return Ok(None);
        };
        if !entry.is_stale(tx.now) {
            return Ok(Some((person, entry.session)));
        }
        let used = apply_step(self.shared(), host.id(), &Use { session: entry.session.id }).await?;
        Ok(used.map(|session| (person, session)))
    }

    /// Closes the session that a token is for; none is no error.
    pub async fn close_session(&self, token: &str) -> Result<(), Error> {
        let Some(token) = SessionToken::parse(token) else { return Ok(()) };
        apply_open(&self.host(), &Close { token }).await
    }

    /// Closes all sessions of a person.
    pub async fn close_sessions_of(&self, person: PersonId) -> Result<(), Error> {
        apply_open(&self.host(), &CloseAll { person }).await
    }
}

struct Open {
    person: PersonId,
}

#[async_trait]
impl Command for Open {
    type Outcome = OpenedSession;

    fn name(&self) -> &'static str {
        "open_session"
    }

    fn subject(&self) -> Option<String> {
        Some(self.person.to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<OpenedSession, Stop> {
        if !people::person(tx, self.person).await?.person.is_enabled() {
            return Err(Error::constraint("the person is disabled").into());
        }
        let mut open = people::sessions(tx, self.person).await?;
        open.sort_unstable_by_key(|of| std::cmp::Reverse((!of.is_over(tx.now), of.last_used_at)));
        for ended in open.iter().skip(limits::SESSIONS.saturating_sub(1)) {
            people::remove_session(tx, ended);
        }
        let id = SessionId::generate(tx.now, tx.entropy());
        let token = SessionToken::draw(id, tx.entropy());
        let entry = SessionEntry::open(self.person, &token, tx.now);
        tx.put(&schema::session(id), &entry)?;
        tx.put(&schema::session_by_person(self.person, id), &Nothing {})?;
        let by_expiry = schema::session_by_expiry(entry.session.ends_at, self.person, id);
        tx.put(&by_expiry, &Nothing {})?;
        Ok(OpenedSession { session: entry.session, token })
    }
}

/// Notes a request in a session.
struct Use {
    session: SessionId,
}

#[async_trait]
impl Command for Use {
    type Outcome = Option<Session>;

    fn name(&self) -> &'static str {
        "use_session"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Option<Session>, Stop> {
        let slot = schema::session(self.session);
        // Somebody may have closed it meanwhile.
        let Some(entry) = tx.get(&slot).await? else { return Ok(None) };
        let entry = entry.used(tx.now);
        tx.put(&slot, &entry)?;
        Ok(Some(entry.session))
    }
}

struct Close {
    token: SessionToken,
}

#[async_trait]
impl Command for Close {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "close_session"
    }

    fn subject(&self) -> Option<String> {
        Some(self.token.id().to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let entry = tx.get(&schema::session(self.token.id())).await?;
        if let Some(entry) = entry.filter(|entry| entry.admits(&self.token, tx.now)) {
            people::remove_session(tx, &entry.session);
        }
        Ok(())
    }
}

struct CloseAll {
    person: PersonId,
}

#[async_trait]
impl Command for CloseAll {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "close_sessions_of"
    }

    fn subject(&self) -> Option<String> {
        Some(self.person.to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        Ok(people::close_sessions(tx, self.person).await?)
    }
}
