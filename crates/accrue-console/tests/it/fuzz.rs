//! Whatever is sent is answered, and never by a failure of the console's own.

use std::cell::Cell;

use http::{Method, Request};
use http_body_util::Full;
use proptest::prelude::*;

use crate::{
    stock::Stock,
    support::{ADDRESS, COOKIE, Desk, PASSWORD},
};

/// Fields of all forms and questions, each with something that it takes.
const FIELDS: [(&str, &str); 28] = [
    ("url", ADDRESS),
    ("types", "customer.created, invoice.issued"),
    ("order", "strict"),
    ("name", "Grace"),
    ("email", "grace@example.com"),
    ("role", "operate"),
    ("password", PASSWORD),
    ("again", PASSWORD),
    ("overlap", "24"),
    ("find", "ext-1"),
    ("ids", "event-1"),
    ("account", "acme"),
    ("person", "Ada"),
    ("cursor", ""),
    ("after", ""),
    ("token", ""),
    ("done", "revoked"),
    ("status", "draft"),
    ("customer", "ext-1"),
    ("version", "1"),
    ("group", "region"),
    ("period", "2026-03-10T00:00:00Z"),
    ("start", "2026-03-09T12:00"),
    ("end", "2026-03-10"),
    ("watch", "cost"),
    ("thresholds", "6, 7.5"),
    ("present", PASSWORD),
    ("replaces", "no"),
];

/// Consoles that are begun with, and what each is sent: what is revoked or deleted is there again in the next.
const CONSOLES: u32 = 10;
const SENT: u32 = 150;

fn form() -> impl Strategy<Value = Vec<u8>> {
    let text = || prop_oneof![any::<String>(), "[0-9a-f-]{0,90}", "[ -~]{0,30}"];
    let field = move |(name, good): (&'static str, &'static str)| {
        let value = prop_oneof![3 => Just(good.to_owned()), 1 => text()];
        value.prop_map(move |value| (name, value))
    };
    let encode = |pairs: Vec<(&str, String)>| {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(pairs);
        form.finish().into_bytes()
    };
    let some = prop::collection::vec((prop::sample::select(&FIELDS[..]), text()), 0..6);
    let some = some.prop_map(|all| all.into_iter().map(|((name, _), text)| (name, text)).collect());
    prop_oneof![
        2 => some.prop_map(encode),
        3 => FIELDS.map(field).to_vec().prop_map(encode),
        1 => prop::collection::vec(any::<u8>(), 0..300),
    ]
}

#[test]
fn any_form_and_query_has_an_answer() {
    let (forms, read) = (Cell::new(0_u32), Cell::new(0_u32));
    for _ in 0..CONSOLES {
        let stock = Stock::new("Tokens");
        let (desk, session) = (&stock.desk, &stock.admin);
        let token = desk.get("/accounts", Some(session)).form_token();
        // Whoever has signed out sends no forms, nor does whoever has another password.
        let ends = ["/sign-out", "/password"];
        let routes = stock.routes().into_iter();
        let routes = routes.filter(|route| !route.is_form || !ends.contains(&route.path.as_str()));
        let places: Vec<_> = routes.map(|route| (route.path, route.is_form)).collect();
        let place = (prop::sample::select(places), prop::bool::weighted(0.8));
        let mut runner = prop::test_runner::TestRunner::new(ProptestConfig::with_cases(SENT));
        let sent = runner.run(&(place, form(), form()), |(place, query, body)| {
            let ((path, is_form), signed_in) = place;
            let query: String = form_urlencoded::byte_serialize(&query).collect();
            // The query as it is, where it can be a part of a path.
            let query = query.replace("%3D", "=").replace("%26", "&").replace("%25", "%");
            let to = if path.contains('?') { '&' } else { '?' };
            let method = if is_form { Method::POST } else { Method::GET };
            let uri = format!("/console{path}{to}{query}");
            let request = Request::builder().method(method).uri(uri);
            let request = request.header("host", "a.example").header("origin", "https://a.example");
            let request = match signed_in {
                true => request.header("cookie", format!("{COOKIE}={session}")),
                false => request,
            };
            let body = [format!("form_token={token}&").into_bytes(), body].concat();
            let reply = desk.send(request.body(Full::from(body)).unwrap());
            let status = reply.status.as_u16();
            prop_assert!(status < 500, "{status} {}", reply.body);
            prop_assert!(reply.body.matches("<script").count() <= 1);
            if is_form && signed_in {
                forms.set(forms.get() + 1);
                let is_read = [200, 303, 422].contains(&status);
                let is_read = is_read && !reply.location().contains("/sign-in");
                read.set(read.get() + u32::from(is_read));
            }
            Ok(())
        });
        sent.unwrap();
    }
    assert!(read.get() > forms.get() / 2, "{} of {} were read", read.get(), forms.get());
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
