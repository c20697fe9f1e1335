use clap::Parser as _;

use super::*;
use crate::{Chain, Options};

/// Reads keys as arguments name them, with an environment that says so and this standard input.
fn read_with(
    arguments: &[&str],
    variable: Option<&str>,
    mut input: &[u8],
) -> Result<FixedKeys, ApiKeyError> {
    let all = ["server"].iter().chain(arguments);
    let options = Options::try_parse_from(all).unwrap().serve.api_keys;
    options.read_with(variable.map(OsString::from), &mut input)
}

fn read(arguments: &[&str]) -> Result<FixedKeys, ApiKeyError> {
    read_with(arguments, None, b"")
}

#[track_caller]
fn check(found: Result<FixedKeys, ApiKeyError>, expected: &[(&str, &str)]) {
    let found = found.unwrap();
    let found: Vec<_> =
        found.iter().map(|(account, key)| (account.as_str(), key.as_str())).collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn refused(found: Result<FixedKeys, ApiKeyError>, expected: &str) {
    let error = Chain(&found.unwrap_err()).to_string();
    assert!(error.contains(expected), "{error}");
    assert!(!error.contains("secret"), "{error}");
}

/// Reads a key from a file that has this content.
fn of_file(content: &[u8]) -> Result<FixedKeys, ApiKeyError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, content).unwrap();
    read(&["--api-key-file", path.to_str().unwrap()])
}

#[test]
fn each_source_gives_a_key() {
    let expected = &[("default", "secret")];
    check(read(&["--api-key", "secret"]), expected);
    check(read_with(&[], Some("secret"), b""), expected);
    check(read_with(&["--api-key-file", "-"], None, b"secret\n"), expected);
    check(read(&[]), &[]);
}

#[test]
fn a_key_is_of_the_account_before_it() {
    let arguments = [
        ["--api-key", "one"],
        ["--account", "acme"],
        ["--api-key", "two"],
        ["--api-key-file", "-"],
        ["--account", "Müller & Co"],
        ["--api-key", "four"],
        ["--account", "acme"],
        ["--api-key", "five"],
    ];
    let found = read_with(&arguments.concat(), None, b"three\n");
    let expected = [
        ("default", "one"),
        ("acme", "two"),
        ("acme", "three"),
        ("Müller & Co", "four"),
        ("acme", "five"),
    ];
    check(found, &expected);
}

#[test]
fn an_argument_between_changes_nothing() {
    let (key, account) = (["--api-key=secret"], ["--account=acme"]);
    for others in [&["--listen", "[::1]:0"][..], &["--rate-limit=none"], &[]] {
        check(read(&[&account, others, &key].concat()), &[("acme", "secret")]);
    }
    check(read(&["--account", "default", "--api-key", "secret"]), &[("default", "secret")]);
}

#[test]
fn an_account_has_a_key() {
    refused(read(&["--account", "acme"]), "no API key follows --account acme");
    let late = ["--api-key", "secret", "--account", "acme"];
    refused(read(&late), "no API key follows --account acme");
    let first = ["--account", "a", "--account", "b", "--api-key", "secret"];
    refused(read(&first), "no API key follows --account a:");
    refused(read_with(&["--account", "a"], Some("secret"), b""), "no API key follows --account a:");
}

#[test]
fn two_accounts_have_keys_of_their_own() {
    let shared = ["--account", "a", "--api-key", "secret", "--account", "b", "--api-key", "secret"];
    refused(read(&shared), "the accounts a and b have the same API key");
    let shared = ["--api-key", "secret", "--account", "b", "--api-key-file", "-"];
    let found = read_with(&shared, None, b"secret\n");
    refused(found, "the accounts default and b have the same API key");
    let twice = ["--api-key", "secret", "--api-key", "secret"];
    check(read(&twice), &[("default", "secret")]);
}

#[test]
fn a_key_may_begin_like_an_argument() {
    for key in ["-", "--", "-k", "--api-key", "--account", "--x=y", "=", "'\"$`\\"] {
        check(read(&["--api-key", key]), &[("default", key)]);
        check(read(&[&format!("--api-key={key}")]), &[("default", key)]);
    }
}

#[test]
fn a_file_may_end_with_a_line() {
    for content in ["secret", "secret\n", "secret\r\n"] {
        check(of_file(content.as_bytes()), &[("default", "secret")]);
    }
    let longest = "k".repeat(4_096);
    check(of_file(format!("{longest}\r\n").as_bytes()), &[("default", &*longest)]);
}

#[test]
fn a_key_is_visible() {
    let wrong = "has more than visible ASCII characters";
    for content in ["sec ret", " secret", "secret\n\n", "secret\nsecret\n", "s\u{e4}cret", "\0"] {
        refused(of_file(content.as_bytes()), wrong);
        refused(read(&["--api-key", content]), wrong);
    }
    refused(of_file(b"\xff"), wrong);
    for content in ["", "\n", "\r\n"] {
        refused(of_file(content.as_bytes()), "is empty");
    }
    refused(read(&["--api-key", ""]), "--api-key is empty");
    refused(read_with(&[], Some(""), b""), "ACCRUE_API_KEY is empty");
    refused(of_file(&[b'k'; 5_000]), "is too long");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let missing = read(&["--api-key-file", "/missing/key"]);
    refused(missing, "cannot be read from /missing/key: No such file");
    let folder = tempfile::tempdir().unwrap();
    refused(read(&["--api-key-file", folder.path().to_str().unwrap()]), "Is a directory");
}

#[test]
fn arguments_or_the_environment_name_keys() {
    for (arguments, expected) in [
        (&["--api-key", "secret"][..], "--api-key and by ACCRUE_API_KEY"),
        (&["--api-key-file", "key"], "--api-key-file and by ACCRUE_API_KEY"),
        (&["--account", "a", "--api-key", "secret"], "expected one of them"),
    ] {
        refused(read_with(arguments, Some("secret"), b""), expected);
    }
}

#[test]
fn nothing_shows_a_key_that_is_not_asked_to() {
    let options = Options::try_parse_from(["server", "--api-key", "secret"]).unwrap();
    assert!(!format!("{options:?}").contains("secret"));
    let keys = options.serve.api_keys.read_with(None, &mut io::empty());
    assert!(!format!("{keys:?}").contains("secret"));
}
