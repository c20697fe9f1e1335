use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

use crate::left_out;

/// Where Debian has the programs.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Tells whether there are the programs of a server, and says so where there are none.
#[must_use]
pub fn is_installed() -> bool {
    let found = programs().is_some();
    if !found {
        left_out("all that needs a server of its own", "there is no initdb");
    }
    found
}

/// Runs a program of PostgreSQL in a folder, and returns what it said.
pub(crate) fn run(program: &str, arguments: &[&str], folder: &Path) -> (ExitStatus, String) {
    let program = programs().unwrap().join(program);
    let mut command = match user() {
        Some(_) => Command::new("runuser"),
        None => Command::new(&program),
    };
    if user().is_some() {
        command.args(["-u", "postgres", "--"]).arg(&program);
    }
    // What it starts must not hold our pipes, and must be able to read the folder that it is in.
    let said = folder.join("said");
    let file = File::create(&said).unwrap();
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    let status = command.stdout(file.try_clone().unwrap()).stderr(file).status().unwrap();
    (status, String::from_utf8_lossy(&fs::read(said).unwrap()).into_owned())
}

fn programs() -> Option<PathBuf> {
    let mut found: Vec<_> = match env::var_os("POSTGRES_BIN") {
        Some(named) => vec![PathBuf::from(named)],
        None => {
            let versions = fs::read_dir(DEBIAN).ok()?.filter_map(Result::ok);
            versions.map(|version| version.path().join("bin")).collect()
        }
    };
    found.retain(|bin| bin.join("initdb").exists());
    found.sort();
    found.pop()
}

/// The user and group that root runs a server as.
pub(crate) fn user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|line| line.starts_with("postgres:")).unwrap();
    let ids: Vec<u32> = line.split(':').skip(2).take(2).map(|id| id.parse().unwrap()).collect();
    Some((ids[0], ids[1]))
}
