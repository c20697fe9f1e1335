//! Customers.

use codes_iso_3166::part_1::CountryCode;
use codes_iso_4217::CurrencyCode;
use orb_billing::{
    Address, AddressRequest, CreateCustomerRequest, CustomerPaymentProviderRequest, ListParams,
    PaymentProvider, TaxId, TaxIdRequest, TaxIdType, UpdateCustomerRequest,
};
use time::Duration;

use crate::fixtures::{all, client, customer, now, unique};

pub(crate) async fn one_has_every_field() {
    let client = client();
    let external = format!("{}/a b?c#d", unique("customer"));
    let key = unique("key");
    let new = CreateCustomerRequest {
        external_id: Some(&external),
        name: "Ada",
        email: "ada@example.com",
        additional_emails: Some(vec!["books@example.com", "more@example.com"]),
        timezone: Some("Europe/Berlin"),
        payment_provider: Some(CustomerPaymentProviderRequest {
            kind: PaymentProvider::StripeInvoice,
            id: "cus_1",
        }),
        shipping_address: Some(AddressRequest {
            city: Some("New York"),
            country: Some(CountryCode::US),
            line1: Some("1 Main Street"),
            line2: Some("Room 7"),
            postal_code: Some("10001"),
            state: Some("NY"),
        }),
        billing_address: Some(AddressRequest {
            city: Some("Berlin"),
            country: Some(CountryCode::DE),
            ..AddressRequest::default()
        }),
        currency: Some(CurrencyCode::EUR),
        tax_id: Some(TaxIdRequest {
            type_: TaxIdType::EuVat,
            value: "DE123456789",
            country: CountryCode::DE,
        }),
        idempotency_key: Some(&key),
    };
    let created = client.create_customer(&new).await.unwrap();
    assert_eq!(created.external_id.as_deref(), Some(&*external));
    assert_eq!((&*created.name, &*created.email), ("Ada", "ada@example.com"));
    assert_eq!(created.additional_emails, ["books@example.com", "more@example.com"]);
    assert_eq!(created.timezone, "Europe/Berlin");
    assert_eq!(created.payment_provider, Some(PaymentProvider::StripeInvoice));
    assert_eq!(created.payment_provider_id.as_deref(), Some("cus_1"));
    let text = |text: &str| Some(text.to_owned());
    let shipping = Address {
        city: text("New York"),
        country: Some(CountryCode::US),
        line1: text("1 Main Street"),
        line2: text("Room 7"),
        postal_code: text("10001"),
        state: text("NY"),
    };
    assert_eq!(created.shipping_address, Some(shipping));
    let billing = Address {
        city: text("Berlin"),
        country: Some(CountryCode::DE),
        line1: None,
        line2: None,
        postal_code: None,
        state: None,
    };
    assert_eq!(created.billing_address, Some(billing));
    assert_eq!(created.currency, Some(CurrencyCode::EUR));
    let tax_id = TaxId {
        type_: TaxIdType::EuVat,
        value: "DE123456789".to_owned(),
        country: CountryCode::DE,
    };
    assert_eq!(created.tax_id, Some(tax_id));
    assert!(created.auto_collection, "it has a payment provider");
    assert_eq!(created.balance, "0.00");
    assert!((now(0) - created.created_at).abs() < Duration::HOUR);
    assert_eq!(created.portal_url, None);

    assert_eq!(client.get_customer(&created.id).await.unwrap(), created);
    let by_external_id = client.get_customer_by_external_id(&external).await;
    assert_eq!(by_external_id.unwrap(), created);
    let again = client.create_customer(&new).await;
    assert_eq!(again.unwrap(), created, "the same key");
}

pub(crate) async fn one_needs_a_name_and_an_address() {
    let new = CreateCustomerRequest {
        name: "Ada",
        email: "ada@example.com",
        ..CreateCustomerRequest::default()
    };
    let created = client().create_customer(&new).await.unwrap();
    assert_eq!(created.external_id, None);
    assert_eq!(created.additional_emails, [""; 0]);
    assert_eq!(created.timezone, "UTC");
    assert_eq!((&created.payment_provider, &created.payment_provider_id), (&None, &None));
    assert_eq!((&created.shipping_address, &created.billing_address), (&None, &None));
    assert_eq!((created.currency, &created.tax_id), (None, &None));
    assert!(!created.auto_collection);
}

pub(crate) async fn one_is_changed_by_both_ids() {
    let client = client();
    let before = customer().await;
    let change = UpdateCustomerRequest {
        name: Some("Eve"),
        email: Some("eve@example.com"),
        additional_emails: Some(vec!["books@example.com"]),
        payment_provider: Some(CustomerPaymentProviderRequest {
            kind: PaymentProvider::BillDotCom,
            id: "b1",
        }),
        ..UpdateCustomerRequest::default()
    };
    let changed = client.update_customer(&before.id, &change).await.unwrap();
    assert_eq!((&*changed.name, &*changed.email), ("Eve", "eve@example.com"));
    assert_eq!(changed.additional_emails, ["books@example.com"]);
    assert_eq!(changed.payment_provider, Some(PaymentProvider::BillDotCom));
    assert_eq!(changed.payment_provider_id.as_deref(), Some("b1"));
    assert_eq!(changed.created_at, before.created_at);

    let external = before.external_id.unwrap();
    let address = |city| AddressRequest { city: Some(city), ..AddressRequest::default() };
    let change = UpdateCustomerRequest {
        shipping_address: Some(address("Rome")),
        billing_address: Some(address("Oslo")),
        tax_id: Some(TaxIdRequest {
            type_: TaxIdType::NoVat,
            value: "123456789MVA",
            country: CountryCode::NO,
        }),
        ..UpdateCustomerRequest::default()
    };
    let again = client.update_customer_by_external_id(&external, &change).await.unwrap();
    let city = |address: &Option<Address>| address.as_ref().unwrap().city.clone().unwrap();
    assert_eq!(
        (city(&again.shipping_address), city(&again.billing_address)),
        ("Rome".to_owned(), "Oslo".to_owned())
    );
    assert_eq!(again.tax_id.as_ref().unwrap().type_, TaxIdType::NoVat);
    assert_eq!(again.name, "Eve", "what was not said stays");
    assert_eq!(client.get_customer(&before.id).await.unwrap(), again);
}

pub(crate) async fn all_are_listed_in_pages() {
    let mut created = Vec::new();
    for _ in 0..5 {
        created.push(customer().await);
    }
    let listed = all(client().list_customers(&ListParams::DEFAULT.page_size(2))).await;
    created.reverse();
    assert_eq!(listed[..5], created, "newest first");
    let mut ids: Vec<_> = listed.iter().map(|row| &row.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), listed.len(), "each once");
}

pub(crate) async fn one_that_is_deleted_is_gone() {
    let client = client();
    let gone = customer().await;
    client.delete_customer(&gone.id).await.unwrap();
    let listed = all(client.list_customers(&ListParams::DEFAULT.page_size(2))).await;
    assert!(listed.iter().all(|row| row.id != gone.id));
    client.get_customer(&gone.id).await.unwrap_err();
    client.get_customer_by_external_id(&gone.external_id.unwrap()).await.unwrap_err();
}
