//! Operations that tests race, interrupt and repeat, all in one form, on a scene where each of them
//! has something to do.

use std::time::Duration;

use accrue::{
    Account, AlertId, Clock as _, Currency, CustomerId, Decimal, Error, IdempotencyKey, ItemId,
    KeyedCall, MetadataUpdate, MetricId, PageRequest, PlanId, PriceId, PricingUnit, SubscriptionId,
    alert::{NewAlert, NewBalanceAlert},
    customer::CustomerUpdate,
    idempotency::Freshness,
    item::NewItem,
    plan::{DefaultVersion, NewPlanVersion, PlanVersion},
    price::{Cadence, Model, NewPrice, PriceUpdate, Unit},
    subscription::{Cancellation, NewSubscription},
    webhook::Body,
};
use pollster::block_on;
use serde_json::json;

use crate::{
    host::{Host, customer, event, external, name, thresholds},
    stores::dump,
};

/// An operation that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    CreateCustomer,
    UpdateCustomer,
    Ingest,
    CreateSubscription,
    CancelSubscription,
    CreateAlert,
    CreatePlanAlert,
    CreateCustomerAlert,
    SetThresholds,
    EnableAlert,
    DeleteCustomerAlert,
    ArchiveItem,
    CreatePrice,
    UpdatePrice,
    CreatePlanVersion,
    SetDefaultPlanVersion,
}

/// All of them.
pub const OPERATIONS: &[Operation] = &[
    Operation::CreateCustomer,
    Operation::UpdateCustomer,
    Operation::Ingest,
    Operation::CreateSubscription,
    Operation::CancelSubscription,
    Operation::CreateAlert,
    Operation::CreatePlanAlert,
    Operation::CreateCustomerAlert,
    Operation::SetThresholds,
    Operation::EnableAlert,
    Operation::DeleteCustomerAlert,
    Operation::ArchiveItem,
    Operation::CreatePrice,
    Operation::UpdatePrice,
    Operation::CreatePlanVersion,
    Operation::SetDefaultPlanVersion,
];

/// What was there before.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    pub customer: CustomerId,
    pub metric: MetricId,
    pub other_metric: MetricId,
    pub plan: PlanId,
    pub subscription: SubscriptionId,
    pub alert: AlertId,
    pub customer_alert: AlertId,
    pub item: ItemId,
    pub price: PriceId,
}

/// An answer, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub text: String,
    pub replayed: bool,
}

impl Scene {
    /// A customer with usage and two subscriptions, one of which is due to have begun, on a plan
    /// whose alerts have changed since, and that has a second version; usage that waits for another
    /// customer.
    #[must_use]
    pub fn set(host: &Host) -> Self {
        let metric = host.metric("SELECT count(*) FROM events").id;
        let other_metric = host.metric("SELECT count(DISTINCT p) FROM events").id;
        let plan = host.plan().id;
        let now = host.clock.now();
        let account = &host.account;
        block_on(async {
            let item = account.create_item(NewItem::new(name("item"))).await.unwrap().id;
            let customer = account.create_customer(customer("ada")).await.unwrap().id;
            let subscription = NewSubscription::new(customer, plan);
            let subscription = account.create_subscription(subscription).await.unwrap().id;
            let mut later = NewSubscription::new(customer, plan);
            later.start_date = Some(now.saturating_add(Duration::from_secs(60)));
            account.create_subscription(later).await.unwrap();
            let events = (0..3).map(|n| event("ada", &format!("old-{n}"), now, &[("p", n.into())]));
            account.ingest(events).await.unwrap();
            account.ingest([event("new", "waiting", now, &[])]).await.unwrap();
            let alert = NewAlert::usage_exceeded(metric, thresholds(&["1", "5"]));
            let alert = account.create_subscription_alert(subscription, alert).await.unwrap().id;
            account.disable_alert(alert).await.unwrap();
            account.update_alert(alert, thresholds(&["2", "5"])).await.unwrap();
            let of_plan = NewAlert::usage_exceeded(metric, thresholds(&["3", "4"]));
            account.create_plan_alert(plan, of_plan).await.unwrap();
            let of_customer = NewBalanceAlert::credit_balance_depleted(credits());
            let of_customer = account.create_customer_alert(customer, of_customer).await.unwrap();
            let price = account.create_price(per_unit(metric, item, 1)).await.unwrap().id;
            let version = NewPlanVersion::new([price.into()]);
            account.create_plan_version(plan, version).await.unwrap();
            host.clock.advance(Duration::from_secs(120));
            Self {
                customer,
                metric,
                other_metric,
                plan,
                subscription,
                alert,
                customer_alert: of_customer.id,
                item,
                price,
            }
        })
    }
}

impl Operation {
    /// Does it under a key. Different variants have different payloads.
    ///
    /// # Errors
    ///
    /// As the operation.
    pub async fn call(
        self,
        account: &Account,
        scene: &Scene,
        key: IdempotencyKey,
        variant: u64,
    ) -> Result<Answered, Error> {
        let at = crate::host::instant(crate::host::BEGINNING);
        match self {
            Self::CreateCustomer => {
                let mut new = customer("new");
                new.name = name(&format!("variant {variant}"));
                answer(account.create_customer(new).keyed(key)).await
            }
            Self::UpdateCustomer => {
                let name = Some(name(&format!("variant {variant}")));
                let update = CustomerUpdate { name, ..CustomerUpdate::default() };
                answer(account.update_customer(scene.customer, update).keyed(key)).await
            }
            Self::Ingest => {
                let id = |n| format!("{}-{variant}-{n}", key.as_str());
                let events: Vec<_> =
                    (0..4).map(|n| event("ada", &id(n), at, &[("p", n.into())])).collect();
                answer(account.ingest(events).keyed(key)).await
            }
            Self::CreateSubscription => {
                let mut new = NewSubscription::new(scene.customer, scene.plan);
                new.start_date = Some(at.saturating_sub(Duration::from_secs(variant)));
                answer(account.create_subscription(new).keyed(key)).await
            }
            Self::CancelSubscription => {
                let at = at.saturating_add(Duration::from_secs(86_400 * (variant + 1)));
                let cancellation = Cancellation::RequestedDate(at);
                let id = scene.subscription;
                answer(account.cancel_subscription(id, cancellation).keyed(key)).await
            }
            Self::CreateAlert => {
                let values = thresholds(&["1", &(variant + 2).to_string()]);
                let new = NewAlert::usage_exceeded(scene.other_metric, values);
                let id = scene.subscription;
                answer(account.create_subscription_alert(id, new).keyed(key)).await
            }
            Self::CreatePlanAlert => {
                let values = thresholds(&["1", &(variant + 2).to_string()]);
                let new = NewAlert::usage_exceeded(scene.other_metric, values);
                answer(account.create_plan_alert(scene.plan, new).keyed(key)).await
            }
            Self::CreateCustomerAlert => {
                let values = thresholds(&["1", &(variant + 2).to_string()]);
                let new = NewBalanceAlert::credit_balance_dropped(credits(), values);
                answer(account.create_customer_alert(scene.customer, new).keyed(key)).await
            }
            Self::SetThresholds => {
                let values = thresholds(&["1", &(variant + 7).to_string()]);
                answer(account.update_alert(scene.alert, values).keyed(key)).await
            }
            Self::EnableAlert => answer(account.enable_alert(scene.alert).keyed(key)).await,
            Self::DeleteCustomerAlert => {
                answer(account.delete_alert(scene.customer_alert).keyed(key)).await
            }
            Self::ArchiveItem => answer(account.archive_item(scene.item).keyed(key)).await,
            Self::CreatePrice => {
                let mut new = per_unit(scene.metric, scene.item, variant);
                new.external_price_id = Some(external("new"));
                answer(account.create_price(new).keyed(key)).await
            }
            Self::UpdatePrice => {
                let entry = ("variant".to_owned(), Some(variant.to_string()));
                let update = PriceUpdate { metadata: MetadataUpdate::Merge([entry].into()) };
                answer(account.update_price(scene.price, update).keyed(key)).await
            }
            Self::CreatePlanVersion => {
                let new = per_unit(scene.other_metric, scene.item, variant);
                let mut version = NewPlanVersion::new([new.into(), scene.price.into()]);
                version.default = DefaultVersion::Replace;
                answer(account.create_plan_version(scene.plan, version).keyed(key)).await
            }
            Self::SetDefaultPlanVersion => {
                let version = PlanVersion::new(2);
                answer(account.set_default_plan_version(scene.plan, version).keyed(key)).await
            }
        }
    }

    /// Whether its payload is another one for another variant.
    #[must_use]
    pub const fn has_variants(self) -> bool {
        !matches!(
            self,
            Self::EnableAlert
                | Self::DeleteCustomerAlert
                | Self::ArchiveItem
                | Self::SetDefaultPlanVersion
        )
    }
}

fn credits() -> PricingUnit {
    PricingUnit::parse("credits").unwrap()
}

/// A monthly price in dollars for each unit of a metric.
fn per_unit(metric: MetricId, item: ItemId, dollars: u64) -> NewPrice {
    let usd = Currency::parse("USD").unwrap();
    let model = Model::Unit(Unit::new(Decimal::from(dollars)));
    NewPrice::builder(name("price"), item).billed(Cadence::Monthly, usd).usage(metric, model)
}

async fn answer<T>(call: KeyedCall<T>) -> Result<Answered, Error>
where
    T: serde::Serialize + serde::de::DeserializeOwned + Send + 'static,
{
    let answer = call.await?;
    let text = serde_json::to_string(&answer.outcome).unwrap();
    Ok(Answered { text, replayed: answer.freshness == Freshness::Replayed })
}

/// What an error says that a caller can rely on.
#[must_use]
pub fn told(error: &Error) -> String {
    json!({
        "kind": error.kind(),
        "detail": error.to_string(),
        "violations": error.violations(),
        "retry": error.can_be_retried(),
    })
    .to_string()
}

/// What can be told of a state without looking at ids: how many rows each table has, the usage of
/// a subscription, what a plan and a price have become, and what the messages say.
#[must_use]
pub fn shape(host: &Host, scene: &Scene) -> String {
    host.tick();
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for key in dump(&*host.store).into_keys() {
        *counts.entry(key.split(':').next().unwrap().to_owned()).or_default() += 1;
    }
    let usage = block_on(host.account.subscription_usage(scene.subscription)).unwrap();
    let figures: Vec<_> = usage.metrics.iter().map(|metric| &metric.quantity).collect();
    let page = PageRequest::first_of_messages(1_000).unwrap();
    let messages = block_on(host.account.list_messages(&page)).unwrap().data;
    let mut said: Vec<String> = messages
        .iter()
        .map(|message| match &message.body {
            Body::UsageExceeded(exceeded) => format!(
                "{} {:?} {:?} {:?} at {}",
                message.message_type(),
                exceeded.value_before,
                exceeded.value_after,
                exceeded.thresholds,
                message.created_at,
            ),
            _ => format!("{} at {}", message.message_type(), message.created_at),
        })
        .collect();
    said.sort();
    let plan = block_on(host.account.fetch_plan(scene.plan)).unwrap().version;
    let price = block_on(host.account.fetch_price(scene.price)).unwrap().metadata;
    format!("{counts:#?}\n{figures:?}\n{plan:?} {price:?}\n{said:#?}")
}
