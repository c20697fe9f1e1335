use accrue::{DimensionalPriceGroupId, IdOr, Page, price::NewDimensionalPrices};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request, external_id},
    wire::{
        dimensional_price_groups::{
            CreatedPrices, DimensionalPriceGroup, DimensionalPriceGroupListQuery,
            DimensionalPriceListQuery, NewDimensionalPriceGroup, NewPricesOfGroup,
            UpdateDimensionalPriceGroup,
        },
        pages::Rows,
        prices::Price,
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post(
        "/dimensional_price_groups",
        "dimensional_price_groups.create",
        "create-dimensional-price-group",
    )
    .creates()
    .summary("Creates a dimensional price group.")
    .body::<NewDimensionalPriceGroup>()
    .answers::<DimensionalPriceGroup>()
    .run(|request| Box::pin(create(request))),
    Operation::get(
        "/dimensional_price_groups",
        "dimensional_price_groups.list",
        "list-dimensional-price-groups",
    )
    .summary("Lists the dimensional price groups, newest first.")
    .query::<DimensionalPriceGroupListQuery>()
    .answers::<Rows<DimensionalPriceGroup>>()
    .run(|request| Box::pin(list(request))),
    Operation::get(
        "/dimensional_price_groups/{dimensional_price_group_id}",
        "dimensional_price_groups.retrieve",
        "fetch-dimensional-price-group",
    )
    .summary("Returns a dimensional price group.")
    .answers::<DimensionalPriceGroup>()
    .run(|request| Box::pin(fetch(request))),
    Operation::put(
        "/dimensional_price_groups/{dimensional_price_group_id}",
        "dimensional_price_groups.update",
        "update-dimensional-price-group",
    )
    .summary("Changes the external id and the metadata of a dimensional price group.")
    .body::<UpdateDimensionalPriceGroup>()
    .answers::<DimensionalPriceGroup>()
    .run(|request| Box::pin(update(request))),
    Operation::get(
        "/dimensional_price_groups/external_dimensional_price_group_id/{external_dimensional_price_group_id}",
        "dimensional_price_groups.external_dimensional_price_group_id.retrieve",
        "fetch-dimensional-price-group-external-id",
    )
    .summary("Returns a dimensional price group, found by its external id.")
    .answers::<DimensionalPriceGroup>()
    .run(|request| Box::pin(fetch_by_external_id(request))),
    Operation::put(
        "/dimensional_price_groups/external_dimensional_price_group_id/{external_dimensional_price_group_id}",
        "dimensional_price_groups.external_dimensional_price_group_id.update",
        "update-dimensional-price-group-external",
    )
    .summary(
        "Changes the external id and the metadata of a dimensional price group, found by its external id.",
    )
    .body::<UpdateDimensionalPriceGroup>()
    .answers::<DimensionalPriceGroup>()
    .run(|request| Box::pin(update_by_external_id(request))),
    Operation::get(
        "/dimensional_price_groups/{dimensional_price_group_id}/prices",
        "dimensional_price_groups.prices.list",
        "list-dimensional-price-group-prices",
    )
    .summary("Lists the prices of a dimensional price group, newest first.")
    .query::<DimensionalPriceListQuery>()
    .answers::<Rows<Price>>()
    .run(|request| Box::pin(list_prices(request))),
    Operation::post(
        "/dimensional_price_groups/{dimensional_price_group_id}/prices",
        "dimensional_price_groups.prices.create",
        "create-dimensional-price-group-prices",
    )
    .creates()
    .summary("Creates several prices of a dimensional price group: all of them, or none.")
    .body::<NewPricesOfGroup>()
    .answers::<CreatedPrices>()
    .run(|request| Box::pin(create_prices(request))),
];

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: NewDimensionalPriceGroup = request.body()?;
    let call = request.account.create_dimensional_price_group(new.into());
    request.write(call, |group| DimensionalPriceGroup::from(group)).await
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: DimensionalPriceGroupListQuery = request.query()?;
    let filter = query.filter();
    let page = request.page(query.limit, query.cursor)?;
    let found = match filter {
        Some(filter) => request.account.list_dimensional_price_groups(&filter, &page).await?,
        None => Page::default(),
    };
    request.answer_page(found, |group| DimensionalPriceGroup::from(&group)).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: DimensionalPriceGroupId = request.path()?;
    answer(request, id.into()).await
}

async fn fetch_by_external_id(request: Request) -> Result<Reply, Problem> {
    let external: String = request.path()?;
    answer(request, external_id(&external, "dimensional price group")?.into()).await
}

async fn answer(request: Request, id: IdOr<DimensionalPriceGroupId>) -> Result<Reply, Problem> {
    let group = request.account.fetch_dimensional_price_group(id).await?;
    request.answer(&DimensionalPriceGroup::from(&group)).await
}

async fn update(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) =
        request.read::<DimensionalPriceGroupId, NoQuery, UpdateDimensionalPriceGroup>()?;
    change(request, id.into(), update).await
}

async fn update_by_external_id(request: Request) -> Result<Reply, Problem> {
    let (external, NoQuery {}, update) =
        request.read::<String, NoQuery, UpdateDimensionalPriceGroup>()?;
    change(request, external_id(&external, "dimensional price group")?.into(), update).await
}

async fn change(
    request: Request,
    id: IdOr<DimensionalPriceGroupId>,
    update: UpdateDimensionalPriceGroup,
) -> Result<Reply, Problem> {
    let call = request.account.update_dimensional_price_group(id, update.into());
    request.write(call, |group| DimensionalPriceGroup::from(group)).await
}

async fn list_prices(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) =
        request.read::<DimensionalPriceGroupId, DimensionalPriceListQuery, NoBody>()?;
    let filter = query.filter();
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_dimensional_prices(id, &filter, &page).await?;
    let related = request.account.related(&found).await?;
    request.answer_page(found, |price| Price::of(&price, &related)).await
}

async fn create_prices(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, new) =
        request.read::<DimensionalPriceGroupId, NoQuery, NewPricesOfGroup>()?;
    let call = request.account.create_dimensional_prices(id, NewDimensionalPrices::from(new));
    let show = |(prices, related): &(Vec<_>, _)| CreatedPrices {
        data: prices.iter().map(|price| Price::of(price, related)).collect(),
    };
    request.write(call.with_related(), show).await
}
