//! Requests per second of the API behind axum on one core, beside a bare axum handler that answers
//! the same bytes and, for what writes, the bare commit of the same rows.
//!
//! Both servers run on a thread of their own each, with a runtime of one thread; the client sends
//! requests in a pipeline, so that the server is what is waited for. The sides take turns.

#![allow(
    clippy::as_conversions,
    clippy::float_arithmetic,
    clippy::print_stdout,
    reason = "a bench prints figures that people read"
)]

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    sync::Arc,
    thread,
    time::Duration,
};

use accrue::{
    AccountId, Billing, ManualClock, SeededEntropy, Timestamp,
    store::{MemoryStore, Store},
};
use accrue_benches::{Outcome, Tap, now, write_raw};
use accrue_fjall::FjallStore;
use accrue_http::{Api, FixedKey};
use accrue_sled::SledStore;
use axum::{
    Router, body::Bytes, http::header::CONTENT_TYPE, routing::any, serve::ListenerExt as _,
};

const TOKEN: &str = "bench";
const PIPELINE: usize = 50;
const ROUNDS: usize = 40;

fn main() -> Outcome<()> {
    match std::env::args().nth(1).as_deref() {
        None | Some("memory") => run(MemoryStore::new),
        Some("fjall") => {
            run_in_folders(|folder| FjallStore::open(folder).expect("a folder of its own"))
        }
        Some("sled") => {
            run_in_folders(|folder| SledStore::open(folder).expect("a folder of its own"))
        }
        Some(_) => Err("expected memory, fjall or sled".into()),
    }
}

fn run_in_folders<S: Store>(open: impl Fn(&Path) -> S) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let mut count = 0_u32;
    run(|| {
        count += 1;
        open(&folder.path().join(count.to_string()))
    })
}

fn run<S: Store>(mut open: impl FnMut() -> S) -> Outcome<()> {
    let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z")?);
    let store = Arc::new(Tap::new(open()));
    let raw = open();
    let billing = Billing::new(Arc::clone(&store), clock, SeededEntropy::new(1));
    let key = FixedKey::new(TOKEN, AccountId::parse("acme")?);
    let api = Api::builder(billing, key).build();
    let mut client = Client::connect(serve(Router::new().fallback_service(api))?)?;

    let mut item = String::new();
    for n in 0..20 {
        let body = format!(r#"{{"name":"Item {n}"}}"#);
        let answer = client.exchange(&[request("POST", "/v1/items", "", &body)])?;
        item = text_of(&answer, r#""id":""#, '"').ok_or("an item without an id")?;
    }
    let mut side = Side { store, raw, client };
    println!("{:>22} {:>10} {:>10} {:>10} {:>7}", "", "accrue", "bare", "commit", "of sum");
    let path = format!("/v1/items/{item}");
    side.compare("fetch", |_| request("GET", &path, "", ""))?;
    side.compare("list of 20", |_| request("GET", "/v1/items", "", ""))?;
    side.compare("update of an item", |n| {
        request("PUT", &path, &key_line("update", n), &format!(r#"{{"name":"Item {n}"}}"#))
    })?;
    side.compare("keyed creation", |n| {
        request("POST", "/v1/items", &key_line("create", n), &format!(r#"{{"name":"Item {n}"}}"#))
    })?;
    side.compare("keyed ingest of 100", |n| {
        request("POST", "/v1/ingest", &key_line("ingest", n), &events(n))
    })?;
    Ok(())
}

/// The API and its client.
struct Side<S> {
    store: Arc<Tap<S>>,
    raw: S,
    client: Client,
}

impl<S: Store> Side<S> {
    /// Prints a line: microseconds of each side per request, and the rate of ours to the rate of the
    /// other two together.
    fn compare(&mut self, what: &str, make: impl Fn(usize) -> Vec<u8>) -> Outcome<()> {
        // What is answered, for the bare handler to answer.
        let answer = self.client.exchange(&[make(0)])?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        let bare = Client::connect(serve(bare(body.unwrap_or_default()))?);
        let mut bare = bare?;
        let _ = self.store.take();
        let (mut ours, mut theirs, mut commits) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let first = round * PIPELINE + 1;
            let requests: Vec<_> = (first..first + PIPELINE).map(&make).collect();
            let start = now();
            let answers = self.client.exchange(&requests)?;
            ours.push(start.elapsed());
            let refused =
                answers.matches("HTTP/1.1 4").count() + answers.matches("HTTP/1.1 5").count();
            if refused > 0 {
                return Err(format!("{what}: {refused} were refused: {answers}").into());
            }
            let start = now();
            bare.exchange(&requests)?;
            theirs.push(start.elapsed());
            let batches = self.store.take();
            let start = now();
            for batch in batches {
                if !batch.changes.is_empty() {
                    write_raw(&self.raw, batch)?;
                }
            }
            commits.push(start.elapsed());
        }
        let [ours, theirs, commits] = [ours, theirs, commits].map(median);
        println!(
            "{what:>22} {:>10.1} {:>10.1} {:>10.1} {:>7.2}",
            each(ours),
            each(theirs),
            each(commits),
            (theirs + commits).as_secs_f64() / ours.as_secs_f64()
        );
        Ok(())
    }
}

/// Serves an application on a thread of its own.
fn serve(application: Router) -> Outcome<SocketAddr> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.and_then(|runtime| {
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                // Without a delay, as a server for many small answers has it.
                let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
                axum::serve(listener, application).await
            })
        })
    });
    Ok(address)
}

/// A handler that reads its request and answers the same bytes whatever it says.
fn bare(body: String) -> Router {
    let body = Bytes::from(body);
    Router::new().fallback(any(move |_: Bytes| {
        let body = body.clone();
        async move { ([(CONTENT_TYPE, "application/json")], body) }
    }))
}

/// A connection that is kept.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr) -> Outcome<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 1 << 20] })
    }

    /// Sends requests at once, and reads as many answers.
    fn exchange(&mut self, requests: &[Vec<u8>]) -> Outcome<String> {
        // Written from a thread of its own: a server that answers while it reads needs a reader.
        let mut writer = self.stream.try_clone()?;
        let bytes = requests.concat();
        let writing = thread::spawn(move || writer.write_all(&bytes));
        let mut answers = String::new();
        let mut whole = 0_usize;
        let mut at = 0_usize;
        while whole < requests.len() {
            let read = self.stream.read(&mut self.buffer)?;
            if read == 0 {
                return Err("the server hung up".into());
            }
            answers.push_str(std::str::from_utf8(self.buffer.get(..read).unwrap_or_default())?);
            while let Some(end) = end_of_answer(answers.get(at..).unwrap_or_default()) {
                at += end;
                whole += 1;
            }
        }
        writing.join().map_err(|_| "the writer panicked")??;
        Ok(answers)
    }
}

fn end_of_answer(text: &str) -> Option<usize> {
    let (head, _) = text.split_once("\r\n\r\n")?;
    let length = text_of(&head.to_lowercase(), "content-length: ", '\r');
    let length: usize = length.map_or(Some(0), |length| length.trim().parse().ok())?;
    let end = head.len() + 4 + length;
    (text.len() >= end).then_some(end)
}

fn text_of(text: &str, before: &str, behind: char) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split(behind).next()?.to_owned())
}

fn request(method: &str, path: &str, lines: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n{lines}\r\n{body}"
    )
    .into_bytes()
}

fn key_line(what: &str, n: usize) -> String {
    format!("idempotency-key: {what}-{n:032}\r\n")
}

fn events(n: usize) -> String {
    let event = |m: usize| {
        format!(
            r#"{{"idempotency_key":"event-{n}-{m}","event_name":"completion","timestamp":"2026-03-10T11:{:02}:{:02}Z","external_customer_id":"customer-{}","properties":{{"output_tokens":{},"input_tokens":{},"model":"large"}}}}"#,
            (n / 60) % 60,
            n % 60,
            m % 8,
            n + m,
            m * 3
        )
    };
    format!(r#"{{"events":[{}]}}"#, (0..100).map(event).collect::<Vec<_>>().join(","))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn each(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6 / PIPELINE as f64
}
