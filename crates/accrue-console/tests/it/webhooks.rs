//! Endpoints are added, disabled and enabled by forms; messages are shown, and sent again.

use accrue::{
    PageRequest,
    person::Role,
    webhook::{Reach, WebhookKey},
};
use accrue_console::{Console, People};
use http::StatusCode;

use crate::support::{Desk, block_on};

const ADDRESS: &str = "https://hooks.example.com/billing";

fn desk() -> Desk {
    let mut desk = Desk::new();
    let people = People::new(&desk.billing, accrue::SeededEntropy::new(2));
    let key = WebhookKey::new(&[7; 32]).unwrap();
    let console = Console::builder(desk.billing.clone(), people).base_path("console");
    desk.console = console.webhooks(key, Reach::public()).build();
    desk
}

#[test]
fn an_endpoint_is_added_and_its_secret_is_shown_once() {
    let desk = desk();
    let [operate, admin] = [Role::Operate, Role::Admin].map(|role| desk.session_of(role));
    let path = "/a/acme/webhooks";
    let forbidden = desk.post(path, Some(&operate), &[("url", ADDRESS)]);
    assert_eq!(forbidden.status, StatusCode::FORBIDDEN);
    for address in
        ["", "http://hooks.example.com", "https://127.0.0.1/", "https://user@example.com/"]
    {
        let refused = desk.post(path, Some(&admin), &[("url", address)]);
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{address}");
        assert!(refused.body.contains("id=\"endpoint-url-fault\""), "{address}");
    }
    let added = desk.post(path, Some(&admin), &[("url", ADDRESS)]).body;
    assert!(added.contains("value=\"whsec_") && added.contains(ADDRESS));
    let page = desk.get(path, Some(&admin)).body;
    assert!(page.contains(ADDRESS) && !page.contains("whsec_"));

    let list =
        || block_on(desk.account.list_webhook_endpoints(&PageRequest::default())).unwrap().data;
    let id = list()[0].id;
    for (action, is_enabled) in [("disable", false), ("enable", true)] {
        let changed = desk.post(&format!("{path}/{id}/{action}"), Some(&operate), &[]);
        assert_eq!(changed.location(), "/console/a/acme/webhooks?done=endpoint-changed");
        assert_eq!(list()[0].is_enabled(), is_enabled);
    }
}

#[test]
fn without_a_key_of_the_host_none_is_added() {
    let desk = Desk::new();
    let admin = desk.session_of(Role::Admin);
    assert!(!desk.get("/a/acme/webhooks", Some(&admin)).body.contains("Add an endpoint"));
    let refused = desk.post("/a/acme/webhooks", Some(&admin), &[("url", ADDRESS)]);
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
}
