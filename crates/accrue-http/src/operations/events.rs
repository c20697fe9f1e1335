use std::{num::NonZeroU32, sync::Arc};

use accrue::usage::{EventSearch, EventVolumeQuery, Incoming};

use crate::{
    Category,
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoQuery, Request},
    wire::{
        events::{
            AmendEvent, Amended, Deprecated, EventId, FoundEvents, IngestBody, IngestQuery,
            Ingested, SearchBody, Volume, VolumeQuery,
        },
        pages::Rows,
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post("/ingest", "events.ingest", "ingest")
        .counted_as(Category::IngestRequests)
        .summary("Ingests a batch of usage events: all of them, or none.")
        .query::<IngestQuery>()
        .body::<IngestBody>()
        .takes_batches()
        .answers::<Ingested>()
        .run(|request| Box::pin(ingest(request))),
    Operation::post("/events/search", "events.search", "search-events")
        .only_reads()
        .summary("Searches usage events by their ids.")
        .body::<SearchBody>()
        .answers::<FoundEvents>()
        .run(|request| Box::pin(search(request))),
    Operation::put("/events/{event_id}", "events.update", "amend-event")
        .summary("Amends a usage event: other content, at the same instant, for the same customer.")
        .body::<AmendEvent>()
        .answers::<Amended>()
        .run(|request| Box::pin(amend(request))),
    Operation::put("/events/{event_id}/deprecate", "events.deprecate", "deprecate-event")
        .summary("Deprecates a usage event: it counts no longer.")
        .answers::<Deprecated>()
        .run(|request| Box::pin(deprecate(request))),
    Operation::get("/events/volume", "events.volume.list", "get-event-volume")
        .summary("Returns the number of events of each hour, newest first.")
        .query::<VolumeQuery>()
        .answers::<Rows<Volume>>()
        .run(|request| Box::pin(volume(request))),
];

async fn ingest(mut request: Request) -> Result<Reply, Problem> {
    let (query, incoming) = match request.input.batch.take() {
        Some(batch) => (request.query()?, batch.events),
        None => read_events(&request).await?,
    };
    let quota = u32::try_from(incoming.len()).ok().and_then(NonZeroU32::new);
    let (account, settings) = (request.account.id().clone(), Arc::clone(&request.settings));
    if let Some(amount) = quota {
        settings.take(&account, Category::IngestEvents, amount)?;
    }
    let reply = write_events(request, query, incoming).await;
    let was_taken = reply.as_ref().is_ok_and(Reply::is_success);
    if let Some(amount) = quota.filter(|_| !was_taken) {
        settings.give_back(&account, Category::IngestEvents, amount);
    }
    reply
}

/// Reads the events of a body that was read as a tree.
async fn read_events(request: &Request) -> Result<(IngestQuery, Vec<Incoming>), Problem> {
    let ((), query, _) = request.read::<(), IngestQuery, IngestBody>()?;
    let events = IngestBody::events_of(request.input.body.as_ref().ok().and_then(Option::as_ref));
    let (found, most) = (events.len(), request.settings.bounds.batch_events);
    if found > most {
        let detail = format!("{found} events, expected at most {most}: a split into several helps");
        return Err(Problem::resource_too_large(detail));
    }
    let mut incoming = Vec::with_capacity(found);
    for event in events {
        let (event, work) = IngestBody::read_event(event);
        incoming.push(event);
        request.pace.spend(work).await;
    }
    Ok((query, incoming))
}

async fn write_events(
    mut request: Request,
    query: IngestQuery,
    events: Vec<Incoming>,
) -> Result<Reply, Problem> {
    // It was read, and takes as much memory as the events.
    request.input.body = Ok(None);
    let call = match query.backfill_id {
        None => request.account.ingest(events),
        Some(backfill) => request.account.ingest_backfill(backfill, events),
    };
    request.write(call, |_| Ingested::ALL).await
}

async fn amend(request: Request) -> Result<Reply, Problem> {
    let (EventId(id), NoQuery {}, body) = request.read::<EventId, NoQuery, AmendEvent>()?;
    let call = request.account.amend_event(id, body.try_into()?);
    request.write(call, |id| Amended { amended: id.clone() }).await
}

async fn deprecate(request: Request) -> Result<Reply, Problem> {
    let EventId(id) = request.path()?;
    let call = request.account.deprecate_event(id);
    request.write(call, |id| Deprecated { deprecated: id.clone() }).await
}

async fn search(request: Request) -> Result<Reply, Problem> {
    let body: SearchBody = request.body()?;
    let event_ids = body.event_ids.0;
    let found = if event_ids.is_empty() {
        Vec::new()
    } else {
        let search = EventSearch {
            event_ids,
            timeframe_start: body.timeframe_start.map(|at| at.0),
            timeframe_end: body.timeframe_end.map(|at| at.0),
        };
        request.account.search_events(search).await?
    };
    request.answer(&FoundEvents::of(found)).await
}

async fn volume(request: Request) -> Result<Reply, Problem> {
    let query: VolumeQuery = request.query()?;
    let page = request.page(query.limit, query.cursor)?;
    let hours = EventVolumeQuery {
        timeframe_start: query.timeframe_start.0,
        timeframe_end: query.timeframe_end.map(|at| at.0),
    };
    let found = request.account.event_volume(hours, &page).await?;
    request.answer_page(found, Volume::from).await
}
