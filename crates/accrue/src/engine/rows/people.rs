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

/// Removes the sessions of a person. One that is opened at the same time goes on.
pub(in crate::engine) async fn close_sessions(
    tx: &mut Transaction<'_>,
    person: PersonId,
) -> Result<(), Error> {
    let mut scan = schema::sessions_of_person(person, limits::SCAN_ROWS);
    loop {
        let keys = tx.keys_now(&scan).await?;
        let Some(last) = keys.last() else { return Ok(()) };
        for key in &keys {
            let id = schema::session_of_person(key)?;
            if let Some(entry) = tx.get(&schema::session(id)).await? {
                remove_session(tx, &entry.session);
            }
        }
        scan = scan.after(last.bytes());
    }
}

/// Removes a session.
pub(in crate::engine) fn remove_session(tx: &mut Transaction<'_>, session: &Session) {
    tx.delete(&schema::session(session.id));
    tx.delete(&schema::session_by_person(session.person_id, session.id));
    tx.delete(&schema::session_by_expiry(session.ends_at, session.person_id, session.id));
}
