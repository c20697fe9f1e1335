//! Prints the description of the API: `cargo run -p accrue-http --example openapi -- 3.1`, or 3.0, or
//! `docs` for the page.

use std::{env, io::Write};

use accrue::{AccountId, Billing, ManualClock, SeededEntropy, Timestamp, store::MemoryStore};
use accrue_http::{Api, FixedKey};
use bytes::Bytes;
use http::Request;
use http_body_util::Empty;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = match env::args().nth(1).as_deref() {
        None | Some("3.1") => "/openapi.json",
        Some("3.0") => "/openapi.json?version=3.0",
        Some("docs") => "/docs",
        Some(other) => return Err(format!("found {other}, expected 3.1, 3.0 or docs").into()),
    };
    let clock = ManualClock::at(Timestamp::parse("2026-03-01T00:00:00Z")?);
    let billing = Billing::new(MemoryStore::new(), clock, SeededEntropy::new(0));
    let api = Api::builder(billing, FixedKey::new("key", AccountId::parse("acme")?)).build();
    let request = Request::get(path).body(Empty::<Bytes>::new())?;
    let answer = pollster::block_on(api.handle(request));
    std::io::stdout().write_all(answer.body())?;
    Ok(())
}
