//! TLS: what `sslmode` asks for, and whose certificates are taken.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod support;

use std::net::TcpListener;

use accrue_postgres::{OpenErrorKind, PostgresOptions};
use pollster::block_on;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use support::{Server, is_installed, number};

#[test]
fn a_certificate_must_hold_for_the_name_of_the_host() {
    if !is_installed() {
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start(&[]);
    let own = certificate(&["localhost"]);
    server.encrypt(&own.cert.pem(), &own.signing_key.serialize_pem(), port);
    let options = |host: &str, mode: &str| {
        let address = "hostaddr=127.0.0.1 user=test dbname=postgres";
        PostgresOptions::new(format!("host={host} {address} port={port} sslmode={mode}"))
    };
    let trusting = |options: PostgresOptions| options.authorities(own.cert.pem());
    block_on(trusting(options("localhost", "require")).migrate(&[])).unwrap();

    let refused = |options: PostgresOptions| {
        assert_eq!(block_on(options.open()).unwrap_err().kind(), OpenErrorKind::Unavailable);
    };
    // Another authority, another name, and no way around either.
    refused(options("localhost", "require"));
    refused(options("localhost", "prefer"));
    refused(trusting(options("example.com", "require")));
    refused(options("localhost", "require").authorities(certificate(&["localhost"]).cert.pem()));

    let encrypted = "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
                     WHERE s.ssl AND a.application_name = 'accrue'";
    for (mode, expected) in [("require", 1), ("prefer", 1), ("disable", 0)] {
        let store = block_on(trusting(options("localhost", mode)).open()).unwrap();
        assert_eq!(number(&server.connection(), encrypted), expected, "{mode}");
        drop(store);
    }
}

#[test]
fn a_server_without_tls_is_refused_where_it_is_required() {
    if !is_installed() {
        return;
    }
    let server = Server::start(&[]);
    let with = |mode| PostgresOptions::new(format!("{} sslmode={mode}", server.connection()));
    block_on(with("prefer").migrate(&[])).unwrap();
    let error = block_on(with("require").open()).unwrap_err();
    assert_eq!(error.kind(), OpenErrorKind::Unavailable);
}

fn certificate(names: &[&str]) -> CertifiedKey<rcgen::KeyPair> {
    generate_simple_self_signed(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        .unwrap()
}
