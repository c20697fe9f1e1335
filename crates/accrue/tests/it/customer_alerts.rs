//! Alerts on what a customer has of credits, where there is no ledger yet.

use accrue::{
    AlertId, Call, CustomerId, ErrorKind, ExternalId, ListFilter, PageRequest,
    alert::{Alert, AlertUpdate, Condition, NewBalanceAlert, Scope},
    limits,
    price::{FilterOperator, FilterValues, PriceClass, PriceFilter},
};

use crate::support::{
    fixture::{Fixture, SUM, block_on, external, refused, run, thresholds, usage_alert},
    priced::unit,
};

fn ada() -> (Fixture, CustomerId) {
    let fixture = Fixture::new();
    let id = fixture.customer("ada").id;
    fixture.messages();
    (fixture, id)
}

fn dropped(currency: &str) -> NewBalanceAlert {
    NewBalanceAlert::credit_balance_dropped(unit(currency), thresholds(&["20", "100.5"]))
}

fn depleted(currency: &str) -> NewBalanceAlert {
    NewBalanceAlert::credit_balance_depleted(unit(currency))
}

fn recovered(currency: &str) -> NewBalanceAlert {
    NewBalanceAlert::credit_balance_recovered(unit(currency))
}

impl Fixture {
    fn watch(&self, customer: CustomerId, new: NewBalanceAlert) -> Alert {
        run(self.account.create_customer_alert(customer, new)).unwrap()
    }

    fn listed(&self, customer: CustomerId) -> Vec<Alert> {
        let (filter, page) = (ListFilter::default(), PageRequest::default());
        let list = self.account.list_customer_alerts(customer, &filter, &page);
        block_on(list).unwrap().data
    }
}

/// Its status, as `threshold` or `threshold!`.
fn status(alert: &Alert) -> Vec<String> {
    let mark = |in_alert| if in_alert { "!" } else { "" };
    let statuses = alert.balance_alert_status.iter();
    statuses.map(|of| format!("{}{}", of.threshold_value, mark(of.in_alert))).collect()
}

fn is_a_constraint_violation<T: std::fmt::Debug + Send + 'static>(
    fixture: &Fixture,
    call: Call<T>,
    detail: &str,
) {
    let expect = (ErrorKind::ConstraintViolation, detail.to_owned());
    assert_eq!(refused(fixture, call), expect);
}

#[test]
fn s2_1_each_kind_is_created_enabled_and_shows_its_status() {
    let (fixture, ada) = ada();
    let alert = fixture.watch(ada, dropped("credits"));
    assert_eq!(alert.condition, Condition::CreditBalanceDropped { currency: unit("credits") });
    assert_eq!(alert.condition.alert_type(), "credit_balance_dropped");
    assert_eq!(alert.thresholds, Some(thresholds(&["20", "100.5"])));
    assert_eq!((alert.scope, alert.enabled), (Scope::Customer { customer_id: ada }, true));
    assert_eq!(status(&alert), ["20", "100.5"]);
    for (new, kind) in [(depleted("USD"), "depleted"), (recovered("USD"), "recovered")] {
        let alert = fixture.watch(ada, new);
        assert_eq!(alert.condition.alert_type(), format!("credit_balance_{kind}"));
        assert_eq!((&alert.thresholds, alert.threshold_values()), (&None, &[][..]));
        assert_eq!(status(&alert), ["0"]);
    }
    assert_eq!(fixture.message_types(), Vec::<&str>::new(), "there is no ledger");
}

#[test]
fn a_second_of_a_kind_on_a_currency_is_a_constraint_violation() {
    let (fixture, ada) = ada();
    for new in [dropped, depleted, recovered] {
        let first = fixture.watch(ada, new("USD"));
        let call = fixture.account.create_customer_alert(ada, new("USD"));
        let (kind, detail) = refused(&fixture, call);
        assert_eq!(kind, ErrorKind::ConstraintViolation);
        let alert_type = first.condition.alert_type();
        let expect = format!("alert {} watches the same there already: {alert_type}", first.id);
        assert_eq!(detail, expect);
        fixture.watch(ada, new("usd"));
    }
    let bob = fixture.customer("bob").id;
    fixture.watch(bob, dropped("USD"));
    assert_eq!((fixture.listed(ada).len(), fixture.listed(bob).len()), (6, 1));
}

#[test]
fn the_customer_is_found_by_its_external_id_too() {
    let (fixture, ada) = ada();
    let new = dropped("USD");
    let alert = run(fixture.account.create_customer_alert(external("ada"), new.clone())).unwrap();
    assert_eq!(alert.scope, Scope::Customer { customer_id: ada });
    let unknown: CustomerId = "019cd79e-4600-7000-8000-000000000000".parse().unwrap();
    let call = fixture.account.create_customer_alert(unknown, new.clone());
    assert_eq!(refused(&fixture, call).0, ErrorKind::ResourceNotFound);
    let call = fixture.account.create_customer_alert(external("eve"), new);
    assert_eq!(refused(&fixture, call).0, ErrorKind::ResourceNotFound);
}

#[test]
fn it_is_fetched_as_it_was_answered() {
    let (fixture, ada) = ada();
    for new in [dropped("USD"), depleted("USD"), recovered("USD")] {
        let alert = fixture.watch(ada, new);
        assert_eq!(block_on(fixture.account.fetch_alert(alert.id)).unwrap(), alert);
    }
}

#[test]
fn it_is_disabled_and_enabled_again() {
    let (fixture, ada) = ada();
    let alert = fixture.watch(ada, dropped("USD"));
    let off = run(fixture.account.disable_alert(alert.id)).unwrap();
    let mut expect = alert.clone();
    expect.enabled = false;
    assert_eq!(off, expect);
    assert_eq!(run(fixture.account.disable_alert(alert.id)).unwrap(), off, "twice is no error");
    assert_eq!(block_on(fixture.account.fetch_alert(alert.id)).unwrap(), off);
    assert_eq!(run(fixture.account.enable_alert(alert.id)).unwrap(), alert);
}

#[test]
fn its_thresholds_are_replaced() {
    let (fixture, ada) = ada();
    let alert = fixture.watch(ada, dropped("USD"));
    let update = thresholds(&["-5", "20"]);
    let updated = run(fixture.account.update_alert(alert.id, update.clone())).unwrap();
    assert_eq!(
        (updated.thresholds.as_ref(), status(&updated)),
        (Some(&update), vec!["-5".to_owned(), "20".to_owned()],)
    );
    assert_eq!(fixture.listed(ada), [updated]);
}

#[test]
fn an_alert_without_thresholds_is_given_none() {
    let (fixture, ada) = ada();
    for new in [depleted("USD"), recovered("USD")] {
        let alert = fixture.watch(ada, new);
        let detail = format!("an alert {} has no thresholds", alert.condition.alert_type());
        let call = fixture.account.update_alert(alert.id, thresholds(&["1"]));
        is_a_constraint_violation(&fixture, call, &detail);
    }
}

#[test]
fn an_alert_on_a_balance_has_no_price_filters() {
    let (fixture, ada) = ada();
    let alert = fixture.watch(ada, dropped("USD"));
    let values = FilterValues::PriceType([PriceClass::Usage].into());
    let filter = PriceFilter { operator: FilterOperator::Includes, values };
    for price_filters in [vec![], vec![filter]] {
        let price_filters = Some(price_filters);
        let update = AlertUpdate { price_filters, ..AlertUpdate::from(thresholds(&["1"])) };
        let call = fixture.account.update_alert(alert.id, update);
        let detail = "an alert credit_balance_dropped has no price filters";
        is_a_constraint_violation(&fixture, call, detail);
    }
}

#[test]
fn it_watches_no_subscription() {
    let (fixture, ada) = ada();
    let alert = fixture.watch(ada, dropped("USD"));
    let metric = fixture.metric(SUM);
    let subscription = fixture.subscribe(ada, &fixture.plan());
    let detail = format!("alert {} does not watch subscription {}", alert.id, subscription.id);
    let account = &fixture.account;
    let call = account.disable_alert_for(alert.id, subscription.id);
    is_a_constraint_violation(&fixture, call, &detail);
    let call = account.enable_alert_for(alert.id, subscription.id);
    is_a_constraint_violation(&fixture, call, &detail);

    let new = usage_alert(metric.id, &["100"]);
    let own = run(account.create_subscription_alert(subscription.id, new)).unwrap();
    let (filter, page) = (ListFilter::default(), PageRequest::default());
    let listed = block_on(account.list_subscription_alerts(subscription.id, &filter, &page));
    assert_eq!(listed.unwrap().data, [own]);
    assert_eq!(fixture.listed(ada), [alert]);
    fixture.use_now("ada", "a", "100");
    assert_eq!(fixture.fired(), ["100: none -> 100"]);
}

#[test]
fn deleted_it_is_found_no_more_and_another_takes_its_place() {
    let (fixture, ada) = ada();
    let alert = fixture.watch(ada, dropped("USD"));
    run(fixture.account.delete_alert(alert.id)).unwrap();
    is_not_found(&fixture, alert.id);
    assert_eq!(fixture.listed(ada), []);
    let second = fixture.watch(ada, dropped("USD"));
    assert_eq!(fixture.listed(ada), [second]);
}

#[test]
fn deleted_it_leaves_the_others_on_the_same_currency() {
    let (fixture, ada) = ada();
    let [first, second] = [dropped("USD"), depleted("USD")].map(|new| fixture.watch(ada, new));
    run(fixture.account.delete_alert(first.id)).unwrap();
    assert_eq!(fixture.listed(ada), [second]);
}

fn is_not_found(fixture: &Fixture, id: AlertId) {
    let account = &fixture.account;
    assert!(block_on(account.fetch_alert(id)).unwrap_err().is_not_found());
    assert_eq!(refused(fixture, account.delete_alert(id)).0, ErrorKind::ResourceNotFound);
    assert_eq!(refused(fixture, account.enable_alert(id)).0, ErrorKind::ResourceNotFound);
    let call = account.update_alert(id, thresholds(&["1"]));
    assert_eq!(refused(fixture, call).0, ErrorKind::ResourceNotFound);
}

#[test]
fn the_alerts_of_a_deleted_customer_are_not_found() {
    let (fixture, ada) = ada();
    let alert = fixture.watch(ada, dropped("USD"));
    run(fixture.account.delete_customer(ada)).unwrap();
    is_not_found(&fixture, alert.id);
    let (filter, page) = (ListFilter::default(), PageRequest::default());
    let listed = block_on(fixture.account.list_customer_alerts(ada, &filter, &page));
    assert!(listed.unwrap_err().is_not_found());
}

#[test]
fn they_are_listed_in_pages_newest_first() {
    let (fixture, ada) = ada();
    let mut expect = Vec::new();
    for new in [dropped("USD"), depleted("credits"), dropped("EUR"), recovered("USD")] {
        fixture.clock.advance(std::time::Duration::from_secs(1));
        expect.insert(0, fixture.watch(ada, new));
    }
    run(fixture.account.disable_alert(expect[1].id)).unwrap();
    expect[1].enabled = false;
    let id: ExternalId = external("ada");
    let (mut page, mut found) = (PageRequest::first(3).unwrap(), Vec::new());
    loop {
        let any = ListFilter::default();
        let list = fixture.account.list_customer_alerts(id.clone(), &any, &page);
        let next = block_on(list).unwrap();
        found.extend(next.data);
        match next.next_cursor {
            Some(cursor) => page = page.after(cursor),
            None => break,
        }
    }
    assert_eq!(found, expect);
    let created = accrue::InstantRange::default().after(expect[2].created_at);
    let (filter, page) = (ListFilter { created }, PageRequest::default());
    let later = block_on(fixture.account.list_customer_alerts(ada, &filter, &page)).unwrap();
    assert_eq!(later.data, expect[..2]);
}

#[test]
fn without_the_feature_they_are_not_available() {
    let (fixture, ada) = ada();
    let alert = fixture.watch(ada, dropped("USD"));
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.features.alerts = false;
    run(fixture.account.configure(configuration)).unwrap();
    let account = &fixture.account;
    let call = account.create_customer_alert(ada, depleted("USD"));
    assert_eq!(refused(&fixture, call).0, ErrorKind::FeatureNotAvailable);
    let call = account.delete_alert(alert.id);
    assert_eq!(refused(&fixture, call).0, ErrorKind::FeatureNotAvailable);
    let (filter, page) = (ListFilter::default(), PageRequest::default());
    let listed = block_on(account.list_customer_alerts(ada, &filter, &page));
    assert_eq!(listed.unwrap_err().kind(), ErrorKind::FeatureNotAvailable);
}

#[test]
fn a_customer_has_alerts_on_at_most_100_currencies() {
    let (fixture, ada) = ada();
    let names: Vec<_> = (0..limits::LEDGERS).map(|n| format!("unit {n}")).collect();
    let alerts: Vec<_> = names.iter().map(|name| fixture.watch(ada, depleted(name))).collect();
    let call = fixture.account.create_customer_alert(ada, depleted("another"));
    let detail = "the customer would have credits and alerts on them in 101 currencies and pricing \
                  units, expected at most 100";
    is_a_constraint_violation(&fixture, call, detail);
    fixture.watch(ada, dropped("unit 0"));
    run(fixture.account.delete_alert(alerts[1].id)).unwrap();
    fixture.watch(ada, depleted("another"));
}

#[test]
fn an_alert_on_a_balance_is_given_at_most_1000_thresholds_over_its_life() {
    let (fixture, ada) = ada();
    let alert = fixture.watch(ada, dropped("USD"));
    let update = |from: usize, count: usize| {
        let values: Vec<_> = (from..from + count).map(|value| value.to_string()).collect();
        let values = thresholds(&values.iter().map(String::as_str).collect::<Vec<_>>());
        fixture.account.update_alert(alert.id, values)
    };
    for round in 1..10 {
        run(update(round * 1_000, 100)).unwrap();
    }
    let detail = "the alert would have had 1001 thresholds, at most 1000";
    is_a_constraint_violation(&fixture, update(0, 99), detail);
    run(update(0, 98)).unwrap();
}

#[test]
fn s4_5_6_the_answer_of_a_key_has_its_status() {
    let (fixture, ada) = ada();
    let create = || {
        let key = accrue::IdempotencyKey::parse("request").unwrap();
        let call = fixture.account.create_customer_alert(ada, dropped("USD"));
        block_on(call.keyed(key).into_future()).unwrap().outcome
    };
    let first = create();
    assert_eq!(status(&first), ["20", "100.5"]);
    assert_eq!(create(), first);
    assert_eq!(fixture.listed(ada), [first]);
}
