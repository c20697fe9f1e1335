use accrue::{
    Currency, ErrorKind, ExternalId, IdOr, MetadataUpdate, Patch,
    customer::{CustomerUpdate, NewCustomer, PaymentProvider},
    webhook::Body,
};

use crate::support::fixture::{COUNT, Fixture, at, block_on, event, name, run};

fn external(text: &str) -> ExternalId {
    ExternalId::parse(text).unwrap()
}

#[test]
fn one_is_found_by_its_id_and_by_its_external_id() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    assert_eq!(block_on(fixture.account.fetch_customer(ada.id)).unwrap(), ada);
    assert_eq!(block_on(fixture.account.fetch_customer(external("ada"))).unwrap(), ada);
    let unknown = block_on(fixture.account.fetch_customer(external("bob"))).unwrap_err();
    assert_eq!(unknown.to_string(), "no customer with identifier bob");
}

#[test]
fn s3_another_account_does_not_find_it() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let other = fixture.billing.account(accrue::AccountId::parse("other").unwrap());
    assert!(block_on(other.fetch_customer(ada.id)).unwrap_err().is_not_found());
}

#[test]
fn an_external_id_is_used_once() {
    let fixture = Fixture::new();
    fixture.customer("ada");
    let email = accrue::Email::parse("b@example.com").unwrap();
    let mut new = NewCustomer::new(name("b"), email);
    new.external_customer_id = Some(external("ada"));
    let before = fixture.dump();
    let refused = run(fixture.account.create_customer(new)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DuplicateResource);
    assert_eq!(fixture.dump(), before);
}

#[test]
fn the_zone_is_that_of_the_account_where_none_is_given() {
    let fixture = Fixture::new();
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.timezone = accrue::Zone::parse("Asia/Tokyo").unwrap();
    run(fixture.account.configure(configuration)).unwrap();
    assert_eq!(fixture.customer("ada").timezone.name(), "Asia/Tokyo");
}

#[test]
fn an_edit_tells_what_was_before() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    fixture.messages();
    let update = CustomerUpdate {
        name: Some(name("Ada L.")),
        payment_provider: Patch::Set(PaymentProvider::StripeCharge),
        metadata: MetadataUpdate::Merge([("tier".to_owned(), Some("gold".to_owned()))].into()),
        ..Default::default()
    };
    let after = run(fixture.account.update_customer(ada.id, update.clone())).unwrap();
    assert_eq!(after.metadata["tier"], "gold");
    let messages = fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let Body::CustomerEdited { previous_attributes } = &message.body else { panic!() };
    let changed: Vec<_> = previous_attributes.keys().map(String::as_str).collect();
    assert_eq!(changed, ["metadata", "name", "payment_provider"]);
    run(fixture.account.update_customer(ada.id, update)).unwrap();
    assert_eq!(fixture.message_types(), Vec::<&str>::new(), "nothing changed");
}

#[test]
fn external_id_and_currency_are_set_once() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let with = |external_customer_id: Option<ExternalId>, currency: Option<&str>| {
        let currency = currency.map(|code| Currency::parse(code).unwrap());
        let update = CustomerUpdate { external_customer_id, currency, ..Default::default() };
        run(fixture.account.update_customer(ada.id, update)).map_err(|error| error.kind())
    };
    assert_eq!(with(Some(external("bob")), None), Err(ErrorKind::ConstraintViolation));
    assert!(with(Some(external("ada")), None).is_ok());
    assert!(with(None, Some("EUR")).is_ok());
    assert_eq!(with(None, Some("USD")), Err(ErrorKind::ConstraintViolation));
}

#[test]
fn a_deleted_one_takes_all_that_is_its_own_with_it() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let ada = fixture.customer("ada");
    let subscription = fixture.subscribe(ada.id, &fixture.plan());
    let new = crate::support::fixture::usage_alert(metric.id, &["1"]);
    let alert = run(fixture.account.create_subscription_alert(subscription.id, new)).unwrap();
    run(fixture.account.delete_customer(ada.id)).unwrap();
    assert!(block_on(fixture.account.fetch_customer(ada.id)).unwrap_err().is_not_found());
    assert!(
        block_on(fixture.account.fetch_subscription(subscription.id)).unwrap_err().is_not_found()
    );
    assert!(block_on(fixture.account.fetch_alert(alert.id)).unwrap_err().is_not_found());
    assert!(run(fixture.account.delete_customer(ada.id)).unwrap_err().is_not_found());
    let mut late = event("ada", "a", at("2026-03-10T12:00:00Z"), "");
    late.customer = IdOr::Id(ada.id);
    assert!(run(fixture.account.ingest([late])).is_err());
    let again = fixture.customer("ada");
    assert_ne!(again.id, ada.id, "its external id is free again");
    run(fixture.account.delete_customer(external("ada"))).unwrap();
    assert!(block_on(fixture.account.fetch_customer(again.id)).unwrap_err().is_not_found());
    assert!(run(fixture.account.delete_customer(external("ada"))).unwrap_err().is_not_found());
}

#[test]
fn metadata_is_bounded() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let update = |count: usize, value: usize| {
        let entries = (0..count).map(|n| (n.to_string(), Some("x".repeat(value))));
        let metadata = MetadataUpdate::Merge(entries.collect());
        run(fixture
            .account
            .update_customer(ada.id, CustomerUpdate { metadata, ..Default::default() }))
    };
    assert!(update(50, 512).is_ok());
    assert_eq!(update(51, 1).unwrap_err().kind(), ErrorKind::RequestValidation);
    assert_eq!(update(1, 513).unwrap_err().kind(), ErrorKind::RequestValidation);
    let many = (0..14).map(|n| (n.to_string(), Some("\u{1}".repeat(512))));
    let metadata = MetadataUpdate::Merge(many.collect());
    let update = CustomerUpdate { metadata, ..Default::default() };
    let refused = run(fixture.account.update_customer(ada.id, update)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::RequestValidation, "as JSON it is over 40 KiB");
}
