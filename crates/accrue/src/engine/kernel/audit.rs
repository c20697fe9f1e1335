//! What a commit carries beside its effect where somebody acts: the entry of the audit log.

use super::{Account, Transaction};
use crate::{
    AuditEntryId, Error,
    audit::Actor,
    schema::{self, Nothing},
};

/// Audit of the operations of somebody.
#[derive(Clone, Copy)]
pub(super) struct Audit<'a> {
    actor: &'a Actor,
}

impl<'a> Audit<'a> {
    /// Audits what somebody does with a handle; none where it is nobody's.
    pub(super) fn of(account: &'a Account) -> Option<Self> {
        account.actor().map(|actor| Self { actor })
    }

    /// Writes the entry of an operation that has run, where it has an effect.
    pub(super) fn note(
        self,
        tx: &mut Transaction<'_>,
        operation: &'static str,
        subject: impl FnOnce() -> Option<String>,
    ) -> Result<(), Error> {
        if !tx.has_writes()? {
            return Ok(());
        }
        let id = AuditEntryId::generate(tx.now, tx.entropy());
        let account = (!tx.is_of_host()).then(|| tx.account.clone());
        let entry = self.actor.entry((id, tx.now), account, operation, subject());
        tx.put(&schema::audit_entry(entry.at, id), &entry)?;
        if let Some(account) = &entry.account {
            tx.put(&schema::audit_entry_by_account(account, &entry), &Nothing {})?;
        }
        if let Some(person) = entry.who.person() {
            tx.put(&schema::audit_entry_by_person(person, &entry), &Nothing {})?;
        }
        Ok(())
    }
}
