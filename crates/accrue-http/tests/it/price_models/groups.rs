//! Models of groups over HTTP: what they cost by themselves and on a subscription, and what is refused.

use serde_json::{Value, json};

use super::{Scene, check, refuses, tier};

#[test]
fn price_models_8_models_of_groups_cost_what_is_published() {
    check(include_str!("groups.jsonl"));
}

#[test]
fn price_models_5_what_is_wrong_with_a_model_of_groups_is_told() {
    let tiers = |bound: &str| json!([tier("0", "1"), tier(bound, "2")]);
    let packages = |bound: &str| json!([{"tier_lower_bound": "0", "per_unit": "1"}, {"tier_lower_bound": bound, "per_unit": "1"}]);
    let bounds = |least: &str, most: &str| {
        json!({
            "grouping_key": "order", "per_unit_rate": "1", "minimum_charge": least,
            "maximum_charge": most,
        })
    };
    let metered = |scaling_key: &str, amounts: &[&str], factors: &[(&str, &str)]| {
        let amounts = amounts.iter().map(|of| json!({"pricing_value": of, "unit_amount": "1"}));
        let factors =
            factors.iter().map(|(of, by)| json!({"scaling_value": of, "scaling_factor": by}));
        json!({
            "grouping_key": "cluster", "pricing_key": "gpu", "scaling_key": scaling_key,
            "minimum_unit_amount": "1", "unit_amounts": amounts.collect::<Vec<_>>(),
            "scaling_factors": factors.collect::<Vec<_>>(),
        })
    };
    let values: Vec<_> = (0..60).map(|of| of.to_string()).collect();
    let many: Vec<_> = values.iter().map(String::as_str).collect();
    let daily = |dimensions: Value, allowance: &str, rows: Value| {
        json!({
            "event_day_property": "day", "dimensions": dimensions, "default_unit_amount": "1",
            "daily_allowance": allowance, "matrix_values": rows,
        })
    };
    let row = |values: Value| json!([{"dimension_values": values, "unit_amount": "1"}]);
    refuses(&[
        ("grouped_tiered", json!({"grouping_key": "", "tiers": tiers("10")}), "grouping_key"),
        ("grouped_tiered", json!({"grouping_key": "user", "tiers": [tier("0", "1")]}), "tiers"),
        (
            "grouped_tiered",
            json!({"grouping_key": "user", "tiers": tiers("0")}),
            "tiers/1/tier_lower_bound",
        ),
        (
            "grouped_tiered_package",
            json!({"grouping_key": "user", "package_size": "10", "tiers": packages("15")}),
            "tiers/1/tier_lower_bound",
        ),
        (
            "grouped_tiered_package",
            json!({"grouping_key": "user", "package_size": "2.5", "tiers": packages("10")}),
            "package_size",
        ),
        (
            "max_group_tiered_package",
            json!({"grouping_key": "user", "package_size": "0", "tiers": tiers("10")}),
            "package_size",
        ),
        (
            "max_group_tiered_package",
            json!({"grouping_key": "user", "package_size": "10", "tiers": tiers("15")}),
            "tiers/1/tier_lower_bound",
        ),
        (
            "grouped_allocation",
            json!({"grouping_key": "user", "allocation": "-1", "overage_unit_rate": "1"}),
            "allocation",
        ),
        (
            "cumulative_grouped_allocation",
            json!({
                "grouping_key": "user", "group_allocation": "-1", "cumulative_allocation": "1",
                "unit_amount": "1",
            }),
            "group_allocation",
        ),
        (
            "cumulative_grouped_allocation",
            json!({
                "grouping_key": "user", "group_allocation": "1", "cumulative_allocation": "-1",
                "unit_amount": "1",
            }),
            "cumulative_allocation",
        ),
        ("grouped_with_min_max_thresholds", bounds("-1", "1"), "minimum_charge"),
        ("grouped_with_min_max_thresholds", bounds("2", "1"), "maximum_charge"),
        (
            "grouped_with_prorated_minimum",
            json!({"grouping_key": "user", "unit_rate": "1", "minimum": "-1"}),
            "minimum",
        ),
        ("grouped_with_metered_minimum", metered("region", &[], &[("eu", "1")]), "unit_amounts"),
        ("grouped_with_metered_minimum", metered("region", &["a"], &[]), "scaling_factors"),
        (
            "grouped_with_metered_minimum",
            metered("region", &["a", "a"], &[("eu", "1")]),
            "unit_amounts/1/pricing_value",
        ),
        (
            "grouped_with_metered_minimum",
            metered("region", &["a"], &[("eu", "0")]),
            "scaling_factors/0/scaling_factor",
        ),
        (
            "grouped_with_metered_minimum",
            metered("region", &["a"], &[("eu", "1"), ("eu", "2")]),
            "scaling_factors/1/scaling_value",
        ),
        ("grouped_with_metered_minimum", metered("gpu", &["a"], &[("eu", "1")]), "scaling_key"),
        ("grouped_with_metered_minimum", metered("region", &many, &[("eu", "1")]), "unit_amounts"),
        ("event_output", json!({"unit_rating_key": ""}), "unit_rating_key"),
        (
            "event_output",
            json!({"unit_rating_key": "rate", "default_unit_rate": "none"}),
            "default_unit_rate",
        ),
        (
            "daily_credit_allowance",
            daily(json!(["a", "b", "c"]), "1", row(json!(["x", "y", "z"]))),
            "dimensions",
        ),
        (
            "daily_credit_allowance",
            daily(json!(["a", null]), "-1", row(json!(["x", null]))),
            "daily_allowance",
        ),
        ("daily_credit_allowance", daily(json!(["a"]), "1", json!([])), "matrix_values"),
        (
            "daily_credit_allowance",
            daily(json!(["a"]), "1", row(json!(["x", "y"]))),
            "matrix_values/0/dimension_values",
        ),
    ]);
    let scene = Scene::new();
    let config = json!({"grouping_key": "user", "tiers": tiers("10")});
    let mut fixed = scene.price("grouped_tiered", &config);
    fixed.as_object_mut().unwrap().remove("billable_metric_id");
    fixed["fixed_price_quantity"] = json!(1);
    scene.host.post("/v1/prices", fixed).error(400, "400-request-validation-errors");
}
