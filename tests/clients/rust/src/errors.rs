//! Errors, as the client has them: a status, a title, and what is wrong.

use std::fmt::Debug;

use codes_iso_4217::CurrencyCode;
use orb_billing::{
    ApiError, CreateCustomerRequest, CreateSubscriptionRequest, CustomerId, Error, PlanId,
};
use serde_json::json;

use crate::fixtures::{client, client_with, customer, plan, unique};

/// Expects an error that the API made.
fn refused<T: Debug>(answer: Result<T, Error>, status: u16, title: &str) -> ApiError {
    let Err(Error::Api(error)) = answer else { panic!("{answer:?}") };
    assert_eq!((error.status_code.as_u16(), &*error.title), (status, title), "{error}");
    assert!(error.detail.as_ref().is_some_and(|detail| !detail.is_empty()), "{error}");
    error
}

const NOT_FOUND: &str = "A specified resource was not found.";
const NOT_VALID: &str = "The request is not valid.";

fn new_customer<'a>(name: &'a str, key: &'a str) -> CreateCustomerRequest<'a> {
    CreateCustomerRequest {
        name,
        email: "billing@example.com",
        idempotency_key: Some(key),
        ..CreateCustomerRequest::default()
    }
}

pub(crate) async fn what_is_not_there() {
    let client = client();
    for id in ["nothing", "a/b c?d#e"] {
        let error = refused(client.get_customer(id).await, 404, NOT_FOUND);
        assert_eq!(error.validation_errors, [""; 0]);
        refused(client.get_customer_by_external_id(id).await, 404, NOT_FOUND);
        refused(client.get_plan(id).await, 404, NOT_FOUND);
        refused(client.get_plan_by_external_id(id).await, 404, NOT_FOUND);
        refused(client.get_subscription(id).await, 404, NOT_FOUND);
        refused(client.delete_customer(id).await, 404, NOT_FOUND);
        refused(client.deprecate_event(id).await, 404, NOT_FOUND);
    }
}

pub(crate) async fn a_key_that_is_not_known() {
    let stranger = client_with("wrong");
    refused(stranger.get_plan("nothing").await, 401, "The request is not authenticated.");
}

pub(crate) async fn a_key_with_another_body() {
    let (client, key) = (client(), unique("key"));
    let first = client.create_customer(&new_customer("Ada", &key)).await.unwrap();
    let title = "The resource is in use.";
    refused(client.create_customer(&new_customer("Eve", &key)).await, 409, title);
    let again = client.create_customer(&new_customer("Ada", &key)).await;
    assert_eq!(again.unwrap(), first, "the first answer stays");

    let (plan, key) = (plan(json!({})).await, unique("key"));
    let new = |net_terms| CreateSubscriptionRequest {
        customer_id: CustomerId::Orb(&first.id),
        plan_id: PlanId::Orb(&plan.id),
        net_terms,
        idempotency_key: Some(&key),
        ..CreateSubscriptionRequest::default()
    };
    client.create_subscription(&new(None)).await.unwrap();
    refused(client.create_subscription(&new(Some(7))).await, 409, title);
}

pub(crate) async fn a_body_that_is_malformed() {
    let new = CreateCustomerRequest {
        name: "",
        email: "nowhere",
        timezone: Some("Mars/Olympus"),
        ..CreateCustomerRequest::default()
    };
    let error = refused(client().create_customer(&new).await, 400, NOT_VALID);
    let places: Vec<_> =
        error.validation_errors.iter().map(|message| message.split_once(": ").unwrap().0).collect();
    assert_eq!(places, ["/name", "/email", "/timezone"], "{error}");
}

pub(crate) async fn a_rule_that_is_broken() {
    let (client, taken, key) = (client(), customer().await, unique("key"));
    let new = CreateCustomerRequest {
        external_id: taken.external_id.as_deref(),
        name: "Eve",
        email: "eve@example.com",
        ..CreateCustomerRequest::default()
    };
    let title = "A resource with this identifier exists already.";
    let error = refused(client.create_customer(&new).await, 400, title);
    assert_eq!(error.validation_errors, [""; 0]);

    let new =
        CreateCustomerRequest { currency: Some(CurrencyCode::EUR), ..new_customer("Eve", &key) };
    let (plan, customer) = (plan(json!({})).await, client.create_customer(&new).await.unwrap());
    let new = CreateSubscriptionRequest {
        customer_id: CustomerId::Orb(&customer.id),
        plan_id: PlanId::Orb(&plan.id),
        ..CreateSubscriptionRequest::default()
    };
    let answer = client.create_subscription(&new).await;
    let error = refused(answer, 400, "A constraint was violated.");
    assert_eq!(error.validation_errors, [""; 0], "the plan is in another currency");
    let new = CreateSubscriptionRequest { plan_id: PlanId::Orb("nothing"), ..new };
    refused(client.create_subscription(&new).await, 404, NOT_FOUND);
}
