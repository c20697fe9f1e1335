use std::{fs, io, path::Path, time::Duration};

use accrue::ExternalId;
use serde::{Serialize, Serializer};

use crate::{
    BackfillReport, CustomerCost, CustomerCredits, Error, Figures, FiredAlert, InvoiceReport,
};

/// What a run found, for another program to hold against the trace.
///
/// Each part of what is told of a customer has a type of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How many events the trace has.
    pub events: usize,
    /// How many of them were duplicates when they came first.
    pub duplicates: usize,
    /// How long the first pass took.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub took: Duration,
    /// What came of the same events again.
    pub second_pass: SecondPass,
    /// The customers, in order of their numbers.
    pub customers: Vec<CustomerReport>,
    /// What became of events that were lost, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backfill: Option<BackfillReport>,
}

/// What came of the same events again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SecondPass {
    /// How many were taken for new.
    pub ingested: usize,
    /// How many were known.
    pub duplicates: usize,
    /// How many messages came of them.
    pub messages: usize,
}

/// What there is to tell of one customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CustomerReport {
    /// Who it is.
    pub external_customer_id: ExternalId,
    /// What it used.
    pub metrics: Figures,
    /// The alerts, in the order in which they fired.
    pub alerts: Vec<FiredAlert>,
    /// What it owes.
    pub cost: CustomerCost,
    /// What it has of its credits.
    #[serde(flatten)]
    pub credits: CustomerCredits,
    /// What it was billed, oldest first, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invoices: Vec<InvoiceReport>,
}

impl Report {
    /// Writes it to a file, as JSON.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let json = serde_json::to_string_pretty(self).map_err(io::Error::from);
        json.and_then(|json| fs::write(path, json + "\n"))
            .map_err(|source| Error::Report { path: path.to_owned(), source })
    }

    /// Returns how many events per second the first pass took.
    #[must_use]
    pub fn events_per_second(&self) -> u128 {
        let events = u128::try_from(self.events).unwrap_or(u128::MAX);
        events.saturating_mul(1_000_000) / self.took.as_micros().max(1)
    }
}

fn seconds<S: Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    serializer.serialize_f64(Duration::from_micros(micros).as_secs_f64())
}
