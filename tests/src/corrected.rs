//! A naive model of corrections: it keeps every event and backfill that was accepted, and tells which
//! events count. What those come to is the biller's business.

mod bench;
mod changes;
mod checks;
#[path = "../../crates/accrue/tests/it/support/figures.rs"]
mod figures;
mod history;
mod openings;
mod script;
pub mod story;

pub use self::{
    bench::{Bench, run},
    checks::aggregates,
    history::{Backfill, History, Standing, State, Stored},
    openings::opening,
    script::{Again, BackfillSpec, Edit, Fill, Place, Span, Step, backfill_and_fills, script},
    story::{GRANTED, Story},
};
