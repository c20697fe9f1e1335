//! The journal of fjall after a power cut.
//!
//! What no `fsync` has covered reaches the disk in any order, so a power cut may leave the last
//! batch with holes. The writer puts nothing behind a batch that is not durable, so nobody was
//! answered for such a batch, and it has to go as a whole. fjall 3.1.13 sees to that where it finds
//! no end of it. But where there is an end and the check sum is another, it refuses to open; and
//! where the damage is not in the last batch, it drops the batches behind it without a word. So
//! the journal is looked at before fjall does.
//!
//! | part of a batch | bytes |
//! |---|---|
//! | start | `1`; count of items, 4; sequence number, 8 |
//! | item | `2`; kind, 1; compression, 1; keyspace, 8; bytes of key, 2, of value, 4, and of value as stored, 4; key; value as stored |
//! | clear | `4`; keyspace, 8 |
//! | end | `3`; XXH3 of the items and clears, 8; `FJL` and 3 |
//!
//! Numbers are little endian. Behind the last batch there is nothing, or zeroes.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use xxhash_rust::xxh3::Xxh3;

use crate::folder::VERSION;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
/// What ends a batch, and says in a file of its own what fjall writes.
const TRAILER: &[u8; 4] = b"FJL\x03";

/// Bytes of an item before its key, without the tag.
const ITEM_HEAD: usize = 20;

/// The compression of values that are as they were.
const UNCOMPRESSED: u8 = 0;

/// What is to be done about a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing: it is whole, or fjall drops what is not.
    Fine,
    /// The last batch, after so many bytes, is not what was written.
    TornAfter(u64),
    /// Batches follow what is not what was written.
    Damaged,
}

/// Cuts off what a power cut has left of a last batch. Tells whether all before it is whole.
pub(crate) fn mend(database: &Path) -> io::Result<bool> {
    // In another format, nothing here is a judgement. fjall says so.
    if fs::read(database.join(VERSION))? != TRAILER {
        return Ok(true);
    }
    for entry in fs::read_dir(database)? {
        let path = entry?.path();
        if !is_journal(&path) {
            continue;
        }
        match state_of(BufReader::new(File::open(&path)?))? {
            State::Fine => {}
            State::TornAfter(bytes) => {
                let file = OpenOptions::new().write(true).open(&path)?;
                file.set_len(bytes)?;
                file.sync_all()?;
            }
            State::Damaged => return Ok(false),
        }
    }
    Ok(true)
}

/// Tells whether this is the name of a journal.
pub(crate) fn is_journal(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("jnl"))
}

fn state_of(mut journal: impl BufRead + Seek) -> io::Result<State> {
    let mut whole = 0_u64;
    let found = loop {
        if matches!(journal.fill_buf()?.first(), None | Some(0)) {
            return Ok(State::Fine);
        }
        match read_batch(&mut journal)? {
            Found::Whole(bytes) => whole = whole.saturating_add(bytes),
            found => break found,
        }
    };
    let mut rest = Vec::new();
    journal.seek(SeekFrom::Start(whole))?;
    journal.read_to_end(&mut rest)?;
    Ok(match found {
        _ if has_batch(&rest)? => State::Damaged,
        Found::Wrong => State::TornAfter(whole),
        Found::Whole(_) | Found::Endless => State::Fine,
    })
}

/// Tells whether a whole batch begins anywhere.
fn has_batch(mut bytes: &[u8]) -> io::Result<bool> {
    while let Some(start) = bytes.iter().position(|byte| *byte == START) {
        let (_, mut at) = bytes.split_at(start);
        bytes = at.get(1..).unwrap_or_default();
        if let Found::Whole(_) = read_batch(&mut at)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is found where a batch should begin.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// A batch that is what was written, of so many bytes.
    Whole(u64),
    /// A batch with an end that is not what was written.
    Wrong,
    /// Something that no end is found of.
    Endless,
}

fn read_batch(journal: &mut impl Read) -> io::Result<Found> {
    match (Batch { journal, bytes: 0 }).read() {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Found::Endless),
        found => found,
    }
}

struct Batch<'a, R> {
    journal: &'a mut R,
    bytes: u64,
}

impl<R: Read> Batch<'_, R> {
    fn read(mut self) -> io::Result<Found> {
        if self.array()? != [START] {
            return Ok(Found::Endless);
        }
        let count = u32::from_le_bytes(self.array()?);
        let _sequence_number: [u8; 8] = self.array()?;
        let mut sum = Xxh3::new();
        let mut found = 0_u32;
        loop {
            let [tag] = self.array()?;
            match tag {
                ITEM => {
                    let head: [u8; ITEM_HEAD] = self.array()?;
                    let Some(length) = body_length(head) else { return Ok(Found::Wrong) };
                    let body = self.exactly(length)?;
                    sum.update(&[ITEM]);
                    sum.update(&head);
                    sum.update(&body);
                }
                CLEAR => {
                    let keyspace: [u8; 8] = self.array()?;
                    sum.update(&[CLEAR]);
                    sum.update(&keyspace);
                }
                END => {
                    let expected = u64::from_le_bytes(self.array()?);
                    let is_right = found == count && sum.digest() == expected;
                    return Ok(match (self.array()? == *TRAILER, is_right) {
                        (false, _) => Found::Endless,
                        (true, false) => Found::Wrong,
                        (true, true) => Found::Whole(self.bytes),
                    });
                }
                _ => return Ok(Found::Endless),
            }
            found = found.saturating_add(1);
        }
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.journal.read_exact(&mut bytes)?;
        self.count(N);
        Ok(bytes)
    }

    /// Reads so many bytes. No more memory is used than there are bytes, whatever the number says.
    fn exactly(&mut self, number: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = Read::take(&mut *self.journal, number).read_to_end(&mut bytes)?;
        self.count(read);
        match u64::try_from(read) {
            Ok(read) if read == number => Ok(bytes),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn count(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }
}

/// The bytes of the key, and of the value as stored, that follow the head of an item; nothing where
/// the head cannot be right.
fn body_length(head: [u8; ITEM_HEAD]) -> Option<u64> {
    let [_, compression, .., k0, k1, v0, v1, v2, v3, s0, s1, s2, s3] = head;
    let key = u16::from_le_bytes([k0, k1]);
    let (value, stored) = ([v0, v1, v2, v3], [s0, s1, s2, s3]);
    if compression == UNCOMPRESSED && value != stored {
        return None;
    }
    Some(u64::from(key).saturating_add(u32::from_le_bytes(stored).into()))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A batch of one item, as fjall writes it.
    fn batch(value: &[u8]) -> Vec<u8> {
        let mut item = vec![ITEM, 0, UNCOMPRESSED];
        item.extend(1_u64.to_le_bytes());
        item.extend(3_u16.to_le_bytes());
        for _ in 0..2 {
            item.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        }
        item.extend(b"key");
        item.extend(value);
        let mut batch = vec![START, 1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0];
        batch.extend(&item);
        batch.push(END);
        batch.extend(xxhash_rust::xxh3::xxh3_64(&item).to_le_bytes());
        batch.extend(TRAILER);
        batch
    }

    fn check(journal: &[u8], expect: State) {
        assert_eq!(state_of(Cursor::new(journal)).unwrap(), expect);
    }

    #[test]
    fn a_last_batch_that_is_not_what_was_written_is_cut_off() {
        let (first, last) = (batch(b"first"), batch(&[7; 9_000]));
        let whole = [first.clone(), last].concat();
        let padded = [whole.as_slice(), &[0; 10_000]].concat();
        for journal in [whole, padded] {
            check(&journal, State::Fine);
            let mut wrong = journal;
            wrong[first.len() + 4_000] = 0;
            check(&wrong, State::TornAfter(u64::try_from(first.len()).unwrap()));
        }
    }

    #[test]
    fn what_has_no_end_is_for_fjall_to_drop() {
        let journal = [batch(b"first"), batch(b"last")].concat();
        for length in 0..journal.len() {
            check(&journal[..length], State::Fine);
        }
        let mut hole = journal.clone();
        hole[batch(b"first").len() + 20..].fill(0);
        check(&hole, State::Fine);
    }

    #[test]
    fn damage_before_whole_batches_is_damage() {
        let (first, last) = (batch(b"first"), batch(b"last"));
        let journal = [first.clone(), last].concat();
        for place in 0..first.len() {
            // The sequence number is in no check sum.
            if (5..13).contains(&place) {
                continue;
            }
            let mut damaged = journal.clone();
            damaged[place] ^= 0xFF;
            check(&damaged, State::Damaged);
        }
    }
}
