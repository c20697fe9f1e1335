use accrue::{MetricId, Zone, metric::MetricFilter};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoQuery, Request},
    wire::{
        metrics::{Metric, MetricListQuery, NewMetric, UpdateMetric},
        pages::Rows,
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post("/metrics", "metrics.create", "create-metric")
        .creates()
        .summary("Creates a metric: it measures all events, those that were accepted before too.")
        .body::<NewMetric>()
        .answers::<Metric>()
        .run(|request| Box::pin(create(request))),
    Operation::get("/metrics", "metrics.list", "list-metrics")
        .summary("Lists the metrics, newest first, archived ones too.")
        .query::<MetricListQuery>()
        .answers::<Rows<Metric>>()
        .run(|request| Box::pin(list(request))),
    Operation::get("/metrics/{metric_id}", "metrics.fetch", "fetch-metric")
        .summary("Returns a metric.")
        .answers::<Metric>()
        .run(|request| Box::pin(fetch(request))),
    Operation::put("/metrics/{metric_id}", "metrics.update", "update-metric")
        .summary("Changes a metric. What it measures never changes.")
        .body::<UpdateMetric>()
        .answers::<Metric>()
        .run(|request| Box::pin(update(request))),
    Operation::post("/metrics/{metric_id}/archive", "metrics.archive", "archive-metric")
        .summary("Archives a metric: no new alert or price can use it.")
        .answers::<Metric>()
        .run(|request| Box::pin(archive(request))),
    Operation::post("/metrics/{metric_id}/unarchive", "metrics.unarchive", "unarchive-metric")
        .summary("Restores an archived metric.")
        .answers::<Metric>()
        .run(|request| Box::pin(unarchive(request))),
];

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: NewMetric = request.body()?;
    let call = request.account.create_metric(new.into());
    request.write(call.with_related(), |(metric, related)| Metric::of(metric, related)).await
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: MetricListQuery = request.query()?;
    let created = query.created().range(&Zone::UTC)?;
    let page = request.page(query.limit, query.cursor)?;
    let filter = MetricFilter { created, status: query.status };
    let found = request.account.list_metrics(&filter, &page).await?;
    let related = request.account.related(&found).await?;
    request.answer_page(found, |metric| Metric::of(&metric, &related)).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: MetricId = request.path()?;
    let metric = request.account.fetch_metric(id).await?;
    let related = request.account.related(&metric).await?;
    request.answer(&Metric::of(&metric, &related)).await
}

async fn update(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) = request.read::<MetricId, NoQuery, UpdateMetric>()?;
    let call = request.account.update_metric(id, update.into());
    request.write(call.with_related(), |(metric, related)| Metric::of(metric, related)).await
}

async fn archive(request: Request) -> Result<Reply, Problem> {
    let id: MetricId = request.path()?;
    let call = request.account.archive_metric(id);
    request.write(call.with_related(), |(metric, related)| Metric::of(metric, related)).await
}

async fn unarchive(request: Request) -> Result<Reply, Problem> {
    let id: MetricId = request.path()?;
    let call = request.account.unarchive_metric(id);
    request.write(call.with_related(), |(metric, related)| Metric::of(metric, related)).await
}
