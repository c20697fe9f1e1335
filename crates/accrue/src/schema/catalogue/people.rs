//! The rows of people, and of what they did.

use crate::{
    AccountId, AuditEntryId, Error, InvitationId, PersonId, SessionId, Timeframe, Timestamp,
    audit::AuditEntry,
    person::{InvitationEntry, PeopleHead, Person, PersonAlias, PersonEntry, SessionEntry},
    schema::{
        documents::*,
        index::Index,
        key::{KeyBytes, Part as _, ReadPart, read_key},
        slot::Slot,
    },
    store::{Document, Key, Scan, Table},
    usage::Digest,
};

tables! {
    /// An entry of the audit log, by its instant.
    audit_entry(at: Timestamp, id: AuditEntryId) -> AuditEntry {
        list audit_entries();
        /// The entries within a timeframe.
        range audit_log();
        read read_audit_entry();
    }

    /// Entries of the audit log that are about an account, by their instants.
    audit_entry_by_account(account, of: &AuditEntry) = (account, of.at, of.id) -> Nothing {
        list audit_entries_of_account(account);
    }

    /// Entries of the audit log that are of a person, by their instants.
    audit_entry_by_person(person: PersonId, of: &AuditEntry) = (person, of.at, of.id) -> Nothing {
        list audit_entries_of_person(person: PersonId);
    }

    /// An invitation of a person.
    invitation(invitation: InvitationId) -> InvitationEntry;

    /// Invitations, by when they are not good any more.
    invitation_by_expiry(at: Timestamp, invitation: InvitationId) -> Nothing {
        list invitations();
        /// The invitations that end within a timeframe.
        range invitation_expiries();
        key expired_invitation(invitation: InvitationId);
    }

    /// How many people there are, and of them those of whom one has to be left.
    people_head() = ([0_u8]) -> PeopleHead;

    /// A person, with the hash of its password.
    person(person: PersonId) -> PersonEntry;

    /// A person, by the digest of its e-mail address in lower case.
    person_by_email(email: &Digest) -> PersonAlias;

    /// People, by when they came.
    person_by_time(of: &Person) = (of.created_at, of.id) -> Nothing {
        list people();
    }

    /// A session of a person.
    session(session: SessionId) -> SessionEntry;

    /// Sessions, by when they are over.
    session_by_expiry(at: Timestamp, person: PersonId, session: SessionId) -> Nothing {
        /// The sessions that end within a timeframe.
        range session_expiries();
        key expired_session(person: PersonId, session: SessionId);
    }

    /// Sessions of a person.
    session_by_person(person: PersonId, session: SessionId) -> Nothing {
        /// The sessions of a person.
        scan sessions_of_person(person: PersonId);
        key session_of_person(session: SessionId);
    }
}
