//! What commits show: the order in which requests were accepted, with which answer, and what else
//! their commits have in them.

use std::collections::BTreeSet;

use accrue::store::Key;
use serde_json::Value;

use super::{
    clients::{Answer, Client},
    model::{BILL_TABLES, Booked, Expected, Fall, Turn, What, check_falls, uuid, whole},
    store::{Applied, TaskId},
    world::{Flight, Task, World},
};
use crate::model::{At, Instant};

/// What is kept under an idempotency key.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    task: TaskId,
    payload: At,
    completed_at: Instant,
    pub(super) status: u16,
    body: String,
    /// Whether its request has begun something, and is answered once that has ended.
    is_open: bool,
}

/// How long it is good for.
const GOOD_FOR: i64 = 48 * super::plan::HOUR;

/// How an answer begins that is kept of a request which goes on.
const OPEN: &str = "open ";

/// The bytes of an epoch at the beginning of a key.
const EPOCH_BYTES: usize = 8;

/// The beginning of the epoch that a record is of.
fn epoch_of(key: &Key) -> Instant {
    let bytes = key.bytes().first_chunk::<EPOCH_BYTES>();
    bytes.map_or(Instant::MAX, |bytes| Instant::from_be_bytes(*bytes))
}

/// The account of a key of the store, and the rest of it. A record has its epoch before that.
fn split(key: &Key) -> Option<(At, &[u8])> {
    let key = match key.table().name() {
        "record" => key.bytes().get(EPOCH_BYTES..)?,
        _ => key.bytes(),
    };
    let end = key.iter().position(|byte| *byte == 0)?;
    let account = std::str::from_utf8(&key[..end]).ok()?.strip_prefix("tenant-")?;
    Some((account.parse().ok()?, &key[end + 1..]))
}

impl World {
    /// Does in the model what a commit has done, and compares what it tells.
    pub(super) fn commit(&mut self, applied: &Applied) -> Result<(), String> {
        let client = self.tasks[applied.task].client;
        let (mut account, mut told, mut turns) = (None, Vec::new(), BTreeSet::new());
        // What moves balances comes before what is done to the alerts on them.
        let (mut falls, mut due) = (Vec::new(), self.booked(applied)?);
        self.billed(applied)?;
        self.saved(applied)?;
        let mut expected = Vec::new();
        let mut is_marked = false;
        for (key, document) in &applied.changes {
            let (of, rest) = split(key).ok_or("a key of no account")?;
            account = Some(of);
            let json = document.as_ref().map(|document| {
                serde_json::from_str::<Value>(document.as_str()).unwrap_or(Value::Null)
            });
            match (key.table().name(), &json) {
                ("record", Some(record)) => {
                    expected.extend(self.completed(applied.task, of, rest, record)?);
                }
                ("record", None) => self.expired(of, rest, epoch_of(key))?,
                ("customer_external", Some(alias)) => {
                    let id = alias["customer_id"].as_str().map(str::to_owned);
                    let mut all = self.tenants[of].customers.iter_mut();
                    let own = all.find(|customer| customer.external.as_bytes() == rest);
                    own.ok_or("an alias of nobody")?.reserved = id;
                }
                ("outbox", Some(message)) => {
                    let (crossed, fell) = self.told(of, key.bytes(), message)?;
                    told.extend(crossed);
                    falls.extend(fell);
                }
                ("outbox", None) => self.acknowledged(key.bytes())?,
                ("customer_head", _) => {
                    let customer = rest.try_into().map_err(|_| "a head of no customer")?;
                    let customer = self.tenants[of].customer_of(customer);
                    self.touched.extend(customer.map(|customer| (of, customer)));
                }
                ("overlay", json) => {
                    let customer = rest[..16].try_into().unwrap();
                    let backfill = rest[rest.len() - 16..].try_into().unwrap();
                    turns.insert((of, customer, uuid(backfill), json.is_some()));
                }
                ("alert" | "amendments" | "plan_alert", Some(_)) => is_marked = true,
                // Its balance moves as well.
                ("customer", Some(json)) => is_marked |= self.is_renamed(client, json),
                _ => {}
            }
        }
        for (of, customer, backfill, is_reflected) in turns {
            let Some(customer) = self.tenants[of].customer_of(customer) else { continue };
            let turn = if is_reflected { Turn::Reflected } else { Turn::Reverted };
            self.count(if is_reflected { "reflected" } else { "reverted" });
            let now = self.now();
            expected.push(self.tenants[of].turn(&backfill, customer, turn, now)?);
        }
        if let Some(client) = client.filter(|_| is_marked) {
            expected.extend(self.done_without_a_key(client)?);
        }
        let Some(account) = account else { return Ok(()) };
        let now = self.now();
        for happened in self.tenants[account].follow_plans(now)? {
            self.count(happened);
        }
        let size = applied.changes.len();
        self.trace.add(format!("{} {size} {told:?} {falls:?}", applied.task).as_bytes());
        let expected = Expected::all(expected);
        due.extend(expected.falls.iter().cloned());
        check_falls(&due, &falls)?;
        self.tenants[account].check_told(&expected, &told, now)
    }

    /// The rows of invoices in a commit are right for what was accepted before it: what time brings, and
    /// what issues by hand, stands in commits of its own.
    fn billed(&mut self, applied: &Applied) -> Result<(), String> {
        for of in 0..self.tenants.len() {
            let mut rows = Vec::new();
            for (key, document) in &applied.changes {
                let name = key.table().name();
                let Some(table) = BILL_TABLES.into_iter().find(|table| *table == name) else {
                    continue;
                };
                let (account, rest) = split(key).ok_or("a key of no account")?;
                if account == of {
                    let document = document.as_ref().map(|of| serde_json::from_str(of.as_str()));
                    rows.push((table, rest, document.transpose().map_err(|of| of.to_string())?));
                }
            }
            for happened in self.tenants[of].billed(&rows)? {
                self.count(happened);
            }
        }
        Ok(())
    }

    /// Subscriptions and migrations are kept.
    fn saved(&mut self, applied: &Applied) -> Result<(), String> {
        for (key, document) in &applied.changes {
            let table = key.table().name();
            let Some(document) = document.as_ref() else { continue };
            if !["migration", "subscription"].contains(&table) {
                continue;
            }
            let (of, _) = split(key).ok_or("a key of no account")?;
            let row = serde_json::from_str(document.as_str()).unwrap_or(Value::Null);
            match table {
                "migration" => self.tenants[of].migration_saved(&row)?,
                _ => self.tenants[of].subscription_saved(&row)?,
            }
        }
        Ok(())
    }

    /// Whether a customer is named as a client asks for.
    fn is_renamed(&self, client: Option<At>, customer: &Value) -> bool {
        let what = client.map(|client| &self.clients[client].what);
        matches!(what, Some(What::Rename { name, .. }) if customer["customer"]["name"] == name.as_str())
    }

    /// The entries of ledgers in a commit, in their order, have moved balances.
    fn booked(&mut self, applied: &Applied) -> Result<Vec<Fall>, String> {
        let mut entries = Vec::new();
        for (key, document) in &applied.changes {
            let Some(document) = document.as_ref().filter(|_| key.table().name() == "ledger_entry")
            else {
                continue;
            };
            let (of, _) = split(key).ok_or("a key of no account")?;
            let entry: Value = serde_json::from_str(document.as_str()).unwrap_or(Value::Null);
            let entry = &entry["entry"];
            let number = |name: &str| entry[name].as_str().and_then(whole).ok_or("a number");
            let customer = entry["customer_id"].as_str().unwrap_or_default();
            let mut all = self.tenants[of].customers.iter();
            let customer = all.position(|of| of.id.as_deref() == Some(customer));
            let customer = customer.ok_or_else(|| format!("an entry of nobody: {entry}"))?;
            let place = entry["ledger_sequence_number"].as_u64().ok_or("a place")?;
            let place = usize::try_from(place).unwrap();
            let (from, to) = (number("starting_balance")?, number("ending_balance")?);
            let is_back = entry["entry_type"] == "amendment";
            entries.push((of, customer, Booked { number: place, from, to }, is_back));
        }
        entries.sort_unstable();
        let (mut falls, mut entries) = (Vec::new(), entries.into_iter().peekable());
        while let Some((of, customer, booked, is_back)) = entries.next() {
            let mut together = vec![booked];
            // What a change gives back is drawn by what comes then, or lost at once where its block has expired: that is
            // one move.
            let is_of_it =
                |next: &(At, At, Booked, bool)| is_back && (next.0, next.1) == (of, customer);
            together.extend(std::iter::from_fn(|| entries.next_if(is_of_it)).map(|next| next.2));
            falls.extend(self.tenants[of].booked(customer, &together)?);
        }
        Ok(falls)
    }

    /// The task for which a record is written, and its client: of those that wait together in a process one commits for
    /// all.
    fn written_for(&mut self, task: TaskId, key: (At, &str)) -> Result<(TaskId, At), String> {
        let has_it = |of: &&Client| (of.account, of.key.as_deref()) == (key.0, Some(key.1));
        let client = |of: &Task| of.client.filter(|of| has_it(&&self.clients[*of]));
        let by = self.tasks[task];
        if let Some(client) = client(&by) {
            return Ok((task, client));
        }
        let beside = self.tasks.iter().enumerate().rev().filter(|(_, of)| of.place == by.place);
        let found = beside.filter_map(|(task, of)| Some((task, client(of)?))).next();
        let found = found.filter(|(_, client)| self.clients[*client].what.is_one_event());
        let (task, client) = found.ok_or_else(|| {
            format!(
                "the record of {} is written for {:?}",
                key.1,
                by.client.map(|of| &self.clients[of])
            )
        })?;
        self.count("committed by another");
        Ok((task, client))
    }

    /// A keyed request has had its effect, and its answer is kept.
    fn completed(
        &mut self,
        task: TaskId,
        account: At,
        key: &[u8],
        record: &Value,
    ) -> Result<Option<Expected>, String> {
        let key = String::from_utf8_lossy(key).into_owned();
        let (task, client) = self.written_for(task, (account, &key))?;
        let of = self.clients[client].clone();
        let answer = record["answer"]["inline"].as_str().ok_or("an answer in parts")?;
        let (is_open, answer) = match answer.strip_prefix(OPEN) {
            Some(rest) => (true, rest),
            None => (false, answer),
        };
        let (status, body) = answer.split_once(' ').ok_or("an answer without a status")?;
        let status: u16 = status.parse().map_err(|_| "a status that is none")?;
        if status >= 500 || matches!(status, 401 | 408 | 409 | 429) {
            return Err(format!("an answer of status {status} is kept under {key}"));
        }
        let completed_at = record["completed_at"].as_str().unwrap_or_default();
        let completed_at = accrue::Timestamp::parse(completed_at);
        let completed_at = completed_at.map_err(|_| "an instant that is none")?.micros();
        let kept = self.kept.entry((account, key.clone())).or_default();
        // A commit that is days late comes behind what was decided after it: that is anew as well.
        let near = |kept: &&Kept| (completed_at - kept.completed_at).abs() <= GOOD_FOR;
        // Who has begun may take longer than that to end.
        let goes_on = |kept: &Kept| near(&kept) || kept.is_open && kept.task == task;
        let known = kept.iter().position(goes_on);
        if let Some(begun) = known.map(|index| &mut kept[index]).filter(|of| of.is_open && !is_open)
        {
            let body = body.to_owned();
            *begun = Kept { task, status, body, is_open, ..begun.clone() };
            self.count("request goes on");
            return Ok(None);
        }
        let kept = self.kept.entry((account, key.clone())).or_default();
        if let Some(first) = kept.iter().find(near) {
            return Err(format!("the key {key} has a second effect: {first:?}, then {answer}"));
        }
        let body = body.to_owned();
        let answer = serde_json::from_str(&body).unwrap_or(Value::Null);
        kept.push(Kept { task, payload: of.payload, completed_at, status, body, is_open });
        let is_second = kept.len() > 1;
        if is_second {
            self.count("key used anew after 48 hours");
        }
        if status >= 300 {
            self.count("error kept");
            return Ok(None);
        }
        *self.report.accepted.entry(of.name).or_default() += 1;
        if let What::Customer { customer } = &of.what {
            self.touched.insert((account, *customer));
        }
        self.tenants[account].accept(&of.what, &answer, completed_at).map(Some)
    }

    /// The record of a key in an epoch is removed.
    fn expired(&mut self, account: At, key: &[u8], epoch: Instant) -> Result<(), String> {
        let key = String::from_utf8_lossy(key).into_owned();
        let now = self.now();
        let kept = self.kept.get(&(account, key.clone())).into_iter().flatten();
        let own = kept.filter(|kept| (epoch..epoch + GOOD_FOR).contains(&kept.completed_at));
        let own: Vec<_> = own.collect();
        if own.is_empty() || own.iter().any(|kept| now <= kept.completed_at + GOOD_FOR) {
            return Err(format!("the record of {key} is removed while it is good: {own:?}"));
        }
        self.count("record removed");
        Ok(())
    }

    /// A request without a key has had its effect.
    fn done_without_a_key(&mut self, client: At) -> Result<Option<Expected>, String> {
        let of = self.clients[client].clone();
        let is_one = matches!(
            of.what,
            What::Amend { .. }
                | What::Deprecate { .. }
                | What::Rename { .. }
                | What::SetThresholds { .. }
                | What::DeleteAlert { .. }
        );
        if !is_one {
            return Ok(None);
        }
        *self.report.accepted.entry(of.name).or_default() += 1;
        if let What::Rename { customer, .. } = of.what {
            self.touched.insert((of.account, customer));
        }
        let now = self.now();
        self.tenants[of.account].accept(&of.what, &Value::Null, now).map(Some)
    }

    /// An answer is right for what was committed.
    pub(super) fn check_answer(&self, flight: &Flight, answer: &Answer) -> Result<(), String> {
        let client = &self.clients[flight.client.unwrap()];
        let Answer { status, .. } = *answer;
        if status >= 500 {
            return self.excused(flight.task);
        }
        let Some(key) = &client.key else {
            return self.check_read(flight, answer);
        };
        if answer.header("idempotency-key") != Some(key) {
            return Err("the key is not echoed".to_owned());
        }
        let all = self.kept.get(&(client.account, key.clone()));
        let all = all.map_or(&[][..], Vec::as_slice);
        let own = all.iter().find(|kept| kept.task == flight.task);
        let is_same = |kept: &Kept| (kept.status, &kept.body) == (status, &answer.body);
        if answer.header("idempotent-replayed") == Some("true") {
            let mut rest = all.iter().rev().take(2);
            let first = rest.find(|kept| kept.payload == client.payload && is_same(kept));
            return first.map(|_| ()).ok_or_else(|| format!("a replay of nothing in {all:?}"));
        }
        if status == 409 || status == 429 {
            return match own {
                Some(own) if own.is_open => Ok(()),
                // It was under way for so long that its key was good for no more, and another has it.
                Some(own)
                    if own.completed_at.saturating_add(GOOD_FOR) <= self.now()
                        && all.last().is_some_and(|last| last.task != own.task) =>
                {
                    Ok(())
                }
                Some(own) => Err(format!("it was done, and is answered {status}: {own:?}")),
                None => Ok(()),
            };
        }
        match own {
            Some(own) if is_same(own) && !own.is_open => Ok(()),
            Some(own) => Err(format!("another answer is kept: {own:?}")),
            // What is invalid is not kept.
            None if status == 400 && answer.body.contains("400-request-validation-errors") => {
                Ok(())
            }
            None => Err("it is acknowledged, and nothing is kept".to_owned()),
        }
    }

    fn check_read(&self, flight: &Flight, answer: &Answer) -> Result<(), String> {
        let client = &self.clients[flight.client.unwrap()];
        if let (What::Rename { customer, name }, 200) = (&client.what, answer.status) {
            if answer.json()["name"].as_str() != Some(name.as_str()) {
                return Err("another name is answered".to_owned());
            }
            if !self.tenants[client.account].customers[*customer].names.contains(name) {
                return Err(format!("{name} is acknowledged, and nobody is named that"));
            }
        }
        if flight.seen.is_empty() || answer.status != 200 {
            return Ok(());
        }
        let data = &answer.json()["data"];
        let quantity = |index: usize| {
            let metric = &data[index]["usage"];
            metric[0]["quantity"].as_number().map(ToString::to_string)
        };
        let found = super::clients::figures([quantity(0), quantity(1)].into_iter());
        match flight.seen.contains(&found) {
            true => Ok(()),
            false => Err(format!("usage of {found}, while there was {:?}", flight.seen)),
        }
    }
}
