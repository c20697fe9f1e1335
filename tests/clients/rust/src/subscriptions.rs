//! Subscriptions.

use orb_billing::{
    CreateSubscriptionRequest, CustomerId, PlanId, SubscriptionListParams, SubscriptionStatus,
};
use serde_json::json;
use time::{Duration, Month};

use crate::fixtures::{all, client, customer, midnight, now, plan, unique};

pub(crate) async fn one_is_created_by_all_ids() {
    let client = client();
    let (plan, customer) = (plan(json!({})).await, customer().await);
    let external = customer.external_id.unwrap();
    for customer_id in [CustomerId::Orb(&customer.id), CustomerId::External(&external)] {
        for plan_id in [PlanId::Orb(&plan.id), PlanId::External(&plan.external)] {
            let new = CreateSubscriptionRequest {
                customer_id: customer_id.clone(),
                plan_id,
                ..CreateSubscriptionRequest::default()
            };
            let created = client.create_subscription(&new).await.unwrap();
            assert_eq!(created.customer.id, customer.id);
            assert_eq!(created.plan, client.get_plan(&plan.id).await.unwrap());
            assert_eq!(client.get_subscription(&created.id).await.unwrap(), created);
        }
    }
}

pub(crate) async fn one_has_every_field() {
    let client = client();
    let (plan, customer) = (plan(json!({})).await, customer().await);
    let (start, key) = (midnight(-1), unique("key"));
    let new = CreateSubscriptionRequest {
        customer_id: CustomerId::Orb(&customer.id),
        plan_id: PlanId::Orb(&plan.id),
        start_date: Some(start),
        align_billing_with_subscription_start_date: Some(true),
        net_terms: Some(30),
        auto_collection: Some(true),
        default_invoice_memo: Some("Thank you"),
        idempotency_key: Some(&key),
        ..CreateSubscriptionRequest::default()
    };
    let created = client.create_subscription(&new).await.unwrap();
    assert_eq!(created.status, Some(SubscriptionStatus::Active));
    assert_eq!((created.start_date, created.end_date), (start, None));
    assert_eq!(created.current_billing_period_start_date, Some(start));
    let month = start.month().length(start.year());
    let end = start + Duration::days(month.into());
    // From the 31st of a month to the end of one that is shorter.
    let latest = match start.month() {
        Month::January => Duration::days(3),
        _ => Duration::DAY,
    };
    let found = created.current_billing_period_end_date.unwrap();
    assert!(end - latest <= found && found <= end, "{found}");
    assert_eq!(created.active_plan_phase_order, None);
    let [fee] = &*created.fixed_fee_quantity_schedule else { panic!("{created:?}") };
    assert_eq!((fee.start_date, fee.end_date), (start, None));
    assert_eq!(fee.price_id, plan.prices[0]["id"]);
    assert_eq!(fee.quantity.0, 1.0);
    assert_eq!(created.net_terms, 30);
    assert!(created.auto_collection);
    assert_eq!(created.default_invoice_memo, "Thank you");
    assert!((now(0) - created.created_at).abs() < Duration::HOUR);
    let again = client.create_subscription(&new).await.unwrap();
    assert_eq!(again.id, created.id, "the same key");
}

pub(crate) async fn one_says_nothing() {
    let client = client();
    let own = json!({"net_terms": 14, "default_invoice_memo": "Dear customer"});
    let of_plan = |net_terms, memo: &'static str| (net_terms, memo.to_owned());
    for (plan, expect) in
        [(plan(json!({})).await, of_plan(0, "")), (plan(own).await, of_plan(14, "Dear customer"))]
    {
        let customer = customer().await;
        let new = CreateSubscriptionRequest {
            customer_id: CustomerId::Orb(&customer.id),
            plan_id: PlanId::Orb(&plan.id),
            ..CreateSubscriptionRequest::default()
        };
        let created = client.create_subscription(&new).await.unwrap();
        assert!(!created.auto_collection, "as its customer");
        assert_eq!((created.net_terms, created.default_invoice_memo), expect);
    }
}

pub(crate) async fn one_begins_later() {
    let client = client();
    let (plan, customer) = (plan(json!({})).await, customer().await);
    let new = CreateSubscriptionRequest {
        customer_id: CustomerId::Orb(&customer.id),
        plan_id: PlanId::Orb(&plan.id),
        start_date: Some(midnight(40)),
        ..CreateSubscriptionRequest::default()
    };
    let created = client.create_subscription(&new).await.unwrap();
    assert_eq!(created.status, Some(SubscriptionStatus::Upcoming));
    assert_eq!(created.current_billing_period_start_date, None);
    assert_eq!(created.current_billing_period_end_date, None);
}

pub(crate) async fn those_of_a_customer_are_listed() {
    let client = client();
    let (plan, customer) = (plan(json!({})).await, customer().await);
    let mut created = Vec::new();
    for _ in 0..3 {
        let new = CreateSubscriptionRequest {
            customer_id: CustomerId::Orb(&customer.id),
            plan_id: PlanId::Orb(&plan.id),
            ..CreateSubscriptionRequest::default()
        };
        created.push(client.create_subscription(&new).await.unwrap());
    }
    created.reverse();
    let external = customer.external_id.unwrap();
    for of in [CustomerId::Orb(&customer.id), CustomerId::External(&external)] {
        let params = SubscriptionListParams::DEFAULT.page_size(2).customer_id(of);
        assert_eq!(all(client.list_subscriptions(&params)).await, created, "newest first");
    }
    let every = SubscriptionListParams::DEFAULT.page_size(2);
    assert_eq!(all(client.list_subscriptions(&every)).await[..3], created);
}
