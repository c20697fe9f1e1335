//! sled's log before sled opens it.
//!
//! sled looks for the end of its log and overwrites what lies behind it. Where it cannot read on, there
//! it takes the end to be: right for what a power cut leaves of the last batch, behind which the writer
//! puts nothing. But a bit that has changed in the last segments takes every later commit with it, one
//! in the header of a segment all that is behind that, and nobody is told. So the log is looked at
//! before: `docs/decisions/sled-log-before-it-opens.md`.
//!
//! | part of a segment | bytes |
//! |---|---|
//! | header | CRC-32 of the rest, 4; place in the log, 8; place up to which all was stable then, 8 |
//! | message | CRC-32 of body and rest, 4; kind, 1; bytes of the body; number of the segment; page; body |
//!
//! The place is where the segment begins in all of the log, its number that in segments. Numbers of
//! messages have one to nine bytes. Behind the last message there are zeroes, or what an earlier segment
//! has left, with its number.

use std::{
    collections::BTreeMap,
    io::{self, Read, Seek, SeekFrom},
};

use crate::open::SEGMENT_BYTES;

const HEADER: usize = 20;
/// No message begins in so many bytes at the end of a segment.
const RED_ZONE: usize = 32;

/// The kind of a message that fills the rest of a segment.
const CAP: u8 = 2;
/// The kind of the message with which a batch begins.
const BATCH: u8 = 3;
const LAST_KIND: u8 = 11;
/// The page that those messages name.
const PAGE_OF_BATCHES: u64 = u64::MAX - 666;

/// Tells whether all that sled is going to drop of its log can be what a power cut has left of the last
/// batch. `snapshot` is the place up to which the last snapshot sums it up.
pub(crate) fn is_whole(log: &mut (impl Read + Seek), snapshot: u64) -> io::Result<bool> {
    let Some(segments) = Segments::read(log, start_of_segment(snapshot))? else {
        return Ok(false);
    };
    let stable = segments.stable.max(snapshot);
    let tail = start_of_segment(stable);
    if stable > tail && !segments.offsets.contains_key(&tail) {
        return Ok(false);
    }
    let (mut expected, mut batches) = (Some(tail), 0_usize);
    for (place, offset) in segments.offsets.range(tail..) {
        let segment = Segment::read(log, *offset, *place)?;
        let torn_at = if expected == Some(*place) { segment.torn_at() } else { Some(HEADER) };
        expected = None;
        match torn_at {
            None => expected = place.checked_add(segment_bytes()),
            Some(at) => batches = batches.saturating_add(segment.batches_from(at)),
        }
    }
    // The first one may be the last batch, behind a page that a reader has split without a flush.
    Ok(batches < 2)
}

/// Where the segments lie that sled reads.
#[derive(Debug)]
struct Segments {
    /// The offset in the file, by the place in the log.
    offsets: BTreeMap<u64, u64>,
    /// Up to where the log was stable when the last of them began.
    stable: u64,
}

impl Segments {
    /// Reads the headers of the segments from a place on; none where one is damaged that has messages.
    fn read(log: &mut (impl Read + Seek), from: u64) -> io::Result<Option<Self>> {
        let (mut offsets, mut stable) = (BTreeMap::new(), from);
        let end = log.seek(SeekFrom::End(0))?;
        let mut offset = 0;
        while offset < end {
            let bytes = read_at::<{ HEADER + RED_ZONE }>(log, offset)?;
            match (header(&bytes), bytes.get(HEADER..).and_then(message_head)) {
                (Some((place, stable_then)), _) if place >= from => {
                    offsets.insert(place, offset);
                    stable = stable.max(stable_then);
                }
                // A header lies on the disk with what begins behind it: both are there, or neither.
                (None, Some(head)) if head.number >= from / segment_bytes() => {
                    let place = head.number.saturating_mul(segment_bytes());
                    let segment = Segment::read(log, offset, place)?;
                    if segment.message(HEADER).is_some() {
                        return Ok(None);
                    }
                }
                _ => {}
            }
            offset = offset.saturating_add(segment_bytes());
        }
        Ok(Some(Self { offsets, stable }))
    }
}

/// What lies in a segment.
#[derive(Debug)]
struct Segment {
    bytes: Vec<u8>,
    number: u64,
}

impl Segment {
    fn read(log: &mut (impl Read + Seek), offset: u64, place: u64) -> io::Result<Self> {
        let mut bytes = Vec::new();
        log.seek(SeekFrom::Start(offset))?;
        log.take(segment_bytes()).read_to_end(&mut bytes)?;
        Ok(Self { bytes, number: place / segment_bytes() })
    }

    /// Finds where its messages end before the segment does.
    fn torn_at(&self) -> Option<usize> {
        let mut at = HEADER;
        while at <= SEGMENT_BYTES.saturating_sub(RED_ZONE) {
            let Some(message) = self.message(at) else { return Some(at) };
            if message.kind == CAP {
                return None;
            }
            at = at.saturating_add(message.bytes);
        }
        None
    }

    /// Counts the batches that begin behind a place.
    fn batches_from(&self, at: usize) -> usize {
        let is_batch = |at: &usize| {
            let rest = self.bytes.get(*at..).unwrap_or_default();
            rest.get(4) == Some(&BATCH)
                && message_head(rest).is_some_and(|head| head.page == PAGE_OF_BATCHES)
                && self.message(*at).is_some()
        };
        (at..self.bytes.len()).filter(is_batch).count()
    }

    /// Reads the message at a place, if one is there as it was written.
    fn message(&self, at: usize) -> Option<Message> {
        let rest = self.bytes.get(at..)?;
        let head = message_head(rest)?;
        let end = head.bytes.checked_add(head.body)?;
        let (sum, body) = (rest.get(4..head.bytes)?, rest.get(head.bytes..end)?);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(body);
        hasher.update(sum);
        let is_right = head.sum == !hasher.finalize() && head.number == self.number;
        is_right.then_some(Message { kind: head.kind, bytes: end })
    }
}

#[derive(Debug)]
struct Message {
    kind: u8,
    /// All of it.
    bytes: usize,
}

/// What stands before the body of a message.
#[derive(Debug)]
struct MessageHead {
    sum: u32,
    kind: u8,
    body: usize,
    number: u64,
    page: u64,
    bytes: usize,
}

/// Reads what may be the head of a message.
fn message_head(bytes: &[u8]) -> Option<MessageHead> {
    let (sum, rest) = bytes.split_first_chunk()?;
    let ([kind], rest) = rest.split_first_chunk()?;
    if !(1..=LAST_KIND).contains(kind) {
        return None;
    }
    let (body, rest) = split_number(rest)?;
    let (number, rest) = split_number(rest)?;
    let (page, rest) = split_number(rest)?;
    Some(MessageHead {
        sum: u32::from_le_bytes(*sum),
        kind: *kind,
        body: usize::try_from(body).ok()?,
        number,
        page,
        bytes: bytes.len().checked_sub(rest.len())?,
    })
}

/// Reads a number of one to nine bytes.
fn split_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    Some(match first {
        0..=240 => (u64::from(*first), rest),
        241..=248 => {
            let ([low], rest) = rest.split_first_chunk()?;
            (u64::from(*first).checked_sub(241)?.checked_mul(256)? + 240 + u64::from(*low), rest)
        }
        249 => {
            let (low, rest) = rest.split_first_chunk()?;
            (u64::from(u16::from_be_bytes(*low)) + 2288, rest)
        }
        250.. => {
            let (low, rest) = rest.split_at_checked(usize::from(*first).checked_sub(247)?)?;
            let number = low.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
            (number, rest)
        }
    })
}

/// Reads the header of a segment: its place, and up to where all was stable when it began. None where it
/// is not what was written.
fn header(bytes: &[u8]) -> Option<(u64, u64)> {
    let (sum, rest) = bytes.split_first_chunk()?;
    let (places, _) = rest.split_first_chunk::<16>()?;
    if u32::from_le_bytes(*sum) != !crc32fast::hash(places) {
        return None;
    }
    let place = |bytes: &[u8]| {
        let bytes = bytes.first_chunk()?;
        // Nothing is stable yet at -1.
        Some(u64::try_from(i64::from_le_bytes(*bytes) ^ i64::MAX).unwrap_or(0))
    };
    Some((place(places)?, place(places.get(8..)?)?))
}

/// Reads so many bytes, or as many as there are.
fn read_at<const N: usize>(log: &mut (impl Read + Seek), offset: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    log.seek(SeekFrom::Start(offset))?;
    let most = u64::try_from(N).unwrap_or(u64::MAX);
    Read::take(log, most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn start_of_segment(place: u64) -> u64 {
    place.saturating_sub(place % segment_bytes())
}

fn segment_bytes() -> u64 {
    u64::try_from(SEGMENT_BYTES).unwrap_or(u64::MAX)
}
