//! Whoever sends nothing whole is closed, and keeps nobody out.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{future::Future, io, net::SocketAddr, num::NonZeroUsize, thread, time::Duration};

use accrue::store::MemoryStore;
use accrue_servers_tests::{Client, Framework, Server};
use example_server::ConnectionBounds;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::{Instant, interval, timeout},
};

/// How much later than its time-out a connection may be closed, on a machine that does much else.
const SLACK: Duration = Duration::from_secs(5);
/// How long a test may take with one server.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long an answer may take that comes at once.
const AT_ONCE: Duration = Duration::from_secs(1);

const PING: &[u8] = b"GET /v1/ping HTTP/1.1\r\nhost: x\r\nauthorization: Bearer test-key\r\n\r\n";

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Runs a test against each server within these bounds.
fn each<F: Future<Output = ()>>(
    most: usize,
    head: Duration,
    idle: Duration,
    test: impl Fn(SocketAddr) -> F,
) {
    let bounds = ConnectionBounds { most: NonZeroUsize::new(most).unwrap(), head, idle };
    for framework in Framework::ALL {
        let host = Server::host(MemoryStore::new()).unwrap().connection_bounds(bounds);
        let server = Server::serve(framework, host).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        eprintln!("{framework:?}");
        let test = test(server.address());
        runtime.block_on(async { timeout(PATIENCE, test).await.expect("it ends in time") });
        drop(runtime);
        server.end().unwrap();
    }
}

/// What a client does that sends nothing whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Silence {
    Idle,
    HalfHead,
    EndlessHead,
}

/// Opens a connection, and returns how long the server leaves it open.
async fn keep_silent(address: SocketAddr, silence: Silence) -> io::Result<Duration> {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(address).await?;
    if silence != Silence::Idle {
        stream.write_all(b"GET /v1/ping HTTP/1.1\r\nhost: x\r\nx-").await?;
    }
    until_closed(&mut stream, if silence == Silence::EndlessHead { b"y: z\r\nx-" } else { b"" })
        .await;
    Ok(begun.elapsed())
}

/// Sends something again and again until the server closes the connection.
async fn until_closed(stream: &mut TcpStream, drip: &[u8]) {
    let mut pace = interval(Duration::from_millis(100));
    let mut buffer = [0; 4_096];
    loop {
        tokio::select! {
            read = stream.read(&mut buffer) => match read {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            },
            _ = pace.tick() => if !drip.is_empty() && stream.write_all(drip).await.is_err() {
                return;
            },
        }
    }
}

/// Opens 300 connections of each kind.
fn keep_900_silent(address: SocketAddr) -> JoinSet<(Silence, io::Result<Duration>)> {
    allow_files(4_096);
    let mut clients = JoinSet::new();
    for silence in [Silence::Idle, Silence::HalfHead, Silence::EndlessHead] {
        for _ in 0..300 {
            clients.spawn(async move { (silence, keep_silent(address, silence).await) });
        }
    }
    clients
}

/// Client and server are in this process: it opens more files than some systems let it by default.
fn allow_files(files: u64) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};

        let mut limit = getrlimit(Resource::Nofile);
        if limit.current.is_some_and(|current| current < files) {
            limit.current = Some(files);
            setrlimit(Resource::Nofile, limit).unwrap();
        }
    }
}

/// Asks in another thread, over connections of their own, and returns the longest that it took.
async fn ask(address: SocketAddr, times: usize) -> Duration {
    let (sender, answer) = tokio::sync::oneshot::channel();
    let asking = thread::spawn(move || {
        let took = (0..times).map(|_| {
            let begun = Instant::now();
            let mut client = Client::new(address);
            assert_eq!(client.send_with("GET", "/healthz", &[], b"").unwrap().status, 200);
            assert_eq!(client.send("GET", "/v1/ping", &[], b"").unwrap().status, 200);
            begun.elapsed()
        });
        let _ = sender.send(took.max().unwrap());
    });
    let longest = answer.await;
    asking.join().unwrap();
    longest.unwrap()
}

/// Sends a request over a connection that stays open, and returns the head of its answer.
async fn send(stream: &mut TcpStream, request: &[u8]) -> String {
    stream.write_all(request).await.unwrap();
    let mut answer = [0; 4_096];
    let read = timeout(SLACK, stream.read(&mut answer)).await.unwrap().unwrap();
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

#[track_caller]
fn assert_closed_after(time: Duration, took: Duration) {
    // A timer may be a tick early.
    let earliest = time.saturating_sub(Duration::from_millis(50));
    assert!(took >= earliest && took < time + SLACK, "closed after {took:?}, expected {time:?}");
}

#[test]
fn those_who_send_nothing_whole_are_closed_and_delay_nobody() {
    let head = seconds(2);
    each(2_000, head, seconds(60), |address| async move {
        let mut clients = keep_900_silent(address);
        // It goes on while they are connected.
        let asked = tokio::spawn(ask(address, 20));
        let mut closed = 0;
        while let Some(client) = clients.join_next().await {
            let (_, took) = client.unwrap();
            assert_closed_after(head, took.unwrap());
            closed += 1;
        }
        assert_eq!(closed, 900);
        let longest = asked.await.unwrap();
        assert!(longest < AT_ONCE, "{longest:?}");
    });
}

#[test]
fn more_than_the_cap_who_send_nothing_delay_nobody() {
    let never = seconds(600);
    each(50, never, never, |address| async move {
        let mut clients = keep_900_silent(address);
        // All but as many as there are places are closed for others.
        for _ in 0..850 {
            timeout(SLACK, clients.join_next()).await.unwrap().unwrap().unwrap().1.unwrap();
        }
        // Nobody leaves by itself, and each newcomer finds a place.
        let longest = ask(address, 20).await;
        assert!(longest < AT_ONCE, "{longest:?}");
    });
}

#[test]
fn a_connection_in_use_is_not_cut_and_an_idle_one_is() {
    let idle = seconds(2);
    each(10, seconds(1), idle, |address| async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut pace = interval(Duration::from_millis(700));
        // Longer than each time-out, with pauses that are shorter.
        for _ in 0..6 {
            pace.tick().await;
            assert!(send(&mut stream, PING).await.starts_with("HTTP/1.1 200"));
        }
        let begun = Instant::now();
        until_closed(&mut stream, b"").await;
        assert_closed_after(idle, begun.elapsed());
    });
}

#[test]
fn the_head_of_a_later_request_has_its_time_too() {
    let head = seconds(1);
    each(10, head, seconds(60), |address| async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert!(send(&mut stream, PING).await.starts_with("HTTP/1.1 200"));
        stream.write_all(b"GET /v1/ping HTTP/1.1\r\nhost: x\r\nx-").await.unwrap();
        let begun = Instant::now();
        until_closed(&mut stream, b"y: z\r\nx-").await;
        assert_closed_after(head, begun.elapsed());
    });
}

#[test]
fn what_comes_of_a_refused_body_has_its_time_too() {
    let head = seconds(2);
    each(10, head, seconds(60), |address| async move {
        for framing in ["transfer-encoding: chunked", "content-length: 1000000"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("POST /v1/items HTTP/1.1\r\nhost: x\r\n{framing}\r\n\r\n");
            assert!(send(&mut stream, request.as_bytes()).await.starts_with("HTTP/1.1 401"));
            let begun = Instant::now();
            until_closed(&mut stream, b"1\r\nx\r\n").await;
            let took = begun.elapsed();
            assert!(took < head + SLACK, "{framing}: {took:?}");
        }
    });
}

#[test]
fn an_answer_that_nobody_takes_is_given_up() {
    let idle = seconds(1);
    each(10, seconds(60), idle, |address| async move {
        let socket = TcpSocket::new_v4().unwrap();
        // So that the answer does not fit the buffers on its way.
        socket.set_recv_buffer_size(4_096).unwrap();
        let mut stream = socket.connect(address).await.unwrap();
        stream.write_all(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let never = timeout(idle + seconds(2), std::future::pending::<()>()).await;
        assert!(never.is_err());
        // Nothing is read, so only writing tells that the server is gone.
        let begun = Instant::now();
        let mut pace = interval(Duration::from_millis(100));
        while stream.write_all(b"x").await.is_ok() {
            pace.tick().await;
        }
        assert!(begun.elapsed() < SLACK, "{:?}", begun.elapsed());
    });
}

/// Begins a request whose body does not come: its connection is at a request for long.
async fn begin_request(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = "POST /v1/items HTTP/1.1\r\nhost: x\r\nauthorization: Bearer test-key\r\n\
                expect: 100-continue\r\ncontent-length: 2\r\n\r\n";
    // The answer says that the head has come.
    assert!(send(&mut stream, head.as_bytes()).await.starts_with("HTTP/1.1 100"));
    stream
}

#[test]
fn beyond_the_cap_a_connection_waits_for_one_that_is_at_a_request() {
    let never = seconds(600);
    for end_by_answer in [true, false] {
        each(4, never, never, |address| async move {
            let mut busy = Vec::new();
            for _ in 0..4 {
                busy.push(begin_request(address).await);
            }
            let mut next = TcpStream::connect(address).await.unwrap();
            next.write_all(PING).await.unwrap();
            let mut answer = [0; 1_024];
            let waits = timeout(Duration::from_millis(500), next.read(&mut answer)).await;
            assert!(waits.is_err(), "{waits:?}");
            let mut first = busy.remove(0);
            if end_by_answer {
                assert!(send(&mut first, b"{}").await.starts_with("HTTP/1.1 400"));
            } else {
                drop(first);
            }
            let read = timeout(SLACK, next.read(&mut answer)).await.unwrap().unwrap();
            assert!(answer[..read].starts_with(b"HTTP/1.1 200"));
            // The others were left in peace.
            for mut stream in busy {
                assert!(send(&mut stream, b"{}").await.starts_with("HTTP/1.1 400"));
            }
        });
    }
}
