//! Instructions, counted by callgrind: the program runs itself under it, once for each operation, so
//! that no operation feels what others left in the heap.

use std::{
    hint::black_box,
    io,
    path::Path,
    process::{Command, Stdio},
};

use accrue::store::MemoryStore;
use accrue_benches::Outcome;

use crate::operations::{Call, Operation};

/// How callgrind knows [`measured`], whatever the compiler adds to the name.
const MEASURED: &str = "*accrue_budgets*instructions*measured*";

/// Lets glibc's allocator keep all small blocks that are freed where it finds them at once. Otherwise
/// it searches, and for how long depends on what was freed before in which order: on the seeds of hash
/// maps, by up to 2 % from run to run.
const ALLOCATOR: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=1000");

/// Makes a call. Only what happens within is counted.
#[inline(never)]
pub(crate) fn measured(call: Call) -> Outcome<()> {
    black_box(call())
}

/// Makes the calls of an operation, for [`count`] to count, and says how many there were.
#[expect(clippy::print_stdout, reason = "the process above reads it")]
pub(crate) fn run(operation: &Operation) -> Outcome<()> {
    let prepared = operation.prepare(MemoryStore::new())?;
    let calls = prepared.calls.len();
    prepared.calls.into_iter().try_for_each(measured)?;
    println!("{calls}");
    Ok(())
}

/// Counts the instructions of all calls of an operation: how many calls there were, and the sum. The
/// profile is left in the file.
pub(crate) fn count(operation: &Operation, profile: &Path) -> Outcome<(u64, u64)> {
    let mut file = std::ffi::OsString::from("--callgrind-out-file=");
    // A per cent sign would stand for something.
    file.push(profile.to_string_lossy().replace('%', "%%"));
    let output = Command::new("valgrind")
        .env(ALLOCATOR.0, ALLOCATOR.1)
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--toggle-collect={MEASURED}"))
        .arg(file)
        .arg(std::env::current_exe()?)
        .args(["--run", operation.name])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| missing(&error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} under valgrind: {}\n{said}", operation.name, output.status).into());
    }
    let calls = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok((calls, total(&std::fs::read_to_string(profile)?)?))
}

/// The version that valgrind says it has.
pub(crate) fn valgrind() -> Outcome<String> {
    let output = Command::new("valgrind").arg("--version").output();
    let output = output.map_err(|error| missing(&error))?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn missing(error: &io::Error) -> String {
    format!(
        "valgrind cannot be started, and it counts the instructions: {error}. Debian and Ubuntu have \
         it as the package valgrind; --counts does without"
    )
}

/// The sum that a profile ends with.
fn total(profile: &str) -> Outcome<u64> {
    let totals = profile.lines().find_map(|line| line.strip_prefix("totals:"));
    match totals.ok_or("found a profile without totals")?.trim().parse()? {
        0 => Err(format!("found no instructions, expected some in {MEASURED}").into()),
        total => Ok(total),
    }
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn a_profile_ends_with_its_total() {
        assert_eq!(total("version: 1\nfn=a\n1 20\n\ntotals: 1234\n").unwrap(), 1234);
        assert!(total("version: 1\n").is_err());
        assert!(total("totals: 0\n").is_err());
    }
}
