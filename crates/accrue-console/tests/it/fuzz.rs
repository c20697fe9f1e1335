//! Whatever is sent is answered, and never by a failure of the console's own.

use accrue::person::Role;
use http::{Method, Request};
use http_body_util::Full;
use proptest::prelude::*;

use crate::support::{COOKIE, Desk, block_on};

const PATHS: [&str; 36] = [
    "/sign-in",
    "/invitation",
    "/accounts",
    "/open",
    "/audit",
    "/people",
    "/people/07070707-0707-7707-8707-070707070707/role",
    "/a/acme",
    "/a/acme/keys",
    "/a/acme/keys/07070707-0707-7707-8707-070707070707/rotate",
    "/a/acme/customers",
    "/a/acme/events",
    "/a/acme/webhooks",
    "/a/acme/messages/07070707-0707-7707-8707-070707070707",
    "/a/acme/customers/07070707-0707-7707-8707-070707070707",
    "/a/%00/customers",
    "/password",
    "/a/acme/backfills",
    "/a/acme/invoices",
    "/a/acme/invoices/07070707-0707-7707-8707-070707070707/void",
    "/a/acme/metrics",
    "/a/acme/invoices/07070707-0707-7707-8707-070707070707/issue",
    "/a/acme/backfills/07070707-0707-7707-8707-070707070707",
    "/a/acme/backfills/07070707-0707-7707-8707-070707070707/close",
    "/a/acme/backfills/07070707-0707-7707-8707-070707070707/revert",
    "/a/acme/webhooks/07070707-0707-7707-8707-070707070707",
    "/a/acme/webhooks/07070707-0707-7707-8707-070707070707/rotate",
    "/a/acme/webhooks/07070707-0707-7707-8707-070707070707/delete",
    "/a/acme/webhooks/07070707-0707-7707-8707-070707070707/enable",
    "/a/acme/webhooks/07070707-0707-7707-8707-070707070707/disable",
    "/a/acme/messages/07070707-0707-7707-8707-070707070707/send-again",
    "/a/acme/keys/07070707-0707-7707-8707-070707070707/revoke",
    "/people/07070707-0707-7707-8707-070707070707/password",
    "/people/07070707-0707-7707-8707-070707070707/disable",
    "/people/07070707-0707-7707-8707-070707070707/enable",
    "/invitations/07070707-0707-7707-8707-070707070707/withdraw",
];

const FIELDS: [&str; 27] = [
    "url",
    "types",
    "order",
    "name",
    "email",
    "role",
    "password",
    "again",
    "overlap",
    "find",
    "ids",
    "account",
    "person",
    "cursor",
    "after",
    "token",
    "done",
    "status",
    "customer",
    "version",
    "group",
    "start",
    "end",
    "watch",
    "thresholds",
    "present",
    "replaces",
];

fn form() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![any::<String>(), "[0-9a-f-]{0,90}", "[ -~]{0,30}"];
    let pairs = prop::collection::vec((prop::sample::select(&FIELDS[..]), text), 0..6);
    let encoded = pairs.prop_map(|pairs| {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(pairs);
        form.finish().into_bytes()
    });
    prop_oneof![3 => encoded, 1 => prop::collection::vec(any::<u8>(), 0..300)]
}

#[test]
fn any_form_and_query_has_an_answer() {
    let desk = Desk::new();
    let (customer, subscription) = desk.customer("Tokens");
    let plan = block_on(desk.account.fetch_subscription(subscription)).unwrap().plan_id.unwrap();
    let mut paths = PATHS.map(str::to_owned).to_vec();
    paths.push(format!("/a/acme/customers/{customer}/credits/USD"));
    paths.push(format!("/a/acme/subscriptions/{subscription}"));
    paths.push(format!("/a/acme/subscriptions/{subscription}/alerts/new"));
    paths.push(format!("/a/acme/subscriptions/{subscription}/alerts"));
    paths.push(format!("/a/acme/subscriptions/{subscription}/alerts/{customer}/delete"));
    paths.push(format!("/a/acme/plans/{plan}"));
    let session = desk.session_of(Role::Admin);
    let token = desk.get("/accounts", Some(&session)).form_token();
    let place = (prop::sample::select(paths), any::<bool>(), any::<bool>());
    let mut runner = prop::test_runner::TestRunner::new(ProptestConfig::with_cases(1_500));
    let sent = runner.run(&(place, form(), form()), |((path, posts, signed_in), query, body)| {
        let query: String = form_urlencoded::byte_serialize(&query).collect();
        // The query as it is, where it can be a part of a path.
        let query = query.replace("%3D", "=").replace("%26", "&").replace("%25", "%");
        let method = if posts && path != "/sign-in" && path != "/invitation" {
            Method::POST
        } else {
            Method::GET
        };
        let request = Request::builder().method(method).uri(format!("/console{path}?{query}"));
        let request = request.header("host", "a.example").header("origin", "https://a.example");
        let request = match signed_in {
            true => request.header("cookie", format!("{COOKIE}={session}")),
            false => request,
        };
        let body = [format!("form_token={token}&").into_bytes(), body].concat();
        let reply = desk.send(request.body(Full::from(body)).unwrap());
        prop_assert!(reply.status.as_u16() < 500, "{} {}", reply.status, reply.body);
        prop_assert!(reply.body.matches("<script").count() <= 1);
        Ok(())
    });
    sent.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cookie_and_origin_has_an_answer(cookie in "[ -~]{0,200}", origin in "[ -~]{0,80}") {
        let desk = Desk::new();
        let request = Desk::request(Method::POST, "/people", None).header("cookie", cookie);
        let reply = desk.send(request.header("origin", origin).body(Full::default()).unwrap());
        prop_assert!([303, 403].contains(&reply.status.as_u16()), "{}", reply.status);
    }
}
