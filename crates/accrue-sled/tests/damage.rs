//! What is noticed of a disk that loses or changes what it had confirmed: `docs/backends.md` says the
//! same.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so")]

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use accrue::store::{Batch, Document, Key, Scan, Store, StoreError, Table};
use accrue_sled::{OpenErrorKind, SledStore};
use pollster::block_on;

const TABLE: Table = Table::new("item");
const ROWS: u8 = 10;
const SEGMENT: u64 = 8 << 20;

fn document(commit: u8, bytes: usize) -> Document {
    let text = "x".repeat(bytes);
    Document::parse(format!(r#"{{"v":1,"commit":{commit},"text":"{text}"}}"#)).unwrap()
}

/// A directory, what was committed to it, and what of that is to be looked for.
struct Filled {
    directory: tempfile::TempDir,
    commits: u8,
    bytes: usize,
}

impl Filled {
    /// Commits whose rows have so many bytes each. The store is opened a second time on the way.
    fn with(commits: u8, bytes: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for commits in [0..commits / 3, commits / 3..commits] {
            let store = SledStore::open(directory.path()).unwrap();
            for commit in commits {
                let batch = (0..ROWS).fold(Batch::new(), |batch, row| {
                    batch.put(Key::new(TABLE, [commit, row]), document(commit, bytes))
                });
                block_on(store.commit(batch)).unwrap();
            }
        }
        Self { directory, commits, bytes }
    }

    /// All within one segment, the last.
    fn little() -> Self {
        let filled = Self::with(15, 15_000);
        assert!(filled.end() < SEGMENT);
        filled
    }

    /// Nine segments and more. Which of them are in use again, and for what, differs.
    fn much() -> Self {
        Self::with(60, 50_000)
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("db")
    }

    /// Where the log ends that is in one segment.
    fn end(&self) -> u64 {
        let bytes = fs::read(self.log()).unwrap();
        u64::try_from(bytes.iter().rposition(|byte| *byte != 0).unwrap()).unwrap()
    }

    fn places(&self) -> impl Iterator<Item = u64> {
        let end = self.end();
        (1..20).map(move |nth| end * nth / 20)
    }

    /// What is found where all commits are there.
    fn all(&self) -> Found {
        Found::Rows(vec![usize::from(ROWS); self.commits.into()])
    }

    /// Damages a copy of the log, and looks. What is read is what was written, whatever the damage.
    fn after(&self, damage: impl FnOnce(&mut File)) -> Found {
        let damaged = tempfile::tempdir().unwrap();
        copy(self.directory.path(), damaged.path());
        let log = File::options().read(true).write(true).open(damaged.path().join("db"));
        damage(&mut log.unwrap());
        let Ok(store) = SledStore::open(damaged.path()) else { return Found::Refused };
        let mut all = Vec::new();
        for commit in 0..self.commits {
            match block_on(store.scan(&Scan::prefix(TABLE, &[commit], 100))) {
                Err(StoreError::Corrupt { .. }) => return Found::Corrupt,
                Err(error) => panic!("{error:?}"),
                Ok(rows) => {
                    let document = document(commit, self.bytes);
                    assert!(rows.iter().all(|row| row.document == document));
                    all.push(rows.len());
                }
            }
        }
        Found::Rows(all)
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What there is behind some damage.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// The store does not open.
    Refused,
    /// Some rows are told to be corrupt.
    Corrupt,
    /// It opens, with this many rows of each commit.
    Rows(Vec<usize>),
}

impl Found {
    /// The first commits as a whole, and nothing of those that follow them. Returns how many.
    fn beginning(&self) -> usize {
        let Self::Rows(rows) = self else { panic!("{self:?}") };
        let commits = rows.iter().filter(|rows| **rows > 0).count();
        let expected = (0..rows.len()).map(|nth| if nth < commits { ROWS.into() } else { 0 });
        assert!(rows.iter().copied().eq(expected), "{rows:?}");
        commits
    }
}

fn flip(log: &mut File, at: u64) {
    let mut byte = [0];
    log.seek(SeekFrom::Start(at)).unwrap();
    log.read_exact(&mut byte).unwrap();
    log.seek(SeekFrom::Start(at)).unwrap();
    log.write_all(&byte.map(|byte| byte ^ 0x10)).unwrap();
}

#[test]
fn what_is_cut_off_at_the_end_is_not_missed() {
    let filled = Filled::little();
    let left = |at| match filled.after(|log| log.set_len(at).unwrap()) {
        // The last snapshot knows of more.
        Found::Refused => 0,
        found => found.beginning(),
    };
    let left: Vec<_> = filled.places().map(left).collect();
    assert!(left.is_sorted(), "{left:?}");
    assert!((10..15).contains(left.last().unwrap()), "{left:?}");
}

/// A power cut may leave the last commit so, behind a page that a reader has split.
#[test]
fn a_bit_takes_two_commits_at_most() {
    let filled = Filled::little();
    let mut found: Vec<_> = filled.places().map(|at| filled.after(|log| flip(log, at))).collect();
    let refused = found.iter().take_while(|found| **found == Found::Refused).count();
    assert!((10..19).contains(&refused), "{found:?}");
    for found in found.split_off(refused) {
        assert!((13..15).contains(&found.beginning()), "{found:?}");
    }
}

#[test]
fn damage_at_which_sled_would_drop_what_follows_is_left_as_it_is() {
    let filled = Filled::little();
    let mut log = File::options().read(true).write(true).open(filled.log()).unwrap();
    flip(&mut log, filled.end() / 2);
    let before = fs::read(filled.log()).unwrap();
    let error = SledStore::open(filled.directory.path()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Corrupt);
    assert!(error.to_string().contains("its log is damaged"), "{error}");
    assert!(fs::read(filled.log()).unwrap() == before);
}

#[test]
fn a_damaged_header_of_a_segment_is_noticed_where_it_matters() {
    let filled = Filled::much();
    let segments = fs::metadata(filled.log()).unwrap().len() / SEGMENT;
    let found: Vec<_> =
        (0..segments).map(|nth| filled.after(|log| flip(log, nth * SEGMENT + 5))).collect();
    assert!(found.contains(&Found::Refused), "{found:?}");
    // sled reads none of those before its last snapshot.
    assert!(found.iter().all(|found| [Found::Refused, filled.all()].contains(found)), "{found:?}");
}

/// sled reads the log from the last snapshot on, and everything else when it is asked for.
#[test]
fn damage_of_older_segments_leaves_no_other_rows() {
    let filled = Filled::much();
    let end = fs::metadata(filled.log()).unwrap().len();
    let places = || (0..12).map(|nth| nth * end / 12 + 5);
    let found: Vec<_> = places().map(|at| filled.after(|log| flip(log, at))).collect();
    assert!(found.contains(&Found::Refused), "{found:?}");
    let found: Vec<_> = places().map(|at| filled.after(|log| log.set_len(at).unwrap())).collect();
    assert!(found.contains(&Found::Refused), "{found:?}");
}

#[test]
fn a_log_that_is_lost_is_noticed() {
    let filled = Filled::little();
    assert_eq!(filled.after(|log| log.set_len(0).unwrap()), Found::Refused);
    let zeroes = |log: &mut File| {
        log.set_len(0).unwrap();
        log.set_len(SEGMENT).unwrap();
    };
    assert_eq!(filled.after(zeroes), Found::Refused);
}
