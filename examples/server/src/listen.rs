use std::{
    io,
    net::{SocketAddr, TcpListener},
};

/// How many connections may wait to be accepted, unless the operating system lets fewer. Of more than
/// fit, Linux lets the clients believe that they are connected, and the server knows nothing of them.
#[cfg(unix)]
const BACKLOG: i32 = 1_024;

/// Listens on an address, with room for a burst of connections.
///
/// # Errors
///
/// Where the address is in use, or is not this machine's.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    // The standard library asks for 128, and does not say how to ask for more.
    #[cfg(unix)]
    rustix::net::listen(&listener, BACKLOG)?;
    Ok(listener)
}
