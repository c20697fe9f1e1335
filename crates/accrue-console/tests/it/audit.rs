//! Whatever somebody does by a form is in the audit log.

use accrue::{
    PageRequest,
    audit::{AuditFilter, Who},
    person::Role,
};
use http::Method;
use http_body_util::Full;

use crate::support::{Desk, PASSWORD, block_on, name};

#[test]
fn the_log_says_who_did_what() {
    let desk = Desk::new();
    let session = desk.signed_in();
    let form_token = desk.get("/accounts", Some(&session)).form_token();
    let body =
        format!("name=backend&password={}&form_token={form_token}", PASSWORD.replace(' ', "+"));
    let request = Desk::request(Method::POST, "/a/acme/keys", Some(&session));
    let request =
        request.header("origin", "https://billing.example").header("x-request-id", "req-7");
    desk.send(request.body(Full::from(body)).unwrap());
    let log = block_on(desk.billing.list_audit(&AuditFilter::default(), &PageRequest::default()));
    let entry = log.unwrap().data.into_iter().find(|of| of.operation == "issue_api_key").unwrap();
    assert!(matches!(&entry.who, Who::Person { name: of, .. } if *of == name("Ada")));
    assert_eq!(entry.account.as_ref(), Some(desk.account.id()));
    assert_eq!(entry.request_id, Some(name("req-7")));

    let page = desk.get("/audit?account=acme", Some(&session)).body;
    for text in ["Ada", "issue_api_key", "backend", "req-7"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("open_session"), "that is about no account");
    assert!(desk.get("/audit", Some(&session)).body.contains("open_session"));
    assert!(!page.contains(PASSWORD));
}

#[test]
fn coming_in_and_going_are_in_it_with_their_requests() {
    let desk = Desk::new();
    let link = block_on(desk.console.first_link()).unwrap().unwrap();
    let post = |path: &str, session: Option<&str>, request: &str, fields: &[(&str, &str)]| {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        let sent = Desk::request(Method::POST, path, session);
        let sent = sent.header("origin", "https://billing.example").header("x-request-id", request);
        desk.send(sent.body(Full::from(body.finish())).unwrap())
    };
    let invited = block_on(desk.billing.list_invitations(&PageRequest::default())).unwrap().data;
    let (email, password) = (("email", "ada@example.com"), ("password", PASSWORD));
    let fields = [("name", "Ada"), email, password, ("again", PASSWORD)];
    let session = post(&link, None, "req-1", &fields).session().unwrap();
    let form_token = desk.get("/accounts", Some(&session)).form_token();
    post("/sign-out", Some(&session), "req-2", &[("form_token", &form_token)]);
    post("/sign-in", None, "req-3", &[email, password]);

    let filter = AuditFilter::default();
    let log = block_on(desk.billing.list_audit(&filter, &PageRequest::default())).unwrap().data;
    let of = |operation: &str, request: &str| {
        let found = log.iter().filter(|of| of.operation == operation);
        found.clone().find(|of| of.request_id == Some(name(request))).unwrap()
    };
    let accepted = of("accept_invitation", "req-1");
    assert_eq!(accepted.who, Who::Host { name: name("invitation") });
    assert_eq!(accepted.subject, Some(invited[0].id.to_string()));
    for (operation, request) in
        [("open_session", "req-1"), ("close_session", "req-2"), ("open_session", "req-3")]
    {
        assert_eq!(*of(operation, request).who.name(), name("Ada"), "{operation}");
    }
    let secret = &session[session.len() - 40..];
    assert!(of("close_session", "req-2").subject.as_ref().is_some_and(|of| !of.contains(secret)));
}

#[test]
fn it_is_filtered_and_paged() {
    let desk = Desk::new();
    let session = desk.session_of(Role::Admin);
    for _ in 0..60 {
        let fields = [("role", "read")];
        let person = desk.session_of(Role::Operate);
        let (person, _) = block_on(desk.billing.session(&person)).unwrap().unwrap();
        desk.post(&format!("/people/{}/role", person.id), Some(&session), &fields);
    }
    let (own, _) = block_on(desk.billing.session(&session)).unwrap().unwrap();
    let first = desk.get(&format!("/audit?person={}", own.id), Some(&session)).body;
    let (_, rest) = first
        .split_once("class=\"pages\" aria-label=\"Pages\"><a class=\"button\" href=\"")
        .unwrap();
    let next = rest.split('"').next().unwrap().replace("&amp;", "&");
    assert!(next.contains("person=") && next.contains("cursor="));
    let second = desk.get(&next, Some(&session)).body;
    assert_eq!(second.matches("<code>change_role</code>").count(), 10);
    assert!(desk.get("/audit?person=x", Some(&session)).body.contains("There is no such person."));
}
