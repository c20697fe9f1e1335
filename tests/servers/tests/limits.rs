//! What a server does that is started with nothing but a key.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use accrue::store::MemoryStore;
use accrue_servers_tests::{Client, Framework, Server};
use clap::Parser as _;
use example_server::{Host, Options};

/// Starts a server as its program does, but for the clock of the engine, which stands still.
fn start(framework: Framework, arguments: &[&str]) -> Server {
    let all = ["server", "--api-key", Server::KEY].iter().chain(arguments);
    let options = Options::try_parse_from(all).unwrap().serve;
    let billing = Server::engine(MemoryStore::new()).unwrap();
    let keys = options.api_keys.read().unwrap();
    Server::serve(framework, Host::over(billing, &options, &keys).unwrap()).unwrap()
}

#[test]
fn beyond_the_quota_is_answered_429() {
    for framework in Framework::ALL {
        let server = start(framework, &[]);
        let mut client = Client::new(server.address());
        // What costs most has 10 a second.
        let mut ask = || client.send("GET", "/v1/subscriptions/x/usage", &[], b"").unwrap();
        for _ in 0..10 {
            assert_eq!(ask().status, 404, "{framework:?}");
        }
        let refused = ask();
        assert_eq!(refused.status, 429, "{framework:?}");
        let wait = refused.header("retry-after").and_then(|wait| wait.parse::<u64>().ok());
        assert!(wait.is_some_and(|wait| wait >= 1), "{framework:?}: {refused:?}");
        // Health is no account's.
        assert_eq!(client.send_with("GET", "/healthz", &[], b"").unwrap().status, 200);
        server.end().unwrap();
    }
}

#[test]
fn clients_12_each_kind_of_account_has_quotas_of_its_own() {
    let allowed = |framework, plan| {
        let server = start(framework, &["--rate-limit", plan]);
        let mut client = Client::new(server.address());
        let mut ask = || client.send("GET", "/v1/subscriptions/x/usage", &[], b"").unwrap().status;
        let allowed = (0..20).take_while(|_| ask() == 404).count();
        server.end().unwrap();
        allowed
    };
    for framework in Framework::ALL {
        let found = ["live", "test", "trial"].map(|plan| allowed(framework, plan));
        assert_eq!(found, [10, 5, 1], "{framework:?}");
    }
}

#[test]
fn without_a_limit_nothing_is_answered_429() {
    for framework in Framework::ALL {
        let server = start(framework, &["--rate-limit", "none"]);
        let mut client = Client::new(server.address());
        for _ in 0..50 {
            let answer = client.send("GET", "/v1/subscriptions/x/usage", &[], b"").unwrap();
            assert_eq!(answer.status, 404, "{framework:?}");
        }
        server.end().unwrap();
    }
}
