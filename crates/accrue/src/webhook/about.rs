//! What messages are about.

use super::Body;
use crate::{BackfillId, CreditNoteId, InvoiceId, PlanId, PriceId, SubscriptionId};

impl Body {
    /// Returns the subscription that it is about.
    #[must_use]
    pub const fn subscription_id(&self) -> Option<SubscriptionId> {
        match self {
            Self::CustomerCreated
            | Self::CustomerEdited { .. }
            | Self::PaymentMethodCreated { .. }
            | Self::PaymentMethodDeleted { .. }
            | Self::PlanCreated { .. }
            | Self::PlanEdited { .. }
            | Self::PlanVersionCreated { .. }
            | Self::PlanDefaultVersionSet { .. }
            | Self::PriceEdited { .. }
            | Self::BackfillReflected { .. }
            | Self::BackfillReverted { .. }
            | Self::CreditBalanceDepleted(_)
            | Self::CreditBalanceDropped(_)
            | Self::CreditBalanceRecovered(_)
            | Self::CreditLedgerIncremented { .. }
            | Self::InvoiceIssued { .. }
            | Self::InvoiceIssuedSummary { .. }
            | Self::InvoiceIssueFailed { .. }
            | Self::InvoiceSyncSucceeded(_)
            | Self::InvoiceSyncFailed(_)
            | Self::InvoiceDateElapsed { .. }
            | Self::InvoiceEdited { .. }
            | Self::InvoicePaymentProcessing(_)
            | Self::InvoicePaymentSucceeded(_)
            | Self::InvoicePaymentFailed(_)
            | Self::InvoiceDunningScheduleCreated(_)
            | Self::InvoiceDunningScheduleStepExecuted { .. }
            | Self::InvoiceDunningScheduleEnded(_)
            | Self::InvoiceDunningScheduleReset { .. }
            | Self::InvoiceUndoMarkAsPaid { .. }
            | Self::InvoiceMarkedAsPaid { .. }
            | Self::InvoiceMarkedAsVoid { .. }
            | Self::DueDateRecalculationStarted { .. }
            | Self::DueDateRecalculationCompleted { .. }
            | Self::DueDateRecalculationCanceled { .. }
            | Self::CreditNoteIssued { .. }
            | Self::CreditNoteMarkedAsVoid { .. }
            | Self::BalanceTransactionCreated { .. } => None,
            Self::SubscriptionCreated { subscription_id }
            | Self::SubscriptionStarted { subscription_id }
            | Self::SubscriptionTrialEnded { subscription_id }
            | Self::SubscriptionEnded { subscription_id }
            | Self::SubscriptionCancellationScheduled { subscription_id, .. }
            | Self::SubscriptionCancellationUnscheduled { subscription_id, .. }
            | Self::PlanChangeScheduled { subscription_id, .. }
            | Self::PlanChanged { subscription_id, .. }
            | Self::PlanVersionChangeScheduled { subscription_id, .. }
            | Self::PlanVersionChanged { subscription_id, .. }
            | Self::SubscriptionEdited { subscription_id, .. }
            | Self::FixedFeeQuantityUpdated { subscription_id, .. }
            | Self::InvoicingThresholdExceeded { subscription_id, .. }
            | Self::LicenseAllocationReset { subscription_id, .. } => Some(*subscription_id),
            Self::UsageExceeded(exceeded)
            | Self::CostExceeded(exceeded)
            | Self::SpendExceeded(exceeded) => Some(exceeded.subscription_id),
            Self::GroupedCostExceeded(exceeded) => Some(exceeded.subscription_id),
            Self::LicenseBalanceThresholdReached(reached) => Some(reached.subscription_id),
            Self::AlertDisabled(disabled) => Some(disabled.subscription_id),
        }
    }

    /// Tells whether an alert says it: that it has fired, or is disabled.
    #[must_use]
    pub const fn is_of_alert(&self) -> bool {
        matches!(
            self,
            Self::UsageExceeded(_)
                | Self::CostExceeded(_)
                | Self::SpendExceeded(_)
                | Self::GroupedCostExceeded(_)
                | Self::LicenseBalanceThresholdReached(_)
                | Self::AlertDisabled(_)
                | Self::CreditBalanceDepleted(_)
                | Self::CreditBalanceDropped(_)
                | Self::CreditBalanceRecovered(_)
        )
    }

    /// Returns the invoice that it is about.
    #[must_use]
    pub const fn invoice_id(&self) -> Option<InvoiceId> {
        match self {
            Self::InvoicingThresholdExceeded { invoice_id, .. }
            | Self::InvoiceIssued { invoice_id, .. }
            | Self::InvoiceIssuedSummary { invoice_id, .. }
            | Self::InvoiceIssueFailed { invoice_id, .. }
            | Self::InvoiceDateElapsed { invoice_id, .. }
            | Self::InvoiceEdited { invoice_id, .. }
            | Self::InvoiceMarkedAsPaid { invoice_id, .. }
            | Self::InvoiceDunningScheduleStepExecuted { invoice_id, .. }
            | Self::InvoiceUndoMarkAsPaid { invoice_id }
            | Self::InvoiceMarkedAsVoid { invoice_id } => Some(*invoice_id),
            Self::InvoicePaymentProcessing(told)
            | Self::InvoicePaymentSucceeded(told)
            | Self::InvoicePaymentFailed(told) => Some(told.invoice_id),
            Self::InvoiceSyncSucceeded(told) | Self::InvoiceSyncFailed(told) => {
                Some(told.invoice_id)
            }
            Self::InvoiceDunningScheduleCreated(of)
            | Self::InvoiceDunningScheduleEnded(of)
            | Self::InvoiceDunningScheduleReset { schedule: of, .. } => Some(of.invoice_id),
            _ => None,
        }
    }

    /// Returns the credit note that it is about.
    #[must_use]
    pub const fn credit_note_id(&self) -> Option<CreditNoteId> {
        match self {
            Self::CreditNoteIssued { credit_note_id }
            | Self::CreditNoteMarkedAsVoid { credit_note_id } => Some(*credit_note_id),
            _ => None,
        }
    }

    /// Returns the plan that it is about.
    #[must_use]
    pub const fn plan_id(&self) -> Option<PlanId> {
        match self {
            Self::PlanCreated { plan_id }
            | Self::PlanEdited { plan_id, .. }
            | Self::PlanVersionCreated { plan_id, .. }
            | Self::PlanDefaultVersionSet { plan_id, .. } => Some(*plan_id),
            _ => None,
        }
    }

    /// Returns the price that it is about.
    #[must_use]
    pub const fn price_id(&self) -> Option<PriceId> {
        match self {
            Self::PriceEdited { price_id, .. } => Some(*price_id),
            _ => None,
        }
    }

    /// Returns the backfill that it is about.
    #[must_use]
    pub const fn backfill_id(&self) -> Option<BackfillId> {
        match self {
            Self::BackfillReflected { backfill_id } | Self::BackfillReverted { backfill_id } => {
                Some(*backfill_id)
            }
            _ => None,
        }
    }
}
