//! What would change a folder without a note.

use std::ffi::{c_char, c_int, c_long, c_uint};

use libc::{off_t, size_t, ssize_t};

use super::{Place, find, give_up};

macro_rules! refused {
    ($($name:ident($fd:ident: c_int $(, $other:ident: $type:ty)*) = $call:ident;)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($fd: c_int $(, $other: $type)*) -> c_long {
            if find($fd).is_some() {
                give_up(concat!(stringify!($name), " is not noted"));
            }
            unsafe { libc::syscall(libc::$call, $fd $(, $other)*) }
        }
    )* };
}

refused! {
    fallocate64(fd: c_int, mode: c_int, at: off_t, length: off_t) = SYS_fallocate;
    fallocate(fd: c_int, mode: c_int, at: off_t, length: off_t) = SYS_fallocate;
    sendfile64(fd: c_int, from: c_int, at: *mut off_t, count: size_t) = SYS_sendfile;
    sendfile(fd: c_int, from: c_int, at: *mut off_t, count: size_t) = SYS_sendfile;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn copy_file_range(
    from: c_int,
    from_at: *mut off_t,
    to: c_int,
    to_at: *mut off_t,
    length: size_t,
    flags: c_uint,
) -> ssize_t {
    if find(to).is_some() {
        give_up("copy_file_range is not noted");
    }
    let call = libc::SYS_copy_file_range;
    unsafe { libc::syscall(call, from, from_at, to, to_at, length, flags) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn linkat(
    at: c_int,
    path: *const c_char,
    to_at: c_int,
    to_path: *const c_char,
    flags: c_int,
) -> c_int {
    if Place::of(to_at, to_path).is_some() {
        give_up("linkat is not noted");
    }
    unsafe { libc::syscall(libc::SYS_linkat, at, path, to_at, to_path, flags) as c_int }
}
