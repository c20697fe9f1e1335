//! What is noticed of a disk that loses or changes what it had confirmed: `docs/backends.md` says the
//! same.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so")]

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use accrue::store::{Batch, Document, Key, Scan, Store, StoreError, Table};
use accrue_fjall::FjallStore;
use pollster::block_on;

const TABLE: Table = Table::new("item");
const COMMITS: u8 = 160;
const ROWS: u8 = 10;

/// What is not compressed away.
fn document(commit: u8) -> Document {
    let (mut state, mut text) = (u64::from(commit), String::new());
    while text.len() < 50_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        write!(text, "{:x}", state >> 8).unwrap();
    }
    Document::parse(format!(r#"{{"v":1,"commit":{commit},"text":"{text}"}}"#)).unwrap()
}

fn batch(commit: u8) -> Batch {
    let document = document(commit);
    (0..ROWS).fold(Batch::new(), |batch, row| {
        batch.put(Key::new(TABLE, [commit, row]), document.clone())
    })
}

/// Commits of half a megabyte, of which the first are in a table, and the last in the journal alone.
fn filled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = FjallStore::open(folder.path()).unwrap();
    (0..COMMITS).for_each(|commit| drop(block_on(store.commit(batch(commit))).unwrap()));
    drop(store);
    // The journal is cut to what it has.
    drop(FjallStore::open(folder.path()).unwrap());
    folder
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { found.extend(files(&entry)) } else { found.push(entry) }
    }
    found
}

/// The greatest file whose path has this in it, from the folder on.
fn greatest(folder: &Path, part: &str) -> PathBuf {
    let is_of = |path: &PathBuf| path.to_string_lossy().contains(part);
    let length = |path: &PathBuf| fs::metadata(path).unwrap().len();
    let file = files(folder).into_iter().filter(is_of).max_by_key(length).unwrap();
    file.strip_prefix(folder).unwrap().to_owned()
}

/// What there is behind some damage.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// The store does not open.
    Refused,
    /// Some rows are told to be corrupt, of so many commits.
    Corrupt(usize),
    /// It opens, with so many of the commits from the first one on, and nothing of the others.
    Beginning(usize),
}

/// Damages a copy of a file, and looks. What is read is what was written, whatever the damage.
fn after(folder: &Path, file: &Path, damage: impl FnOnce(&mut File)) -> Found {
    let damaged = tempfile::tempdir().unwrap();
    for path in files(folder) {
        let target = damaged.path().join(path.strip_prefix(folder).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(path, target).unwrap();
    }
    let opened = File::options().read(true).write(true).open(damaged.path().join(file));
    damage(&mut opened.unwrap());
    let Ok(store) = FjallStore::open(damaged.path()) else { return Found::Refused };
    let (mut whole, mut corrupt) = (0, 0);
    for commit in 0..COMMITS {
        match block_on(store.scan(&Scan::prefix(TABLE, &[commit], 100))) {
            Err(StoreError::Corrupt { .. }) => corrupt += 1,
            Err(error) => panic!("{error:?}"),
            Ok(rows) if rows.is_empty() => {}
            Ok(rows) => {
                assert_eq!(rows.len(), usize::from(ROWS), "a commit is there as a whole");
                let document = document(commit);
                assert!(rows.iter().all(|row| row.document == document));
                assert_eq!(whole + corrupt, usize::from(commit), "none before it is missing");
                whole += 1;
            }
        }
    }
    if corrupt > 0 { Found::Corrupt(corrupt) } else { Found::Beginning(whole) }
}

fn flip(file: &mut File, at: u64) {
    let mut byte = [0];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&byte.map(|byte| byte ^ 0x10)).unwrap();
}

#[test]
fn damage_of_the_journal_is_noticed_but_at_its_end() {
    let folder = filled();
    let journal = greatest(folder.path(), ".jnl");
    let end = fs::metadata(folder.path().join(&journal)).unwrap().len();
    let all = usize::from(COMMITS);
    for at in (0..4).map(|nth| nth * end / 5 + 7_000) {
        let flipped = after(folder.path(), &journal, |file| flip(file, at));
        assert_eq!(flipped, Found::Refused, "{at} of {end}");
        let cut = after(folder.path(), &journal, |file| file.set_len(at).unwrap());
        let Found::Beginning(commits) = cut else { panic!("{cut:?}") };
        assert!(commits < all, "nobody knows of what was behind the cut");
    }
    let flipped = after(folder.path(), &journal, |file| flip(file, end - 7_000));
    assert_eq!(flipped, Found::Beginning(all - 1));
}

#[test]
fn damage_of_a_table_is_noticed() {
    let folder = filled();
    let table = greatest(folder.path(), "tables");
    let end = fs::metadata(folder.path().join(&table)).unwrap().len();
    for at in (1..5).map(|nth| nth * end / 5) {
        let flipped = after(folder.path(), &table, |file| flip(file, at));
        assert_eq!(flipped, Found::Corrupt(1), "{at} of {end}");
        let cut = after(folder.path(), &table, |file| file.set_len(at).unwrap());
        assert_eq!(cut, Found::Refused);
    }
}
