use accrue::{BackfillId, Page};

use super::zones;
use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::Request,
    wire::{
        backfills::{Backfill, BackfillListQuery, NewBackfill},
        pages::{Limit, Rows},
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post("/events/backfills", "events.backfills.create", "create-backfill")
        .summary("Creates a backfill: what is ingested into it counts once it is closed.")
        .body::<NewBackfill>()
        .answers::<Backfill>()
        .run(|request| Box::pin(create(request))),
    Operation::get("/events/backfills", "events.backfills.list", "list-backfills")
        .summary("Lists the backfills, newest first.")
        .query::<BackfillListQuery>()
        .answers::<Rows<Backfill>>()
        .run(|request| Box::pin(list(request))),
    Operation::get("/events/backfills/{backfill_id}", "events.backfills.fetch", "fetch-backfill")
        .summary("Returns a backfill.")
        .answers::<Backfill>()
        .run(|request| Box::pin(fetch(request))),
    Operation::post(
        "/events/backfills/{backfill_id}/close",
        "events.backfills.close",
        "close-backfill",
    )
    .summary("Closes a backfill: it takes no more events, and is reflected soon after.")
    .answers::<Backfill>()
    .run(|request| Box::pin(close(request))),
    Operation::post(
        "/events/backfills/{backfill_id}/revert",
        "events.backfills.revert",
        "revert-backfill",
    )
    .summary("Reverts a backfill: at once where it is not closed, otherwise soon after.")
    .answers::<Backfill>()
    .run(|request| Box::pin(revert(request))),
];

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: NewBackfill = request.body()?;
    let zone = match zones::of_customer(&request, new.customer_of_dates()).await {
        Ok(zone) => zone,
        Err(error) => return request.refuse(&error).await,
    };
    let call = request.account.create_backfill(new.into_new(&zone)?);
    request.write(call, Backfill::of).await
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: BackfillListQuery = request.query()?;
    let filter = query.filter();
    let page = request.page(query.limit.map(Limit::from), query.cursor)?;
    let found = match filter {
        Some(filter) => request.account.list_backfills(&filter, &page).await?,
        None => Page::default(),
    };
    request.answer_page(found, |backfill| Backfill::of(&backfill)).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: BackfillId = request.path()?;
    let backfill = request.account.fetch_backfill(id).await?;
    request.answer(&Backfill::of(&backfill)).await
}

async fn close(request: Request) -> Result<Reply, Problem> {
    let id: BackfillId = request.path()?;
    let call = request.account.close_backfill(id);
    request.write(call, Backfill::of).await
}

async fn revert(request: Request) -> Result<Reply, Problem> {
    let id: BackfillId = request.path()?;
    let call = request.account.revert_backfill(id);
    request.write(call, Backfill::of).await
}
