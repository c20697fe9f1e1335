use accrue::{
    CustomerId, ExternalId, IdOr, ListFilter, PriceId,
    cost::{self, PriceEvaluation, PriceEvaluations},
    price::{self, PriceUpdate},
    related::Related,
    usage::PreviewEvent,
};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoQuery, Request, external_id},
    shape::{Several, metadata_update},
    wire::{
        dates::timeframe,
        pages::{ListQuery, Listed, Rows},
        prices::{
            Evaluate, EvaluateMultiple, EvaluatePreviewEvents, EvaluatedGroup, EvaluatedPrice,
            EvaluationsIn, FloatingPrice, Price, PriceEvaluationIn, UpdatePrice,
        },
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post("/prices", "prices.create", "create-price")
        .creates()
        .summary("Creates a price.")
        .body::<FloatingPrice>()
        .answers::<Price>()
        .run(|request| Box::pin(create(request))),
    Operation::get("/prices", "prices.list", "list-prices")
        .summary("Lists the prices, newest first.")
        .query::<ListQuery>()
        .answers::<Rows<Price>>()
        .run(|request| Box::pin(list(request))),
    Operation::get("/prices/{price_id}", "prices.fetch", "fetch-price")
        .summary("Returns a price.")
        .answers::<Price>()
        .run(|request| Box::pin(fetch(request))),
    Operation::put("/prices/{price_id}", "prices.update", "update-price")
        .summary("Changes the metadata of a price.")
        .body::<UpdatePrice>()
        .answers::<Price>()
        .run(|request| Box::pin(update(request))),
    Operation::get(
        "/prices/external_price_id/{external_price_id}",
        "prices.external_price_id.fetch",
        "fetch-price-external-id",
    )
    .summary("Returns a price, found by its external id.")
    .answers::<Price>()
    .run(|request| Box::pin(fetch_by_external_id(request))),
    Operation::put(
        "/prices/external_price_id/{external_price_id}",
        "prices.external_price_id.update",
        "update-price-by-external-id",
    )
    .summary("Changes the metadata of a price, found by its external id.")
    .body::<UpdatePrice>()
    .answers::<Price>()
    .run(|request| Box::pin(update_by_external_id(request))),
    Operation::post("/prices/{price_id}/evaluate", "prices.evaluate", "evaluate-price")
        .only_reads()
        .summary("Rates usage of a customer by a price.")
        .body::<Evaluate>()
        .answers::<Listed<EvaluatedGroup>>()
        .run(|request| Box::pin(evaluate(request))),
    Operation::post("/prices/evaluate", "prices.evaluate_multiple", "evaluate-multiple-prices")
        .only_reads()
        .summary("Rates usage of a customer by several prices, stored or not.")
        .body::<EvaluateMultiple>()
        .answers::<Listed<EvaluatedPrice>>()
        .run(|request| Box::pin(evaluate_multiple(request))),
    Operation::post(
        "/prices/evaluate_preview_events",
        "prices.evaluate_preview_events",
        "evaluate-preview-events",
    )
    .only_reads()
    .summary("Rates events that are not ingested by several prices, stored or not.")
    .body::<EvaluatePreviewEvents>()
    .answers::<Listed<EvaluatedPrice>>()
    .run(|request| Box::pin(evaluate_preview_events(request))),
];

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: FloatingPrice = request.body()?;
    let call = request.account.create_price(new.into_price()).with_related();
    request.write(call, show).await
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: ListQuery = request.query()?;
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_prices(&ListFilter::default(), &page).await?;
    let related = request.account.related(&found).await?;
    request.answer_page(found, |price| Price::of(&price, &related)).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: PriceId = request.path()?;
    answer(request, id.into()).await
}

async fn fetch_by_external_id(request: Request) -> Result<Reply, Problem> {
    let external: String = request.path()?;
    answer(request, external_id(&external, "price")?.into()).await
}

async fn answer(request: Request, id: IdOr<PriceId>) -> Result<Reply, Problem> {
    let price = request.account.fetch_price(id).await?;
    let related = request.account.related(&price).await?;
    request.answer(&Price::of(&price, &related)).await
}

async fn update(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) = request.read::<PriceId, NoQuery, UpdatePrice>()?;
    change(request, id.into(), update).await
}

async fn update_by_external_id(request: Request) -> Result<Reply, Problem> {
    let (external, NoQuery {}, update) = request.read::<String, NoQuery, UpdatePrice>()?;
    change(request, external_id(&external, "price")?.into(), update).await
}

async fn change(
    request: Request,
    id: IdOr<PriceId>,
    update: UpdatePrice,
) -> Result<Reply, Problem> {
    let update = PriceUpdate { metadata: metadata_update(update.metadata) };
    let call = request.account.update_price(id, update).with_related();
    request.write(call, show).await
}

fn show((price, related): &(price::Price, Related)) -> Price {
    Price::of(price, related)
}

async fn evaluate(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<PriceId, NoQuery, Evaluate>()?;
    let evaluation = PriceEvaluation {
        customer: customer(body.customer_id, body.external_customer_id)?,
        timeframe: timeframe(body.timeframe_start.0, body.timeframe_end.0)?,
        filter: body.filter,
        grouping: body.grouping_keys.unwrap_or_default(),
    };
    let groups = request.account.evaluate_price(id, &evaluation).await?;
    request.answer_list(groups, EvaluatedGroup::from).await
}

async fn evaluate_multiple(request: Request) -> Result<Reply, Problem> {
    let body: EvaluateMultiple = request.body()?;
    let evaluations = PriceEvaluations {
        customer: customer(body.customer_id, body.external_customer_id)?,
        timeframe: timeframe(body.timeframe_start.0, body.timeframe_end.0)?,
        price_evaluations: entries(body.price_evaluations),
    };
    let found = request.account.evaluate_prices(&evaluations).await?;
    answer_prices(request, found).await
}

async fn evaluate_preview_events(request: Request) -> Result<Reply, Problem> {
    let body: EvaluatePreviewEvents = request.body()?;
    let evaluations = PriceEvaluations {
        customer: customer(body.customer_id, body.external_customer_id)?,
        timeframe: timeframe(body.timeframe_start.0, body.timeframe_end.0)?,
        price_evaluations: entries(body.price_evaluations),
    };
    let Several(events) = body.events;
    let events = events.into_iter().map(PreviewEvent::from);
    let found = request.account.evaluate_preview_events(&evaluations, events).await?;
    answer_prices(request, found).await
}

/// Makes entries of the engine of the prices of a body. Where one names no price was told already.
fn entries(Several(prices): EvaluationsIn) -> Vec<cost::EvaluationEntry> {
    prices.into_iter().filter_map(PriceEvaluationIn::into_entry).collect()
}

/// Returns the customer whose usage is rated.
fn customer(
    id: Option<CustomerId>,
    external: Option<ExternalId>,
) -> Result<IdOr<CustomerId>, Problem> {
    let customer = id.map(IdOr::Id).or(external.map(IdOr::External));
    let none = || Problem::feature_not_available("the usage over all customers is not available");
    customer.ok_or_else(none)
}

async fn answer_prices(
    request: Request,
    found: Vec<cost::EvaluatedPrice>,
) -> Result<Reply, Problem> {
    let mut rows = Vec::with_capacity(found.len());
    for (place, evaluated) in (0..).zip(found) {
        rows.push(EvaluatedPrice::of(place, evaluated, &request.pace).await);
    }
    request.answer_list(rows, |row| row).await
}
