//! People and their sessions.

use crate::{
    Error, PersonId,
    engine::kernel::Transaction,
    limits,
    person::{PersonEntry, Session},
    schema,
};

/// Returns a person, with the hash of its password.
pub(in crate::engine) async fn person(
    tx: &mut Transaction<'_>,
    id: PersonId,
) -> Result<PersonEntry, Error> {
    let found = tx.get(&schema::person(id)).await?;
    found.ok_or_else(|| Error::not_found("person", id))
}

/// Returns the sessions of a person, those that are over too.
pub(in crate::engine) async fn sessions(
    tx: &mut Transaction<'_>,
    person: PersonId,
) -> Result<Vec<Session>, Error> {
    let scan = schema::sessions_of_person(person, limits::SCAN_ROWS);
    let keys = tx.keys_now(&scan).await?;
    let ids: Result<Vec<_>, _> = keys.iter().map(schema::session_of_person).collect();
    let slots: Vec<_> = ids?.into_iter().map(schema::session).collect();
    let found = tx.get_all(&slots).await?;
    Ok(found.into_iter().flatten().map(|entry| entry.session).collect())
}

/// Removes the sessions of a person. One that is opened at the same time goes on.
pub(in crate::engine) async fn close_sessions(
    tx: &mut Transaction<'_>,
    person: PersonId,
) -> Result<(), Error> {
    for session in sessions(tx, person).await? {
        remove_session(tx, &session);
    }
    Ok(())
}

/// Removes a session.
pub(in crate::engine) fn remove_session(tx: &mut Transaction<'_>, session: &Session) {
    tx.delete(&schema::session(session.id));
    tx.delete(&schema::session_by_person(session.person_id, session.id));
    tx.delete(&schema::session_by_expiry(session.ends_at, session.person_id, session.id));
}
