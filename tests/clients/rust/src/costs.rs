//! Costs of a customer.

use orb_billing::{
    CostViewMode, CreateSubscriptionRequest, Customer, CustomerCostBucket, CustomerCostParams,
    CustomerCostPriceBlock, CustomerCostPriceBlockMatrixPrice,
    CustomerCostPriceBlockPrice::{self, Matrix, Unit},
    CustomerId, PlanId,
};
use time::OffsetDateTime;

use crate::{
    events::ingest,
    fixtures::{client, customer, midnight, now, plan_by_region, PricedPlan},
};

/// A customer that has been subscribed since yesterday, with 30 units of usage now: 10 in the EU, 15 in
/// the US and 5 elsewhere.
struct Spender {
    customer: Customer,
    plan: PricedPlan,
    yesterday: OffsetDateTime,
}

async fn spender() -> Spender {
    let (plan, customer, yesterday) = (plan_by_region().await, customer().await, midnight(-1));
    let new = CreateSubscriptionRequest {
        customer_id: CustomerId::Orb(&customer.id),
        plan_id: PlanId::Orb(&plan.id),
        start_date: Some(yesterday),
        align_billing_with_subscription_start_date: Some(true),
        ..CreateSubscriptionRequest::default()
    };
    client().create_subscription(&new).await.unwrap();
    for (region, amount) in [("eu", 4), ("us", 15), ("eu", 6), ("asia", 5)] {
        ingest(CustomerId::Orb(&customer.id), amount, region, now(0)).await;
    }
    Spender { customer, plan, yesterday }
}

impl Spender {
    /// Asks for the costs from yesterday to the day after tomorrow.
    async fn costs(
        &self,
        more: impl Fn(CustomerCostParams<'_>) -> CustomerCostParams<'_>,
    ) -> Vec<CustomerCostBucket> {
        let end = self.yesterday + time::Duration::days(4);
        let params = CustomerCostParams::default();
        let params = more(params.timeframe_start(&self.yesterday).timeframe_end(&end));
        client().get_customer_costs(&self.customer.id, &params).await.unwrap()
    }

    /// The line of one of the prices of the plan in the row of a day.
    fn line<'a>(&self, row: &'a CustomerCostBucket, price: usize) -> &'a CustomerCostPriceBlock {
        let id = self.plan.prices[price]["id"].as_str().unwrap();
        row.per_price_costs.iter().find(|line| id_of(&line.price) == id).unwrap()
    }
}

const FEE: usize = 0;
const BY_UNIT: usize = 1;
const BY_REGION: usize = 2;

fn id_of(price: &CustomerCostPriceBlockPrice) -> &str {
    match price {
        Matrix(price) => &price.id,
        Unit(price) => &price.id,
    }
}

fn figures(line: &CustomerCostPriceBlock) -> (String, &str, &str) {
    (line.quantity.as_ref().unwrap().to_string(), &line.subtotal, &line.total)
}

/// The totals of rows, as numbers.
fn totals(rows: &[CustomerCostBucket]) -> Vec<f64> {
    rows.iter().map(|row| row.total.parse().unwrap()).collect()
}

pub(crate) async fn they_are_cumulative_and_by_the_day() {
    let spender = spender().await;
    let days = |index: i64| spender.yesterday + time::Duration::days(index);

    let periodic = spender.costs(|params| params.view_mode(CostViewMode::Periodic)).await;
    assert_eq!(periodic.len(), 4);
    for (index, row) in (0..).zip(&periodic) {
        assert_eq!((row.timeframe_start, row.timeframe_end), (days(index), days(index + 1)));
    }
    // 20 in advance; 30 at 0.5, and 10 at 2 with 15 at 3 and 5 at 1. A day may have begun meanwhile.
    assert_eq!(totals(&periodic)[0], 20.0);
    assert_eq!(totals(&periodic).iter().sum::<f64>(), 20.0 + 15.0 + 70.0);
    let fee = spender.line(&periodic[0], FEE);
    assert_eq!(figures(fee), ("1".to_owned(), "20.00", "20.00"));

    let cumulative = spender.costs(|params| params.view_mode(CostViewMode::Cumulative)).await;
    for (index, row) in (0..).zip(&cumulative) {
        assert_eq!((row.timeframe_start, row.timeframe_end), (days(0), days(index + 1)));
    }
    let last = cumulative.last().unwrap();
    assert_eq!((&*last.subtotal, &*last.total), ("105.00", "105.00"));
    assert_eq!(figures(spender.line(last, BY_UNIT)), ("30".to_owned(), "15.00", "15.00"));
    assert_eq!(figures(spender.line(last, BY_REGION)), ("30".to_owned(), "70.00", "70.00"));
    assert_eq!(spender.costs(|params| params).await, cumulative, "where nothing is said");
    let grouped = spender.costs(|params| params.group_by("region")).await;
    assert_eq!(totals(&grouped), totals(&cumulative), "by groups the same");

    let Unit(price) = &spender.line(last, BY_UNIT).price else { panic!("{last:?}") };
    assert_eq!(price.unit_config.unit_amount, "0.5");
    let external = format!("{} unit", spender.plan.external);
    assert_eq!(price.external_id.as_deref(), Some(&*external));
    assert_eq!(price.item.id, spender.plan.prices[BY_UNIT]["item"]["id"]);
    assert_eq!(price.item.name, spender.plan.prices[BY_UNIT]["item"]["name"]);
}

pub(crate) async fn they_are_by_both_ids_and_of_the_current_period() {
    let (client, spender) = (client(), spender().await);
    let params = CustomerCostParams::default();
    let current = client.get_customer_costs(&spender.customer.id, &params).await.unwrap();
    assert_eq!(current[0].timeframe_start, spender.yesterday);
    assert_eq!(current.last().unwrap().total, "105.00");
    let external = spender.customer.external_id.unwrap();
    let same = client.get_customer_costs_by_external_id(&external, &params).await.unwrap();
    // They end now, which is a moment later.
    assert_eq!(totals(&same), totals(&current));
}

pub(crate) async fn a_matrix_has_its_groups() {
    let spender = spender().await;
    let rows = spender.costs(|params| params).await;
    let line = spender.line(rows.last().unwrap(), BY_REGION);
    let Matrix(price) = &line.price else { panic!("{line:?}") };
    check_matrix(price);
    check_groups(line);
}

fn check_matrix(price: &CustomerCostPriceBlockMatrixPrice) {
    assert_eq!(price.external_id, None);
    let config = &price.matrix_config;
    assert_eq!(config.default_unit_amount, "1");
    assert_eq!(config.dimensions, [Some("region".to_owned()), None], "as it was written");
    let cells = config.matrix_values.iter();
    let cells: Vec<_> = cells.map(|cell| (&*cell.dimension_values, &*cell.unit_amount)).collect();
    let cell = |region: &str| [Some(region.to_owned()), None];
    assert_eq!(cells, [(&cell("eu")[..], "2"), (&cell("us")[..], "3")]);
}

/// The cells that have an amount of their own, and all others as one: by their values, in any order.
fn check_groups(line: &CustomerCostPriceBlock) {
    let groups = line.price_groups.as_ref().expect("a matrix has price_groups");
    let mut found: Vec<_> = groups
        .iter()
        .map(|group| {
            assert_eq!(group.grouping_key, "region");
            assert_eq!(group.secondary_grouping_key, None);
            assert_eq!(group.secondary_grouping_value, None);
            (group.grouping_value.as_deref(), &*group.total)
        })
        .collect();
    found.sort_unstable();
    assert_eq!(found, [(None, "5.00"), (Some("eu"), "20.00"), (Some("us"), "45.00")]);
}
