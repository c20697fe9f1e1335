use accrue::{CustomerId, ListFilter, Zone};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    wire::{
        balance_transactions::{
            BalanceTransaction, BalanceTransactionListQuery, CreateBalanceTransaction,
        },
        pages::Rows,
    },
};

const PATH: &str = "/customers/{customer_id}/balance_transactions";

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get(
        PATH,
        "customers.balance_transactions.list",
        "list-customer-balance-transactions",
    )
    .summary("Lists the transactions of a customer's balance, newest first.")
    .query::<BalanceTransactionListQuery>()
    .answers::<Rows<BalanceTransaction>>()
    .run(|request| Box::pin(list(request))),
    Operation::post(
        PATH,
        "customers.balance_transactions.create",
        "create-customer-balance-transaction",
    )
    .summary("Moves the balance of a customer.")
    .body::<CreateBalanceTransaction>()
    .answers::<BalanceTransaction>()
    .run(|request| Box::pin(create(request))),
];

async fn list(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<CustomerId, BalanceTransactionListQuery, NoBody>()?;
    let filter = ListFilter { created: query.made().range(&Zone::UTC)? };
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_balance_transactions(id, &filter, &page).await?;
    request.answer_page(found, |of| BalanceTransaction::from(&of)).await
}

async fn create(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, new) = request.read::<CustomerId, NoQuery, CreateBalanceTransaction>()?;
    let call = request.account.create_balance_transaction(id, new.into());
    request.write(call, |of| BalanceTransaction::from(of)).await
}
