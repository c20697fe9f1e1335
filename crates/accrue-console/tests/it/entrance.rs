//! People come in by a link or a password, and go.

use std::time::Duration;

use accrue::person::Role;
use http::{Method, StatusCode};
use http_body_util::Full;

use crate::support::{COOKIE, Desk, PASSWORD, block_on, email, name};

const DEVICE: &str = "__Host-accrue-device";

#[test]
fn the_first_person_comes_in_by_the_link_that_the_host_prints() {
    let desk = Desk::new();
    let link = block_on(desk.console.first_link()).unwrap().unwrap();
    assert!(link.starts_with("/console/invitation?token=accrue_invitation_"));
    assert!(desk.get(&link, None).body.contains("You are the first person"));
    let session = desk.signed_in();
    let accounts = desk.get("/accounts", Some(&session));
    assert_eq!(accounts.status, StatusCode::OK);
    assert!(accounts.body.contains("Ada") && accounts.body.contains("admin"));
    assert_eq!(block_on(desk.console.first_link()).unwrap(), None);
    assert_eq!(desk.get(&link, None).status, StatusCode::NOT_FOUND, "for the first one only");
}

#[test]
fn a_person_signs_in_with_a_password_and_out() {
    let desk = Desk::new();
    desk.signed_in();
    let fields = |password| [("email", "ADA@example.com"), ("password", password)];
    let wrong = desk.post("/sign-in", None, &fields("correct horse battery."));
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.body.contains("is wrong") && wrong.session().is_none());
    assert!(!wrong.body.contains("battery"), "no password is shown again");
    let right = desk.post("/sign-in?next=%2Fconsole%2Faudit", None, &fields(PASSWORD));
    assert_eq!((right.status, right.location()), (StatusCode::SEE_OTHER, "/console/audit"));
    let cookie = right.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with(COOKIE));
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"));

    let session = right.session().unwrap();
    let out = desk.post("/sign-out", Some(&session), &[]);
    assert_eq!(out.location(), "/console/sign-in?done=signed-out");
    assert!(out.headers["set-cookie"].to_str().unwrap().ends_with("Max-Age=0"));
    assert_eq!(
        desk.get("/accounts", Some(&session)).location(),
        "/console/sign-in?next=%2Fconsole%2Faccounts"
    );
}

#[test]
fn nobody_is_sent_elsewhere_after_signing_in() {
    let desk = Desk::new();
    desk.signed_in();
    for next in [
        "https://evil.example",
        "//evil.example",
        "/console//evil.example",
        "/other",
        "/console/\\evil",
    ] {
        let encoded: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
        let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
        let reply = desk.post(&format!("/sign-in?next={encoded}"), None, &fields);
        assert_eq!(reply.location(), "/console/accounts", "{next}");
    }
}

#[test]
fn after_ten_wrong_passwords_none_is_looked_at_for_a_quarter_of_an_hour() {
    let desk = Desk::new();
    desk.signed_in();
    let attempt = |email, password| {
        desk.post("/sign-in", None, &[("email", email), ("password", password)]).status
    };
    for _ in 0..10 {
        assert_eq!(attempt("ada@example.com", "wrong"), StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(attempt("ada@example.com", PASSWORD), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(attempt("Ada@Example.com", PASSWORD), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(attempt("bob@example.com", "wrong"), StatusCode::UNPROCESSABLE_ENTITY);
    desk.clock.advance(Duration::from_secs(15 * 60));
    assert_eq!(attempt("ada@example.com", PASSWORD), StatusCode::SEE_OTHER);
}

#[test]
fn nobody_is_locked_out_of_a_browser_that_is_known() {
    let desk = Desk::new();
    desk.signed_in();
    let attempt = |email, password, device: Option<&str>| {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs([("email", email), ("password", password)]);
        let request = Desk::request(Method::POST, "/sign-in", None);
        let request = request.header("origin", "https://billing.example");
        let request = match device {
            Some(device) => request.header("cookie", format!("{DEVICE}={device}")),
            None => request,
        };
        desk.send(request.body(Full::from(body.finish())).unwrap())
    };
    let first = attempt("ada@example.com", PASSWORD, None);
    let cookies = first.headers.get_all("set-cookie").iter();
    let cookies: Vec<_> = cookies.map(|cookie| cookie.to_str().unwrap()).collect();
    assert_eq!(cookies.len(), 2);
    assert!(cookies[1].ends_with("; Max-Age=31536000; HttpOnly; SameSite=Strict; Secure"));
    let device = cookies[1].strip_prefix(DEVICE).unwrap()[1..].split(';').next().unwrap();
    for made_up in [None, Some(""), Some("0000")] {
        for _ in 0..10 {
            attempt("ada@example.com", "wrong", made_up);
        }
        let locked = attempt("ada@example.com", PASSWORD, made_up).status;
        assert_eq!(locked, StatusCode::TOO_MANY_REQUESTS, "{made_up:?}");
    }
    let own = |password| attempt("ada@example.com", password, Some(device)).status;
    assert_eq!(own(PASSWORD), StatusCode::SEE_OTHER);
    for _ in 0..10 {
        assert_eq!(own("wrong"), StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(own(PASSWORD), StatusCode::TOO_MANY_REQUESTS, "it has a bound too");
    assert_eq!(
        attempt("bob@example.com", "wrong", Some(device)).status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
}

#[test]
fn a_person_changes_the_password_and_is_signed_out_elsewhere() {
    let desk = Desk::new();
    let session = desk.signed_in();
    let sign_in = |password| {
        desk.post("/sign-in", None, &[("email", "ada@example.com"), ("password", password)])
    };
    let other = sign_in(PASSWORD).session().unwrap();
    assert!(desk.get("/accounts", Some(&session)).body.contains("href=\"/console/password\""));
    assert_eq!(desk.get("/password", None).status, StatusCode::SEE_OTHER);
    let change = |present: &str, new: &str, again: &str| {
        let fields = [("present", present), ("password", new), ("again", again)];
        desk.post("/password", Some(&session), &fields)
    };
    let new = "an other horse battery";
    for (present, password, again, fault) in [
        (PASSWORD, "short", "short", "Use 12 characters or more."),
        (PASSWORD, new, PASSWORD, "The two are not the same."),
        ("wrong", new, new, "This is not your password."),
        ("", new, new, "This is not your password."),
    ] {
        let refused = change(present, password, again);
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{fault}");
        assert!(refused.body.contains(fault) && !refused.body.contains("battery"), "{fault}");
    }
    assert_eq!(desk.get("/accounts", Some(&other)).status, StatusCode::OK, "nothing is done");
    let changed = change(PASSWORD, new, new);
    assert_eq!(changed.location(), "/console/password?done=password");
    let fresh = changed.session().unwrap();
    assert_eq!(desk.get("/accounts", Some(&fresh)).status, StatusCode::OK);
    for closed in [&session, &other] {
        assert_eq!(desk.get("/accounts", Some(closed)).status, StatusCode::SEE_OTHER);
    }
    assert_eq!(sign_in(PASSWORD).status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(sign_in(new).status, StatusCode::SEE_OTHER);
}

#[test]
fn a_present_password_is_guessed_ten_times_at_most() {
    let desk = Desk::new();
    let session = desk.signed_in();
    let new = "an other horse battery";
    let change = |present: &str| {
        let fields = [("present", present), ("password", new), ("again", new)];
        desk.post("/password", Some(&session), &fields).status
    };
    for _ in 0..10 {
        assert_eq!(change("wrong"), StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(change(PASSWORD), StatusCode::TOO_MANY_REQUESTS);
}

#[test]
fn a_session_that_is_over_has_to_sign_in() {
    let desk = Desk::new();
    let session = desk.session_of(Role::Admin);
    assert_eq!(desk.get("/people", Some(&session)).status, StatusCode::OK);
    desk.clock.advance(Duration::from_secs(12 * 60 * 60));
    let over = desk.get("/people", Some(&session));
    assert_eq!(over.location(), "/console/sign-in?next=%2Fconsole%2Fpeople");
    assert_eq!(desk.get("/sign-in", Some(&session)).status, StatusCode::OK);
}

#[test]
fn an_invitation_is_accepted_with_a_password_that_will_do() {
    let desk = Desk::new();
    let admin = desk.signed_in();
    let fields = [("name", "Bob"), ("email", "bob@example.com"), ("role", "read")];
    let invited = desk.post("/people", Some(&admin), &fields);
    let (_, rest) = invited.body.split_once("id=\"link\" type=\"text\" value=\"").unwrap();
    let link = rest.split('"').next().unwrap();
    let accept = |password: &str, again: &str| {
        desk.post(link, None, &[("password", password), ("again", again)])
    };
    for (password, again, fault) in [
        ("short", "short", "Use 12 characters or more."),
        ("aaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaa", "Use different characters."),
        (PASSWORD, "another", "The two are not the same."),
    ] {
        let refused = accept(password, again);
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.body.contains(fault), "{fault}");
        assert!(refused.body.contains("aria-invalid=\"true\""));
    }
    let session = accept(PASSWORD, PASSWORD).session().unwrap();
    assert!(desk.get("/accounts", Some(&session)).body.contains("Bob"));
    assert_eq!(accept(PASSWORD, PASSWORD).status, StatusCode::NOT_FOUND, "for one use");
    let found = block_on(desk.billing.password_of(&email("bob@example.com"))).unwrap().unwrap();
    assert_eq!((found.0.name, found.0.role), (name("Bob"), Role::Read));
    assert!(found.1.as_str().starts_with("$argon2id$"));
}
