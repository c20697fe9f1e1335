//! The program as it is started: its keys, its files, and what it says when it does not start.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_axum-server"));
    command.args(arguments).env_remove("ACCRUE_API_KEY").stdin(Stdio::null());
    command
}

/// Runs it to its end.
fn run(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

/// Runs it to its proper end, and returns what it wrote to standard output.
#[track_caller]
fn done(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = run(arguments);
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Runs it to its end, which is to be a failure that says this.
#[track_caller]
fn fails(arguments: &[&str], expected: &str) {
    let Output { status, stdout, stderr } = run(arguments);
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(!status.success() && stdout.is_empty(), "{stderr}");
    assert!(stderr.contains(expected) && !stderr.contains("secret"), "{stderr}");
}

/// A server that is started as a program, and killed at the end.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(mut command: Command, input: &str) -> Self {
        command.args(["--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").unwrap();
        let address = address.strip_suffix("/v1").unwrap().to_owned();
        Self { child, address }
    }

    /// Sends a ping with a key, and returns the status of the answer.
    fn ping(&self, key: &str) -> u16 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = "GET /v1/ping HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer";
        write!(stream, "{head} {key}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn store(kind: &str, folder: &Path) -> String {
    format!("{kind}:{}", folder.join("store").display())
}

#[test]
fn a_key_is_issued_shown_once_used_rotated_and_revoked() {
    for kind in ["fjall", "sled"] {
        let folder = tempfile::tempdir().unwrap();
        let store = store(kind, folder.path());
        let of = ["--store", &store, "--account", "acme"];
        let issued = done(&[&["keys", "issue", "--name", "back end"], &of[..]].concat());
        let token = issued.strip_suffix('\n').unwrap();
        assert!(token.starts_with("accrue_") && !token.contains(char::is_whitespace), "{issued}");

        let listed = done(&[&["keys", "list"], &of[..]].concat());
        assert_eq!(listed.lines().count(), 1, "{listed}");
        assert!(listed.contains("good  back end") && !listed.contains(token), "{listed}");
        let id = listed.split(' ').next().unwrap();

        let serve = || Server::start(program(&["--store", &store]), "");
        let server = serve();
        assert_eq!((server.ping(token), server.ping("other")), (200, 401));
        let revoke = [&["keys", "revoke", "--id", id], &of[..]].concat();
        fails(&revoke, "one process at a time uses a store: stop the server first");
        drop(server);

        let rotate = [&["keys", "rotate", "--id", id, "--overlap-hours", "0"], &of[..]].concat();
        let rotated = done(&rotate);
        let server = serve();
        assert_eq!((server.ping(token), server.ping(rotated.trim_end())), (401, 200));
        drop(server);

        assert_eq!(done(&revoke), "");
        let server = serve();
        assert_eq!(server.ping(rotated.trim_end()), 401);
        drop(server);
        let listed = done(&[&["keys", "list"], &of[..]].concat());
        assert!(listed.contains("revoked 20"), "{listed}");
    }
}

#[test]
fn a_key_of_the_store_is_good_beside_that_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = store("fjall", folder.path());
    let of = ["--store", &store, "--account", "acme"];
    let kept = done(&[&["keys", "issue", "--name", "backend"], &of[..]].concat());
    let file = folder.path().join("key");
    std::fs::write(&file, "secret\n").unwrap();
    let command = program(&["--store", &store, "--api-key-file", file.to_str().unwrap()]);
    let server = Server::start(command, "");
    assert_eq!(
        (server.ping("secret"), server.ping(kept.trim_end()), server.ping("x")),
        (200, 200, 401)
    );
}

#[test]
fn a_key_comes_from_the_environment_or_standard_input() {
    let mut command = program(&[]);
    command.env("ACCRUE_API_KEY", "secret");
    assert_eq!(Server::start(command, "").ping("secret"), 200);
    let server = Server::start(program(&["--api-key-file", "-"]), "secret\n");
    assert_eq!(server.ping("secret"), 200);
}

#[test]
fn keys_are_of_the_account_before_them() {
    let last = "o\"`~";
    let acme = ["--account", "acme", "--api-key-file", "-", "--api-key", "-k"];
    let other = ["--account", "other", "--api-key", last];
    let server = Server::start(program(&[&acme[..], &other].concat()), "secret\n");
    let found = ["secret", "-k", last, "k", "x"].map(|key| server.ping(key));
    assert_eq!(found, [200, 200, 200, 401, 401]);
}

#[test]
fn what_is_wrong_with_options_is_said() {
    for (arguments, expected) in [
        (
            &["--api-key", "secret", "--account", "a", "--api-key", "secret"][..],
            "error: the accounts default and a have the same API key: expected keys of their own\n",
        ),
        (
            &["--api-key", "secret", "--account", "a"],
            "error: no API key follows --account a: expected --api-key KEY or --api-key-file FILE\n",
        ),
        (&["--account", ""], "invalid value '' for '--account <NAME>': account id has 0 bytes"),
        (&["--grace-period", "29d"], "as in 12h or 3d, and at most 28d"),
        (&["--rate-limit", "some"], "[possible values: live, test, trial, none]"),
        (&["--manual-clock", "now"], "expected a date and time, as in 2026-03-01T00:00:00Z"),
        (&["--manual-clock"], "a value is required for '--manual-clock <INSTANT>'"),
        (&["--store", "x"], "expected `memory`, `fjall:DIR`, `sled:DIR` or `postgres:URL`"),
        (&["--base-path", "v1"], "expected a path of letters, digits and -._~, as in /v1"),
        (&["--listen", "8080"], "expected an address and a port"),
    ] {
        fails(arguments, expected);
    }
}

#[test]
fn the_environment_is_not_beside_arguments() {
    let mut command = program(&["--account", "a", "--api-key", "secret"]);
    let output = command.env("ACCRUE_API_KEY", "secret").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = "API keys are given by --api-key and by ACCRUE_API_KEY: expected one of them\n";
    assert_eq!(stderr, format!("error: {expected}"));
}

#[test]
fn without_a_key_it_says_what_to_do() {
    // No address of this machine: a server that starts nevertheless ends.
    let listen = ["--listen", "192.0.2.1:1"];
    let expected =
        "nobody could be let in: give an API key with --api-key-file or in ACCRUE_API_KEY";
    fails(&listen, &format!("{expected}\n"));
    let folder = tempfile::tempdir().unwrap();
    let store = store("fjall", folder.path());
    let expected = format!("keys issue --store {store} --account NAME --name NAME\n");
    fails(&[&["--store", &store], &listen[..]].concat(), &expected);
}

#[test]
fn what_is_wrong_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let store = store("fjall", folder.path());
    let of = ["--store", &store, "--account", "acme"];
    let issue = |more: &[&'static str]| -> Vec<String> {
        let all = ["keys", "issue"].iter().chain(&of).chain(more);
        all.map(|argument| (*argument).to_owned()).collect()
    };
    for (arguments, expected) in [
        (issue(&[]), "--name <NAME>"),
        (issue(&["--name", ""]), "name has 0 characters"),
        (issue(&["--name", "x", "--account", "y"]), "cannot be used multiple times"),
    ] {
        fails(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }
    let missing = [&["keys", "list"], &of[..]].concat();
    fails(&missing, "there is no store in");
    assert!(!folder.path().join("store").exists());
    let memory = ["--store", "memory", "--account", "acme"];
    fails(&[&["keys", "list"], &memory[..]].concat(), "a store in memory keeps no API keys");
    fails(&["keys", "list", "--store", &store], "--account <NAME>");
    fails(&["--api-key", "sec ret"], "has more than visible ASCII characters");
    fails(&["--api-key-file", "/missing/key"], "cannot be read from /missing/key: No such file");
}

#[test]
fn an_unknown_key_is_not_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let store = store("fjall", folder.path());
    let of = ["--store", &store, "--account", "acme"];
    done(&[&["keys", "issue", "--name", "x"], &of[..]].concat());
    let listed = done(&[&["keys", "list"], &of[..]].concat());
    let id = listed.split(' ').next().unwrap();
    let other = ["--store", &store, "--account", "other"];
    fails(&[&["keys", "revoke", "--id", id], &other[..]].concat(), "API key");
    fails(
        &[&["keys", "revoke", "--id", "x"], &of[..]].concat(),
        "invalid value 'x' for '--id <ID>'",
    );
}

#[cfg(unix)]
#[test]
fn what_it_writes_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    fn check(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let checked = entries.map(|path| {
            let data = std::fs::metadata(&path).unwrap();
            let expected = if data.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(data.permissions().mode() & 0o777, expected, "{}", path.display());
            if data.is_dir() { check(&path) } else { 1 }
        });
        checked.sum()
    }

    for kind in ["fjall", "sled"] {
        let folder = tempfile::tempdir().unwrap();
        let store = store(kind, folder.path());
        done(&["keys", "issue", "--store", &store, "--account", "acme", "--name", "x"]);
        assert!(check(folder.path()) >= 2, "{kind}");
        let server = Server::start(program(&["--store", &store]), "");
        assert!(check(folder.path()) >= 2, "{kind}");
        drop(server);
    }
}
