use std::{fs, path::Path};

use accrue_benches::Outcome;

/// The bytes that a folder takes on the disk.
pub(crate) fn on_disk(folder: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { on_disk(&entry.path())? } else { allocated(&about) };
    }
    Ok(bytes)
}

/// What is allocated: a file may have holes.
#[cfg(unix)]
fn allocated(about: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    about.blocks() * 512
}

#[cfg(not(unix))]
fn allocated(about: &fs::Metadata) -> u64 {
    about.len()
}

/// The bytes of memory that this process has, where the system tells as Linux does.
pub(crate) fn in_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
