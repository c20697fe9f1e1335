use std::io::Write as _;

use accrue_load_tests::{Outcome, Request};
use flate2::{Compression, write::GzEncoder};

use super::{Attacks, same};
use crate::options::Options;

/// Batches without events, and with very much space between.
pub(super) fn expansions(options: &Options) -> Outcome<Attacks> {
    let (begin, end) = (r#"{"events":["#, "]}");
    let space = options.unpacked_bytes.saturating_sub(begin.len() + end.len());
    let body = packed(format!("{begin}{}{end}", " ".repeat(space)).as_bytes())?;
    Ok(same(request("expansion", body)))
}

/// Bodies of nothing at all, which was packed again and again.
pub(super) fn members(options: &Options) -> Outcome<Attacks> {
    let body = packed(b"")?.repeat(options.members);
    Ok(same(request("members", body)))
}

fn request(label: &'static str, body: Vec<u8>) -> Request {
    Request { is_packed: true, ..Request::post(label, "/ingest", body) }
}

fn packed(body: &[u8]) -> Outcome<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body)?;
    Ok(encoder.finish()?)
}
