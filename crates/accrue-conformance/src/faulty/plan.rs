use super::{Calls, Fault, Odds};
use crate::split_mix::SplitMix;

/// Which calls fail, and how many there were.
#[derive(Debug)]
pub(super) struct Plan {
    script: Vec<(Calls, u64, Fault)>,
    odds: Odds,
    random: SplitMix,
    gets: u64,
    scans: u64,
    commits: u64,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    Get,
    Scan,
    Commit,
}

impl Plan {
    pub(super) const fn new(seed: u64, odds: Odds) -> Self {
        let random = SplitMix::new(seed);
        Self { script: Vec::new(), odds, random, gets: 0, scans: 0, commits: 0 }
    }

    pub(super) fn add(&mut self, calls: Calls, nth: u64, fault: Fault) {
        self.script.push((calls, nth, fault));
    }

    pub(super) const fn set_odds(&mut self, odds: Odds) {
        self.odds = odds;
    }

    pub(super) const fn count(&self, calls: Calls) -> u64 {
        match calls {
            Calls::All => self.gets.saturating_add(self.scans).saturating_add(self.commits),
            Calls::Gets => self.gets,
            Calls::Scans => self.scans,
            Calls::Commits => self.commits,
        }
    }

    /// Counts a call, and says what goes wrong with it.
    pub(super) fn next(&mut self, call: Call) -> Option<Fault> {
        // A number is drawn for every call, so that a scripted fault does not move the chances of
        // the calls behind it.
        let drawn = self.odds.draw(&mut self.random);
        let scripted = self.scripted(call);
        let count = match call {
            Call::Get => &mut self.gets,
            Call::Scan => &mut self.scans,
            Call::Commit => &mut self.commits,
        };
        *count = count.saturating_add(1);
        scripted.or(drawn)
    }

    fn scripted(&self, call: Call) -> Option<Fault> {
        let kind = match call {
            Call::Get => Calls::Gets,
            Call::Scan => Calls::Scans,
            Call::Commit => Calls::Commits,
        };
        let due = |(calls, nth, _): &&(Calls, u64, Fault)| {
            (*calls == Calls::All || *calls == kind) && *nth == self.count(*calls)
        };
        self.script.iter().find(due).map(|(_, _, fault)| *fault)
    }
}
