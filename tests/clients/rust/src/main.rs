//! Drives the operations that it knows with the published client of crates.io.
//!
//! The client holds every answer to its types: a member that is missing, or null where it knows no
//! null, fails.

mod costs;
mod credits;
mod customers;
mod errors;
mod events;
mod fixtures;
mod plans;
mod subscriptions;
mod tunnel;

use std::{future::Future, process::ExitCode};

use tokio::runtime::Runtime;

use crate::tunnel::Tunnel;

fn main() -> ExitCode {
    // It changes the environment, and so comes before any thread.
    let tunnel = Tunnel::open();
    let failed = Runtime::new().unwrap().block_on(async {
        tokio::spawn(tunnel.serve());
        walk_all().await
    });
    println!("{failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

/// Walks one after another, and counts those that fail.
async fn walk_all() -> usize {
    let mut failed = 0;
    macro_rules! walk {
        ($($walk:path,)*) => {$(
            failed += usize::from(!passes(stringify!($walk), $walk()).await);
        )*};
    }
    walk! {
        customers::one_has_every_field,
        customers::one_needs_a_name_and_an_address,
        customers::one_is_changed_by_both_ids,
        customers::all_are_listed_in_pages,
        customers::one_that_is_deleted_is_gone,
        plans::one_is_read_by_both_ids,
        plans::all_are_listed_in_pages,
        subscriptions::one_is_created_by_all_ids,
        subscriptions::one_has_every_field,
        subscriptions::one_says_nothing,
        subscriptions::one_begins_later,
        subscriptions::those_of_a_customer_are_listed,
        events::they_are_ingested_in_both_modes,
        events::they_are_searched_in_a_timeframe,
        events::one_is_amended_and_deprecated,
        costs::they_are_cumulative_and_by_the_day,
        costs::they_are_by_both_ids_and_of_the_current_period,
        costs::a_matrix_has_its_groups,
        credits::an_increment_makes_a_block,
        credits::blocks_are_listed_in_pages,
        credits::a_void_takes_from_a_block,
        errors::what_is_not_there,
        errors::a_key_that_is_not_known,
        errors::a_key_with_another_body,
        errors::a_body_that_is_malformed,
        errors::a_rule_that_is_broken,
    }
    failed
}

/// Walks to the end, and tells whether it came there. What stopped it is on standard error.
async fn passes(name: &str, walk: impl Future<Output = ()> + Send + 'static) -> bool {
    let passes = tokio::spawn(walk).await.is_ok();
    println!("{} {name}", if passes { "ok    " } else { "FAILED" });
    passes
}
