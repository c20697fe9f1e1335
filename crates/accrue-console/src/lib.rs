//! Web application of accrue: pages for the people who work with it, in the host's own program.
//!
//! [`Console::handle`] answers a request of the `http` crate's types; [`Console`] is a `tower` service too. It
//! brings no runtime, no server and no framework, and nothing is built or loaded from elsewhere: pages are
//! rendered here, plots are SVG, and style and script are in the program. Everything works without the script.
//!
//! ```
//! use accrue::{Billing, SystemEntropy, store::MemoryStore};
//! use accrue_console::{Console, People};
//! use http_body_util::Empty;
//!
//! # pollster::block_on(async {
//! let billing = Billing::with_system(MemoryStore::new());
//! let people = People::new(&billing, SystemEntropy);
//! let console = Console::builder(billing, people).base_path("/console").build();
//! println!("first person: {}", console.first_link().await?.unwrap_or_default());
//!
//! let request = http::Request::get("/console/sign-in").body(Empty::new())?;
//! let response = console.handle(request).await;
//! assert_eq!(response.status(), 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # The way of a request
//!
//! `console` is the door, in an order that does not change: a file is answered as it is; the page is looked for
//! (404); whoever asks is told by [`SignIn`] (303 to the page on which people sign in); a form must be sent by
//! a page of the console (`Origin` or `Sec-Fetch-Site`, 403), fit 64 KiB (413) and have the token of its session
//! (403); the role must allow it (403). Then the page reads the engine, or has it do one operation, acting for
//! whoever has signed in. A form that has done something is answered 303 and the page says what was done; one that
//! has not, 422, with what was typed and what is wrong beside the field.
//!
//! # The map, in reading order
//!
//! The direction of dependence is the direction of reading: each of these uses those above it.
//!
//! - `answer`, `request`: what goes out and what comes in.
//! - `asset`: style, script and icon, under names that change with what they say.
//! - `guard`: headers, forms, attempts to sign in.
//! - `sign_in`: [`SignIn`] and [`People`].
//! - `site`, `visit`: what all pages share, and one request as a page sees it.
//! - `view`: how pages are drawn.
//! - `page`: a file for each page.
//! - `route`: the table of all pages, with the role that each needs.
//! - `console`, `service`: [`Console`], the order of work.
//!
//! # What it leaves to the host
//!
//! Connections and TLS: the cookie of a session is sent over TLS alone, unless
//! [`over_plain_http`](ConsoleBuilder::over_plain_http) is chosen. Limits of requests by their source: of sign-ins it
//! counts those of each name, and apart those from a browser that the person has signed in with. An `x-request-id` that the host sets is in the audit log.

mod answer;
mod asset;
mod console;
mod guard;
mod page;
mod request;
mod route;
mod service;
mod sign_in;
mod site;
mod view;
mod visit;

pub use self::{
    console::{Console, ConsoleBuilder},
    sign_in::{Identity, People, SignIn},
};
