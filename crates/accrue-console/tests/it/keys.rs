//! API keys that are issued, rotated and revoked by forms.

use std::time::Duration;

use accrue::{ListFilter, PageRequest, person::Role};
use http::StatusCode;

use crate::support::{Desk, PASSWORD, Reply, block_on};

fn token(reply: &Reply) -> String {
    let (_, rest) = reply.body.split_once("id=\"token\" type=\"text\" value=\"").expect("a token");
    rest.split('"').next().unwrap().to_owned()
}

fn is_good(desk: &Desk, token: &str) -> bool {
    block_on(desk.billing.authenticate(token)).unwrap().is_some()
}

#[test]
fn a_key_is_issued_used_rotated_and_revoked() {
    let desk = Desk::new();
    let session = desk.signed_in();
    let password = ("password", PASSWORD);
    let issued = desk.post("/a/acme/keys", Some(&session), &[("name", "backend"), password]);
    assert_eq!(issued.status, StatusCode::OK);
    assert_eq!(issued.headers["cache-control"], "no-store");
    let old = token(&issued);
    assert!(is_good(&desk, &old));
    let list = desk.get("/a/acme/keys", Some(&session));
    assert!(list.body.contains("backend") && !list.body.contains(&old), "shown once");

    let all = block_on(desk.account.list_api_keys(&ListFilter::default(), &PageRequest::default()));
    let id = all.unwrap().data[0].id;
    let rotate = format!("/a/acme/keys/{id}/rotate");
    let rotated = desk.post(&rotate, Some(&session), &[("overlap", "1"), password]);
    let new = token(&rotated);
    assert!(is_good(&desk, &old) && is_good(&desk, &new));
    desk.clock.advance(Duration::from_secs(60 * 60));
    assert!(!is_good(&desk, &old) && is_good(&desk, &new));

    let revoked = desk.post(&format!("/a/acme/keys/{id}/revoke"), Some(&session), &[]);
    assert_eq!(revoked.location(), "/console/a/acme/keys?done=revoked");
    assert!(!is_good(&desk, &new));
    let list = desk.get(revoked.location(), Some(&session));
    assert!(list.body.contains("The key is revoked") && list.body.contains("Revoked"));
}

#[test]
fn a_key_asks_for_the_password_once_more() {
    let desk = Desk::new();
    let session = desk.signed_in();
    for password in ["", "wrong password"] {
        let fields = [("name", "backend"), ("password", password)];
        let refused = desk.post("/a/acme/keys", Some(&session), &fields);
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.body.contains("It is not your password."));
        assert!(refused.body.contains("value=\"backend\""), "what was typed is kept");
        assert!(!refused.body.contains("wrong password"));
    }
    for _ in 0..8 {
        desk.post("/a/acme/keys", Some(&session), &[("name", "backend"), ("password", "x")]);
    }
    let fields = [("name", "backend"), ("password", PASSWORD)];
    let late = desk.post("/a/acme/keys", Some(&session), &fields);
    assert!(late.body.contains("try again in a quarter of an hour"));
    assert!(!block_on(desk.billing.has_api_keys()).unwrap());
}

#[test]
fn what_is_wrong_is_said_beside_its_field() {
    let desk = Desk::new();
    let session = desk.session_of(Role::Admin);
    let refused = desk.post("/a/acme/keys", Some(&session), &[("name", "   ")]);
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("id=\"issue-name-fault\""));
    assert!(refused.body.contains("aria-describedby=\"issue-name-hint issue-name-fault\""));
    let id = "07070707-0707-7707-8707-070707070707";
    let none = desk.post(&format!("/a/acme/keys/{id}/revoke"), Some(&session), &[]);
    assert_eq!(none.status, StatusCode::NOT_FOUND);
}

#[test]
fn a_key_is_of_its_account_alone() {
    let desk = Desk::new();
    let session = desk.session_of(Role::Admin);
    let key = block_on(desk.account.issue_api_key(crate::support::name("ci"))).unwrap();
    let id = key.key.id;
    assert_eq!(desk.get(&format!("/a/acme/keys/{id}"), Some(&session)).status, StatusCode::OK);
    assert_eq!(
        desk.get(&format!("/a/other/keys/{id}"), Some(&session)).status,
        StatusCode::NOT_FOUND
    );
    let revoked = desk.post(&format!("/a/other/keys/{id}/revoke"), Some(&session), &[]);
    assert_eq!(revoked.status, StatusCode::NOT_FOUND);
    assert!(is_good(&desk, &key.token.reveal()));
}
