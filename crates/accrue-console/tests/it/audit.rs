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
