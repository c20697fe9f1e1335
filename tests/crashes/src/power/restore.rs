use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
};

use super::{Uncovered, notes::Change, notes::name_of_kept};
use crate::dice::Dice;

/// What a disk writes at once, in bytes.
const PAGE: usize = 4096;

/// Takes the changes back, and makes those again that the disk has nevertheless.
pub(crate) fn restore(
    folder: &Path,
    kept: &Path,
    open: &[Change],
    uncovered: Uncovered,
    dice: &mut Dice,
) -> io::Result<()> {
    let begun = match uncovered {
        Uncovered::Lost => 0,
        Uncovered::Begun | Uncovered::Torn => dice.below(open.len() + 1),
    };
    for change in open.iter().skip(begun).rev().filter(|change| change.is_of_names()) {
        take_back(folder, kept, change)?;
    }
    let mut of_files: BTreeMap<u64, Vec<(usize, &Change)>> = BTreeMap::new();
    for (number, change) in open.iter().enumerate().filter(|(_, change)| !change.is_of_names()) {
        of_files.entry(change.made_durable_by()).or_default().push((number, change));
    }
    let paths = paths(&[folder, kept])?;
    for (inode, changes) in of_files {
        // What was made and is not there after all has no path.
        let Some(path) = paths.get(&inode) else { continue };
        let file = OpenOptions::new().write(true).open(path)?;
        for (_, change) in changes.iter().rev() {
            undo(&file, change)?;
        }
        for (number, change) in changes {
            match uncovered {
                Uncovered::Torn => redo(&file, change, || dice.below(2) == 0)?,
                _ if number < begun => redo(&file, change, || true)?,
                _ => {}
            }
        }
    }
    Ok(())
}

fn take_back(folder: &Path, kept: &Path, change: &Change) -> io::Result<()> {
    let paths = paths(&[folder, kept])?;
    let path = |folder: &u64, name: &std::ffi::OsStr| Some(paths.get(folder)?.join(name));
    let kept = |number: &u64| kept.join(name_of_kept(*number));
    match change {
        Change::Write { .. } | Change::Resize { .. } => {}
        Change::Make { folder, name } => match path(folder, name) {
            Some(path) if path.is_dir() => fs::remove_dir_all(path)?,
            Some(path) if path.exists() => fs::remove_file(path)?,
            _ => {}
        },
        Change::Remove { folder, name, kept: number } => {
            if let Some(path) = path(folder, name) {
                bring_back(&kept(number), &path)?;
            }
        }
        Change::Move { folder, name, to_folder, to_name, kept: number } => {
            let Some(to) = path(to_folder, to_name) else { return Ok(()) };
            // It may have been killed between the note and the move.
            if let Some(from) = path(folder, name).filter(|from| !from.exists() && to.exists()) {
                fs::rename(&to, from)?;
                if *number > 0 {
                    bring_back(&kept(number), &to)?;
                }
            }
        }
    }
    Ok(())
}

fn bring_back(kept: &Path, path: &Path) -> io::Result<()> {
    // It may have been killed before it was removed.
    match path.exists() || !kept.exists() {
        true => Ok(()),
        false if kept.is_dir() => fs::rename(kept, path),
        false => fs::hard_link(kept, path),
    }
}

fn undo(file: &File, change: &Change) -> io::Result<()> {
    let (at, length, before) = match change {
        Change::Write { at, length, before, .. } => (*at, *length, before),
        Change::Resize { from, to, before, .. } => (*to, *from, before),
        _ => return Ok(()),
    };
    file.set_len(length)?;
    file.write_all_at(before, at)
}

/// Makes the pages of a change that are to be there.
fn redo(file: &File, change: &Change, mut is_there: impl FnMut() -> bool) -> io::Result<()> {
    match change {
        Change::Resize { to, .. } if is_there() => file.set_len(*to),
        Change::Write { at, after, .. } => {
            let (mut at, mut rest) = (*at, after.as_slice());
            while !rest.is_empty() {
                let to_the_next = PAGE - usize::try_from(at).unwrap() % PAGE;
                let (page, others) = rest.split_at(to_the_next.min(rest.len()));
                if is_there() {
                    file.write_all_at(page, at)?;
                }
                at += u64::try_from(page.len()).unwrap();
                rest = others;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Where the files and folders are, by inode.
fn paths(folders: &[&Path]) -> io::Result<BTreeMap<u64, PathBuf>> {
    let (mut found, mut waiting) = (BTreeMap::new(), Vec::new());
    waiting.extend(folders.iter().map(|folder| folder.to_path_buf()));
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path)?;
        if metadata.is_dir() {
            for entry in fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        }
        found.insert(metadata.ino(), path);
    }
    Ok(found)
}
