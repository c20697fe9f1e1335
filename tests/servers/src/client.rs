use std::{
    io::{self, BufRead, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

use crate::Server;

/// Sends requests as they are written here, each over a connection of its own, and remembers what was
/// answered.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    answers: Vec<Answer>,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers in order of name, without those of the connection and of the machine's clock.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

/// So long a server may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The headers that are the server's own.
const OF_THE_SERVER: [&str; 3] = ["connection", "date", "server"];

impl Client {
    /// A client of a server.
    #[must_use]
    pub const fn new(address: SocketAddr) -> Self {
        Self { address, answers: Vec::new() }
    }

    /// Returns everything that was answered.
    #[must_use]
    pub fn into_answers(self) -> Vec<Answer> {
        self.answers
    }

    /// Sends a request of an authenticated client.
    pub fn send(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let key = format!("Bearer {}", Server::KEY);
        let length = body.len().to_string();
        let mut all = vec![("authorization", &*key), ("content-type", "application/json")];
        all.extend(headers);
        if !body.is_empty() {
            all.push(("content-length", &length));
        }
        self.send_with(method, target, &all, body)
    }

    /// Sends a request of an operation, a path behind `/v1`, and returns the body of its answer: what is no success
    /// is an error.
    pub fn ask(&mut self, method: &str, path: &str, body: &Value) -> io::Result<Value> {
        let answer = self.send(method, &format!("/v1{path}"), &[], body.to_string().as_bytes())?;
        match answer.status {
            200..300 => Ok(serde_json::from_str(&answer.body)?),
            _ => Err(io::Error::other(format!("{path}: {answer:?}"))),
        }
    }

    /// Sends a request with these headers only, and what a connection needs.
    pub fn send_with(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let mut request = format!("{method} {target} HTTP/1.1\r\nhost: localhost\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += "connection: close\r\n\r\n";
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(&[request.as_bytes(), body].concat())?;
        let answer = read_answer(method, BufReader::new(stream))?;
        self.answers.push(answer.clone());
        Ok(answer)
    }
}

impl Answer {
    /// Returns the header of this name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads an answer to its end, which is before that of the connection.
fn read_answer(method: &str, mut stream: impl BufRead) -> io::Result<Answer> {
    let wrong = |line: &str| io::Error::other(format!("this is no line of an answer: {line:?}"));
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| wrong(&line))?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        let line = line.strip_suffix("\r\n").ok_or_else(|| wrong(&line))?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").ok_or_else(|| wrong(line))?;
        let name = name.to_lowercase();
        if !OF_THE_SERVER.contains(&name.as_str()) {
            headers.push((name, value.to_owned()));
        }
    }
    headers.sort();
    let mut answer = Answer { status, headers, body: String::new() };
    let length = answer.header("content-length").and_then(|length| length.parse().ok());
    let length = length.filter(|_| method != "HEAD").unwrap_or(0);
    let read = stream.take(length).read_to_string(&mut answer.body)?;
    match u64::try_from(read) == Ok(length) {
        true => Ok(answer),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
