use accrue::{
    Currency, Error, IdOr, PlanId, Zone,
    plan::{self, PlanFilter, PlanVersion as Number, PricedVersion},
    related::Related,
};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request, external_id},
    wire::{
        pages::Rows,
        plans::{
            NewPlan, NewVersion, Plan, PlanListQuery, PlanVersion, SetDefaultVersion, UpdatePlan,
            VersionNumber, number,
        },
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post("/plans", "plans.create", "create-plan")
        .creates()
        .summary("Creates a plan, with its first version.")
        .body::<NewPlan>()
        .answers::<Plan>()
        .run(|request| Box::pin(create(request))),
    Operation::get("/plans", "plans.list", "list-plans")
        .summary("Lists the plans, newest first.")
        .query::<PlanListQuery>()
        .answers::<Rows<Plan>>()
        .run(|request| Box::pin(list(request))),
    Operation::get("/plans/{plan_id}", "plans.fetch", "fetch-plan")
        .summary("Returns a plan.")
        .answers::<Plan>()
        .run(|request| Box::pin(fetch(request))),
    Operation::put("/plans/{plan_id}", "plans.update", "update-plan")
        .summary("Changes a plan.")
        .body::<UpdatePlan>()
        .answers::<Plan>()
        .run(|request| Box::pin(update(request))),
    Operation::get(
        "/plans/external_plan_id/{external_plan_id}",
        "plans.external_plan_id.fetch",
        "fetch-plan-external-id",
    )
    .summary("Returns a plan, found by its external id.")
    .answers::<Plan>()
    .run(|request| Box::pin(fetch_by_external_id(request))),
    Operation::put(
        "/plans/external_plan_id/{external_plan_id}",
        "plans.external_plan_id.update",
        "update-plan-external",
    )
    .summary("Changes a plan, found by its external id.")
    .body::<UpdatePlan>()
    .answers::<Plan>()
    .run(|request| Box::pin(update_by_external_id(request))),
    Operation::post("/plans/{plan_id}/versions", "beta.create_plan_version", "create-plan-version")
        .creates()
        .summary("Creates a version of a plan from its latest one.")
        .body::<NewVersion>()
        .answers::<PlanVersion>()
        .run(|request| Box::pin(create_version(request))),
    Operation::get(
        "/plans/{plan_id}/versions/{version}",
        "beta.fetch_plan_version",
        "fetch-plan-version",
    )
    .summary("Returns a version of a plan.")
    .answers::<PlanVersion>()
    .run(|request| Box::pin(fetch_version(request))),
    Operation::post(
        "/plans/{plan_id}/set_default_version",
        "beta.set_default_plan_version",
        "set-default-version",
    )
    .summary("Sets the default version of a plan: the one of new subscriptions.")
    .body::<SetDefaultVersion>()
    .answers::<Plan>()
    .run(|request| Box::pin(set_default(request))),
    Operation::post(
        "/plans/external_plan_id/{external_plan_id}/versions",
        "beta.external_plan_id.create_plan_version",
        "create-plan-version-external-id",
    )
    .creates()
    .summary(
        "Creates a version of a plan from its latest one; the plan is found by its external id.",
    )
    .body::<NewVersion>()
    .answers::<PlanVersion>()
    .run(|request| Box::pin(create_version_by_external_id(request))),
    Operation::get(
        "/plans/external_plan_id/{external_plan_id}/versions/{version}",
        "beta.external_plan_id.fetch_plan_version",
        "fetch-plan-version-external-id",
    )
    .summary("Returns a version of a plan, found by its external id.")
    .answers::<PlanVersion>()
    .run(|request| Box::pin(fetch_version_by_external_id(request))),
    Operation::post(
        "/plans/external_plan_id/{external_plan_id}/set_default_version",
        "beta.external_plan_id.set_default_plan_version",
        "set-default-version-external-id",
    )
    .summary("Sets the default version of a plan, found by its external id.")
    .body::<SetDefaultVersion>()
    .answers::<Plan>()
    .run(|request| Box::pin(set_default_by_external_id(request))),
];

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: NewPlan = request.body()?;
    let call = request.account.create_plan(new.try_into()?).with_related();
    request.write(call, show).await
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: PlanListQuery = request.query()?;
    let created = query.created().range(&Zone::UTC)?;
    let page = request.page(query.limit, query.cursor)?;
    let filter = PlanFilter { created, status: query.status };
    let found = request.account.list_plans(&filter, &page).await?;
    let related = request.account.related(&found).await?;
    request.answer_page(found, |plan| Plan::of(&plan, &related)).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: PlanId = request.path()?;
    answer(request, id.into()).await
}

async fn fetch_by_external_id(request: Request) -> Result<Reply, Problem> {
    let external: String = request.path()?;
    answer(request, external_id(&external, "plan")?.into()).await
}

async fn answer(request: Request, id: IdOr<PlanId>) -> Result<Reply, Problem> {
    let plan = request.account.fetch_plan(id).await?;
    let related = request.account.related(&plan).await?;
    request.answer(&Plan::of(&plan, &related)).await
}

async fn update(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) = request.read::<PlanId, NoQuery, UpdatePlan>()?;
    change(request, id.into(), update).await
}

async fn update_by_external_id(request: Request) -> Result<Reply, Problem> {
    let (external, NoQuery {}, update) = request.read::<String, NoQuery, UpdatePlan>()?;
    change(request, external_id(&external, "plan")?.into(), update).await
}

async fn change(request: Request, id: IdOr<PlanId>, update: UpdatePlan) -> Result<Reply, Problem> {
    let call = request.account.update_plan(id, update.into()).with_related();
    request.write(call, show).await
}

async fn create_version(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, new) = request.read::<PlanId, NoQuery, NewVersion>()?;
    create_version_of(request, id.into(), new).await
}

async fn create_version_by_external_id(request: Request) -> Result<Reply, Problem> {
    let (external, NoQuery {}, new) = request.read::<String, NoQuery, NewVersion>()?;
    create_version_of(request, external_id(&external, "plan")?.into(), new).await
}

async fn create_version_of(
    request: Request,
    id: IdOr<PlanId>,
    new: NewVersion,
) -> Result<Reply, Problem> {
    let currency = match currency_of_plan(&request, id.clone()).await {
        Ok(currency) => currency,
        Err(error) => return request.refuse(&error).await,
    };
    let call = request.account.change_plan_version(id, new.into_change(currency)?).with_related();
    request.write(call, |(version, related)| PlanVersion::of(version, related)).await
}

/// Returns the currency of a plan. It never changes, so that it may be read before the commit.
async fn currency_of_plan(request: &Request, id: IdOr<PlanId>) -> Result<Currency, Error> {
    Ok(request.account.fetch_plan(id).await?.currency)
}

/// Returns the currency of a plan, where it is asked for.
pub(super) async fn currency_of(
    request: &Request,
    plan: Option<IdOr<PlanId>>,
) -> Result<Option<Currency>, Error> {
    match plan {
        Some(id) => currency_of_plan(request, id).await.map(Some),
        None => Ok(None),
    }
}

async fn fetch_version(request: Request) -> Result<Reply, Problem> {
    let ((id, VersionNumber(version)), ..) =
        request.read::<(PlanId, VersionNumber), NoQuery, NoBody>()?;
    answer_version(request, id.into(), version).await
}

async fn fetch_version_by_external_id(request: Request) -> Result<Reply, Problem> {
    let ((external, VersionNumber(version)), ..) =
        request.read::<(String, VersionNumber), NoQuery, NoBody>()?;
    answer_version(request, external_id(&external, "plan")?.into(), version).await
}

async fn answer_version(
    request: Request,
    id: IdOr<PlanId>,
    version: Number,
) -> Result<Reply, Problem> {
    let version: PricedVersion = request.account.fetch_plan_version(id, version).await?;
    let related = request.account.related(&version).await?;
    request.answer(&PlanVersion::of(&version, &related)).await
}

async fn set_default(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<PlanId, NoQuery, SetDefaultVersion>()?;
    choose(request, id.into(), body).await
}

async fn set_default_by_external_id(request: Request) -> Result<Reply, Problem> {
    let (external, NoQuery {}, body) = request.read::<String, NoQuery, SetDefaultVersion>()?;
    choose(request, external_id(&external, "plan")?.into(), body).await
}

async fn choose(
    request: Request,
    id: IdOr<PlanId>,
    body: SetDefaultVersion,
) -> Result<Reply, Problem> {
    let call = request.account.set_default_plan_version(id, number(body.version)).with_related();
    request.write(call, show).await
}

fn show((plan, related): &(plan::Plan, Related)) -> Plan {
    Plan::of(plan, related)
}
