//! Races of many callers, through one handle of a store or through several.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, ScopedJoinHandle},
};

use accrue::store::{Batch, Commit, Expected, Key, Row};

use crate::{
    fixtures::{document, key, number, numbered, numbered_keys},
    split_mix::SplitMix,
    subject::Subject,
};

/// Callers of a race, shared out among the handles.
pub(crate) const CALLERS: usize = 8;

/// Handles on one store, of which each caller has one.
#[derive(Clone, Copy)]
pub(crate) struct Handles<'a, 'b>(pub(crate) &'a [Subject<'b>]);

impl<'a, 'b> Handles<'a, 'b> {
    /// Returns the handle of a caller.
    pub(crate) fn of(self, caller: usize) -> &'a Subject<'b> {
        let Self(all) = self;
        let own = caller.checked_rem(all.len()).and_then(|at| all.get(at));
        own.expect("there is a handle")
    }

    fn first(self) -> &'a Subject<'b> {
        self.of(0)
    }
}

/// Of many that insert one row, one wins, and the row is its row.
pub(crate) fn one_of_many_inserts_wins(handles: Handles<'_, '_>) {
    let store = handles.first();
    for round in 0..20 {
        let winner = only_winner(handles, |caller| {
            let key = numbered(round);
            Batch::new().expect(key.clone(), Expected::Absent).put(key, document(caller))
        });
        assert_eq!(number(&store.present(&numbered(round))), winner);
    }
}

/// Of many that insert one row without having read anything, one wins.
pub(crate) fn one_of_many_bare_inserts_wins(handles: Handles<'_, '_>) {
    let store = handles.first();
    for round in 0..20 {
        let winner = only_winner(handles, |caller| {
            let batch = Batch::new().put(key(format!("of {caller}")), document(round));
            batch.insert(numbered(round), document(caller))
        });
        assert_eq!(number(&store.present(&numbered(round))), winner);
    }
}

/// Of many that update one row which they all read, one wins, though they write other rows.
pub(crate) fn one_of_many_updates_wins(handles: Handles<'_, '_>) {
    let store = handles.first();
    let a = key("a");
    let mut version = store.committed(Batch::new().put(a.clone(), document(CALLERS)));
    for _ in 0..20 {
        let winner = only_winner(handles, |caller| {
            let batch = Batch::new().expect(a.clone(), Expected::Version(version));
            batch.put(a.clone(), document(caller)).put(numbered(caller), document(caller))
        });
        let row = store.present(&a);
        assert_eq!(number(&row), winner);
        assert_ne!(row.version, version);
        version = row.version;
    }
}

/// Callers that add to one row, each trying again after a conflict, lose no addition.
pub(crate) fn no_increment_is_lost(handles: Handles<'_, '_>) {
    let increments = 25;
    let store = handles.first();
    let counter = key("counter");
    store.committed(Batch::new().put(counter.clone(), document(0)));
    at_once(CALLERS, |caller| {
        for _ in 0..increments {
            retried(CALLERS * increments, || increment(handles.of(caller), &counter));
        }
    });
    assert_eq!(number(&store.present(&counter)), CALLERS * increments);
}

/// Callers that move amounts between rows keep their sum, and each get sees it whole.
pub(crate) fn transfers_keep_the_sum(handles: Handles<'_, '_>) {
    let (transfers, each) = (15, 1_000);
    let store = handles.first();
    let accounts = numbered_keys(4);
    let open = |batch: Batch, key: &Key| batch.put(key.clone(), document(each));
    store.committed(accounts.iter().fold(Batch::new(), open));
    let sum =
        |caller| handles.of(caller).get(&accounts).iter().flatten().map(number).sum::<usize>();

    at_once(CALLERS, |caller| {
        let mut random = SplitMix::new(u64::try_from(caller).expect("it is small"));
        for _ in 0..transfers {
            let from = random.below(accounts.len());
            let to = (from + 1 + random.below(accounts.len() - 1)) % accounts.len();
            let (from, to) = (numbered(from), numbered(to));
            retried(CALLERS * transfers, || transfer(handles.of(caller), &from, &to));
            assert_eq!(sum(caller), accounts.len() * each);
        }
    });
    assert_eq!(sum(0), accounts.len() * each);
}

/// The rows of one get are those of one instant: a commit is in all of them or in none.
pub(crate) fn readers_never_see_half_a_commit(handles: Handles<'_, '_>) {
    let (least_reads, least_commits) = (50, 40);
    let store = handles.first();
    let keys = numbered_keys(16);
    let rewrite = |round| {
        let put = |batch: Batch, key: &Key| batch.put(key.clone(), document(round));
        keys.iter().fold(Batch::new(), put)
    };
    let delete = || keys.iter().cloned().fold(Batch::new(), Batch::delete);

    let commits = AtomicUsize::new(0);
    let read = &|caller| {
        let mut reads = 0;
        while reads < least_reads || commits.load(Ordering::Relaxed) < least_commits {
            assert_of_one_version(&handles.of(caller).get(&keys));
            reads += 1;
        }
    };
    let refused = thread::scope(|scope| {
        let readers: Vec<_> =
            (1..CALLERS).map(|caller| scope.spawn(move || read(caller))).collect();
        // Commits go on for as long as there is one who could see half of them, and end without a
        // panic, as readers wait for them.
        let mut answers =
            (0..).take_while(|_| !readers.iter().all(ScopedJoinHandle::is_finished)).map(|round| {
                let batch = if round % 4 == 3 { delete() } else { rewrite(round) };
                let answer = store.try_commit(batch);
                commits.fetch_add(1, Ordering::Relaxed);
                answer
            });
        let refused = answers.find(|answer| !matches!(answer, Ok(Commit::Committed(_))));
        commits.store(usize::MAX, Ordering::Relaxed);
        refused
    });
    assert!(refused.is_none(), "a commit without preconditions was answered {refused:?}");
}

fn assert_of_one_version(rows: &[Option<Row>]) {
    let version = |row: &Option<Row>| row.as_ref().map(|row| row.version);
    let versions: Vec<_> = rows.iter().map(version).collect();
    assert!(
        versions.iter().all(|version| Some(version) == versions.first()),
        "one get saw several states: {versions:?}"
    );
}

/// Lets every caller commit its batch at once, and returns the one that was not in conflict.
fn only_winner(handles: Handles<'_, '_>, batch: impl Fn(usize) -> Batch + Sync) -> usize {
    let answers = at_once(CALLERS, |caller| handles.of(caller).commit(batch(caller)));
    let answers = answers.into_iter().enumerate();
    let won = answers.filter(|(_, answer)| matches!(answer, Commit::Committed(_)));
    let won: Vec<_> = won.map(|(caller, _)| caller).collect();
    assert_eq!(won.len(), 1, "callers {won:?} won");
    won.first().copied().expect("there is one")
}

/// Runs every caller in a thread of its own, none before all are there, and returns what they did.
pub(crate) fn at_once<T: Send>(count: usize, call: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (call, start) = (&call, &Barrier::new(count));
    thread::scope(|scope| {
        let spawn = |caller| {
            scope.spawn(move || {
                start.wait();
                call(caller)
            })
        };
        let callers: Vec<_> = (0..count).map(spawn).collect();
        let done = callers.into_iter().map(|caller| caller.join().expect("no caller fails"));
        done.collect()
    })
}

/// Tries until a try was not in conflict. Each conflict is the success of another caller, so that
/// there are no more of them than commits.
pub(crate) fn retried(commits: usize, attempt: impl Fn() -> Commit) {
    let done = (0..=commits).any(|_| matches!(attempt(), Commit::Committed(_)));
    assert!(done, "{commits} commits made more conflicts than that for one caller");
}

pub(crate) fn increment(store: &Subject<'_>, key: &Key) -> Commit {
    let row = store.present(key);
    let batch = Batch::new().expect(key.clone(), Expected::Version(row.version));
    store.commit(batch.put(key.clone(), document(number(&row) + 1)))
}

fn transfer(store: &Subject<'_>, from: &Key, to: &Key) -> Commit {
    let [source, target] = [from, to].map(|key| key.clone());
    let found: Vec<Row> = store.get(&[source, target]).into_iter().flatten().collect();
    let [source, target] = <[Row; 2]>::try_from(found).expect("both rows are there");
    let batch = Batch::new()
        .expect(from.clone(), Expected::Version(source.version))
        .expect(to.clone(), Expected::Version(target.version));
    let (less, more) = (number(&source) - 1, number(&target) + 1);
    store.commit(batch.put(from.clone(), document(less)).put(to.clone(), document(more)))
}
