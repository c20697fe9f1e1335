//! Documents that are no type of the domain, by subject.

use serde::{Deserialize, Serialize};

pub(crate) use super::{
    account::AccountHead,
    alert::{
        AlertEntry, AlertGroupCount, AlertGroupEntry, AlertRevision, AlertState, BalanceAlertState,
    },
    backfill::{BackfillShare, OpenBackfill, OpenBackfills},
    correction::{
        AccountCorrection, AccountCorrections, CalendarDay, CleanUpPlace, Corrections,
        OverlayEntry, Progress,
    },
    coupon::CouponAlias,
    credit::{BlockMetadata, Credits, CreditsIn},
    customer::{ActiveIds, CustomerAlias, CustomerEntry, CustomerHead, Footprint},
    deadline::{Deadline, Owner},
    invoice::{CreditNoteEntry, CreditNoteLines, InvoiceEntry, InvoiceLines, InvoiceTexts},
    message::{
        DueAt, EndpointTurn, MessageBody, MessageEntry, MessageExpiry, MessageTold, OutboxEntry,
    },
    plan::{
        Catalogue, DimensionalPriceGroupAlias, PlanAlias, PlanVersionEntry, PriceAlias,
        SharedAlerts,
    },
    record::RecordPart,
    subscription::{RequestPart, SubscriptionOf, Terms},
    usage::{
        Amendments, Bucket, CellTotalEntry, EventCount, GroupCount, GroupEntry, GroupSumsEntry,
        GroupTotalEntry, TotalEntry,
    },
};

/// A row that only its key says something with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Nothing {}
