use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use http::Response;
use serde_json::Value;

use super::{
    Call, Case, Door, Fault, Flaw, Scene, Way, reads,
    scene::{BEGINNING, NOW},
    state::Drawn,
    state::State,
    store::OnceFaulty,
};
use crate::host::instant;

/// The key of every request.
const KEY: &str = "key";
/// How often the published clients send: once, and two retries.
const TRIES: u64 = 3;

/// A scene, and what is asked on copies of it.
#[derive(Debug)]
pub struct Bench {
    pub scene: Scene,
    flaw: Option<Flaw>,
    drawn: Drawn,
    reads: Vec<Case>,
}

/// What comes of a request where nothing fails.
#[derive(Clone, Debug)]
pub struct Run {
    /// The calls of the store that answering took.
    pub calls: Vec<Call>,
    answer: String,
    state: State,
    read: Vec<String>,
}

/// How much there was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Calls of the store where nothing fails.
    pub calls: usize,
    pub faults: BTreeMap<Way, u64>,
    /// How often a request was sent again.
    pub retries: u64,
    /// How often that was answered from the record of the first attempt.
    pub replays: u64,
}

impl Run {
    /// Every call, failing in every way.
    pub fn faults(&self) -> impl Iterator<Item = Fault> {
        let calls = self.calls.iter().enumerate();
        calls.flat_map(|(nth, call)| Way::of(*call).iter().map(move |way| Fault { nth, way: *way }))
    }
}

impl Bench {
    #[must_use]
    pub fn set() -> Self {
        let scene = Scene::set();
        let reads = reads(&scene);
        Self { scene, flaw: None, drawn: Drawn::between(instant(BEGINNING), instant(NOW)), reads }
    }

    /// The same scene on a store that is wrong.
    #[must_use]
    pub fn flawed(self, flaw: Flaw) -> Self {
        Self { flaw: Some(flaw), ..self }
    }

    /// The operations that are served.
    #[must_use]
    pub fn served(&self) -> Vec<String> {
        Door::on(self.scene.copy(), NOW, 2).served()
    }

    fn store(&self, fault: Option<Fault>) -> Arc<OnceFaulty> {
        Arc::new(OnceFaulty::new(self.scene.copy(), fault, self.flaw))
    }

    /// Asks where nothing fails.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn smooth(&self, case: &Case) -> Result<Run, String> {
        let store = self.store(None);
        let before = State::read(&store.inner, &self.drawn, "");
        let door = Door::on(Arc::clone(&store), NOW, 2);
        let answer = door.send(case, KEY).ok_or("it waits")?;
        let calls = store.calls();
        if answer.status() != case.status {
            return Err(format!("expected {}, found {answer:?}", case.status));
        }
        let answer = told(&answer);
        let state = State::read(&store.inner, &self.drawn, &answer);
        if state.has_another_effect(&before) != case.has_effect() {
            return Err("it has an effect, or has none where one is expected".to_owned());
        }
        let answer = state.renamed(&self.drawn, &answer);
        let reads = self.reads.iter();
        let read = reads.map(|read| self.read(&door, read, &state)).collect();
        Ok(Run { calls, answer, state, read })
    }

    /// Asks what a request would come to, and tells the answer, its ids numbered: it says that it was a dry run, and
    /// nothing is written.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn rehearse(&self, case: &Case) -> Result<String, String> {
        let store = self.store(None);
        let door = Door::on(Arc::clone(&store), NOW, 3);
        let answer = door.rehearse(case).ok_or("it waits")?;
        if answer.headers().get("orb-dry-run").is_none_or(|said| said != "true") {
            return Err(format!("it does not say that it was a dry run: {answer:?}"));
        }
        if store.changes() != 0 {
            return Err("something is written".to_owned());
        }
        Ok(State::numbered(&self.drawn, &told(&answer)))
    }

    /// The answer to a request, its ids numbered.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn answer(&self, case: &Case) -> Result<String, String> {
        let door = Door::on(self.store(None), NOW, 2);
        let answer = door.send(case, KEY).ok_or("it waits")?;
        Ok(State::numbered(&self.drawn, &told(&answer)))
    }

    /// What is read, in the names of a state.
    fn read(&self, door: &Door, read: &Case, state: &State) -> String {
        door.send(read, KEY).map_or_else(
            || "no answer".to_owned(),
            |answer| in_any_order(state.renamed(&self.drawn, &told(&answer))),
        )
    }

    /// Asks where one call fails, and again until there is an answer: it has one effect, and what is
    /// read then is the same too, of the reads whose numbers are wanted.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn fail(
        &self,
        case: &Case,
        expected: &Run,
        fault: Fault,
        is_wanted: impl Fn(usize) -> bool,
        report: &mut Report,
    ) -> Result<(), String> {
        let store = self.store(Some(fault));
        let (door, answer, is_first) = insist(&store, case, fault, report)?;
        *report.faults.entry(fault.way).or_default() += 1;
        store.land(Way::TooLate);
        if store.calls().get(fault.nth) != expected.calls.get(fault.nth) {
            return Err("it makes other calls".to_owned());
        }
        let told = told(&answer);
        let state = State::read(&store.inner, &self.drawn, &told);
        if let Some(difference) = state.differs(&expected.state) {
            return Err(format!("another effect, {difference}"));
        }
        let renamed = state.renamed(&self.drawn, &told);
        // What has no key is gone where it was deleted by the attempt whose answer was lost.
        let is_gone = case.method() == "DELETE" && fault.way.may_apply() && !is_first;
        if renamed != expected.answer && !(is_gone && told.starts_with("404 ")) {
            return Err(format!("expected the answer {}, found {renamed}", expected.answer));
        }
        let written = store.changes();
        let reads = self.reads.iter().zip(&expected.read).enumerate();
        for (_, (read, expected)) in reads.filter(|(number, _)| is_wanted(*number)) {
            let found = self.read(&door, read, &state);
            if &found != expected {
                return Err(format!("{}: expected {expected}, found {found}", read.path));
            }
        }
        if case.is_replayed() {
            check_replay(&store, case, &answer)?;
        }
        if store.changes() != written {
            return Err("a replay, or a read, changes something".to_owned());
        }
        Ok(())
    }
}

/// Sends until there is an answer that clients do not send again after: returns it with the process
/// that gave it, and whether it was the first try.
fn insist(
    store: &Arc<OnceFaulty>,
    case: &Case,
    fault: Fault,
    report: &mut Report,
) -> Result<(Door, Response<Bytes>, bool), String> {
    let mut door = Door::on(Arc::clone(store), NOW, 2);
    for tries in 1..=TRIES {
        let answer = door.send(case, KEY);
        if let Some(status) = State::kept(&store.inner).into_iter().find(|status| !is_kept(*status))
        {
            return Err(format!("an answer of status {status} is kept"));
        }
        store.land(Way::Late);
        match answer {
            None if store.has_ended() => door = Door::on(Arc::clone(store), NOW, 2 + tries),
            None => return Err("it waits for nothing".to_owned()),
            Some(answer) => {
                check_headers(case, &answer, fault)?;
                if answer.status() != 500 {
                    report.replays += u64::from(is_replay(&answer));
                    return Ok((door, answer, tries == 1));
                }
            }
        }
        report.retries += 1;
    }
    Err(format!("no answer in {TRIES} tries"))
}

/// Whether an answer of a status may be kept (§4.5.9, §4.5.10).
const fn is_kept(status: u16) -> bool {
    status < 500 && !matches!(status, 401 | 408 | 409 | 429)
}

fn told(answer: &Response<Bytes>) -> String {
    format!("{} {}", answer.status().as_u16(), String::from_utf8_lossy(answer.body()))
}

/// A page whose rows are in an order of their own: what was made at one instant has ids that were drawn.
fn in_any_order(told: String) -> String {
    let Some((status, body)) = told.split_once(' ') else { return told };
    let Ok(mut page) = serde_json::from_str::<Value>(body) else { return told };
    let Some(rows) = page.get_mut("data").and_then(Value::as_array_mut) else { return told };
    rows.sort_by_cached_key(Value::to_string);
    format!("{status} {page}")
}

fn is_replay(answer: &Response<Bytes>) -> bool {
    answer.headers().contains_key("idempotent-replayed")
}

/// What the headers of any answer say.
fn check_headers(case: &Case, answer: &Response<Bytes>, fault: Fault) -> Result<(), String> {
    let has = |name: &str, value: &str| {
        answer.headers().get(name).is_some_and(|found| found.as_bytes() == value.as_bytes())
    };
    let takes_key = case.method() == "POST";
    let status = answer.status();
    // Nobody else asks.
    if !is_kept(status.as_u16()) && status != 500 {
        return Err(format!("it answers {status}"));
    }
    if has("idempotency-key", KEY) != takes_key {
        return Err("the key is echoed, or not, against §4.5.5".to_owned());
    }
    // Each attempt under the key can be made again, but where what is stored is corrupt.
    let is_transient = has("transient-error", "true");
    if takes_key && status == 500 && is_transient == (fault.way == Way::Corrupt) {
        return Err(format!("Transient-Error is {is_transient}"));
    }
    if is_replay(answer) && !(case.is_replayed() && fault.way.may_apply()) {
        return Err("a first answer is told to be a replay".to_owned());
    }
    Ok(())
}

/// One more attempt, by way of another process, has no effect and the same answer.
fn check_replay(
    store: &Arc<OnceFaulty>,
    case: &Case,
    answer: &Response<Bytes>,
) -> Result<(), String> {
    let another = Door::on(Arc::clone(store), NOW, 2 + TRIES);
    let again = another.send(case, KEY).ok_or("a replay waits")?;
    if !is_replay(&again) {
        return Err(format!("sent once more, it is no replay: {again:?}"));
    }
    if (again.status(), again.body()) != (answer.status(), answer.body()) {
        return Err(format!("replayed otherwise: {again:?}"));
    }
    Ok(())
}
