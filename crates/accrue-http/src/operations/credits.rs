use accrue::{CreditBlockId, CustomerId, IdOr};

use super::zones;
use crate::{
    Category,
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    shape::Read,
    wire::{
        credits::{
            BlockInvoices, CreditBlock, CreditListQuery, UpdateCreditBlock, currency_or_credits,
        },
        customers::ExternalCustomerId,
        ledger::{LedgerEntry, LedgerListQuery},
        new_entries::NewEntry,
        pages::Rows,
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get(
        "/customers/{customer_id}/credits",
        "customers.credits.list",
        "fetch-customer-credits",
    )
    .counted_as(Category::Ledger)
    .summary("Lists the credit blocks of a customer, newest first.")
    .query::<CreditListQuery>()
    .answers::<Rows<CreditBlock>>()
    .run(|request| Box::pin(list::<CustomerId>(request))),
    Operation::get(
        "/customers/external_customer_id/{external_customer_id}/credits",
        "customers.credits.list_by_external_id",
        "fetch-customer-credits-external-id",
    )
    .counted_as(Category::Ledger)
    .summary("Lists the credit blocks of a customer, found by its external id.")
    .query::<CreditListQuery>()
    .answers::<Rows<CreditBlock>>()
    .run(|request| Box::pin(list::<ExternalCustomerId>(request))),
    Operation::get(
        "/customers/{customer_id}/credits/ledger",
        "customers.credits.ledger.list",
        "fetch-customer-credits-ledger",
    )
    .summary("Lists the entries of a customer's ledger, newest first.")
    .query::<LedgerListQuery>()
    .answers::<Rows<LedgerEntry>>()
    .run(|request| Box::pin(list_ledger::<CustomerId>(request))),
    Operation::get(
        "/customers/external_customer_id/{external_customer_id}/credits/ledger",
        "customers.credits.ledger.list_by_external_id",
        "fetch-customer-credits-ledger-external-id",
    )
    .summary("Lists the entries of a customer's ledger, found by its external id.")
    .query::<LedgerListQuery>()
    .answers::<Rows<LedgerEntry>>()
    .run(|request| Box::pin(list_ledger::<ExternalCustomerId>(request))),
    Operation::post(
        "/customers/{customer_id}/credits/ledger_entry",
        "customers.credits.ledger.create_entry",
        "create-ledger-entry",
    )
    .creates()
    .summary("Adds an entry to a customer's ledger.")
    .body::<NewEntry>()
    .answers::<LedgerEntry>()
    .run(|request| Box::pin(create_entry::<CustomerId>(request))),
    Operation::post(
        "/customers/external_customer_id/{external_customer_id}/credits/ledger_entry",
        "customers.credits.ledger.create_entry_by_external_id",
        "create-ledger-entry-external-id",
    )
    .creates()
    .summary("Adds an entry to a customer's ledger, found by its external id.")
    .body::<NewEntry>()
    .answers::<LedgerEntry>()
    .run(|request| Box::pin(create_entry::<ExternalCustomerId>(request))),
    Operation::get("/credit_blocks/{block_id}", "credit_blocks.retrieve", "fetch-credit-block")
        .summary("Returns a credit block.")
        .answers::<CreditBlock>()
        .run(|request| Box::pin(fetch(request))),
    Operation::put("/credit_blocks/{block_id}", "credit_blocks.update", "update-credit-block")
        .summary("Changes the metadata of a credit block.")
        .body::<UpdateCreditBlock>()
        .answers::<CreditBlock>()
        .run(|request| Box::pin(update(request))),
    Operation::get(
        "/credit_blocks/{block_id}/invoices",
        "credit_blocks.list_invoices",
        "list-credit-block-invoices",
    )
    .summary("Returns a credit block with the invoices that bought it.")
    .answers::<BlockInvoices>()
    .run(|request| Box::pin(list_invoices(request))),
    Operation::delete("/credit_blocks/{block_id}", "credit_blocks.delete", "delete-credit-block")
        .summary("Deletes a credit block, as if it had never been given.")
        .run(|request| Box::pin(delete(request))),
];

async fn list<Id: Read + Into<IdOr<CustomerId>>>(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<Id, CreditListQuery, NoBody>()?;
    let id: IdOr<CustomerId> = id.into();
    let dated = query.effective().are_local().then(|| id.clone());
    let filter = query.filter(&zones::of_customer(&request, dated).await?)?;
    let page = request.page(query.limit, query.cursor)?;
    let currency = currency_or_credits(query.currency)?;
    let found = request.account.list_credit_blocks(id, &currency, &filter, &page).await?;
    request.answer_page(found, |block| CreditBlock::from(&block)).await
}

async fn list_ledger<Id: Read + Into<IdOr<CustomerId>>>(
    request: Request,
) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<Id, LedgerListQuery, NoBody>()?;
    let id: IdOr<CustomerId> = id.into();
    let dated = query.created().are_local().then(|| id.clone());
    let filter = query.filter(&zones::of_customer(&request, dated).await?)?;
    let page = request.ledger_page(query.limit, query.cursor)?;
    let currency = currency_or_credits(query.currency)?;
    let found = request.account.list_ledger_entries(id, &currency, &filter, &page).await?;
    let related = request.account.related(&found).await?;
    let links = request.links();
    request.answer_page(found, |entry| LedgerEntry::of(&entry, &related, &links)).await
}

async fn create_entry<Id: Read + Into<IdOr<CustomerId>>>(
    request: Request,
) -> Result<Reply, Problem> {
    let (id, NoQuery {}, new) = request.read::<Id, NoQuery, NewEntry>()?;
    let id: IdOr<CustomerId> = id.into();
    let dated = new.has_local_dates().then(|| id.clone());
    let zone = match zones::of_customer(&request, dated).await {
        Ok(zone) => zone,
        Err(error) => return request.refuse(&error).await,
    };
    let call = request.account.create_ledger_entry(id, new.into_entry(&zone)?);
    let links = request.links();
    let show = move |(entry, related): &(_, _)| LedgerEntry::of(entry, related, &links);
    request.write(call.with_related(), show).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: CreditBlockId = request.path()?;
    let block = request.account.fetch_credit_block(id).await?;
    request.answer(&CreditBlock::from(&block)).await
}

async fn list_invoices(request: Request) -> Result<Reply, Problem> {
    let id: CreditBlockId = request.path()?;
    let found = request.account.list_credit_block_invoices(id).await?;
    let related = request.account.related(&found).await?;
    request.answer(&BlockInvoices::of(&found, &related)).await
}

async fn update(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) = request.read::<CreditBlockId, NoQuery, UpdateCreditBlock>()?;
    let call = request.account.update_credit_block(id, update.into());
    request.write(call, |block| CreditBlock::from(block)).await
}

async fn delete(request: Request) -> Result<Reply, Problem> {
    let id: CreditBlockId = request.path()?;
    let call = request.account.delete_credit_block(id);
    request.write(call, |()| ()).await
}
