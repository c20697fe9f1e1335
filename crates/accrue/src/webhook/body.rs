use serde::{Deserialize, Serialize};

use super::PaymentTold;
use crate::{
    BackfillId, CreditNoteId, Decimal, InvoiceId, LicenseTypeId, PlanId, PriceId, PricingUnit,
    SubscriptionId, Timeframe, Timestamp,
    alert::{AlertDisabled, BalanceCrossed, Exceeded, GroupsExceeded, LicensesReached},
    credit::CreditBlock,
    customer::{PaymentMethod, PreviousAttributes},
    invoice::{BalanceTransaction, DunningSchedule, DunningStep, LinesEdit, SyncTold},
    plan::PlanVersion,
};

/// Body of a message: its type and its properties (wire 6.8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Body {
    /// `customer.created`
    #[serde(rename = "customer.created")]
    CustomerCreated,
    /// `customer.edited`
    #[serde(rename = "customer.edited")]
    CustomerEdited {
        /// Fields that changed, as they were before.
        previous_attributes: PreviousAttributes,
    },
    /// `payment_method.created`
    #[serde(rename = "payment_method.created")]
    PaymentMethodCreated {
        /// The method, as the gateway listed it first.
        payment_method: Box<PaymentMethod>,
    },
    /// `payment_method.deleted`
    #[serde(rename = "payment_method.deleted")]
    PaymentMethodDeleted {
        /// The method, as it was.
        payment_method: Box<PaymentMethod>,
    },
    /// `plan.created`
    #[serde(rename = "plan.created")]
    PlanCreated {
        /// The plan.
        plan_id: PlanId,
    },
    /// `plan.edited`
    #[serde(rename = "plan.edited")]
    PlanEdited {
        /// The plan.
        plan_id: PlanId,
        /// Fields that changed, as they were before.
        previous_attributes: PreviousAttributes,
    },
    /// `plan.version_created`: not for the version that a plan begins with.
    #[serde(rename = "plan.version_created")]
    PlanVersionCreated {
        /// The plan.
        plan_id: PlanId,
        /// The version.
        version: PlanVersion,
    },
    /// `plan.default_version_set`
    #[serde(rename = "plan.default_version_set")]
    PlanDefaultVersionSet {
        /// The plan.
        plan_id: PlanId,
        /// Version that subscriptions are created on from now on.
        new_default: PlanVersion,
        /// Version that they were created on until now.
        previous_default: PlanVersion,
    },
    /// `price.edited`
    #[serde(rename = "price.edited")]
    PriceEdited {
        /// The price.
        price_id: PriceId,
        /// Fields that changed, as they were before.
        previous_attributes: PreviousAttributes,
    },
    /// `subscription.created`
    #[serde(rename = "subscription.created")]
    SubscriptionCreated {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
    /// `subscription.started`
    #[serde(rename = "subscription.started")]
    SubscriptionStarted {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
    /// `subscription.trial_ended`
    #[serde(rename = "subscription.trial_ended")]
    SubscriptionTrialEnded {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
    /// `subscription.ended`
    #[serde(rename = "subscription.ended")]
    SubscriptionEnded {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
    /// `subscription.cancellation_scheduled`
    #[serde(rename = "subscription.cancellation_scheduled")]
    SubscriptionCancellationScheduled {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// Instant at which it will end.
        cancellation_date: Timestamp,
    },
    /// `subscription.cancellation_unscheduled`
    #[serde(rename = "subscription.cancellation_unscheduled")]
    SubscriptionCancellationUnscheduled {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// Instant at which it would have ended.
        original_cancellation_date: Timestamp,
    },
    /// `subscription.plan_change_scheduled`
    #[serde(rename = "subscription.plan_change_scheduled")]
    PlanChangeScheduled {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// Instant at which it will change its plan.
        change_date: Timestamp,
        /// Plan that it will be on.
        new_plan_id: PlanId,
        /// Plan that it is on until then; `None` for a contract.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_plan_id: Option<PlanId>,
    },
    /// `subscription.plan_changed`
    #[serde(rename = "subscription.plan_changed")]
    PlanChanged {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// Plan that it was on; `None` for a contract.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_plan_id: Option<PlanId>,
    },
    /// `subscription.plan_version_change_scheduled`
    #[serde(rename = "subscription.plan_version_change_scheduled")]
    PlanVersionChangeScheduled {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// The versions, and when it will change.
        change: PlanVersionStep,
    },
    /// `subscription.plan_version_changed`
    #[serde(rename = "subscription.plan_version_changed")]
    PlanVersionChanged {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// The versions, and when it changed.
        change: PlanVersionStep,
    },
    /// `subscription.edited`
    #[serde(rename = "subscription.edited")]
    SubscriptionEdited {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// Fields that changed, as they were before.
        previous_attributes: PreviousAttributes,
    },
    /// `subscription.fixed_fee_quantity_updated`: told when the change is asked for, also where it is
    /// to take effect later, and not once more then.
    #[serde(rename = "subscription.fixed_fee_quantity_updated")]
    FixedFeeQuantityUpdated {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// The fee.
        price_id: PriceId,
        /// Instant at which the change takes effect.
        effective_date: Timestamp,
        /// Quantity from then on.
        new_quantity: Decimal,
        /// Quantity that it would have had then without the change.
        old_quantity: Decimal,
    },
    /// `subscription.invoicing_threshold_exceeded`: what usage has come to in the billing period has reached
    /// the threshold of the subscription (invoicing 15).
    #[serde(rename = "subscription.invoicing_threshold_exceeded")]
    InvoicingThresholdExceeded {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// Cost of the usage of the billing period, before credits and without minimums.
        evaluated_amount: Decimal,
        /// The threshold.
        invoicing_threshold: Decimal,
        /// The threshold invoice, or else the draft of the period.
        invoice_id: InvoiceId,
        /// False where credits have paid for all, so that there is nothing to bill.
        threshold_invoice_created: bool,
    },
    /// `subscription.license_allocation_reset`: the licenses of the subscription may use their allocations, with a
    /// period that begins (subscriptions 7.4.12).
    #[serde(rename = "subscription.license_allocation_reset")]
    LicenseAllocationReset {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// Period.
        timeframe: Timeframe,
        /// What each license may use in it.
        pools: Vec<RefilledPool>,
    },
    /// `backfill.reflected`
    #[serde(rename = "backfill.reflected")]
    BackfillReflected {
        /// The backfill.
        backfill_id: BackfillId,
    },
    /// `backfill.reverted`: not where it was reverted before it was closed.
    #[serde(rename = "backfill.reverted")]
    BackfillReverted {
        /// The backfill.
        backfill_id: BackfillId,
    },
    /// `subscription.usage_exceeded`
    #[serde(rename = "subscription.usage_exceeded")]
    UsageExceeded(Box<Exceeded>),
    /// `subscription.cost_exceeded`
    #[serde(rename = "subscription.cost_exceeded")]
    CostExceeded(Box<Exceeded>),
    /// `subscription.spend_exceeded`
    #[serde(rename = "subscription.spend_exceeded")]
    SpendExceeded(Box<Exceeded>),
    /// `subscription.grouped_cost_exceeded` (subscriptions 8.3)
    #[serde(rename = "subscription.grouped_cost_exceeded")]
    GroupedCostExceeded(Box<GroupsExceeded>),
    /// `subscription.license_balance_threshold_reached` (subscriptions 7.6)
    #[serde(rename = "subscription.license_balance_threshold_reached")]
    LicenseBalanceThresholdReached(Box<LicensesReached>),
    /// `subscription.alert_disabled`: an alert on the cost of groups would have to watch too many (subscriptions 8.2).
    #[serde(rename = "subscription.alert_disabled")]
    AlertDisabled(Box<AlertDisabled>),
    /// `customer.credit_balance_depleted`
    #[serde(rename = "customer.credit_balance_depleted")]
    CreditBalanceDepleted(Box<BalanceCrossed>),
    /// `customer.credit_balance_dropped`
    #[serde(rename = "customer.credit_balance_dropped")]
    CreditBalanceDropped(Box<BalanceCrossed>),
    /// `customer.credit_balance_recovered`
    #[serde(rename = "customer.credit_balance_recovered")]
    CreditBalanceRecovered(Box<BalanceCrossed>),
    /// `customer.credit_ledger_incremented`
    #[serde(rename = "customer.credit_ledger_incremented")]
    CreditLedgerIncremented {
        /// Block that the increment made, as the increment left it.
        block: Box<CreditBlock>,
    },
    /// `invoice.issued`
    #[serde(rename = "invoice.issued")]
    InvoiceIssued {
        /// The invoice.
        invoice_id: InvoiceId,
        /// True where nothing was left to pay.
        automatically_marked_as_paid: bool,
    },
    /// `invoice.issued_summary`: beside `invoice.issued`, where the account is configured so.
    #[serde(rename = "invoice.issued_summary")]
    InvoiceIssuedSummary {
        /// The invoice.
        invoice_id: InvoiceId,
        /// True where nothing was left to pay.
        automatically_marked_as_paid: bool,
    },
    /// `invoice.issue_failed`: its tax was refused.
    #[serde(rename = "invoice.issue_failed")]
    InvoiceIssueFailed {
        /// The draft.
        invoice_id: InvoiceId,
        /// Why.
        reason: String,
    },
    /// `invoice.sync_succeeded`: its invoicing provider has taken it.
    #[serde(rename = "invoice.sync_succeeded")]
    InvoiceSyncSucceeded(SyncTold),
    /// `invoice.sync_failed`: it is asked again after an hour.
    #[serde(rename = "invoice.sync_failed")]
    InvoiceSyncFailed(SyncTold),
    /// `invoice.invoice_date_elapsed`: the date of a draft has passed.
    #[serde(rename = "invoice.invoice_date_elapsed")]
    InvoiceDateElapsed {
        /// The invoice.
        invoice_id: InvoiceId,
        /// Date that it bears.
        invoice_date: Timestamp,
    },
    /// `invoice.edited`
    #[serde(rename = "invoice.edited")]
    InvoiceEdited {
        /// The invoice.
        invoice_id: InvoiceId,
        /// Fields that changed, as they were before, but for its lines.
        previous_attributes: PreviousAttributes,
        /// What was done to its lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<LinesEdit>,
    },
    /// `invoice.payment_processing`
    #[serde(rename = "invoice.payment_processing")]
    InvoicePaymentProcessing(Box<PaymentTold>),
    /// `invoice.payment_succeeded`
    #[serde(rename = "invoice.payment_succeeded")]
    InvoicePaymentSucceeded(Box<PaymentTold>),
    /// `invoice.payment_failed`
    #[serde(rename = "invoice.payment_failed")]
    InvoicePaymentFailed(Box<PaymentTold>),
    /// `invoice.dunning_schedule_created`
    #[serde(rename = "invoice.dunning_schedule_created")]
    InvoiceDunningScheduleCreated(Box<DunningSchedule>),
    /// `invoice.dunning_schedule_reset`: retries begin anew, in place of those that had ended.
    #[serde(rename = "invoice.dunning_schedule_reset")]
    InvoiceDunningScheduleReset {
        /// The new schedule.
        schedule: Box<DunningSchedule>,
        /// The one whose place it takes.
        previous: Box<DunningSchedule>,
    },
    /// `invoice.dunning_schedule_step_executed`
    #[serde(rename = "invoice.dunning_schedule_step_executed")]
    InvoiceDunningScheduleStepExecuted {
        /// The invoice.
        invoice_id: InvoiceId,
        /// The step.
        step: Box<DunningStep>,
    },
    /// `invoice.dunning_schedule_ended`
    #[serde(rename = "invoice.dunning_schedule_ended")]
    InvoiceDunningScheduleEnded(Box<DunningSchedule>),
    /// `invoice.undo_mark_as_paid`
    #[serde(rename = "invoice.undo_mark_as_paid")]
    InvoiceUndoMarkAsPaid {
        /// The invoice.
        invoice_id: InvoiceId,
    },
    /// `invoice.manually_marked_as_paid`
    #[serde(rename = "invoice.manually_marked_as_paid")]
    InvoiceMarkedAsPaid {
        /// The invoice.
        invoice_id: InvoiceId,
        /// Instant at which the money came.
        payment_received_date: Timestamp,
        /// The caller's own id for the payment.
        external_id: Option<String>,
        /// Notes in the caller's own words.
        notes: Option<String>,
    },
    /// `invoice.manually_marked_as_void`
    #[serde(rename = "invoice.manually_marked_as_void")]
    InvoiceMarkedAsVoid {
        /// The invoice.
        invoice_id: InvoiceId,
    },
    /// `invoice_due_date_recalculation.started`
    #[serde(rename = "invoice_due_date_recalculation.started")]
    DueDateRecalculationStarted {
        /// Instant at which it began.
        started_at: Timestamp,
    },
    /// `invoice_due_date_recalculation.completed`
    #[serde(rename = "invoice_due_date_recalculation.completed")]
    DueDateRecalculationCompleted {
        /// Instant at which it began.
        started_at: Timestamp,
        /// Instant at which it was complete.
        completed_at: Timestamp,
    },
    /// `invoice_due_date_recalculation.canceled`
    #[serde(rename = "invoice_due_date_recalculation.canceled")]
    DueDateRecalculationCanceled {
        /// Instant at which it began.
        started_at: Timestamp,
        /// Instant at which it was canceled.
        canceled_at: Timestamp,
    },
    /// `credit_note.issued`
    #[serde(rename = "credit_note.issued")]
    CreditNoteIssued {
        /// The credit note.
        credit_note_id: CreditNoteId,
    },
    /// `credit_note.marked_as_void`
    #[serde(rename = "credit_note.marked_as_void")]
    CreditNoteMarkedAsVoid {
        /// The credit note.
        credit_note_id: CreditNoteId,
    },
    /// `customer.balance_transaction_created`
    #[serde(rename = "customer.balance_transaction_created")]
    BalanceTransactionCreated {
        /// The transaction.
        transaction: Box<BalanceTransaction>,
    },
}

/// Pool of each license of a type: what it may use in a period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefilledPool {
    /// Type of the licenses.
    pub license_type_id: LicenseTypeId,
    /// Currency or pricing unit of the usage that it is for.
    pub currency: PricingUnit,
    /// Amount for a license.
    pub amount: Decimal,
}

/// Step from a version of a plan to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanVersionStep {
    /// When it takes effect.
    pub effective_date: Timestamp,
    /// Version from then on.
    pub new_plan_version: PlanVersion,
    /// Version until then.
    pub previous_plan_version: PlanVersion,
}

impl Body {
    /// Returns its type on the wire (wire 6.8).
    #[must_use]
    pub const fn message_type(&self) -> &'static str {
        match self {
            Self::CustomerCreated => "customer.created",
            Self::CustomerEdited { .. } => "customer.edited",
            Self::PaymentMethodCreated { .. } => "payment_method.created",
            Self::PaymentMethodDeleted { .. } => "payment_method.deleted",
            Self::PlanCreated { .. } => "plan.created",
            Self::PlanEdited { .. } => "plan.edited",
            Self::PlanVersionCreated { .. } => "plan.version_created",
            Self::PlanDefaultVersionSet { .. } => "plan.default_version_set",
            Self::PriceEdited { .. } => "price.edited",
            Self::SubscriptionCreated { .. } => "subscription.created",
            Self::SubscriptionStarted { .. } => "subscription.started",
            Self::SubscriptionTrialEnded { .. } => "subscription.trial_ended",
            Self::SubscriptionEnded { .. } => "subscription.ended",
            Self::SubscriptionCancellationScheduled { .. } => "subscription.cancellation_scheduled",
            Self::SubscriptionCancellationUnscheduled { .. } => {
                "subscription.cancellation_unscheduled"
            }
            Self::PlanChangeScheduled { .. } => "subscription.plan_change_scheduled",
            Self::PlanChanged { .. } => "subscription.plan_changed",
            Self::PlanVersionChangeScheduled { .. } => "subscription.plan_version_change_scheduled",
            Self::PlanVersionChanged { .. } => "subscription.plan_version_changed",
            Self::SubscriptionEdited { .. } => "subscription.edited",
            Self::FixedFeeQuantityUpdated { .. } => "subscription.fixed_fee_quantity_updated",
            Self::InvoicingThresholdExceeded { .. } => "subscription.invoicing_threshold_exceeded",
            Self::LicenseAllocationReset { .. } => "subscription.license_allocation_reset",
            Self::BackfillReflected { .. } => "backfill.reflected",
            Self::BackfillReverted { .. } => "backfill.reverted",
            Self::UsageExceeded(_) => "subscription.usage_exceeded",
            Self::CostExceeded(_) => "subscription.cost_exceeded",
            Self::SpendExceeded(_) => "subscription.spend_exceeded",
            Self::GroupedCostExceeded(_) => "subscription.grouped_cost_exceeded",
            Self::LicenseBalanceThresholdReached(_) => {
                "subscription.license_balance_threshold_reached"
            }
            Self::AlertDisabled(_) => "subscription.alert_disabled",
            Self::CreditBalanceDepleted(_) => "customer.credit_balance_depleted",
            Self::CreditBalanceDropped(_) => "customer.credit_balance_dropped",
            Self::CreditBalanceRecovered(_) => "customer.credit_balance_recovered",
            Self::CreditLedgerIncremented { .. } => "customer.credit_ledger_incremented",
            Self::InvoiceIssued { .. } => "invoice.issued",
            Self::InvoiceIssuedSummary { .. } => "invoice.issued_summary",
            Self::InvoiceIssueFailed { .. } => "invoice.issue_failed",
            Self::InvoiceSyncSucceeded(_) => "invoice.sync_succeeded",
            Self::InvoiceSyncFailed(_) => "invoice.sync_failed",
            Self::InvoiceDateElapsed { .. } => "invoice.invoice_date_elapsed",
            Self::InvoiceEdited { .. } => "invoice.edited",
            Self::InvoicePaymentProcessing(_) => "invoice.payment_processing",
            Self::InvoicePaymentSucceeded(_) => "invoice.payment_succeeded",
            Self::InvoicePaymentFailed(_) => "invoice.payment_failed",
            Self::InvoiceDunningScheduleCreated(_) => "invoice.dunning_schedule_created",
            Self::InvoiceDunningScheduleStepExecuted { .. } => {
                "invoice.dunning_schedule_step_executed"
            }
            Self::InvoiceDunningScheduleEnded(_) => "invoice.dunning_schedule_ended",
            Self::InvoiceDunningScheduleReset { .. } => "invoice.dunning_schedule_reset",
            Self::InvoiceUndoMarkAsPaid { .. } => "invoice.undo_mark_as_paid",
            Self::InvoiceMarkedAsPaid { .. } => "invoice.manually_marked_as_paid",
            Self::InvoiceMarkedAsVoid { .. } => "invoice.manually_marked_as_void",
            Self::DueDateRecalculationStarted { .. } => "invoice_due_date_recalculation.started",
            Self::DueDateRecalculationCompleted { .. } => {
                "invoice_due_date_recalculation.completed"
            }
            Self::DueDateRecalculationCanceled { .. } => "invoice_due_date_recalculation.canceled",
            Self::CreditNoteIssued { .. } => "credit_note.issued",
            Self::CreditNoteMarkedAsVoid { .. } => "credit_note.marked_as_void",
            Self::BalanceTransactionCreated { .. } => "customer.balance_transaction_created",
        }
    }
}
