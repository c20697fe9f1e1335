//! What the tests of the servers need: a server on a free port, and a client that sends what it is
//! told to, byte for byte.

mod client;
mod server;

pub use self::{
    client::{Answer, Client},
    server::{Framework, Server},
};
