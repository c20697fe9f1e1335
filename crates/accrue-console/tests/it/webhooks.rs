//! Endpoints are added, disabled and enabled by forms; messages are shown, and sent again.

use accrue::{
    Decimal, PageRequest, PricingUnit, PropertyName,
    alert::{NewAlert, ThresholdOverride, Thresholds},
    limits,
    person::Role,
    webhook::{
        Answer, AttemptReport, DeliveryOrder, Endpoint, EndpointUrl, EventTypes, Message, Reach,
        Schedule, SentMessageFilter, WebhookKey,
    },
};
use http::StatusCode;

use crate::{
    stock::Same,
    support::{ADDRESS, Desk, block_on},
};

#[test]
fn an_endpoint_is_added_and_its_secret_is_shown_once() {
    let desk = Desk::with_webhooks();
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

/// The path of an endpoint that is added, and a function that reads it.
fn added(desk: &Desk, session: &str) -> (String, impl Fn() -> Option<Endpoint>) {
    desk.post("/a/acme/webhooks", Some(session), &[("url", ADDRESS)]);
    let account = desk.account.clone();
    let read = move || {
        let page = block_on(account.list_webhook_endpoints(&PageRequest::default())).unwrap();
        page.data.first().cloned()
    };
    (format!("/a/acme/webhooks/{}", read().unwrap().id), read)
}

#[test]
fn an_endpoint_is_changed_where_what_is_typed_can_be_read() {
    let desk = Desk::with_webhooks();
    let [operate, admin] = [Role::Operate, Role::Admin].map(|role| desk.session_of(role));
    let (path, read) = added(&desk, &admin);
    let form = |url, types, order| [("url", url), ("types", types), ("order", order)];
    let other = "https://other.example.com/";
    let changes = form(other, "invoice.issued, customer.created,", "strict");
    assert_eq!(desk.post(&path, Some(&operate), &changes).status, StatusCode::FORBIDDEN);
    let changed = desk.post(&path, Some(&admin), &changes);
    assert_eq!(changed.location(), format!("/console{path}?done=endpoint-changed"));
    let endpoint = read().unwrap();
    assert_eq!((endpoint.url.as_str(), endpoint.order), (other, DeliveryOrder::Strict));
    assert!(endpoint.event_types.contain("invoice.issued"));
    assert!(!endpoint.event_types.contain("invoice.paid"));
    let page = desk.get(&path, Some(&admin)).body;
    assert!(page.contains("value=\"customer.created, invoice.issued\""), "{page}");
    assert!(page.contains("value=\"strict\" selected"), "{page}");

    for (changes, field) in [
        (form("http://other.example.com/", "", ""), "url"),
        (form(other, "invoice.issued, nothing.such", ""), "types"),
    ] {
        let refused = desk.post(&path, Some(&admin), &changes);
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.body.contains(&format!("id=\"change-{field}-fault\"")), "{field}");
        assert_eq!(read().unwrap(), endpoint);
    }
    desk.post(&path, Some(&admin), &form(other, " ", "first_attempts"));
    assert_eq!(read().unwrap().event_types, EventTypes::All);
}

#[test]
fn a_secret_is_rotated_with_an_overlap_and_shown_once() {
    let desk = Desk::with_webhooks();
    let [operate, admin] = [Role::Operate, Role::Admin].map(|role| desk.session_of(role));
    let (path, read) = added(&desk, &admin);
    let rotate = format!("{path}/rotate");
    let overlap = [("overlap", "24")];
    assert_eq!(desk.post(&rotate, Some(&operate), &overlap).status, StatusCode::FORBIDDEN);
    let secret = || {
        let key = WebhookKey::new(&[7; 32]).unwrap();
        read().unwrap().secret(&key, desk.account.id()).reveal()
    };
    let before = secret();
    let shown = desk.post(&rotate, Some(&admin), &overlap).body;
    assert_ne!(secret(), before);
    assert!(shown.contains(&format!("value=\"{}\"", secret())) && shown.contains("Two"));
    let page = desk.get(&path, Some(&admin)).body;
    assert!(!page.contains("whsec_") && page.contains("Two"));
    let refused = desk.post(&rotate, Some(&admin), &[("overlap", "721")]);
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("id=\"rotate-overlap-fault\""));
    desk.post(&rotate, Some(&admin), &[("overlap", "0")]);
    assert_eq!(read().unwrap().overlap_until(), None);
}

#[test]
fn an_endpoint_is_deleted() {
    let desk = Desk::with_webhooks();
    let [read_only, operate, admin] =
        [Role::Read, Role::Operate, Role::Admin].map(|role| desk.session_of(role));
    let (path, read) = added(&desk, &admin);
    for session in [&read_only, &operate] {
        let page = desk.get(&path, Some(session));
        assert_eq!(page.status, StatusCode::OK);
        assert!(!page.body.contains("Delete the endpoint"));
        let forbidden = desk.post(&format!("{path}/delete"), Some(session), &[]);
        assert_eq!(forbidden.status, StatusCode::FORBIDDEN);
    }
    let deleted = desk.post(&format!("{path}/delete"), Some(&admin), &[]);
    assert_eq!(deleted.location(), "/console/a/acme/webhooks?done=endpoint-deleted");
    assert!(read().is_none());
    assert_eq!(desk.get(&path, Some(&admin)).status, StatusCode::NOT_FOUND);
}

#[test]
fn without_a_key_of_the_host_none_is_added() {
    let desk = Desk::new();
    let admin = desk.session_of(Role::Admin);
    assert!(!desk.get("/a/acme/webhooks", Some(&admin)).body.contains("Add an endpoint"));
    let refused = desk.post("/a/acme/webhooks", Some(&admin), &[("url", ADDRESS)]);
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
}

/// The page of the first message whose body is a text.
fn message_page(body: &'static str) -> String {
    let desk = Desk::new();
    desk.customer("Tokens");
    while block_on(desk.billing.fan_out_messages(&Same(body), 100)).unwrap().more {}
    let filter = SentMessageFilter::default();
    let sent = block_on(desk.account.list_sent_messages(&filter, &PageRequest::default())).unwrap();
    let session = desk.session_of(Role::Read);
    desk.get(&format!("/a/acme/messages/{}", sent.data[0].id), Some(&session)).body
}

#[test]
fn an_alert_on_groups_is_shown_and_which_ones_fired() {
    let desk = Desk::new();
    let (customer, subscription) = desk.customer("Tokens");
    let key = |text| PropertyName::parse(text).unwrap();
    let (usd, at) = (PricingUnit::parse("USD").unwrap(), Thresholds::new([Decimal::from(7)]));
    let mut new = NewAlert::grouped_cost_exceeded([key("team"), key("region")], usd, at.unwrap());
    let of = |group_keys, values: &[&str], thresholds| ThresholdOverride {
        group_keys,
        group_values: values.iter().map(|value| (*value).to_owned()).collect(),
        thresholds,
    };
    let two = Thresholds::new([Decimal::from(2)]).unwrap();
    new.threshold_overrides =
        vec![of(Some(vec![key("team")]), &["ml"], Some(two)), of(None, &["ml", "eu"], None)];
    block_on(desk.account.create_subscription_alert(subscription, new).into_future()).unwrap();
    let session = desk.session_of(Role::Read);
    let page = desk.get(&format!("/a/acme/subscriptions/{subscription}"), Some(&session)).body;
    for text in ["by team, region", "team ml: 2", "team ml, region eu: never"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    desk.event("event-2", customer, 100);
    desk.event_of("event-3", customer, 710, [("team", "ml"), ("region", "<b>")]);
    let kind = "subscription.grouped_cost_exceeded";
    let texts = [
        ["team empty, region empty", "6.00\u{a0}USD", "7.00\u{a0}USD"],
        ["team ml, region &lt;b&gt;", "Nothing yet", "7.10\u{a0}USD"],
    ];
    let fired = before_and_after_they_are_sent(&desk, kind);
    assert_eq!(fired.len(), texts.len());
    for (pages, texts) in fired.iter().zip(texts) {
        for (page, text) in pages.iter().flat_map(|page| texts.map(|text| (page, text))) {
            assert!(page.contains(text), "{text}: {page}");
        }
    }
}

#[test]
fn an_alert_on_too_many_groups_says_that_it_is_disabled() {
    let desk = Desk::new();
    let (customer, subscription) = desk.customer("Tokens");
    let (team, usd) = (PropertyName::parse("team").unwrap(), PricingUnit::parse("USD").unwrap());
    let at = Thresholds::new([Decimal::from(7)]).unwrap();
    let new = NewAlert::grouped_cost_exceeded([team], usd, at);
    block_on(desk.account.create_subscription_alert(subscription, new).into_future()).unwrap();
    for number in 0..limits::WATCHED_GROUPS {
        let team = number.to_string();
        desk.event_of(&format!("event of {team}"), customer, 1, [("team", team.as_str())]);
    }
    let disabled = before_and_after_they_are_sent(&desk, "subscription.alert_disabled");
    assert_eq!(disabled.len(), 1);
    for page in &disabled[0] {
        assert!(page.contains("Why it is disabled") && page.contains(">1001<"), "{page}");
    }
}

/// The messages that wait.
fn waiting(desk: &Desk) -> Vec<Message> {
    let page = PageRequest::first_of_messages(100).unwrap();
    block_on(desk.account.list_messages(&page)).unwrap().data
}

/// The pages of all messages of a type that wait, and the same once they are to be sent: both say the same of why an alert
/// has fired.
fn before_and_after_they_are_sent(desk: &Desk, kind: &str) -> Vec<[String; 2]> {
    let session = desk.session_of(Role::Read);
    let of_kind = waiting(desk).into_iter().filter(|of| of.message_type() == kind);
    let paths: Vec<_> = of_kind.map(|of| format!("/a/acme/messages/{}", of.id)).collect();
    let pages = || paths.iter().map(|path| desk.get(path, Some(&session)).body);
    let before: Vec<_> = pages().collect();
    while block_on(desk.billing.fan_out_messages(&Same("{}"), 100)).unwrap().more {}
    let why = |page: &str| {
        let why = page.split_once("<section aria-labelledby=\"why-title\">");
        why.map(|(_, rest)| rest.split("</section>").next().unwrap_or_default().to_owned())
    };
    let both = before.into_iter().zip(pages()).map(|(before, after)| {
        assert!(!before.contains("Body of the message") && after.contains("Body of the message"));
        assert_eq!(why(&before), why(&after));
        [before, after]
    });
    both.collect()
}

#[test]
fn a_message_of_an_alert_says_what_was_before_and_what_caused_it() {
    for (kind, figures) in [
        ("subscription.cost_exceeded", ["Nothing yet", "6.00\u{a0}USD", "5.00\u{a0}USD"]),
        ("subscription.spend_exceeded", ["6.00\u{a0}USD", "6.51\u{a0}USD", "6.50\u{a0}USD"]),
        ("subscription.usage_exceeded", ["Nothing yet", ">600<", ">5<"]),
    ] {
        let desk = Desk::new();
        let (customer, subscription) = desk.customer("Tokens");
        let at = Thresholds::new([Decimal::parse("6.5").unwrap()]).unwrap();
        let spend = NewAlert::spend_exceeded(PricingUnit::parse("USD").unwrap(), at);
        block_on(desk.account.create_subscription_alert(subscription, spend).into_future())
            .unwrap();
        desk.event("event-2", customer, 51);
        let fired = before_and_after_they_are_sent(&desk, kind);
        assert_eq!(fired.len(), 1, "{kind}");
        for page in &fired[0] {
            for text in figures {
                assert!(page.contains(text), "{text}: {page}");
            }
            assert!(page.contains(&format!("/subscriptions/{subscription}#alert-")));
            assert!(page.contains("/a/acme/events?ids=event-"));
        }
    }
}

#[test]
fn messages_of_no_alert_do_not_say_why_and_those_that_wait_are_on_the_overview() {
    let desk = Desk::new();
    desk.customer("Tokens");
    let session = desk.session_of(Role::Read);
    let overview = desk.get("/a/acme", Some(&session)).body;
    let waiting = waiting(&desk);
    assert!(overview.contains(&format!("<dd>{}", waiting.len())), "{overview}");
    for message in waiting {
        assert!(overview.contains(&format!("/console/a/acme/messages/{}", message.id)));
    }
    for pages in before_and_after_they_are_sent(&desk, "customer.created") {
        assert!(!pages.concat().contains("Why it fired"));
    }
    let overview = desk.get("/a/acme", Some(&session)).body;
    assert!(overview.contains("<dd>0"), "nobody wants them: {overview}");
    let none = "/a/acme/messages/07070707-0707-7707-8707-070707070707";
    assert_eq!(desk.get(none, Some(&session)).status, StatusCode::NOT_FOUND);
}

#[test]
fn an_endpoint_that_is_disabled_says_why() {
    let desk = Desk::with_webhooks();
    let admin = desk.session_of(Role::Admin);
    desk.post("/a/acme/webhooks", Some(&admin), &[("url", ADDRESS)]);
    desk.customer("Tokens");
    while block_on(desk.billing.fan_out_messages(&Same("{}"), 100)).unwrap().more {}
    let lease = block_on(desk.billing.take_endpoint()).unwrap().unwrap();
    let waiting = desk.billing.waiting_deliveries(&lease, 1);
    let delivery = block_on(waiting).unwrap().deliveries[0];
    let answer = Answer::Status { code: 410, elapsed_ms: 1, body: String::new() };
    let (url, at) = (EndpointUrl::parse(ADDRESS, &Reach::public()).unwrap(), desk.billing.now());
    let report = AttemptReport { delivery, url, at, answer, retry_after: None };
    block_on(desk.billing.report_deliveries(&lease, vec![report], &Schedule::default())).unwrap();
    let page = desk.get("/a/acme/webhooks", Some(&admin)).body;
    assert!(
        page.contains("Disabled") && page.contains("it answered 410, that it is gone"),
        "{page}"
    );
    let path = format!("/a/acme/messages/{}", delivery.message_id());
    let page = desk.get(&path, Some(&admin)).body;
    let attempt = r#"<th scope="row">410</th><td class="number">1 ms</td><td>–</td>"#;
    assert!(page.contains(attempt), "{page}");
}

#[test]
fn the_type_of_a_message_breaks_where_its_words_end() {
    let page = message_page("{}");
    let (_, title) = page.split_once("<h1>").unwrap();
    let (title, _) = title.split_once("</h1>").unwrap();
    assert_eq!(title, "plan.<wbr>created");
}

#[test]
fn a_body_that_is_of_no_alert_is_shown_as_it_is() {
    for body in
        [r#"{"type":"customer.created","customer":{"id":"c"},"properties":{}}"#, "no json", "[]"]
    {
        let page = message_page(body);
        assert!(!page.contains("Why it fired") && page.contains("Body of the message"), "{body}");
    }
}
