use accrue::{CreditNoteId, Page, invoice, related::Related};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::Request,
    wire::{
        credit_notes::{CreateCreditNote, CreditNote, CreditNoteListQuery},
        pages::Rows,
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get("/credit_notes", "credit_notes.list", "list-credit-notes")
        .summary("Lists the credit notes, newest first.")
        .query::<CreditNoteListQuery>()
        .answers::<Rows<CreditNote>>()
        .run(|request| Box::pin(list(request))),
    Operation::post("/credit_notes", "credit_notes.create", "create-credit-note")
        .creates()
        .summary("Takes back amounts of lines of an invoice.")
        .body::<CreateCreditNote>()
        .answers::<CreditNote>()
        .run(|request| Box::pin(create(request))),
    Operation::get("/credit_notes/{credit_note_id}", "credit_notes.fetch", "fetch-credit-note")
        .summary("Returns a credit note.")
        .answers::<CreditNote>()
        .run(|request| Box::pin(fetch(request))),
];

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: CreditNoteListQuery = request.query()?;
    let filter = query.filter()?;
    let page = request.page(query.limit, query.cursor)?;
    let found = match filter {
        Some(filter) => request.account.list_credit_notes(&filter, &page).await?,
        None => Page::default(),
    };
    let related = request.account.related(&found).await?;
    let links = request.links();
    request.answer_page(found, |note| CreditNote::of(&note, &related, &links)).await
}

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: CreateCreditNote = request.body()?;
    let call = request.account.create_credit_note(new.into_note()?);
    let links = request.links();
    let show = move |(note, related): &(invoice::CreditNote, Related)| {
        CreditNote::of(note, related, &links)
    };
    request.write(call.with_related(), show).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: CreditNoteId = request.path()?;
    let note = request.account.fetch_credit_note(id).await?;
    let related = request.account.related(&note).await?;
    let answer = CreditNote::of(&note, &related, &request.links());
    request.answer(&answer).await
}
