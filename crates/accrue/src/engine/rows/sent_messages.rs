//! Messages that endpoints are sent: what is said of them, and their bodies in as many rows as they need.

use std::sync::Arc;

use crate::{
    Error, MessageId,
    engine::kernel::Transaction,
    limits,
    schema::{self, MessageBody, MessageEntry, MessageExpiry, MessageTold, Nothing},
    webhook::{Body, PayloadStyle},
};

/// Splits a body into what fits rows.
fn parts(mut text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    while !text.is_empty() {
        let mut end = text.len().min(limits::BODY_PART_BYTES);
        while !text.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        let (part, rest) = text.split_at(end);
        parts.push(part);
        text = rest;
    }
    parts
}

/// Writes a body, and returns the number of its parts.
pub(in crate::engine) fn put_body(
    tx: &mut Transaction<'_>,
    id: MessageId,
    style: PayloadStyle,
    text: &str,
) -> Result<u16, Error> {
    let mut count = 0_u16;
    for text in parts(text) {
        let body = MessageBody { text: text.to_owned() };
        tx.put(&schema::message_body(tx.account, id, style, count), &body)?;
        count = count.saturating_add(1);
    }
    Ok(count)
}

/// Reads the bodies of messages, each in a style; in expanded style where they have no other.
pub(in crate::engine) async fn bodies(
    tx: &Transaction<'_>,
    wanted: &[(&MessageEntry, PayloadStyle)],
) -> Result<Vec<Arc<str>>, Error> {
    let in_style = |(entry, style): &(&MessageEntry, PayloadStyle)| match style {
        PayloadStyle::Standard if entry.standard_parts > 0 => (*style, entry.standard_parts),
        _ => (PayloadStyle::Expanded, entry.expanded_parts),
    };
    let slots = wanted.iter().flat_map(|of| {
        let entry = of.0;
        let (style, count) = in_style(of);
        (0..count).map(move |part| schema::message_body(tx.account, entry.id, style, part))
    });
    let mut found = tx.peek(&slots.collect::<Vec<_>>()).await?.into_iter();
    let whole = |of: &(&MessageEntry, PayloadStyle)| {
        let parts = found.by_ref().take(usize::from(in_style(of).1));
        let text: Option<String> = parts.map(|part| part.map(|part| part.text)).collect();
        text.map(Arc::from).ok_or_else(|| Error::corrupt("a message has no body"))
    };
    wanted.iter().map(whole).collect()
}

/// Writes what an alert has told in a message.
pub(in crate::engine) fn put_told(
    tx: &mut Transaction<'_>,
    id: MessageId,
    body: &Body,
) -> Result<(), Error> {
    tx.put(&schema::message_told(tx.account, id), &MessageTold { body: body.clone() })
}

/// Reads what an alert has told in a message.
pub(in crate::engine) async fn told(
    tx: &Transaction<'_>,
    entry: &MessageEntry,
) -> Result<Option<Body>, Error> {
    if !entry.is_of_alert {
        return Ok(None);
    }
    let found = tx.peek(&[schema::message_told(tx.account, entry.id)]).await?;
    Ok(found.into_iter().flatten().next().map(|told| told.body))
}

/// Writes what is new of a message, and where it is found.
pub(in crate::engine) fn save_new(
    tx: &mut Transaction<'_>,
    entry: &MessageEntry,
) -> Result<(), Error> {
    let account = tx.account;
    tx.put(&schema::message_by_time(account, entry), &Nothing {})?;
    tx.put(&schema::message_by_type(account, entry), &Nothing {})?;
    tx.put(&schema::message_by_outcome(account, entry), &Nothing {})?;
    let MessageEntry { id, expires_at, .. } = *entry;
    let expiry = MessageExpiry { at: expires_at, account: account.clone(), message: id };
    tx.put(&schema::message_expiry(expires_at, account, id), &expiry)?;
    tx.put(&schema::sent_message(account, id), entry)
}

/// Writes a message that was read and is changed since.
pub(in crate::engine) fn save(
    tx: &mut Transaction<'_>,
    before: &MessageEntry,
    after: &MessageEntry,
) -> Result<(), Error> {
    if before.is_delivered() != after.is_delivered() {
        tx.delete(&schema::message_by_outcome(tx.account, before));
        tx.put(&schema::message_by_outcome(tx.account, after), &Nothing {})?;
    }
    tx.put(&schema::sent_message(tx.account, after.id), after)
}

/// Removes a message and its bodies, but for its deliveries.
pub(in crate::engine) fn remove(tx: &mut Transaction<'_>, entry: &MessageEntry) {
    let account = tx.account;
    tx.delete(&schema::message_by_time(account, entry));
    tx.delete(&schema::message_by_type(account, entry));
    tx.delete(&schema::message_by_outcome(account, entry));
    tx.delete(&schema::message_expiry(entry.expires_at, account, entry.id));
    tx.delete(&schema::sent_message(account, entry.id));
    if entry.is_of_alert {
        tx.delete(&schema::message_told(account, entry.id));
    }
    for (style, count) in [
        (PayloadStyle::Expanded, entry.expanded_parts),
        (PayloadStyle::Standard, entry.standard_parts),
    ] {
        for part in 0..count {
            tx.delete(&schema::message_body(account, entry.id, style, part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_of_any_length_comes_back() {
        for text in ["{}".to_owned(), "é".repeat(limits::BODY_PART_BYTES), "a".repeat(100_000)] {
            let parts = parts(&text);
            assert!(parts.iter().all(|part| part.len() <= limits::BODY_PART_BYTES));
            assert_eq!(parts.concat(), text);
        }
    }
}
