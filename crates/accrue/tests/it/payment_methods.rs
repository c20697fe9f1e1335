//! Payment methods of customers, as gateways list them (invoicing 16.2).

use std::collections::BTreeMap;

use accrue::{
    ErrorKind, Patch, PaymentMethodId,
    customer::{
        AttributeValue, Customer, CustomerUpdate, GatewayAccount, ListedPaymentMethod,
        ListedPaymentMethods, PaymentMethod, PaymentMethodType, PaymentProvider,
    },
    invoice::PaymentInstrument,
    limits,
    webhook::Body,
};
use proptest::{collection::vec, prelude::*};

use crate::{
    invoices::invoiced_with,
    support::fixture::{Fixture, UNKNOWN, at, block_on, external, name, refused, run},
};

const CREATED: &str = "payment_method.created";
const DELETED: &str = "payment_method.deleted";

/// A customer with an account at a gateway.
fn paying() -> (Fixture, Customer) {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let ada = run(fixture.account.update_customer(ada.id, moved_to("cus_1"))).unwrap();
    fixture.messages();
    (fixture, ada)
}

fn moved_to(provider_id: &str) -> CustomerUpdate {
    CustomerUpdate {
        payment_provider: Patch::Set(PaymentProvider::StripeCharge),
        payment_provider_id: Patch::Set(name(provider_id)),
        ..CustomerUpdate::default()
    }
}

fn defaulting_to(id: Patch<PaymentMethodId>) -> CustomerUpdate {
    CustomerUpdate { default_payment_method: id, ..CustomerUpdate::default() }
}

fn card(id: &str) -> ListedPaymentMethod {
    let method_type = PaymentMethodType::Card;
    ListedPaymentMethod { external_id: external(id), method_type, is_default: false }
}

fn default_card(id: &str) -> ListedPaymentMethod {
    ListedPaymentMethod { is_default: true, ..card(id) }
}

fn of(fixture: &Fixture) -> GatewayAccount {
    block_on(fixture.account.gateway_account(external("ada"))).unwrap()
}

fn sync(fixture: &Fixture, methods: Vec<ListedPaymentMethod>) -> Vec<PaymentMethod> {
    let listed = ListedPaymentMethods::new(of(fixture), methods).unwrap();
    run(fixture.account.sync_payment_methods(listed)).unwrap()
}

fn methods(fixture: &Fixture) -> Vec<PaymentMethod> {
    block_on(fixture.account.payment_methods(external("ada"))).unwrap()
}

fn default_of(fixture: &Fixture) -> Option<String> {
    let ada = block_on(fixture.account.fetch_customer(external("ada"))).unwrap();
    ada.default_payment_method.map(|of| of.external_id.to_string())
}

#[test]
fn invoicing_16_2_methods_that_are_listed_come_and_go() {
    let (fixture, ada) = paying();
    let asked = of(&fixture);
    assert_eq!((asked.customer_id, asked.provider_id.as_str()), (ada.id, "cus_1"));
    assert_eq!(asked.provider, PaymentProvider::StripeCharge);

    let [one, two] = sync(&fixture, vec![card("pm_1"), default_card("pm_2")]).try_into().unwrap();
    assert_eq!((one.customer_id, one.created_at), (ada.id, at("2026-03-10T12:00:00Z")));
    assert_eq!((one.provider, one.is_default), (PaymentProvider::StripeCharge, false));
    assert!(two.is_default);
    assert_eq!(methods(&fixture), [one.clone(), two.clone()]);
    assert_eq!(default_of(&fixture).as_deref(), Some("pm_2"));
    let told: Vec<_> = fixture.messages().into_iter().map(|message| message.body).collect();
    let created =
        |of: &PaymentMethod| Body::PaymentMethodCreated { payment_method: Box::new(of.clone()) };
    assert_eq!(told, [created(&one), created(&two)]);
    assert_eq!(told[0].message_type(), CREATED);

    fixture.set("2026-03-11T12:00:00Z");
    let bank =
        ListedPaymentMethod { method_type: PaymentMethodType::UsBankAccount, ..card("pm_1") };
    let [kept, new] = sync(&fixture, vec![bank, default_card("pm_3")]).try_into().unwrap();
    assert_eq!((kept.id, kept.created_at), (one.id, one.created_at), "it is known");
    assert_eq!(kept.method_type, PaymentMethodType::UsBankAccount);
    assert_ne!(new.id, two.id);
    assert_eq!(default_of(&fixture).as_deref(), Some("pm_3"));
    let told: Vec<_> = fixture.messages().into_iter().map(|message| message.body).collect();
    let deleted = Body::PaymentMethodDeleted { payment_method: Box::new(two) };
    assert_eq!(deleted.message_type(), DELETED);
    assert_eq!(told, [created(&new), deleted]);
}

#[test]
fn invoicing_16_2_the_same_list_once_more_changes_nothing() {
    let (fixture, _) = paying();
    let first = sync(&fixture, vec![card("pm_1"), default_card("pm_2")]);
    fixture.messages();
    let before = fixture.dump();
    fixture.set("2026-03-11T12:00:00Z");
    assert_eq!(sync(&fixture, vec![card("pm_1"), default_card("pm_2")]), first);
    assert_eq!(fixture.dump(), before);
}

#[test]
fn invoicing_16_2_a_default_that_no_gateway_names_stays_as_long_as_it_is_listed() {
    let (fixture, _) = paying();
    sync(&fixture, vec![card("pm_1"), default_card("pm_2")]);
    sync(&fixture, vec![card("pm_2"), card("pm_3")]);
    assert_eq!(default_of(&fixture).as_deref(), Some("pm_2"));
    sync(&fixture, vec![card("pm_3")]);
    assert_eq!(default_of(&fixture), None);
    sync(&fixture, vec![]);
    assert_eq!(methods(&fixture), []);
    assert!(!fixture.tables().contains(&"payment_methods"), "an empty row stays");
}

#[test]
fn wire_4_3_an_update_chooses_the_default() {
    let (fixture, ada) = paying();
    let [one, two] = sync(&fixture, vec![card("pm_1"), default_card("pm_2")]).try_into().unwrap();
    fixture.messages();
    let choose = |id| run(fixture.account.update_customer(ada.id, defaulting_to(id)));
    let after = choose(Patch::Set(one.id)).unwrap();
    let mut chosen = one.clone();
    chosen.is_default = true;
    assert_eq!(after.default_payment_method.as_deref(), Some(&chosen));
    let mut other = two.clone();
    other.is_default = false;
    assert_eq!(methods(&fixture), [chosen, other]);
    let [message] = fixture.messages().try_into().unwrap();
    let Body::CustomerEdited { previous_attributes } = message.body else { panic!() };
    let before = AttributeValue::Text(Some(two.id.to_string()));
    let expected = BTreeMap::from([("default_payment_method_id".to_owned(), before)]);
    assert_eq!(previous_attributes, expected);

    choose(Patch::Set(one.id)).unwrap();
    assert_eq!(fixture.message_types(), Vec::<&str>::new(), "it is the default already");
    let unknown = UNKNOWN.parse().unwrap();
    let update = defaulting_to(Patch::Set(unknown));
    let (kind, _) = refused(&fixture, fixture.account.update_customer(ada.id, update));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
    assert_eq!(default_of(&fixture).as_deref(), Some("pm_1"));
    assert_eq!(choose(Patch::Clear).unwrap().default_payment_method, None);
    assert!(methods(&fixture).iter().all(|of| !of.is_default));
}

#[test]
fn wire_4_3_another_customers_method_is_unknown() {
    let (fixture, _) = paying();
    let [one] = sync(&fixture, vec![card("pm_1")]).try_into().unwrap();
    let bob = fixture.customer("bob");
    let update = defaulting_to(Patch::Set(one.id));
    let (kind, _) = refused(&fixture, fixture.account.update_customer(bob.id, update));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
}

#[test]
fn invoicing_16_2_methods_go_with_their_account_at_the_gateway() {
    let (fixture, ada) = paying();
    let [one] = sync(&fixture, vec![default_card("pm_1")]).try_into().unwrap();
    fixture.messages();
    // The same account once more: nothing goes.
    run(fixture.account.update_customer(ada.id, moved_to("cus_1"))).unwrap();
    assert_eq!(methods(&fixture).len(), 1);
    let mut update = moved_to("cus_2");
    update.default_payment_method = Patch::Set(one.id);
    let (kind, _) = refused(&fixture, fixture.account.update_customer(ada.id, update));
    assert_eq!(kind, ErrorKind::ResourceNotFound, "it goes with the account");
    let listed = ListedPaymentMethods::new(of(&fixture), vec![card("pm_1")]).unwrap();
    let moved = run(fixture.account.update_customer(ada.id, moved_to("cus_2"))).unwrap();
    assert_eq!((moved.default_payment_method, methods(&fixture)), (None, vec![]));
    assert_eq!(fixture.message_types(), ["customer.edited", DELETED]);
    // What was listed of the former account comes too late.
    let (kind, _) = refused(&fixture, fixture.account.sync_payment_methods(listed));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
}

#[test]
fn invoicing_16_2_who_has_no_gateway_has_nothing_to_list() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let kind = || {
        let asked = block_on(fixture.account.gateway_account(ada.id));
        asked.map_err(|error| error.kind())
    };
    assert_eq!(kind(), Err(ErrorKind::ConstraintViolation));
    let mut update = moved_to("cus_1");
    update.payment_provider = Patch::Set(PaymentProvider::StripeInvoice);
    run(fixture.account.update_customer(ada.id, update)).unwrap();
    assert_eq!(kind(), Err(ErrorKind::ConstraintViolation), "it is given invoices");
    let mut update = moved_to("cus_1");
    update.payment_provider_id = Patch::Clear;
    run(fixture.account.update_customer(ada.id, update)).unwrap();
    assert_eq!(kind(), Err(ErrorKind::ConstraintViolation), "its id there is not known");
    run(fixture.account.update_customer(ada.id, moved_to("cus_1"))).unwrap();
    assert!(kind().is_ok());
}

#[test]
fn invoicing_16_2_what_a_gateway_lists_is_bounded() {
    let (fixture, _) = paying();
    let kind = |methods| {
        let listed = ListedPaymentMethods::new(of(&fixture), methods);
        listed.map(|_| ()).map_err(|error| error.kind())
    };
    let many = |count: usize| (0..count).map(|n| card(&format!("pm_{n}"))).collect();
    assert_eq!(kind(many(limits::PAYMENT_METHODS)), Ok(()));
    let invalid = Err(ErrorKind::RequestValidation);
    assert_eq!(kind(many(limits::PAYMENT_METHODS + 1)), invalid);
    assert_eq!(kind(vec![card("pm_1"), card("pm_1")]), invalid);
    assert_eq!(kind(vec![default_card("pm_1"), default_card("pm_2")]), invalid);
    // The longest ids there are fit a row.
    let longest = |n| card(&format!("{n:02}{}", "\"".repeat(limits::EXTERNAL_ID_BYTES - 2)));
    let methods: Vec<_> = (0..limits::PAYMENT_METHODS).map(longest).collect();
    assert_eq!(sync(&fixture, methods).len(), limits::PAYMENT_METHODS);
}

#[test]
fn invoicing_8_2_invoices_are_collected_with_the_default() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    let fixture = &invoiced.fixture;
    let june = "2026-06-01T00:00:00Z";
    fixture.set(june);
    run(fixture.account.update_customer(external("ada"), moved_to("cus_1"))).unwrap();
    sync(fixture, vec![card("pm_1"), default_card("pm_2")]);
    invoiced.subscribe(june);
    fixture.tick();
    let started = block_on(fixture.account.list_started_payments(&Default::default())).unwrap();
    let [payment] = started.data.try_into().unwrap();
    let expected =
        PaymentInstrument::Method { provider_id: name("cus_1"), method_id: external("pm_2") };
    assert_eq!((payment.instrument.token(), &payment.instrument), (None, &expected));
}

#[test]
fn invoicing_8_2_a_token_comes_before_the_default() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    let fixture = &invoiced.fixture;
    let june = "2026-06-01T00:00:00Z";
    fixture.set(june);
    let mut update = moved_to("cus_1");
    let token = r#"{"payment_providers":[{"provider_type":"stripe","default_shared_payment_token":"spt_1"}]}"#;
    update.carried = accrue::CarriedUpdate::new([("payment_configuration", token)]).unwrap();
    run(fixture.account.update_customer(external("ada"), update)).unwrap();
    sync(fixture, vec![default_card("pm_1")]);
    invoiced.subscribe(june);
    fixture.tick();
    let started = block_on(fixture.account.list_started_payments(&Default::default())).unwrap();
    assert_eq!(started.data[0].instrument.token(), Some("spt_1"));
}

#[test]
fn wire_4_1_a_deleted_customer_takes_its_methods_along() {
    let (fixture, ada) = paying();
    sync(&fixture, vec![default_card("pm_1")]);
    let listed = ListedPaymentMethods::new(of(&fixture), vec![card("pm_1")]).unwrap();
    assert!(fixture.tables().contains(&"payment_methods"));
    run(fixture.account.delete_customer(ada.id)).unwrap();
    assert!(!fixture.tables().contains(&"payment_methods"));
    assert!(block_on(fixture.account.payment_methods(ada.id)).unwrap_err().is_not_found());
    let (kind, _) = refused(&fixture, fixture.account.sync_payment_methods(listed));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
}

/// A list that a gateway may give: which of six methods, in which order, and which is the default.
fn lists() -> impl Strategy<Value = Vec<ListedPaymentMethod>> {
    let some = proptest::sample::subsequence((0..6_usize).collect::<Vec<_>>(), 0..=6);
    (some.prop_shuffle(), proptest::option::of(0..6_usize)).prop_map(|(which, default)| {
        let method = |n: usize| ListedPaymentMethod {
            is_default: Some(n) == default,
            ..card(&format!("pm_{n}"))
        };
        which.into_iter().map(method).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever gateways list one after the other, what is kept is the last list, and what was told adds up
    /// to it.
    #[test]
    fn invoicing_16_2_what_is_told_adds_up_to_what_is_listed(lists in vec(lists(), 1..6)) {
        let (fixture, _) = paying();
        let (mut told, mut default) = (BTreeMap::new(), None::<String>);
        for list in lists {
            let kept = sync(&fixture, list.clone());
            let ids = |of: &PaymentMethod| of.external_id.to_string();
            let listed: Vec<_> = list.iter().map(|of| of.external_id.to_string()).collect();
            prop_assert_eq!(kept.iter().map(ids).collect::<Vec<_>>(), listed.clone());
            prop_assert_eq!(&methods(&fixture), &kept);
            for message in fixture.messages() {
                match message.body {
                    Body::PaymentMethodCreated { payment_method: of } => {
                        prop_assert_eq!(told.insert(of.external_id.to_string(), of.id), None);
                    }
                    Body::PaymentMethodDeleted { payment_method: of } => {
                        prop_assert_eq!(told.remove(of.external_id.as_str()), Some(of.id));
                    }
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            let known: BTreeMap<_, _> = kept.iter().map(|of| (ids(of), of.id)).collect();
            prop_assert_eq!(&known, &told);
            let named = list.iter().find(|of| of.is_default).map(|of| of.external_id.to_string());
            default = named.or(default.filter(|of| listed.contains(of)));
            prop_assert_eq!(&default_of(&fixture), &default);
            prop_assert!(kept.iter().filter(|of| of.is_default).count() <= 1);
        }
    }
}
