//! A webhook endpoint on the loopback.

use std::{
    io::{self, BufRead, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::mpsc::{Receiver as Queue, RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

/// A webhook endpoint: it answers 204, and hands over what it received.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    received: Queue<Received>,
}

/// A request that was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// The path that it was sent to.
    pub path: String,
    /// The headers, with their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Received {
    /// Returns a header, by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }
}

/// So long a request may be on its way.
const PATIENCE: Duration = Duration::from_secs(30);

impl Receiver {
    /// Listens on a free port of the loopback, until the process ends.
    pub fn listen() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (sender, received) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                thread::spawn(move || serve(&stream, &sender));
            }
        });
        Ok(Self { address, received })
    }

    /// Returns where it listens: there, and at any other path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Waits for the next request.
    pub fn next(&self) -> Result<Received, RecvTimeoutError> {
        self.received.recv_timeout(PATIENCE)
    }

    /// Returns what was received since it was last asked.
    pub fn all(&self) -> Vec<Received> {
        self.received.try_iter().collect()
    }
}

/// Answers the requests of a connection.
fn serve(stream: &TcpStream, received: &Sender<Received>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or_default();
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body = String::from_utf8(body).map_err(io::Error::other)?;
        let _ = received.send(Received { path, headers, body });
        (&mut &*stream).write_all(b"HTTP/1.1 204 No Content\r\n\r\n")?;
    }
}
