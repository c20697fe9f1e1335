//! What users who come from the published clients notice, by the sections of the page of that name.

mod credits;
mod document;
mod evaluation;
mod nulls;
mod queries;
mod subscriptions;
mod usage;
mod written;
