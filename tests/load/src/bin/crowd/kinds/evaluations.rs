use std::time::Duration;

use accrue::limits;
use accrue_load_tests::{Outcome, Request, before_now, fill, new_customer};
use serde_json::json;

use super::{Attacks, Setting, condition::Condition, same};
use crate::largest::largest;

/// Whose events are evaluated.
const CUSTOMER: &str = "evaluated";

/// Evaluates the usage of a customer, with a filter that no event passes and each goes through to its
/// end.
pub(super) async fn prepare(setting: &mut Setting<'_>) -> Outcome<Attacks> {
    let Setting { options, client, catalogue, .. } = setting;
    client.ask(&new_customer(CUSTOMER)).await?;
    fill(client, CUSTOMER, options.stored).await?;
    let path = format!("/prices/{}/evaluate", catalogue.price);
    let [start, end] = [24 * 60 * 60, 0].map(|ago| before_now(Duration::from_secs(ago)));
    let make = |comparisons| {
        let filter = Condition { first: 100, comparisons };
        let body = json!({
            "timeframe_start": start.to_string(), "timeframe_end": end.to_string(),
            "external_customer_id": CUSTOMER, "filter": filter.to_string(),
        });
        Request::post("evaluation", path.clone(), body.to_string())
    };
    let fitting = options.ors.min(Condition::fitting(limits::EXPRESSION_BYTES));
    let most = largest(client, fitting, make).await?;
    let request = make(most);
    setting.notes.push(format!("{most} ORs over {} events", options.stored));
    Ok(same(request))
}
