//! Migrations of plans over HTTP (subscriptions 5.4).

use accrue::{
    CivilDate, PlanId,
    plan::{MigrationTiming, NewMigration, PlanVersion},
};
use http::StatusCode;
use pollster::block_on;
use serde_json::{Value, json};

use crate::{backfills::tick, subscriptions::Shop};

impl Shop {
    fn migrate(&self, when: MigrationTiming) -> Value {
        let plan: PlanId = self.plan["id"].as_str().unwrap().parse().unwrap();
        let new = NewMigration { when, ..NewMigration::to(PlanVersion::new(2)) };
        let call = self.host.account().migrate_plan(plan, new);
        let made = block_on(call.into_future()).unwrap();
        self.host.get(&self.path(&format!("/{}", made.id))).ok(StatusCode::OK)
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/plans/{}/migrations{rest}", self.plan["id"].as_str().unwrap())
    }

    fn second(&self) {
        let path = format!("/v1/plans/{}/versions", self.plan["id"].as_str().unwrap());
        self.host.post(&path, json!({"version": 2})).ok(StatusCode::CREATED);
    }
}

#[test]
fn subscriptions_5_4_a_migration_is_read_listed_and_canceled() {
    let shop = Shop::new();
    let of = shop.subscribe(json!({}));
    shop.second();
    let made = shop.migrate(MigrationTiming::EndOfTerm);
    let id = made["id"].as_str().unwrap();
    let expect = json!({
        "id": id, "plan_id": shop.plan["id"], "effective_time": "end_of_term",
        "status": "not_started",
    });
    assert_eq!(made, expect);
    let list = shop.host.get(&shop.path("?limit=1")).ok(StatusCode::OK);
    assert_eq!(list["data"], json!([expect]));
    tick(&shop.host);
    let cancel = shop.path(&format!("/{id}/cancel"));
    let canceled = shop.host.post(&cancel, json!({})).ok(StatusCode::OK);
    assert_eq!(canceled["status"], "canceled");
    shop.host.post(&cancel, json!({})).error(400, "400-constraint-violation");
    tick(&shop.host);
    let path = format!("/v1/subscriptions/{}/schedule", of["id"].as_str().unwrap());
    let schedule = shop.host.get(&path).ok(StatusCode::OK);
    assert_eq!(schedule["data"].as_array().unwrap().len(), 1);
}

#[test]
fn subscriptions_5_4_its_time_is_a_day_an_instant_a_word_or_nothing() {
    let shop = Shop::new();
    shop.second();
    let day = MigrationTiming::OnDate(CivilDate::parse("2026-04-05").unwrap());
    let at = MigrationTiming::At("2026-04-05T00:00:00Z".parse().unwrap());
    for (when, expect) in [
        (day, json!("2026-04-05")),
        (at, json!("2026-04-05T00:00:00.000000+00:00")),
        (MigrationTiming::EndOfInvoice, json!("end_of_invoice")),
        (MigrationTiming::Immediate, Value::Null),
    ] {
        assert_eq!(shop.migrate(when)["effective_time"], expect);
    }
}

#[test]
fn subscriptions_5_4_a_migration_is_one_of_its_plan() {
    let shop = Shop::new();
    shop.second();
    let made = shop.migrate(MigrationTiming::EndOfTerm);
    let other = json!({"name": "Other", "currency": "EUR", "prices": []});
    let other = shop.host.post("/v1/plans", other).ok(StatusCode::CREATED);
    let id = made["id"].as_str().unwrap();
    let path = format!("/v1/plans/{}/migrations/{id}", other["id"].as_str().unwrap());
    shop.host.get(&path).error(404, "404-resource-not-found");
    shop.host.post(&format!("{path}/cancel"), json!({})).error(404, "404-resource-not-found");
    shop.host.get("/v1/plans/nothing/migrations").error(404, "404-resource-not-found");
}

#[test]
fn subscriptions_5_2_3_a_version_shows_what_a_price_replaces() {
    let shop = Shop::new();
    let old = &shop.plan["prices"][1]["id"];
    let seats = json!({
        "name": "Seats", "item_id": shop.plan["prices"][0]["item"]["id"], "cadence": "monthly",
        "model_type": "unit", "unit_config": {"unit_amount": "12"}, "fixed_price_quantity": 2,
    });
    let path = format!("/v1/plans/{}/versions", shop.plan["id"].as_str().unwrap());
    let body =
        json!({"version": 2, "replace_prices": [{"replaces_price_id": old, "price": seats}]});
    let made = shop.host.post(&path, body).ok(StatusCode::CREATED);
    let prices = made["prices"].as_array().unwrap();
    let replaced = prices.iter().filter(|price| &price["replaces_price_id"] == old);
    assert_eq!(replaced.count(), 1);
    assert_eq!(shop.host.get(&format!("{path}/2")).ok(StatusCode::OK), made);
}
