use accrue::{MigrationId, PlanId};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    wire::{
        migrations::Migration,
        pages::{ListQuery, Rows},
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get("/plans/{plan_id}/migrations", "plans.migrations.list", "list-migrations")
        .summary("Lists the migrations of a plan, newest first.")
        .query::<ListQuery>()
        .answers::<Rows<Migration>>()
        .run(|request| Box::pin(list(request))),
    Operation::get(
        "/plans/{plan_id}/migrations/{migration_id}",
        "plans.migrations.retrieve",
        "fetch-migration",
    )
    .summary("Returns a migration of a plan.")
    .answers::<Migration>()
    .run(|request| Box::pin(fetch(request))),
    Operation::post(
        "/plans/{plan_id}/migrations/{migration_id}/cancel",
        "plans.migrations.cancel",
        "cancel-migration",
    )
    .summary("Cancels a migration: subscriptions that are still to move stay.")
    .answers::<Migration>()
    .run(|request| Box::pin(cancel(request))),
];

async fn list(request: Request) -> Result<Reply, Problem> {
    let (plan, query, _) = request.read::<PlanId, ListQuery, NoBody>()?;
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_migrations(plan, &page).await?;
    let now = request.account.billing().now();
    request.answer_page(found, |of| Migration::at(&of, now)).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let ((plan, id), ..) = request.read::<(PlanId, MigrationId), NoQuery, NoBody>()?;
    let found = request.account.fetch_migration(plan, id).await?;
    let now = request.account.billing().now();
    request.answer(&Migration::at(&found, now)).await
}

async fn cancel(request: Request) -> Result<Reply, Problem> {
    let ((plan, id), ..) = request.read::<(PlanId, MigrationId), NoQuery, NoBody>()?;
    let billing = request.account.billing().clone();
    let call = request.account.cancel_migration(plan, id);
    request.write(call, move |of| Migration::at(of, billing.now())).await
}
