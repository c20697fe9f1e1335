//! What stands before every page: who asks, from where, with which form.

use accrue::person::Role;
use bytes::Bytes;
use http::{Method, StatusCode};
use http_body_util::Full;

use crate::support::{Desk, block_on};

const CHANGES: [&str; 4] = ["/a/acme/keys", "/people", "/sign-out", "/password"];

#[test]
fn a_form_without_the_token_of_its_session_is_refused() {
    let desk = Desk::new();
    let (session, other) = (desk.session_of(Role::Admin), desk.session_of(Role::Admin));
    let others = desk.get("/accounts", Some(&other)).form_token();
    for path in CHANGES {
        for fields in
            [&[][..], &[("form_token", "")], &[("form_token", "0000")], &[("form_token", &others)]]
        {
            let reply = desk.post_as_it_is(path, Some(&session), fields, "https://billing.example");
            assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path} {fields:?}");
        }
    }
    assert!(block_on(desk.billing.session(&session)).unwrap().is_some(), "still signed in");
}

#[test]
fn a_form_of_another_site_is_refused() {
    let desk = Desk::new();
    let session = desk.session_of(Role::Admin);
    let token = desk.get("/accounts", Some(&session)).form_token();
    let fields = [("form_token", token.as_str()), ("name", "ci")];
    for origin in ["https://evil.example", "null", "https://billing.example.evil", ""] {
        for (path, session) in [("/a/acme/keys", Some(&*session)), ("/sign-in", None)] {
            let reply = desk.post_as_it_is(path, session, &fields, origin);
            assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path} from {origin}");
        }
    }
    let request = Desk::request(Method::POST, "/a/acme/keys", Some(&session));
    let body = Full::from(format!("form_token={token}&name=ci"));
    assert_eq!(desk.send(request.body(body.clone()).unwrap()).status, StatusCode::FORBIDDEN);
    let request = Desk::request(Method::POST, "/a/acme/keys", Some(&session));
    let request =
        request.header("sec-fetch-site", "cross-site").header("origin", "https://billing.example");
    assert_eq!(desk.send(request.body(body).unwrap()).status, StatusCode::FORBIDDEN);
}

#[test]
fn who_has_not_signed_in_sees_no_page_and_changes_nothing() {
    let desk = Desk::new();
    desk.session_of(Role::Admin);
    for path in [
        "/",
        "/accounts",
        "/people",
        "/password",
        "/audit",
        "/a/acme",
        "/a/acme/invoices",
        "/a/acme/plans",
        "/a/acme/keys",
        "/a/acme/customers",
    ] {
        for session in [None, Some("accrue_session_0"), Some("")] {
            let reply = desk.get(path, session);
            assert_eq!(reply.status, StatusCode::SEE_OTHER, "{path}");
            assert!(reply.location().starts_with("/console/sign-in?next="), "{path}");
        }
    }
    for path in CHANGES {
        let reply = desk.post(path, None, &[("name", "ci")]);
        assert_eq!(reply.location(), "/console/sign-in", "{path}");
    }
}

#[test]
fn a_role_does_what_it_is_for() {
    let desk = Desk::new();
    let [read, operate, admin] = Role::ALL.map(|role| desk.session_of(role));
    for path in ["/people", "/a/acme/keys/07070707-0707-7707-8707-070707070707"] {
        assert_eq!(desk.get(path, Some(&read)).status, StatusCode::FORBIDDEN, "{path}");
        assert_eq!(desk.get(path, Some(&operate)).status, StatusCode::FORBIDDEN, "{path}");
        assert_ne!(desk.get(path, Some(&admin)).status, StatusCode::FORBIDDEN, "{path}");
    }
    for session in [&read, &operate] {
        let issued = desk.post("/a/acme/keys", Some(session), &[("name", "ci")]);
        assert_eq!(issued.status, StatusCode::FORBIDDEN);
        assert!(!desk.get("/a/acme/keys", Some(session)).body.contains("Issue an API key"));
    }
    let message = "/a/acme/messages/07070707-0707-7707-8707-070707070707/send-again";
    assert_eq!(desk.post(message, Some(&read), &[]).status, StatusCode::FORBIDDEN);
    assert_eq!(desk.post(message, Some(&operate), &[]).status, StatusCode::NOT_FOUND);
    assert!(!block_on(desk.billing.has_api_keys()).unwrap());
}

#[test]
fn every_answer_has_the_headers_that_browsers_keep_to() {
    let desk = Desk::new();
    let session = desk.session_of(Role::Admin);
    let page = desk.get("/a/acme", Some(&session));
    let style = page.body.split("rel=\"stylesheet\" href=\"").nth(1).unwrap();
    let style = desk.get(style.split('"').next().unwrap(), None);
    assert_eq!(style.headers["content-type"], "text/css; charset=utf-8");
    assert_eq!(style.headers["cache-control"], "public, max-age=31536000, immutable");
    let missing = desk.get("/nothing", Some(&session));
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    for reply in [&page, &missing, &desk.get("/sign-in", None), &desk.get("/accounts", None)] {
        assert_eq!(reply.headers["cache-control"], "no-store");
    }
    for reply in [&page, &missing, &style, &desk.post("/people", Some(&session), &[])] {
        let policy = reply.headers["content-security-policy"].to_str().unwrap();
        assert_eq!(
            policy,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
             form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        );
        assert_eq!(reply.headers["x-content-type-options"], "nosniff");
        assert_eq!(reply.headers["referrer-policy"], "no-referrer");
        assert_eq!(reply.headers["cross-origin-opener-policy"], "same-origin");
        assert_eq!(reply.headers["cross-origin-resource-policy"], "same-origin");
    }
}

#[test]
fn a_form_of_more_than_64_kib_is_refused() {
    let desk = Desk::new();
    let session = desk.session_of(Role::Admin);
    let name = "x".repeat(64 * 1024);
    let reply = desk.post("/a/acme/keys", Some(&session), &[("name", &name)]);
    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn a_path_of_another_place_is_not_found() {
    let desk = Desk::new();
    let request = http::Request::get("/elsewhere/accounts").body(Full::<Bytes>::default()).unwrap();
    assert_eq!(desk.send(request).status, StatusCode::NOT_FOUND);
    let session = desk.session_of(Role::Read);
    let head = Desk::request(Method::HEAD, "/accounts", Some(&session));
    let head = desk.send(head.body(Full::default()).unwrap());
    assert_eq!((head.status, head.body.as_str()), (StatusCode::OK, ""));
    assert_eq!(desk.get("/people/x/role", Some(&session)).status, StatusCode::METHOD_NOT_ALLOWED);
}
