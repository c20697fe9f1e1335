//! What clients ask for, as requests over HTTP.

use serde_json::{Value, json};

use super::{
    model::{
        CUSTOMERS, FIRST, Gauge, OFFERS, Rule, Scope, What, issues_by_hand, metric_spec,
        pays_by_gateway,
    },
    plan::{Ask, Event, EventKey, On, When},
    world::{World, text},
};
use crate::model::{self, At, Instant};

/// A request as it is sent.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) body: String,
}

impl Sent {
    fn new(method: &'static str, path: String, body: &Value) -> Self {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        Self { method, path, body }
    }

    pub(super) fn post(path: impl Into<String>, body: &Value) -> Self {
        Self::new("POST", path.into(), body)
    }
}

impl Ask {
    /// Its name in counts.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Customer { .. } => "create a customer",
            Self::Rename { .. } => "update a customer",
            Self::Subscribe { .. } => "subscribe",
            Self::Cancel { .. } => "cancel",
            Self::Unschedule { .. } => "unschedule a cancellation",
            Self::ChangePlan { .. } => "schedule a plan change",
            Self::DropPlanChanges { .. } => "unschedule plan changes",
            Self::Ingest { .. } => "ingest",
            Self::Fill { .. } => "ingest into a backfill",
            Self::Grant { .. } => "increment",
            Self::Take { .. } => "decrement",
            Self::Void { .. } => "void",
            Self::Alert { .. } => "create an alert",
            Self::Disable { .. } => "disable an alert",
            Self::Enable { .. } => "enable an alert",
            Self::SetThresholds { .. } => "update an alert",
            Self::DeleteAlert { .. } => "delete an alert",
            Self::Backfill { .. } => "create a backfill",
            Self::Close { .. } => "close a backfill",
            Self::Revert { .. } => "revert a backfill",
            Self::Amend { .. } => "amend an event",
            Self::Deprecate { .. } => "deprecate an event",
            Self::Metric { .. } => "create a metric",
            Self::Item => "create an item",
            Self::Usage { .. } => "fetch usage",
            Self::Walk { .. } => "walk a list",
            Self::Issue { .. } => "issue an invoice",
            Self::Pay { .. } => "pay an invoice",
            Self::MarkPaid { .. } => "mark an invoice as paid",
            Self::VoidInvoice { .. } => "void an invoice",
            Self::Note { .. } => "create a credit note",
            Self::Balance { .. } => "create a balance transaction",
            Self::OneOff { .. } => "create an invoice",
        }
    }

    /// The names of all.
    pub const NAMES: &'static [&'static str] = &[
        "create a customer",
        "update a customer",
        "subscribe",
        "cancel",
        "unschedule a cancellation",
        "schedule a plan change",
        "unschedule plan changes",
        "ingest",
        "ingest into a backfill",
        "increment",
        "decrement",
        "void",
        "create an alert",
        "disable an alert",
        "enable an alert",
        "update an alert",
        "delete an alert",
        "create a backfill",
        "close a backfill",
        "revert a backfill",
        "amend an event",
        "deprecate an event",
        "create a metric",
        "create an item",
        "fetch usage",
        "walk a list",
        "issue an invoice",
        "pay an invoice",
        "mark an invoice as paid",
        "void an invoice",
        "create a credit note",
        "create a balance transaction",
        "create an invoice",
    ];
}

pub(super) fn one<T>(all: &[T], index: usize) -> Option<(At, &T)> {
    let index = index.checked_rem(all.len())?;
    Some((index, &all[index]))
}

fn values(thresholds: &[i64]) -> Value {
    thresholds.iter().map(|value| json!({"value": value})).collect()
}

impl When {
    /// The word for it in a request made now, and its date.
    fn asked(self, now: Instant) -> (&'static str, Option<Instant>) {
        match self {
            Self::Immediate => ("immediate", None),
            Self::EndOfTerm => ("end_of_subscription_term", None),
            Self::In(span) => ("requested_date", Some(now + span)),
        }
    }
}

impl World {
    /// Makes a request of what is asked for, where there is what it needs.
    pub(super) fn request(&mut self, of: At, ask: &Ask) -> Option<(What, Sent)> {
        let now = self.now();
        let tenant = &self.tenants[of];
        let ledger = |customer: &usize| {
            let customer = customer % FIRST;
            let id = tenant.customers[customer].id.as_deref()?;
            Some((customer, format!("/v1/customers/{id}/credits/ledger_entry")))
        };
        Some(match ask {
            Ask::Customer { customer } => {
                let customer = customer % CUSTOMERS;
                let external = &tenant.customers[customer].external;
                let pays = pays_by_gateway(customer);
                let body = json!({
                    "name": external, "email": "a@example.com", "external_customer_id": external,
                    "auto_issuance": !issues_by_hand(customer),
                    "payment_provider": pays.then_some("stripe_charge"),
                    "payment_provider_id": pays.then_some(external),
                });
                (What::Customer { customer }, Sent::post("/v1/customers", &body))
            }
            Ask::Rename { customer } => {
                let customer = customer % CUSTOMERS;
                let path = tenant.customers[customer].id.as_deref()?;
                // No two requests ask for the same one.
                let name = format!("name-{}", self.clients.len());
                let body = json!({"name": name});
                let sent = Sent::new("PUT", format!("/v1/customers/{path}"), &body);
                (What::Rename { customer, name }, sent)
            }
            Ask::Subscribe { customer } => {
                let customer = customer % CUSTOMERS;
                let body = json!({
                    "external_customer_id": tenant.customers[customer].external,
                    "plan_id": tenant.plans[0],
                    "align_billing_with_subscription_start_date": true,
                });
                (What::Subscribe { customer }, Sent::post("/v1/subscriptions", &body))
            }
            Ask::Cancel { subscription, when } => {
                let (subscription, found) = one(&tenant.subscriptions, *subscription)?;
                let (option, at) = when.asked(now);
                let body = json!({"cancel_option": option, "cancellation_date": at.map(text)});
                let path = format!("/v1/subscriptions/{}/cancel", found.id);
                (What::End { subscription }, Sent::post(path, &body))
            }
            Ask::Unschedule { subscription } => {
                let (subscription, found) = one(&tenant.subscriptions, *subscription)?;
                let path = format!("/v1/subscriptions/{}/unschedule_cancellation", found.id);
                (What::End { subscription }, Sent::post(path, &Value::Null))
            }
            Ask::ChangePlan { subscription, offer, when } => {
                let (subscription, found) = one(&tenant.subscriptions, *subscription)?;
                // A term that is cut short ends in the middle of a day: the tests of the library have those.
                found.end.is_none().then_some(())?;
                let (offer, to) = one(&OFFERS, *offer)?;
                let (option, at) = when.asked(now);
                let body = json!({
                    "change_option": option, "change_date": at.map(text),
                    "plan_id": tenant.plans[to.plan], "plan_version_number": to.version,
                    "billing_cycle_alignment": "unchanged",
                });
                let path = format!("/v1/subscriptions/{}/schedule_plan_change", found.id);
                (What::ChangePlan { subscription, offer, when: *when, at }, Sent::post(path, &body))
            }
            Ask::DropPlanChanges { subscription } => {
                let (subscription, found) = one(&tenant.subscriptions, *subscription)?;
                let path =
                    format!("/v1/subscriptions/{}/unschedule_pending_plan_changes", found.id);
                (What::DropPlanChanges { subscription }, Sent::post(path, &Value::Null))
            }
            Ask::Ingest { events } => {
                let events = self.events(of, events, now);
                self.ingest(of, None, events)
            }
            Ask::Fill { backfill, events } => {
                let (into, found) = one(&tenant.backfills, *backfill)?;
                let from = found.from;
                let events = self.events(of, events, from);
                self.ingest(of, Some(into), events)
            }
            Ask::Grant { customer, amount, expires_in } => {
                let (customer, path) = ledger(customer)?;
                let expires = expires_in.map(|span| text(now + span));
                let body = json!({
                    "entry_type": "increment", "amount": amount, "currency": "credits",
                    "expiry_date": expires,
                });
                (What::Credit { customer, amount: *amount }, Sent::post(path, &body))
            }
            Ask::Take { customer, amount } => {
                let (customer, path) = ledger(customer)?;
                let body = json!({
                    "entry_type": "decrement", "amount": amount, "currency": "credits",
                });
                (What::Credit { customer, amount: -amount }, Sent::post(path, &body))
            }
            Ask::Void { grant, amount, .. } => {
                let (_, (customer, block)) = one(&tenant.grants, *grant)?;
                let (customer, path) = ledger(customer)?;
                let body = json!({
                    "entry_type": "void", "amount": amount, "block_id": block,
                    "currency": "credits",
                });
                (What::Credit { customer, amount: -amount }, Sent::post(path, &body))
            }
            Ask::Alert { on, thresholds } => self.alert(of, *on, thresholds)?,
            Ask::Disable { alert } | Ask::Enable { alert } => {
                let (alert, id) = self.alert_at(of, *alert)?;
                let enabled = matches!(ask, Ask::Enable { .. });
                let word = if enabled { "enable" } else { "disable" };
                let path = format!("/v1/alerts/{id}/{word}");
                (What::Enable { alert, enabled }, Sent::post(path, &Value::Null))
            }
            Ask::SetThresholds { alert, thresholds } => {
                let (alert, id) = self.alert_at(of, *alert)?;
                let body = json!({"thresholds": values(thresholds)});
                let sent = Sent::new("PUT", format!("/v1/alerts/{id}"), &body);
                (What::SetThresholds { alert, thresholds: thresholds.clone() }, sent)
            }
            Ask::DeleteAlert { alert } => {
                let (alert, id) = self.alert_at(of, *alert)?;
                let sent = Sent::new("DELETE", format!("/v1/alerts/{id}"), &Value::Null);
                (What::DeleteAlert { alert }, sent)
            }
            Ask::Backfill { customer, back, length, replaces, closes_in } => {
                let customer = customer.map(|customer| customer % FIRST);
                let id = customer.map(|customer| tenant.customers[customer].id.clone());
                let within = (now - back, now - back + length);
                let closes_at = now + closes_in;
                let body = json!({
                    "timeframe_start": text(within.0), "timeframe_end": text(within.1),
                    "customer_id": id, "replace_existing_events": replaces,
                    "close_time": text(closes_at),
                });
                let what = What::Backfill { customer, within, replaces: *replaces, closes_at };
                (what, Sent::post("/v1/events/backfills", &body))
            }
            Ask::Close { backfill } => {
                let (backfill, found) = one(&tenant.backfills, *backfill)?;
                let path = format!("/v1/events/backfills/{}/close", found.id);
                (What::Close { backfill }, Sent::post(path, &Value::Null))
            }
            Ask::Revert { backfill } => {
                let (backfill, found) = one(&tenant.backfills, *backfill)?;
                let path = format!("/v1/events/backfills/{}/revert", found.id);
                (What::Revert { backfill }, Sent::post(path, &Value::Null))
            }
            Ask::Amend { event, n } => {
                let (_, found) = one(&tenant.history.events, *event)?;
                let mut event = found.event.clone();
                event.properties = properties(*n);
                let mut body = said(&event, tenant);
                body.as_object_mut()?.remove("idempotency_key");
                let sent = Sent::new("PUT", format!("/v1/events/{}", event.key), &body);
                (What::Amend { event }, sent)
            }
            Ask::Deprecate { event } => {
                let (_, found) = one(&tenant.history.events, *event)?;
                let key = found.event.key.clone();
                let path = format!("/v1/events/{key}/deprecate");
                (What::Deprecate { key }, Sent::new("PUT", path, &Value::Null))
            }
            Ask::Metric { kind } => {
                let spec = metric_spec(*kind);
                let (_, item) = one(&tenant.items, 0)?;
                let body = json!({
                    "name": "metric", "description": null, "item_id": item, "sql": spec.sql(),
                });
                (What::Metric { spec }, Sent::post("/v1/metrics", &body))
            }
            Ask::Item => (What::Item, Sent::post("/v1/items", &json!({"name": "item"}))),
            Ask::Usage { subscription } => {
                let (_, found) = one(&tenant.subscriptions, *subscription)?;
                let path = format!("/v1/subscriptions/{}/usage", found.id);
                (What::Nothing, Sent::new("GET", path, &Value::Null))
            }
            Ask::Walk { list } => {
                let lists =
                    ["/v1/items", "/v1/customers", "/v1/events/backfills", "/v1/subscriptions"];
                let path = lists[list % lists.len()].to_owned();
                (What::Nothing, Sent::new("GET", path, &Value::Null))
            }
            _ => return self.invoice_request(of, ask),
        })
    }

    fn ingest(&self, of: At, into: Option<At>, events: Vec<model::Event>) -> (What, Sent) {
        let tenant = &self.tenants[of];
        let said: Vec<_> = events.iter().map(|event| said(event, tenant)).collect();
        let path = match into {
            None => "/v1/ingest".to_owned(),
            Some(into) => format!("/v1/ingest?backfill_id={}", tenant.backfills[into].id),
        };
        (What::Ingest { into, events }, Sent::post(path, &json!({"events": said})))
    }

    fn alert(&self, of: At, on: On, thresholds: &[i64]) -> Option<(What, Sent)> {
        let tenant = &self.tenants[of];
        let usage = |metric: usize| {
            let (metric, (metric_id, _)) = one(&tenant.metrics, metric)?;
            let body = json!({
                "type": "usage_exceeded", "metric_id": metric_id,
                "thresholds": values(thresholds),
            });
            Some((Gauge::Metric(metric), body))
        };
        let (scope, path, body) = match on {
            On::Usage(subscription, metric) => {
                let (subscription, found) = one(&tenant.subscriptions, subscription)?;
                let (gauge, body) = usage(metric)?;
                let path = format!("/v1/alerts/subscription_id/{}", found.id);
                (Scope::Subscription(subscription, gauge), path, body)
            }
            On::Cost(subscription) => {
                let (subscription, found) = one(&tenant.subscriptions, subscription)?;
                let body = json!({"type": "cost_exceeded", "thresholds": values(thresholds)});
                let path = format!("/v1/alerts/subscription_id/{}", found.id);
                (Scope::Subscription(subscription, Gauge::Cost), path, body)
            }
            On::Plan(metric) => {
                let (gauge, body) = usage(metric)?;
                (Scope::Plan(gauge), format!("/v1/alerts/plan_id/{}", tenant.plans[0]), body)
            }
            On::Balance(customer, rule) => {
                let (customer, rule) = (customer % FIRST, Rule::ALL[rule % Rule::ALL.len()]);
                let thresholds = (rule == Rule::Dropped).then(|| values(thresholds));
                let body = json!({
                    "type": rule.name(), "currency": "credits", "thresholds": thresholds,
                });
                let id = tenant.customers[customer].id.as_deref()?;
                (Scope::Balance(customer, rule), format!("/v1/alerts/customer_id/{id}"), body)
            }
        };
        let what = What::Alert { scope, thresholds: thresholds.to_vec() };
        Some((what, Sent::post(path, &body)))
    }

    /// An alert that is changed.
    fn alert_at(&self, of: At, index: usize) -> Option<(At, String)> {
        one(&self.tenants[of].alerts, index).map(|(index, alert)| (index, alert.id.clone()))
    }

    fn events(&mut self, of: At, events: &[Event], from: i64) -> Vec<model::Event> {
        let mut made = Vec::new();
        for Event { customer, at, n, key } in events {
            let earlier = |index: &usize| one(&self.events_sent[of], *index);
            let event = match key {
                EventKey::Duplicate(index) => earlier(index).map(|(_, event)| event.clone()),
                EventKey::Conflicting(index) => earlier(index).map(|(_, event)| {
                    let mut event = event.clone();
                    event.properties = properties(*n + 100);
                    event
                }),
                EventKey::New => None,
            };
            let event = event.unwrap_or_else(|| {
                let key = format!("event-{}", self.events_sent[of].len());
                let event =
                    model::Event::new(customer % CUSTOMERS, key, "call", from + at, properties(*n));
                self.events_sent[of].push(event.clone());
                event
            });
            made.push(event);
        }
        made
    }
}

fn properties(n: i64) -> Vec<(&'static str, model::Value)> {
    vec![("n", model::Value::Number(n.into()))]
}

/// An event as the wire has it.
fn said(event: &model::Event, tenant: &super::model::Tenant) -> Value {
    let number = |(name, value): &(&str, model::Value)| match value {
        model::Value::Number(n) => {
            ((*name).to_owned(), json!(n.to_string().parse::<i64>().unwrap()))
        }
        _ => ((*name).to_owned(), Value::Null),
    };
    let properties: serde_json::Map<_, _> = event.properties.iter().map(number).collect();
    json!({
        "idempotency_key": event.key,
        "event_name": event.name,
        "timestamp": text(event.at),
        "external_customer_id": tenant.customers[event.customer].external,
        "properties": properties,
    })
}
