//! Credits: blocks, and entries of the ledger.

use orb_billing::{
    AddIncrementCreditLedgerEntryRequestParams, AddVoidCreditLedgerEntryRequestParams,
    CustomerCreditBlock,
    LedgerEntry::{self, Increment, VoidInitiated},
    LedgerEntryRequest, ListParams, VoidReason,
};
use time::{Duration, OffsetDateTime};

use crate::fixtures::{all, client, customer, midnight, now};

/// Gives a customer credits that expire.
async fn increment(id: &str, amount: u32, expiry: Option<OffsetDateTime>) -> LedgerEntry {
    let entry = LedgerEntryRequest::Increment(AddIncrementCreditLedgerEntryRequestParams {
        amount: amount.into(),
        description: Some("For a start"),
        expiry_date: expiry,
        effective_date: None,
        per_unit_cost_basis: None,
        invoice_settings: None,
    });
    client().create_ledger_entry(id, &entry).await.unwrap()
}

pub(crate) async fn an_increment_makes_a_block() {
    let (client, customer, expiry) = (client(), customer().await, midnight(30));
    let Increment(first) = increment(&customer.id, 100, Some(expiry)).await else { panic!() };
    let Increment(second) = increment(&customer.id, 20, None).await else { panic!() };
    let (first, second) = (first.ledger, second.ledger);
    assert_eq!(first.customer.id, customer.id);
    assert_eq!(first.customer.external_customer_id, customer.external_id);
    assert_eq!(second.ledger_sequence_number, first.ledger_sequence_number + 1);
    assert_eq!(format!("{:?}", first.entry_status), "Committed");
    let moves = [&first, &second]
        .map(|entry| [&entry.starting_balance, &entry.amount, &entry.ending_balance])
        .map(|figures| figures.map(ToString::to_string));
    assert_eq!(moves, [["0", "100", "100"], ["100", "20", "120"]]);
    assert_eq!(first.description.as_deref(), Some("For a start"));
    assert!((now(0) - first.created_at).abs() < Duration::HOUR);
    assert_eq!(first.credit_block.expiry_date, Some(expiry));
    assert_eq!(first.credit_block.per_unit_cost_basis, None);
    assert_eq!(second.credit_block.expiry_date, None);

    let balance = client.get_customer_credit_balance(&customer.id, &ListParams::DEFAULT);
    let mut blocks = all(balance).await;
    blocks.sort_by_key(|block| block.id != first.credit_block.id);
    let expected =
        [(first, 100, Some(expiry)), (second, 20, None)].map(|(entry, balance, expiry_date)| {
            CustomerCreditBlock {
                id: entry.credit_block.id,
                balance: balance.into(),
                expiry_date,
                per_unit_cost_basis: None,
            }
        });
    assert_eq!(blocks, expected);
}

pub(crate) async fn blocks_are_listed_in_pages() {
    let (client, customer) = (client(), customer().await);
    for amount in 1..=5 {
        increment(&customer.id, amount, Some(midnight(30))).await;
    }
    let params = ListParams::DEFAULT.page_size(2);
    let blocks = all(client.get_customer_credit_balance(&customer.id, &params)).await;
    let mut balances: Vec<_> = blocks.iter().map(|block| block.balance.to_string()).collect();
    balances.sort();
    assert_eq!(balances, ["1", "2", "3", "4", "5"]);
    let external = customer.external_id.unwrap();
    let same = client.get_customer_credit_balance_by_external_id(&external, &params);
    assert_eq!(all(same).await, blocks);
}

pub(crate) async fn a_void_takes_from_a_block() {
    let (client, customer) = (client(), customer().await);
    let Increment(given) = increment(&customer.id, 100, Some(midnight(30))).await else { panic!() };
    let block = given.ledger.credit_block;
    let entry = LedgerEntryRequest::Void(AddVoidCreditLedgerEntryRequestParams {
        amount: 40.into(),
        block_id: &block.id,
        void_reason: Some(VoidReason::Refund),
        description: Some("Too much"),
    });
    let entry = client.create_ledger_entry(&customer.id, &entry).await.unwrap();
    let VoidInitiated(begun) = entry else { panic!("{entry:?}") };
    assert_eq!(begun.void_amount, 40.into());
    assert_eq!(begun.void_reason.as_deref(), Some("refund"));
    assert_eq!(begun.ledger.credit_block, block);
    assert_eq!(begun.ledger.description.as_deref(), Some("Too much"));
    assert_eq!(begun.new_block_expiry_date, begun.ledger.created_at, "at once");
    let params = ListParams::DEFAULT.page_size(2);
    let blocks = all(client.get_customer_credit_balance(&customer.id, &params)).await;
    let left: Vec<_> = blocks.iter().map(|left| (&left.id, left.balance.to_string())).collect();
    assert_eq!(left, [(&block.id, "60".to_owned())]);
}
