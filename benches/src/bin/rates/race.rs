use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use accrue_benches::{Outcome, now};

/// What one caller does, made ready to begin.
pub(crate) type Caller<'a> = Box<dyn FnOnce() -> Outcome<()> + Send + 'a>;

/// Lets all callers begin at once, each on a thread of its own. Returns how long it took from when
/// the first began until the last was done.
pub(crate) fn race(callers: Vec<Caller<'_>>) -> Outcome<Duration> {
    let gate = Barrier::new(callers.len());
    let run = |caller: Caller<'_>| -> Outcome<(Instant, Instant)> {
        gate.wait();
        let start = now();
        caller()?;
        Ok((start, now()))
    };
    let spans: Vec<_> = thread::scope(|scope| {
        let run = &run;
        let running: Vec<_> =
            callers.into_iter().map(|caller| scope.spawn(move || run(caller))).collect();
        let spans = running.into_iter().map(|caller| match caller.join() {
            Ok(span) => span,
            Err(_) => Err("a caller panicked".into()),
        });
        spans.collect::<Outcome<_>>()
    })?;
    let start = spans.iter().map(|(start, _)| *start).min();
    let end = spans.iter().map(|(_, end)| *end).max();
    let (start, end) = start.zip(end).ok_or("found no callers")?;
    Ok(end.duration_since(start))
}
