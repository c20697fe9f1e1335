//! Functions of libc that this process defines itself: the standard library, sled and fjall are
//! linked to these. They note what changes in one folder before they make the system call, and which
//! flushes succeeded; see `accrue_crash_tests::power`.
//!
//! Calls that would change the folder in a way that is not noted end the process.

#![expect(unsafe_code, reason = "functions of libc are replaced, and have its signatures")]
#![allow(clippy::as_conversions, reason = "libc's types differ in their signs and widths")]
#![allow(clippy::missing_safety_doc, reason = "as libc says of each")]

mod refused;

use std::{
    ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_long, c_uint, c_void},
    fs::OpenOptions,
    os::{
        fd::{IntoRawFd, RawFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use accrue_crash_tests::power::{Change, KEPT, NOTES, Note, name_of_kept};
use libc::{iovec, mode_t, off_t, size_t, ssize_t};

/// The folder that is watched, and where notes of it go.
struct Watch {
    folder: PathBuf,
    kept: PathBuf,
    flushes_cover: bool,
    notes: Mutex<Notes>,
}

struct Notes {
    file: RawFd,
    written: u64,
    kept: u64,
    /// How many more changes are made before the process ends.
    left: Option<u64>,
}

static WATCH: OnceLock<Watch> = OnceLock::new();

/// Begins to note what changes in a folder. Where flushes cover nothing, none is noted. After so many
/// changes the process ends.
pub(crate) fn watch(
    folder: &Path,
    notes: &Path,
    flushes_cover: bool,
    left: Option<u64>,
) -> std::io::Result<()> {
    let folder = folder.canonicalize()?;
    let kept = notes.join(KEPT);
    std::fs::create_dir_all(&kept)?;
    let file = OpenOptions::new().create_new(true).append(true).open(notes.join(NOTES))?;
    let notes = Mutex::new(Notes { file: file.into_raw_fd(), written: 0, kept: 0, left });
    drop(WATCH.set(Watch { folder, kept, flushes_cover, notes }));
    Ok(())
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notes {
    fn note(&mut self, note: &Note) {
        let bytes = note.to_bytes();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            // SAFETY: the pointer and the length are those of a slice.
            let written =
                unsafe { libc::syscall(libc::SYS_write, self.file, rest.as_ptr(), rest.len()) };
            match usize::try_from(written) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(_) => give_up("a note cannot be written"),
            }
        }
        self.written += 1;
    }

    fn change(&mut self, change: Change) {
        match &mut self.left {
            // SAFETY: it takes no pointers.
            Some(0) => drop(unsafe { libc::raise(libc::SIGKILL) }),
            Some(left) => *left -= 1,
            None => {}
        }
        self.note(&Note::Change(change));
    }

    /// Draws the number under which something is kept.
    fn keep(&mut self) -> u64 {
        self.kept += 1;
        self.kept
    }
}

fn give_up(what: &str) -> ! {
    eprintln!("{what}");
    std::process::abort()
}

/// A descriptor of something in the folder.
struct Found<'a> {
    watch: &'a Watch,
    inode: u64,
    length: u64,
}

fn path_of(fd: c_int) -> PathBuf {
    let link = CString::new(format!("/proc/self/fd/{fd}")).unwrap_or_default();
    let mut bytes = vec![0_u8; 4096];
    // SAFETY: the link is a C string, and the buffer is as long as is said.
    let length = unsafe { libc::readlink(link.as_ptr(), bytes.as_mut_ptr().cast(), bytes.len()) };
    bytes.truncate(usize::try_from(length).unwrap_or(0));
    PathBuf::from(OsStr::from_bytes(&bytes))
}

/// Finds out about a descriptor, where it is of the folder that is watched.
fn find(fd: c_int) -> Option<Found<'static>> {
    let watch = WATCH.get()?;
    if !path_of(fd).starts_with(&watch.folder) {
        return None;
    }
    // SAFETY: a `stat` of zeros is one, and the pointer is to it.
    let stat = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        (libc::fstat(fd, &raw mut stat) == 0).then_some(stat)
    }?;
    Some(Found { watch, inode: stat.st_ino, length: u64::try_from(stat.st_size).unwrap_or(0) })
}

/// A name in a folder that is watched.
struct Place {
    watch: &'static Watch,
    /// A descriptor of the folder, which is closed in the end.
    fd: c_int,
    folder: u64,
    name: CString,
}

impl Drop for Place {
    fn drop(&mut self) {
        // SAFETY: nothing else has this descriptor.
        unsafe { libc::syscall(libc::SYS_close, self.fd) };
    }
}

impl Place {
    /// Finds out about a path, where its folder is watched.
    fn of(at: c_int, path: *const c_char) -> Option<Self> {
        let watch = WATCH.get()?;
        // SAFETY: who calls libc with a path hands in a C string.
        let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
        let name = CString::new(path.file_name()?.as_bytes()).ok()?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or_else(|| Path::new("."));
        let parent = CString::new(parent.as_os_str().as_bytes()).ok()?;
        let flags = libc::O_PATH | libc::O_CLOEXEC;
        // SAFETY: the path is a C string.
        let fd = unsafe { libc::syscall(libc::SYS_openat, at, parent.as_ptr(), flags) };
        let fd = c_int::try_from(fd).ok().filter(|fd| *fd >= 0)?;
        let mut place = Self { watch, fd, folder: 0, name };
        place.folder = find(fd)?.inode;
        Some(place)
    }

    fn name(&self) -> OsString {
        OsStr::from_bytes(self.name.to_bytes()).to_owned()
    }

    fn exists(&self) -> bool {
        let flags = libc::AT_SYMLINK_NOFOLLOW;
        // SAFETY: the name is a C string.
        unsafe { libc::faccessat(self.fd, self.name.as_ptr(), libc::F_OK, flags) == 0 }
    }

    fn kept_path(&self, number: u64) -> CString {
        let path = self.watch.kept.join(name_of_kept(number));
        CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
    }

    /// Keeps a file beside the notes, under one more name.
    fn keep_file(&self, number: u64) {
        let to = self.kept_path(number);
        let (name, here) = (self.name.as_ptr(), libc::AT_FDCWD);
        // SAFETY: both are C strings.
        if unsafe { libc::syscall(libc::SYS_linkat, self.fd, name, here, to.as_ptr(), 0) } != 0 {
            give_up("what is removed cannot be kept");
        }
    }
}

// Files: what is in them.

/// Notes what is about to be written, and holds the notes until it is.
fn note_write(fd: c_int, at: Option<u64>, after: &[u8]) -> Option<MutexGuard<'static, Notes>> {
    let found = find(fd)?;
    let mut notes = found.watch.lock();
    // It may have grown meanwhile.
    let length = find(fd)?.length;
    // SAFETY: these take no pointers.
    let (flags, position) =
        unsafe { (libc::fcntl(fd, libc::F_GETFL), libc::lseek(fd, 0, libc::SEEK_CUR)) };
    let at = match at {
        _ if flags & libc::O_APPEND != 0 => length,
        Some(at) => at,
        None => u64::try_from(position).unwrap_or(0),
    };
    let before = read(fd, at, after.len());
    let (inode, after) = (found.inode, after.to_vec());
    notes.change(Change::Write { inode, at, length, before, after });
    Some(notes)
}

/// Reads what is there, also of a file that is open for writing alone.
fn read(fd: c_int, at: u64, length: usize) -> Vec<u8> {
    let link = CString::new(format!("/proc/self/fd/{fd}")).unwrap_or_default();
    let (flags, mut bytes) = (libc::O_RDONLY | libc::O_CLOEXEC, vec![0; length]);
    let mut filled = 0;
    // SAFETY: the link is a C string; what is read goes to the rest of the buffer, as long as is said.
    unsafe {
        let own = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, link.as_ptr(), flags) as c_int;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let from = off_t::try_from(at).unwrap_or(0) + filled as off_t;
            let count = libc::pread(own, rest.as_mut_ptr().cast(), rest.len(), from);
            match usize::try_from(count) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(_) => give_up("what is overwritten cannot be read"),
            }
        }
        libc::syscall(libc::SYS_close, own);
    }
    bytes.truncate(filled);
    bytes
}

unsafe fn gathered(parts: *const iovec, count: c_int) -> Vec<u8> {
    let mut all = Vec::new();
    for index in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: as libc asks of its caller.
        unsafe {
            let part = &*parts.add(index);
            if part.iov_len > 0 {
                all.extend(std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len));
            }
        }
    }
    all
}

unsafe fn bytes<'a>(from: *const c_void, length: size_t) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: as libc asks of its caller.
    unsafe { std::slice::from_raw_parts(from.cast(), length) }
}

// SAFETY of all that follow: they have the signatures of libc's functions and do what those do.

#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, from: *const c_void, length: size_t) -> ssize_t {
    unsafe {
        let _notes = note_write(fd, None, bytes(from, length));
        libc::syscall(libc::SYS_write, fd, from, length) as ssize_t
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    unsafe {
        let _notes = note_write(fd, None, &gathered(parts, count));
        libc::syscall(libc::SYS_writev, fd, parts, count) as ssize_t
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(
    fd: c_int,
    from: *const c_void,
    length: size_t,
    at: off_t,
) -> ssize_t {
    unsafe {
        let _notes = note_write(fd, u64::try_from(at).ok(), bytes(from, length));
        libc::syscall(libc::SYS_pwrite64, fd, from, length, at) as ssize_t
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite(fd: c_int, from: *const c_void, length: size_t, at: off_t) -> ssize_t {
    unsafe { pwrite64(fd, from, length, at) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwritev(fd: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t {
    unsafe {
        let _notes = note_write(fd, u64::try_from(at).ok(), &gathered(parts, count));
        libc::syscall(libc::SYS_pwritev, fd, parts, count, at, 0) as ssize_t
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwritev64(fd: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t {
    unsafe { pwritev(fd, parts, count, at) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate64(fd: c_int, length: off_t) -> c_int {
    let found = find(fd);
    let notes = found.as_ref().map(|found| found.watch.lock());
    if let (Some(mut notes), Some(Found { inode, length: from, .. })) = (notes, find(fd)) {
        let to = u64::try_from(length).unwrap_or(0);
        let mut before = match usize::try_from(from.saturating_sub(to)) {
            Ok(0) | Err(_) => Vec::new(),
            Ok(lost) => read(fd, to, lost),
        };
        let used = before.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        before.truncate(used);
        notes.change(Change::Resize { inode, from, to, before });
        return unsafe { libc::syscall(libc::SYS_ftruncate, fd, length) as c_int };
    }
    unsafe { libc::syscall(libc::SYS_ftruncate, fd, length) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate(fd: c_int, length: off_t) -> c_int {
    unsafe { ftruncate64(fd, length) }
}

/// How long a flush takes at least, in milliseconds: as on a disk, so that power is often cut between
/// a write and the end of its flush.
const FLUSH_MILLIS: c_int = 2;

fn flush(fd: c_int, call: c_long) -> c_int {
    let found = find(fd);
    let notes = found.as_ref().map(|found| found.watch.lock().written);
    if found.is_some() {
        // SAFETY: it waits for no descriptors, and so needs none.
        unsafe { libc::poll(std::ptr::null_mut(), 0, FLUSH_MILLIS) };
    }
    // SAFETY: it takes no pointers.
    let done = unsafe { libc::syscall(call, fd) as c_int };
    if let (0, Some(Found { watch, inode, .. }), Some(notes)) = (done, found, notes)
        && watch.flushes_cover
    {
        watch.lock().note(&Note::Flushed { inode, notes });
    }
    done
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    flush(fd, libc::SYS_fsync)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    flush(fd, libc::SYS_fdatasync)
}

// Names.

#[unsafe(no_mangle)]
unsafe extern "C" fn openat64(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let open =
        |flags: c_int| unsafe { libc::syscall(libc::SYS_openat, at, path, flags, mode) as c_int };
    let is_changed = flags & (libc::O_CREAT | libc::O_TRUNC) != 0;
    let is_written = flags & libc::O_ACCMODE != libc::O_RDONLY;
    let Some(place) = (is_changed || is_written).then(|| Place::of(at, path)).flatten() else {
        return open(flags);
    };
    if flags & libc::O_DSYNC != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE {
        give_up("files that flush by themselves and files without a name are not noted");
    }
    let fd = {
        let mut notes = place.watch.lock();
        if flags & libc::O_CREAT != 0 && !place.exists() {
            notes.change(Change::Make { folder: place.folder, name: place.name() });
        }
        open(flags & !libc::O_TRUNC)
    };
    if fd >= 0 && flags & libc::O_TRUNC != 0 {
        unsafe { ftruncate64(fd, 0) };
    }
    fd
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    unsafe { openat64(at, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    unsafe { openat64(libc::AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    unsafe { openat64(libc::AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdirat(at: c_int, path: *const c_char, mode: mode_t) -> c_int {
    let place = Place::of(at, path);
    let mut notes = place.as_ref().map(|place| place.watch.lock());
    if let (Some(place), Some(notes)) = (&place, &mut notes)
        && !place.exists()
    {
        notes.change(Change::Make { folder: place.folder, name: place.name() });
    }
    unsafe { libc::syscall(libc::SYS_mkdirat, at, path, c_uint::from(mode)) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    unsafe { mkdirat(libc::AT_FDCWD, path, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(at: c_int, path: *const c_char, flags: c_int) -> c_int {
    let remove = || unsafe { libc::syscall(libc::SYS_unlinkat, at, path, flags) as c_int };
    let Some(place) = Place::of(at, path).filter(Place::exists) else { return remove() };
    let mut notes = place.watch.lock();
    let kept = notes.keep();
    let change = Change::Remove { folder: place.folder, name: place.name(), kept };
    if flags & libc::AT_REMOVEDIR == 0 {
        place.keep_file(kept);
        notes.change(change);
        return remove();
    }
    // A folder has one name: it is moved away. That it is empty is checked first.
    let path = path_of(place.fd).join(place.name());
    if std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) {
        return remove();
    }
    notes.change(change);
    let (name, to, here) = (place.name.as_ptr(), place.kept_path(kept), libc::AT_FDCWD);
    unsafe { libc::syscall(libc::SYS_renameat2, place.fd, name, here, to.as_ptr(), 0) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    unsafe { unlinkat(libc::AT_FDCWD, path, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    unsafe { unlinkat(libc::AT_FDCWD, path, libc::AT_REMOVEDIR) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat2(
    at: c_int,
    path: *const c_char,
    to_at: c_int,
    to_path: *const c_char,
    flags: c_uint,
) -> c_int {
    let call = libc::SYS_renameat2;
    let rename = || unsafe { libc::syscall(call, at, path, to_at, to_path, flags) as c_int };
    match (Place::of(at, path).filter(Place::exists), Place::of(to_at, to_path)) {
        (None, None) => rename(),
        (Some(from), Some(to)) if flags == 0 => {
            let mut notes = from.watch.lock();
            let kept = if to.exists() { notes.keep() } else { 0 };
            if kept > 0 {
                to.keep_file(kept);
            }
            let (folder, name) = (from.folder, from.name());
            let (to_folder, to_name) = (to.folder, to.name());
            notes.change(Change::Move { folder, name, to_folder, to_name, kept });
            rename()
        }
        _ => give_up("such a move is not noted"),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat(
    at: c_int,
    path: *const c_char,
    to_at: c_int,
    to_path: *const c_char,
) -> c_int {
    unsafe { renameat2(at, path, to_at, to_path, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(path: *const c_char, to_path: *const c_char) -> c_int {
    unsafe { renameat2(libc::AT_FDCWD, path, libc::AT_FDCWD, to_path, 0) }
}
