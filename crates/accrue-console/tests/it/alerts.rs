//! Alerts of a subscription: looked at over the billing period before, created, deleted.

use std::time::Duration;

use accrue::{ListFilter, PageRequest, person::Role};
use http::StatusCode;

use crate::support::{Desk, block_on};

#[test]
fn a_threshold_says_when_it_would_have_fired() {
    let desk = Desk::new();
    let (_, subscription) = desk.customer("Tokens");
    let (filter, page) = (ListFilter::default(), PageRequest::default());
    let alerts =
        block_on(desk.account.list_subscription_alerts(subscription, &filter, &page)).unwrap();
    for alert in alerts.data {
        block_on(desk.account.delete_alert(alert.id).into_future()).unwrap();
    }
    desk.clock.advance(Duration::from_secs(30 * 24 * 60 * 60));
    let session = desk.session_of(Role::Operate);
    let new = format!("/a/acme/subscriptions/{subscription}/alerts/new");
    let empty = desk.get(&new, Some(&session)).body;
    assert!(empty.contains("No threshold yet") && !empty.contains("Create the alert"));
    // 600 tokens for 6 dollars on the 10th of March.
    let page = desk.get(&format!("{new}?watch=cost&thresholds=5.5,6.01"), Some(&session)).body;
    assert!(
        page.contains("Would have fired</span></td><td><time datetime=\"2026-03-10\">2026-03-10<"),
        "{page}"
    );
    assert!(page.contains("Would not have fired"));
    assert!(page.contains("It would not fire now"), "of April there is no usage");
    for (wrong, fault) in [("x", "thresholds-fault"), ("1,1", "thresholds-fault")] {
        let page = desk.get(&format!("{new}?thresholds={wrong}"), Some(&session)).body;
        assert!(page.contains(fault) && !page.contains("Create the alert"), "{wrong}");
    }
}

#[test]
fn an_alert_is_deleted_and_created_anew() {
    let desk = Desk::new();
    let (_, subscription) = desk.customer("Tokens");
    let session = desk.session_of(Role::Operate);
    let all = || {
        let (filter, page) = (ListFilter::default(), PageRequest::default());
        block_on(desk.account.list_subscription_alerts(subscription, &filter, &page)).unwrap().data
    };
    let alerts = format!("/a/acme/subscriptions/{subscription}/alerts");
    let fields = [("watch", "cost"), ("thresholds", "7, 8")];
    let taken = desk.post(&alerts, Some(&session), &fields);
    assert_eq!(taken.status, StatusCode::UNPROCESSABLE_ENTITY, "there is one on cost");
    let looked = desk.get(&format!("{alerts}/new?watch=cost&thresholds=7"), Some(&session)).body;
    assert!(looked.contains("An alert watches this already") && !looked.contains("alert bad"));
    assert!(looked.contains("Would not have fired") && !looked.contains("Create the alert"));

    let on_cost =
        all().into_iter().find(|of| of.condition.alert_type() == "cost_exceeded").unwrap();
    let deleted = desk.post(&format!("{alerts}/{}/delete", on_cost.id), Some(&session), &[]);
    assert!(looked.contains(&format!("/subscriptions/{subscription}#alert-{}", on_cost.id)));
    let page = format!("/console/a/acme/subscriptions/{subscription}");
    assert_eq!(deleted.location(), format!("{page}?done=alert-deleted"));
    assert_eq!(all().len(), 1);

    let created = desk.post(&alerts, Some(&session), &fields);
    assert_eq!(created.location(), format!("{page}?done=alert-created"));
    let body = desk.get(created.location(), Some(&session)).body;
    assert!(body.contains("The alert is created.") && body.contains("7, 8"));
    let reader = desk.session_of(Role::Read);
    assert_eq!(desk.post(&alerts, Some(&reader), &fields).status, StatusCode::FORBIDDEN);
    assert!(!desk.get(&page, Some(&reader)).body.contains("New alert"));
}
