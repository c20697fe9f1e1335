use std::sync::{Mutex, PoisonError};

use accrue::{Clock as _, ManualClock, Timestamp};
use accrue_http::OwnError;
use http::Method;
use serde::{Deserialize, Serialize};

use crate::{BasePath, Upkeep};

/// The clock of the engine as a resource of the API: `GET` tells what it shows, and `PUT` moves it on.
#[derive(Debug)]
pub(crate) struct ClockRoute {
    path: String,
    /// Moved by one request at a time, so that it never goes back.
    clock: Mutex<ManualClock>,
    upkeep: Upkeep,
}

/// What is sent, and what is answered.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    now: String,
}

impl ClockRoute {
    /// Below the base path, so that a client of the API reaches it as it reaches the operations; and at
    /// the root of the server, where it has no operation beside it.
    pub(crate) fn new(clock: ManualClock, upkeep: &Upkeep, base_path: &BasePath) -> Self {
        let path = format!("{}/clock", base_path.as_str());
        Self { path, clock: Mutex::new(clock), upkeep: upkeep.clone() }
    }

    pub(crate) fn is_asked_for(&self, method: &Method, path: &str) -> bool {
        [self.path.as_str(), "/clock"].contains(&path)
            && matches!(*method, Method::GET | Method::HEAD | Method::PUT)
    }

    /// Answers what the clock shows: once all is done that is due, where it is moved.
    pub(crate) async fn answer(&self, method: &Method, body: &[u8]) -> Result<String, OwnError> {
        if *method == Method::PUT {
            self.move_to(read(body)?).await?;
        }
        // As the answers of the API have instants.
        let shown = Shown { now: self.upkeep.billing().now().to_string().replace('Z', "+00:00") };
        serde_json::to_string(&shown).map_err(OwnError::failed)
    }

    /// Does all that is due on the way too, where something has to be asked for there.
    async fn move_to(&self, instant: Timestamp) -> Result<(), OwnError> {
        let now = self.now();
        if instant < now {
            let message = format!("found {instant}, expected {now} or later");
            return Err(OwnError::invalid("/now", message));
        }
        loop {
            let stop = self.upkeep.stop_on_the_way(instant).await.map_err(OwnError::failed)?;
            self.forward_to(stop);
            self.upkeep.catch_up().await.map_err(OwnError::failed)?;
            if stop >= instant {
                return Ok(());
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner).now()
    }

    /// Moves the clock, unless it is there already.
    fn forward_to(&self, instant: Timestamp) {
        let clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        if clock.now() < instant {
            clock.set(instant);
        }
    }
}

/// Reads the object, or an instant as bare text.
fn read(body: &[u8]) -> Result<Timestamp, OwnError> {
    let bare = std::str::from_utf8(body).ok().and_then(|text| Timestamp::parse(text.trim()).ok());
    if let Some(instant) = bare {
        return Ok(instant);
    }
    let expected = "expected an instant, or an object as {\"now\": \"2026-04-01T00:00:00Z\"}";
    let shown: Shown = serde_json::from_slice(body).map_err(|_| OwnError::invalid("", expected))?;
    Timestamp::parse(&shown.now).map_err(|error| OwnError::invalid("/now", error.to_string()))
}
