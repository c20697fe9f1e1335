use accrue::{ItemId, ListFilter};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoQuery, Request},
    wire::{
        items::{Item, NewItem, UpdateItem},
        pages::{ListQuery, Rows},
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post("/items", "items.create", "create-item")
        .creates()
        .summary("Creates an item.")
        .body::<NewItem>()
        .answers::<Item>()
        .run(|request| Box::pin(create(request))),
    Operation::put("/items/{item_id}", "items.update", "update-item")
        .summary("Changes an item.")
        .body::<UpdateItem>()
        .answers::<Item>()
        .run(|request| Box::pin(update(request))),
    Operation::get("/items", "items.list", "list-items")
        .summary("Lists the items, newest first, archived ones too.")
        .query::<ListQuery>()
        .answers::<Rows<Item>>()
        .run(|request| Box::pin(list(request))),
    Operation::post("/items/{item_id}/archive", "items.archive", "archive-item")
        .summary("Archives an item.")
        .answers::<Item>()
        .run(|request| Box::pin(archive(request))),
    Operation::get("/items/{item_id}", "items.fetch", "fetch-item")
        .summary("Returns an item.")
        .answers::<Item>()
        .run(|request| Box::pin(fetch(request))),
];

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: NewItem = request.body()?;
    let call = request.account.create_item(new.into());
    request.write(call, |item| Item::from(item)).await
}

async fn update(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) = request.read::<ItemId, NoQuery, UpdateItem>()?;
    let call = request.account.update_item(id, update.into());
    request.write(call, |item| Item::from(item)).await
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: ListQuery = request.query()?;
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_items(&ListFilter::default(), &page).await?;
    request.answer_page(found, |item| Item::from(&item)).await
}

async fn archive(request: Request) -> Result<Reply, Problem> {
    let id: ItemId = request.path()?;
    let call = request.account.archive_item(id);
    request.write(call, |item| Item::from(item)).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: ItemId = request.path()?;
    let item = request.account.fetch_item(id).await?;
    request.answer(&Item::from(&item)).await
}
