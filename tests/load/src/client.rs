use std::{io, net::SocketAddr, pin::pin, time::Duration};

use bytes::Bytes;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpStream, tcp::ReadHalf},
    time::timeout,
};

use crate::{Outcome, Server};

/// How long an answer may take: longer than a server takes at most, and not for ever.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client with one connection, which it keeps as long as the server does.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    connection: Option<TcpStream>,
}

/// A request: below the base path, with JSON, from a client that is let in.
#[derive(Clone, Debug)]
pub struct Request {
    /// What reports call it.
    pub label: &'static str,
    /// The method.
    pub method: &'static str,
    /// The path and query below the base path.
    pub path: String,
    /// The idempotency key.
    pub key: Option<String>,
    /// Whether the body is packed by gzip.
    pub is_packed: bool,
    /// The body.
    pub body: Bytes,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Whether it is the answer of before, to the same key.
    pub is_replayed: bool,
    /// The body.
    pub body: Bytes,
}

impl Request {
    /// A request without a body.
    pub fn get(label: &'static str, path: impl Into<String>) -> Self {
        let (path, body) = (path.into(), Bytes::new());
        Self { label, method: "GET", path, key: None, is_packed: false, body }
    }

    /// A request with a body.
    pub fn post(label: &'static str, path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self { method: "POST", body: body.into(), ..Self::get(label, path) }
    }

    /// The same under an idempotency key.
    #[must_use]
    pub fn keyed(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    fn head(&self) -> String {
        let Self { method, path, .. } = self;
        let (token, base, length) = (Server::KEY, Server::BASE_PATH, self.body.len());
        let mut head = format!(
            "{method} {base}{path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n"
        );
        if !self.body.is_empty() {
            head += &format!("content-type: application/json\r\ncontent-length: {length}\r\n");
        }
        if self.is_packed {
            head += "content-encoding: gzip\r\n";
        }
        if let Some(key) = &self.key {
            head += &format!("idempotency-key: {key}\r\n");
        }
        head + "\r\n"
    }
}

impl Answer {
    /// Tells whether it is a success.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..300)
    }

    /// Returns the body of a success as JSON.
    ///
    /// # Errors
    ///
    /// Where it is none.
    pub fn json(&self) -> Outcome<Value> {
        match self.is_success() {
            true => Ok(serde_json::from_slice(&self.body)?),
            false => Err(format!("{} {}", self.status, String::from_utf8_lossy(&self.body)).into()),
        }
    }
}

impl Client {
    /// A client of a server.
    #[must_use]
    pub const fn new(address: SocketAddr) -> Self {
        Self { address, connection: None }
    }

    /// Sends a request, and returns its answer: what a refused one still sends is not waited for.
    ///
    /// # Errors
    ///
    /// Where there is no answer.
    pub async fn send(&mut self, request: &Request) -> io::Result<Answer> {
        timeout(PATIENCE, self.exchange(request)).await?
    }

    /// Sends a request that has to succeed, and returns what it was answered.
    ///
    /// # Errors
    ///
    /// Where it does not, with the request.
    pub async fn ask(&mut self, request: &Request) -> Outcome<Value> {
        let asked = || format!("{} {}", request.method, request.path);
        let answer = self.send(request).await.map_err(|error| format!("{}: {error}", asked()))?;
        if answer.body.is_empty() && answer.is_success() {
            return Ok(Value::Null);
        }
        answer.json().map_err(|error| format!("{}: {error}", asked()).into())
    }

    async fn exchange(&mut self, request: &Request) -> io::Result<Answer> {
        let mut stream = match self.connection.take() {
            Some(stream) => stream,
            None => TcpStream::connect(self.address).await?,
        };
        stream.set_nodelay(true)?;
        let (answer, is_kept) = exchange(&mut stream, request).await?;
        if is_kept {
            self.connection = Some(stream);
        }
        Ok(answer)
    }
}

/// Sends a request and reads its answer, and tells whether the connection is good for more.
async fn exchange(stream: &mut TcpStream, request: &Request) -> io::Result<(Answer, bool)> {
    let head = request.head();
    let (reader, mut writer) = stream.split();
    let mut writing = pin!(async {
        writer.write_all(head.as_bytes()).await?;
        writer.write_all(&request.body).await
    });
    let mut reading = pin!(read_answer(reader));
    // A server that refuses a body may answer before it has read it.
    let mut written = None;
    loop {
        tokio::select! {
            biased;
            result = &mut writing, if written.is_none() => written = Some(result.is_ok()),
            answer = &mut reading => {
                let (answer, is_kept) = answer?;
                return Ok((answer, is_kept && written == Some(true)));
            }
        }
    }
}

/// Reads an answer to its end, and whether the connection stays.
async fn read_answer(reader: ReadHalf<'_>) -> io::Result<(Answer, bool)> {
    let wrong = |line: &str| io::Error::other(format!("this is no line of an answer: {line:?}"));
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| wrong(&line))?;
    let (mut length, mut is_kept, mut is_replayed) = (0, true, false);
    loop {
        line.clear();
        reader.read_line(&mut line).await?;
        let line = line.strip_suffix("\r\n").ok_or_else(|| wrong(&line))?.to_lowercase();
        if line.is_empty() {
            break;
        }
        match line.split_once(": ").ok_or_else(|| wrong(&line))? {
            ("content-length", value) => length = value.parse().map_err(|_| wrong(&line))?,
            ("connection", value) => is_kept = value != "close",
            ("idempotent-replayed", value) => is_replayed = value == "true",
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await?;
    Ok((Answer { status, is_replayed, body: body.into() }, is_kept))
}
