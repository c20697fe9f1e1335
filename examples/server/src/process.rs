//! What the process asks of the operating system.

/// Lets only the user of the process read what it writes: files are made with mode 0600, folders with
/// 0700.
#[cfg(unix)]
pub(crate) fn keep_files_private() {
    use rustix::{fs::Mode, process::umask};

    umask(Mode::RWXG | Mode::RWXO);
}

#[cfg(not(unix))]
pub(crate) const fn keep_files_private() {}

/// Returns how many files the process may open.
#[cfg(unix)]
pub(crate) fn open_files() -> usize {
    use rustix::process::{Resource, getrlimit};

    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
pub(crate) const fn open_files() -> usize {
    usize::MAX
}
