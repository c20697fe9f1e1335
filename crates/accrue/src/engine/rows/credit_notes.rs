//! Credit notes with their lines.

use crate::{
    CreditNoteId, CustomerId, Error,
    engine::{
        kernel::{Guard, Transaction},
        rows::parts::Parts,
    },
    invoice::{CreditNote, CreditNoteLine},
    schema::{self, CreditNoteEntry, CreditNoteLines, CustomerHead, Nothing, Slot},
};

/// Returns a credit note that exists, with its lines.
pub(in crate::engine) async fn credit_note(
    tx: &mut Transaction<'_>,
    id: CreditNoteId,
) -> Result<CreditNote, Error> {
    let slot = schema::credit_note(tx.account, id);
    let found = tx.find(&slot).await?;
    let CreditNoteEntry { mut note, parts } =
        found.ok_or_else(|| Error::not_found("credit note", id))?;
    let guard = tx.guard::<CustomerHead>(note.customer_id).await?;
    note.lines = lines(tx, &guard, id, parts).await?;
    Ok(note)
}

/// Returns a credit note as a list found it, with its lines.
pub(in crate::engine) async fn peek_lines(
    tx: &Transaction<'_>,
    CreditNoteEntry { mut note, parts }: CreditNoteEntry,
) -> Result<CreditNote, Error> {
    let slots: Vec<_> = slots(tx, note.id, parts).collect();
    note.lines = joined(tx.peek(&slots).await?)?;
    Ok(note)
}

/// Reads the notes of an invoice, without their lines.
pub(super) async fn of_invoice(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    ids: &[CreditNoteId],
) -> Result<Vec<CreditNote>, Error> {
    let slots: Vec<_> = ids.iter().map(|id| schema::credit_note(tx.account, *id)).collect();
    notes(guard.get_all(tx, &slots).await?)
}

/// Reads the notes of an invoice that a list found, without their lines.
pub(super) async fn peek_of_invoice(
    tx: &Transaction<'_>,
    ids: &[CreditNoteId],
) -> Result<Vec<CreditNote>, Error> {
    let slots: Vec<_> = ids.iter().map(|id| schema::credit_note(tx.account, *id)).collect();
    notes(tx.peek(&slots).await?)
}

fn notes(found: Vec<Option<CreditNoteEntry>>) -> Result<Vec<CreditNote>, Error> {
    let found: Option<Vec<_>> = found.into_iter().collect();
    let found = found.ok_or_else(|| Error::corrupt("a credit note of an invoice is missing"))?;
    Ok(found.into_iter().map(|entry| entry.note).collect())
}

/// Reads the lines of those notes that are not void.
pub(in crate::engine) async fn lines_that_count(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    notes: &[CreditNote],
) -> Result<Vec<CreditNoteLine>, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let mut found = Vec::new();
    for CreditNote { id, .. } in notes.iter().filter(|note| note.voided_at.is_none()) {
        let entry = guard.get(tx, &schema::credit_note(tx.account, *id)).await?;
        let parts = entry.map_or(0, |entry| entry.parts);
        found.extend(lines(tx, &guard, *id, parts).await?);
    }
    Ok(found)
}

async fn lines(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    id: CreditNoteId,
    parts: u16,
) -> Result<Vec<CreditNoteLine>, Error> {
    let slots: Vec<_> = slots(tx, id, parts).collect();
    joined(guard.get_all(tx, &slots).await?)
}

fn joined(found: Vec<Option<CreditNoteLines>>) -> Result<Vec<CreditNoteLine>, Error> {
    let found: Option<Vec<_>> = found.into_iter().collect();
    let found = found.ok_or_else(|| Error::corrupt("lines of a credit note are missing"))?;
    Ok(found.into_iter().flat_map(|of| of.lines).collect())
}

fn slots(
    tx: &Transaction<'_>,
    id: CreditNoteId,
    parts: u16,
) -> impl Iterator<Item = Slot<CreditNoteLines, CustomerHead>> {
    let account = tx.account;
    (0..parts).map(move |part| schema::credit_note_lines(account, id, part))
}

/// Writes a note that is new, and where it is found.
pub(in crate::engine) async fn put_new(
    tx: &mut Transaction<'_>,
    note: &CreditNote,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(note.customer_id).await?;
    tx.put(&schema::credit_note_by_customer(tx.account, note), &Nothing {})?;
    tx.put(&schema::credit_note_by_time(tx.account, note), &Nothing {})?;
    let mut rows = Parts::<CreditNoteLines>::default();
    for line in &note.lines {
        rows.with_room(line)?.lines.push(line.clone());
    }
    let mut parts = 0_u16;
    for lines in rows.all {
        guard.put(tx, &schema::credit_note_lines(tx.account, note.id, parts), &lines)?;
        parts = parts.saturating_add(1);
    }
    put(tx, &guard, note, parts)
}

/// Writes a note that has become void.
pub(in crate::engine) async fn save(
    tx: &mut Transaction<'_>,
    note: &CreditNote,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(note.customer_id).await?;
    let entry = guard.get(tx, &schema::credit_note(tx.account, note.id)).await?;
    put(tx, &guard, note, entry.map_or(0, |entry| entry.parts))
}

fn put(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    note: &CreditNote,
    parts: u16,
) -> Result<(), Error> {
    let note = CreditNote { lines: Vec::new(), ..note.clone() };
    guard.put(tx, &schema::credit_note(tx.account, note.id), &CreditNoteEntry { note, parts })
}
