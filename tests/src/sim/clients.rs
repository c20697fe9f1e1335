//! Clients: they send, wait, send again, and give up.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::Full;
use serde_json::Value;

use super::{
    asks::Sent,
    model::What,
    plan::{Ask, SECOND},
    random::Random,
    world::{Flight, Landed, World},
};
use crate::model::{At, Instant};

/// A request, and how far its client has come with it.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) account: At,
    pub(super) name: &'static str,
    pub(super) what: What,
    pub(super) sent: Sent,
    pub(super) key: Option<String>,
    /// Which payload it is: that of this client, the first one with it.
    pub(super) payload: At,
    /// Which subscription's usage it reads, if any.
    reads: Option<At>,
    tries: u32,
    random: Random,
    pub(super) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting(Instant),
    Flying,
    Answered,
    GivenUp,
}

/// How often the published clients send: once, and two retries.
const TRIES: u32 = 3;

impl World {
    pub(super) fn ask(&mut self, account: At, ask: &Ask, seed: u64) {
        let Some((what, sent)) = self.request(account, ask) else { return };
        *self.report.asked.entry(ask.name()).or_default() += 1;
        let ordinal = self.clients.iter().filter(|client| client.account == account).count();
        let reads = match ask {
            Ask::Usage { subscription } => {
                Some(subscription % self.tenants[account].subscriptions.len())
            }
            _ => None,
        };
        let client = Client {
            account,
            name: ask.name(),
            what,
            // The same keys in every account.
            key: (sent.method == "POST").then(|| format!("key-{ordinal}")),
            sent,
            payload: self.clients.len(),
            reads,
            tries: 0,
            random: Random::new(seed),
            state: State::Waiting(self.now()),
        };
        self.clients.push(client);
        self.send(self.clients.len() - 1);
    }

    /// Sends once more what was sent before.
    pub(super) fn again(&mut self, request: usize, seed: u64) {
        let Some(index) = request.checked_rem(self.clients.len()) else { return };
        let client = self.clients[index].clone();
        self.count("duplicate request");
        self.clients.push(Client { tries: 0, random: Random::new(seed), ..client });
        self.send(self.clients.len() - 1);
    }

    /// Sends something else under a key that was used before.
    pub(super) fn misuse(&mut self, request: usize, seed: u64) {
        let Some(index) = request.checked_rem(self.clients.len()) else { return };
        let Client { account, key: Some(key), .. } = self.clients[index].clone() else { return };
        self.ask(account, &Ask::Item, seed);
        let last = self.clients.len() - 1;
        // It has begun with a key of its own, and nobody has seen that yet.
        self.flights.retain(|flight| flight.client != Some(last));
        self.count("key used again");
        self.clients[last].key = Some(key);
        let body = format!("{{\"name\":\"other {last}\"}}");
        self.clients[last].sent.body = body;
        self.send(last);
    }

    /// Sends the request of a client to one of the processes.
    pub(super) fn send(&mut self, index: At) {
        let process = self.clients[index].random.below(super::plan::PROCESSES);
        self.send_to(index, process);
    }

    pub(super) fn send_to(&mut self, index: At, process: usize) {
        let api = self.api(process);
        let client = &mut self.clients[index];
        client.tries += 1;
        client.state = State::Flying;
        let is_walk = client.sent.method == "GET" && client.reads.is_none();
        let token = format!("Bearer tenant-{}", client.account);
        let (sent, key) = (client.sent.clone(), client.key.clone());
        let request = move |path: &str| {
            let mut builder = Request::builder()
                .method(sent.method)
                .uri(path)
                .header("authorization", &token)
                .header("content-type", "application/json");
            if let Some(key) = &key {
                builder = builder.header("idempotency-key", key);
            }
            builder.body(Full::new(Bytes::from(sent.body.clone()))).unwrap()
        };
        let path = client.sent.path.clone();
        if is_walk {
            self.fly(process, Some(index), Box::pin(walk(api, path, request)));
        } else {
            let request = request(&path);
            let answer = async move { Landed::Answer(api.handle(request).await) };
            self.fly(process, Some(index), Box::pin(answer));
        }
    }

    /// Those who have waited long enough send again.
    pub(super) fn wake_clients(&mut self) {
        let now = self.now();
        for index in 0..self.clients.len() {
            if matches!(self.clients[index].state, State::Waiting(until) if until <= now) {
                self.count("retry");
                self.send(index);
            }
        }
    }

    /// A client hears nothing any more.
    pub(super) fn lost(&mut self, index: At) {
        self.retry(index, None);
    }

    fn retry(&mut self, index: At, retry_after: Option<i64>) {
        let now = self.now();
        let client = &mut self.clients[index];
        client.state = if client.tries < TRIES {
            // From half a second on, twice as long each time, 8 seconds at most, less a quarter by
            // chance.
            let wait = ((SECOND / 2) << (client.tries - 1).min(4)).min(8 * SECOND);
            let wait = wait - client.random.between(0, wait / 4);
            State::Waiting(now + retry_after.unwrap_or(wait))
        } else {
            State::GivenUp
        };
    }

    pub(super) fn give_another_chance(&mut self, index: At) {
        self.clients[index].tries = 0;
        self.send_to(index, index % super::plan::PROCESSES);
    }

    /// What a read of usage may answer in the billing period of an instant.
    pub(super) fn figures_of(&self, client: Option<At>, at: Instant) -> Option<String> {
        let client = &self.clients[client?];
        let (_, usage) = self.tenants[client.account].usage(client.reads?, at);
        Some(figures(usage.into_iter().take(2).map(|of| of.map(|of| of.normalized().to_string()))))
    }

    /// A client has an answer.
    pub(super) fn answered(
        &mut self,
        flight: &Flight,
        response: Response<Bytes>,
    ) -> Result<(), String> {
        let index = flight.client.unwrap();
        let (head, body) = response.into_parts();
        let status = head.status.as_u16();
        self.trace.add(&[index.to_be_bytes().as_slice(), &body].concat());
        self.trace.add(&status.to_be_bytes());
        *self.report.answers.entry(status).or_default() += 1;
        let body = String::from_utf8(body.to_vec()).unwrap();
        let answer = Answer { status, headers: head.headers, body };
        self.check_answer(flight, &answer)
            .map_err(|found| format!("{found}: {answer:?} to {:?}", self.clients[index]))?;
        if answer.is_to_be_retried() {
            let after = answer.header("retry-after").and_then(|text| text.parse::<i64>().ok());
            self.retry(index, after.map(|seconds| seconds * SECOND));
        } else {
            self.clients[index].state = State::Answered;
        }
        Ok(())
    }

    pub(super) fn walked(
        &mut self,
        flight: &Flight,
        ids: &[String],
        broken_off: Option<u16>,
    ) -> Result<(), String> {
        let index = flight.client.unwrap();
        self.trace.add(format!("{index} {ids:?}").as_bytes());
        if ids.len() > ids.iter().collect::<BTreeSet<_>>().len() {
            return Err(format!("a list has a row twice: {ids:?}"));
        }
        if let Some(status) = broken_off {
            if status != 429 {
                self.excused(flight.task).map_err(|found| format!("a list, {status}: {found}"))?;
            }
            self.retry(index, None);
            return Ok(());
        }
        self.clients[index].state = State::Answered;
        Ok(())
    }
}

/// Walks a list from page to page. Gives up at the first that fails.
async fn walk(
    api: accrue_http::Api,
    path: String,
    request: impl Fn(&str) -> Request<Full<Bytes>>,
) -> Landed {
    let mut ids = Vec::new();
    let mut next = format!("{path}?limit=2");
    loop {
        let response = api.handle(request(&next)).await;
        if response.status() != 200 {
            return Landed::Walked(ids, Some(response.status().as_u16()));
        }
        let page: Value = serde_json::from_slice(response.body()).unwrap();
        let rows = page["data"].as_array().unwrap().iter();
        ids.extend(rows.map(|row| row["id"].as_str().unwrap().to_owned()));
        match page["pagination_metadata"]["next_cursor"].as_str() {
            Some(cursor) => next = format!("{path}?limit=2&cursor={cursor}"),
            None => return Landed::Walked(ids, None),
        }
    }
}

/// An answer, as a client sees it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    headers: HeaderMap,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// What the published clients send again.
    fn is_to_be_retried(&self) -> bool {
        match self.header("x-should-retry") {
            Some("true") => true,
            Some("false") => false,
            _ => matches!(self.status, 408 | 409 | 429) || self.status >= 500,
        }
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }
}

pub(super) fn figures(all: impl Iterator<Item = Option<String>>) -> String {
    all.map(|figure| figure.unwrap_or_else(|| "none".to_owned())).collect::<Vec<_>>().join(" ")
}
