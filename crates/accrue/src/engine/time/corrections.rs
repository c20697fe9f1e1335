//! What corrects the figures of a customer after the fact: a backfill that is reflected or reverted,
//! and metrics that came after its events.
//!
//! A correction never changes what counts while it is under way. `build` adds the days of a backfill
//! up anew, in bounded commits, into the bucket slot that does not count; `publish` makes it count in one
//! commit, with everything that follows from it; `clean_up` removes what counted before. `measure` does
//! the same for metrics, whose rows nobody reads before all of them are there.
//!
//! Corrections come first: whoever writes for a customer takes these steps before, as it applies
//! transitions. So no event comes in between, and no outcome depends on when it is done.

mod account_wide;
mod build;
mod clean_up;
mod families;
mod measure;
mod publish;
mod schedule;
mod step;

pub(in crate::engine) use self::{
    account_wide::{concerned, correct_all, correct_some, measure_all},
    schedule::{
        begin_customer, current_backfill, has_transitions, is_to_be_corrected, schedule, unschedule,
    },
    step::{Step, Stepped},
};
