use std::num::NonZeroU32;

use accrue::usage::{EventSearch, EventVolumeQuery};

use crate::{
    operation::{Category, Operation},
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
        .answers::<Ingested>()
        .run(|request| Box::pin(ingest(request))),
    Operation::post("/events/search", "events.search", "search-events")
        .only_reads()
        .summary("Finds usage events by their ids.")
        .body::<SearchBody>()
        .answers::<FoundEvents>()
        .run(|request| Box::pin(search(request))),
    Operation::put("/events/{event_id}", "events.update", "amend-event")
        .summary(
            "Amends a usage event: what it says from now on, at its time and for its customer.",
        )
        .body::<AmendEvent>()
        .answers::<Amended>()
        .run(|request| Box::pin(amend(request))),
    Operation::put("/events/{event_id}/deprecate", "events.deprecate", "deprecate-event")
        .summary("Deprecates a usage event: it counts no longer.")
        .answers::<Deprecated>()
        .run(|request| Box::pin(deprecate(request))),
    Operation::get("/events/volume", "events.volume.list", "get-event-volume")
        .summary("Counts the events of each hour, the newest hour first.")
        .query::<VolumeQuery>()
        .answers::<Rows<Volume>>()
        .run(|request| Box::pin(volume(request))),
];

async fn ingest(request: Request) -> Result<Reply, Problem> {
    let ((), query, IngestBody { events }) = request.read::<(), IngestQuery, IngestBody>()?;
    let most = request.settings.bounds.batch_events;
    if events.len() > most {
        let found = events.len();
        let detail = format!("{found} events, expected at most {most}: a split into several helps");
        return Err(Problem::resource_too_large(detail));
    }
    let amount = u32::try_from(events.len()).ok().and_then(NonZeroU32::new);
    if let Some(amount) = amount {
        request.settings.take(request.account.id(), Category::IngestEvents, amount)?;
    }
    let events = events.into_events();
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
    request.answer(&Rows::of(found, Volume::from)).await
}
