//! The console that both servers have beside the API.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use accrue_servers_tests::{Answer, Client, Framework, Server};
use serde_json::json;

const START: [&str; 3] = ["--api-key", Server::KEY, "--console"];
const PASSWORD: &str = "correct horse battery staple";

/// Sends a form as a browser does, from a page of the server.
fn post(client: &mut Client, path: &str, form: &str) -> Answer {
    let length = form.len().to_string();
    let headers = [
        ("origin", "http://localhost"),
        ("content-type", "application/x-www-form-urlencoded"),
        ("content-length", &length),
    ];
    client.send_with("POST", path, &headers, form.as_bytes()).unwrap()
}

/// The first person comes in by the link, sees what the API was told, and is let in to nothing without a session.
#[test]
fn the_first_person_comes_in_and_sees_what_the_api_was_told() {
    for framework in Framework::ALL {
        eprintln!("{framework:?}");
        let host = Server::open(&START).unwrap();
        let server = Server::serve(framework, host.clone()).unwrap();
        let client = &mut Client::new(server.address());
        let customer = json!({"name": "Ada <b>", "email": "ada@example.com"});
        client.ask("POST", "/customers", &customer).unwrap();

        let outside = client.send_with("GET", "/console/accounts", &[], b"").unwrap();
        assert_eq!(outside.status, 303);
        assert!(outside.header("location").unwrap().starts_with("/console/sign-in"));
        let signing_in = client.send_with("GET", "/console/sign-in", &[], b"").unwrap();
        assert_eq!(signing_in.status, 200);
        let policy = signing_in.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'self'") || policy.contains("default-src 'none'"));

        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let link = runtime.block_on(host.first_link(server.address())).unwrap().unwrap();
        let path = link.split_once(&server.address().to_string()).unwrap().1;
        let password = PASSWORD.replace(' ', "+");
        let form = format!("name=Ada&email=ada%40example.com&password={password}&again={password}");
        let entered = post(client, path, &form);
        assert_eq!(entered.status, 303, "{entered:?}");
        let given = entered.headers.iter().filter(|(name, _)| name == "set-cookie");
        let cookies: Vec<_> = given.filter_map(|(_, value)| value.split(';').next()).collect();
        let cookies = cookies.join("; ");
        let cookie = [("cookie", &*cookies)];
        let customers = client.send_with("GET", "/console/a/default/customers", &cookie, b"");
        let customers = customers.unwrap();
        assert_eq!(customers.status, 200);
        assert!(customers.body.contains("Ada &lt;b&gt;"));
        server.end().unwrap();
    }
}
