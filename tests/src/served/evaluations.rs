use serde_json::json;

use super::{Case, Scene, writes::case};

/// A request for each operation that evaluates prices: it posts, and only reads.
pub(super) fn evaluations(Scene { item, metric, price, .. }: &Scene) -> Vec<Case> {
    let evaluation = json!({
        "timeframe_start": "2026-03-10T00:00:00Z", "timeframe_end": "2026-03-11T00:00:00Z",
        "external_customer_id": "ada",
    });
    let mut several = evaluation.clone();
    several["price_evaluations"] = json!([
        {"price_id": price, "filter": "n > 0", "grouping_keys": ["n"]},
        {"price": {
            "name": "new", "item_id": item, "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": "1"}, "billable_metric_id": metric, "currency": "USD",
        }},
    ]);
    let mut preview = several.clone();
    preview["events"] = json!([{
        "event_name": "usage", "timestamp": "2026-03-10T11:00:00Z", "properties": {"n": 1},
    }]);
    vec![
        case(
            "POST /prices/{price_id}/evaluate",
            format!("/prices/{price}/evaluate"),
            &evaluation,
            200,
        ),
        case("POST /prices/evaluate", "/prices/evaluate".to_owned(), &several, 200),
        case(
            "POST /prices/evaluate_preview_events",
            "/prices/evaluate_preview_events".to_owned(),
            &preview,
            200,
        ),
    ]
}
