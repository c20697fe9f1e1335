//! What messages tell beside the resource that they are about (invoicing 17.1, wire 6.8).

use accrue::{
    JsonNumber, Metadata, PlanId, PricingUnit, PropertyName, Timestamp, WrittenDecimal,
    credit::{self, BlockStatus},
    customer::PaymentProvider,
    related::Related,
    webhook::{Body, Message, PaymentTold, RefilledPool},
};
use serde::Serialize;

use super::{
    alerts::{AlertConfiguration, Group, License, Span},
    dunning::{Schedule, Step},
    previous::PreviousFields,
};
use crate::{
    shape::Moment,
    wire::{
        amounts::Amount,
        balance_transactions::BalanceTransaction,
        credits::{BlockSource, CreditBlock},
        invoices::PreviousLines,
        price_filters::PriceFilter,
    },
};

/// What a message tells beside what it is about.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Properties<'a> {
    None {},
    Edited {
        previous_attributes: PreviousFields<'a>,
    },
    CancellationScheduled {
        cancellation_date: Moment,
    },
    CancellationUnscheduled {
        original_cancellation_date: Moment,
    },
    PlanChangeScheduled {
        change_date: Moment,
        new_plan_id: String,
        previous_plan_id: String,
    },
    PlanChanged {
        previous_plan_id: String,
    },
    PlanVersionChanged {
        effective_date: Moment,
        new_plan_version_number: u32,
        previous_plan_version_number: u32,
    },
    VersionCreated {
        plan_version_description: Option<&'static str>,
        plan_version_number: u32,
    },
    DefaultVersionSet {
        new_default_version_number: u32,
        previous_default_version_number: u32,
    },
    QuantityUpdated {
        effective_date: Moment,
        new_quantity: JsonNumber,
        old_quantity: JsonNumber,
        price_id: String,
    },
    ThresholdExceeded {
        evaluated_amount: Amount,
        invoicing_threshold: Amount,
        invoice_id: String,
        threshold_invoice_created: bool,
    },
    AllocationReset {
        reset_allocations: Vec<ResetAllocation>,
        timeframe_start: Moment,
        timeframe_end: Moment,
    },
    UsageExceeded {
        alert_configuration: AlertConfiguration,
        billable_metric_id: Option<String>,
        evaluated_quantity: JsonNumber,
        quantity_threshold: JsonNumber,
        #[serde(flatten)]
        timeframe: Span,
    },
    AmountExceeded {
        alert_configuration: AlertConfiguration,
        evaluated_amount: String,
        amount_threshold: String,
        #[serde(flatten)]
        timeframe: Span,
    },
    GroupsExceeded {
        alert_configuration: AlertConfiguration,
        grouping_keys: &'a [PropertyName],
        groups: Vec<Group<'a>>,
        #[serde(flatten)]
        timeframe: Span,
    },
    LicensesReached {
        alert_configuration: AlertConfiguration,
        licenses: Vec<License>,
        #[serde(flatten)]
        timeframe: Span,
    },
    AlertDisabled {
        alert_configuration: AlertConfiguration,
        cardinality: u64,
        cardinality_limit: u64,
        reason: &'static str,
    },
    BalanceDropped {
        alert_configuration: AlertConfiguration,
        balance_threshold: Option<String>,
        pricing_unit: Option<Unit>,
    },
    BalanceCrossed {
        alert_configuration: AlertConfiguration,
        pricing_unit: Option<Unit>,
    },
    Incremented {
        block: WrittenBlock,
        pricing_unit: Option<Unit>,
    },
    Transaction {
        balance_transaction: BalanceTransaction,
    },
    Issued {
        automatically_marked_as_paid: bool,
    },
    IssueFailed {
        reason: &'a str,
    },
    DateElapsed {
        invoice_date: Moment,
    },
    Provider {
        payment_provider: Option<&'static str>,
        payment_provider_id: Option<&'a str>,
    },
    Paid {
        #[serde(flatten)]
        told: Attempted<'a>,
        shared_payment_token_id: Option<&'a str>,
    },
    Failed(Attempted<'a>),
    MarkedAsPaid {
        payment_received_date: Moment,
        external_id: Option<&'a str>,
        notes: Option<&'a str>,
    },
    DunningCreated {
        dunning_schedule: Schedule,
        dunning_steps: Vec<Step>,
        source: &'static str,
    },
    DunningExecuted {
        dunning_step: Step,
    },
    DunningReset {
        dunning_schedule: Schedule,
        previous_schedule: Schedule,
    },
    DunningEnded {
        dunning_schedule: Schedule,
        dunning_steps: Vec<Step>,
    },
    Recalculation {
        started_at: Moment,
        #[serde(skip_serializing_if = "Option::is_none")]
        completed_at: Option<Moment>,
        #[serde(skip_serializing_if = "Option::is_none")]
        canceled_at: Option<Moment>,
    },
}

/// What each license of a type may use in a period.
#[derive(Debug, Serialize)]
pub(super) struct ResetAllocation {
    allocation_amount: String,
    license_type_id: String,
    pricing_unit_id: String,
}

impl ResetAllocation {
    fn of(pool: &RefilledPool) -> Self {
        Self {
            allocation_amount: pool.amount.to_string(),
            license_type_id: pool.license_type_id.to_string(),
            pricing_unit_id: pool.currency.to_string(),
        }
    }
}

/// What is told of an attempt to pay that has ended.
#[derive(Debug, Serialize)]
pub(super) struct Attempted<'a> {
    payment_provider: Option<&'static str>,
    payment_provider_id: Option<&'a str>,
    payment_provider_transaction_id: Option<&'a str>,
}

/// A credit block, with amounts that are texts.
#[derive(Debug, Serialize)]
pub(super) struct WrittenBlock {
    id: String,
    balance: String,
    effective_date: Option<Moment>,
    expiry_date: Option<Moment>,
    per_unit_cost_basis: Option<WrittenDecimal>,
    status: BlockStatus,
    maximum_initial_balance: Option<String>,
    filters: Vec<PriceFilter>,
    credit_block_source: BlockSource,
    metadata: Metadata,
}

/// A pricing unit: its code is its name.
#[derive(Debug, Serialize)]
pub(super) struct Unit {
    id: String,
    name: String,
    symbol: Option<String>,
    display_name: Option<String>,
}

impl<'a> Properties<'a> {
    pub(super) fn of(message: &'a Message, related: &Related) -> Self {
        match &message.body {
            Body::CustomerEdited { previous_attributes }
            | Body::PlanEdited { previous_attributes, .. }
            | Body::PriceEdited { previous_attributes, .. }
            | Body::SubscriptionEdited { previous_attributes, .. } => {
                let previous_attributes = PreviousFields::of(previous_attributes, None, related);
                Self::Edited { previous_attributes }
            }
            Body::InvoiceEdited { previous_attributes, lines, .. } => {
                let edited = message.invoice.as_ref().zip(lines.as_ref());
                let lines = edited.map(|(of, edit)| PreviousLines::of(of, edit, related));
                let previous_attributes = PreviousFields::of(previous_attributes, lines, related);
                Self::Edited { previous_attributes }
            }
            Body::SubscriptionCancellationScheduled { cancellation_date, .. } => {
                Self::CancellationScheduled { cancellation_date: (*cancellation_date).into() }
            }
            Body::SubscriptionCancellationUnscheduled { original_cancellation_date, .. } => {
                let original_cancellation_date = (*original_cancellation_date).into();
                Self::CancellationUnscheduled { original_cancellation_date }
            }
            Body::PlanChangeScheduled { change_date, new_plan_id, previous_plan_id, .. } => {
                Self::PlanChangeScheduled {
                    change_date: (*change_date).into(),
                    new_plan_id: new_plan_id.to_string(),
                    previous_plan_id: left(*previous_plan_id),
                }
            }
            Body::PlanChanged { previous_plan_id, .. } => {
                Self::PlanChanged { previous_plan_id: left(*previous_plan_id) }
            }
            Body::PlanVersionChangeScheduled { change, .. }
            | Body::PlanVersionChanged { change, .. } => Self::PlanVersionChanged {
                effective_date: change.effective_date.into(),
                new_plan_version_number: change.new_plan_version.number(),
                previous_plan_version_number: change.previous_plan_version.number(),
            },
            // No version has a description.
            Body::PlanVersionCreated { version, .. } => Self::VersionCreated {
                plan_version_description: None,
                plan_version_number: version.number(),
            },
            Body::PlanDefaultVersionSet { new_default, previous_default, .. } => {
                Self::DefaultVersionSet {
                    new_default_version_number: new_default.number(),
                    previous_default_version_number: previous_default.number(),
                }
            }
            Body::FixedFeeQuantityUpdated {
                price_id,
                effective_date,
                new_quantity,
                old_quantity,
                ..
            } => Self::QuantityUpdated {
                effective_date: (*effective_date).into(),
                new_quantity: JsonNumber(new_quantity.clone()),
                old_quantity: JsonNumber(old_quantity.clone()),
                price_id: price_id.to_string(),
            },
            Body::InvoicingThresholdExceeded {
                evaluated_amount,
                invoicing_threshold,
                invoice_id,
                threshold_invoice_created,
                ..
            } => {
                let currency = message.subscription.as_ref().map(|of| of.currency.into());
                let amount = |of| match &currency {
                    Some(unit) => Amount::of(of, unit),
                    None => Amount::without_currency(of),
                };
                Self::ThresholdExceeded {
                    evaluated_amount: amount(evaluated_amount),
                    invoicing_threshold: amount(invoicing_threshold),
                    invoice_id: invoice_id.to_string(),
                    threshold_invoice_created: *threshold_invoice_created,
                }
            }
            Body::LicenseAllocationReset { timeframe, pools, .. } => Self::AllocationReset {
                reset_allocations: pools.iter().map(ResetAllocation::of).collect(),
                timeframe_start: timeframe.start().into(),
                timeframe_end: timeframe.end().into(),
            },
            Body::UsageExceeded(of) => Self::UsageExceeded {
                alert_configuration: AlertConfiguration::of(&of.alert, related),
                billable_metric_id: of.alert.condition.metric_id().map(|id| id.to_string()),
                evaluated_quantity: JsonNumber(of.value_after.clone()),
                quantity_threshold: JsonNumber(of.threshold.clone()),
                timeframe: Span::of(of.timeframe),
            },
            Body::CostExceeded(of) | Body::SpendExceeded(of) => Self::AmountExceeded {
                alert_configuration: AlertConfiguration::of(&of.alert, related),
                evaluated_amount: of.value_after.to_string(),
                amount_threshold: of.threshold.to_string(),
                timeframe: Span::of(of.timeframe),
            },
            Body::GroupedCostExceeded(of) => Self::GroupsExceeded {
                alert_configuration: AlertConfiguration::of(&of.alert, related),
                grouping_keys: of.alert.condition.grouping_keys(),
                groups: of.groups.iter().map(Group::of).collect(),
                timeframe: Span::of(of.timeframe),
            },
            Body::LicenseBalanceThresholdReached(of) => Self::LicensesReached {
                alert_configuration: AlertConfiguration::of(&of.alert, related),
                licenses: of.licenses.iter().map(License::of).collect(),
                timeframe: Span::of(of.timeframe),
            },
            Body::AlertDisabled(of) => Self::AlertDisabled {
                alert_configuration: AlertConfiguration::of(&of.alert, related),
                cardinality: of.cardinality,
                cardinality_limit: of.cardinality_limit,
                reason: "system_cardinality_limit",
            },
            Body::CreditBalanceDropped(of) => Self::BalanceDropped {
                alert_configuration: AlertConfiguration::of(&of.alert, related),
                balance_threshold: of.threshold.as_ref().map(ToString::to_string),
                pricing_unit: of.alert.condition.ledger().map(Unit::of),
            },
            Body::CreditBalanceDepleted(of) | Body::CreditBalanceRecovered(of) => {
                Self::BalanceCrossed {
                    alert_configuration: AlertConfiguration::of(&of.alert, related),
                    pricing_unit: of.alert.condition.ledger().map(Unit::of),
                }
            }
            Body::CreditLedgerIncremented { block } => Self::Incremented {
                block: WrittenBlock::of(block),
                pricing_unit: Some(Unit::of(&block.currency)),
            },
            Body::BalanceTransactionCreated { transaction } => {
                Self::Transaction { balance_transaction: BalanceTransaction::from(&**transaction) }
            }
            Body::InvoiceIssued { automatically_marked_as_paid, .. }
            | Body::InvoiceIssuedSummary { automatically_marked_as_paid, .. } => {
                Self::Issued { automatically_marked_as_paid: *automatically_marked_as_paid }
            }
            Body::InvoiceIssueFailed { reason, .. } => Self::IssueFailed { reason },
            Body::InvoiceDateElapsed { invoice_date, .. } => {
                Self::DateElapsed { invoice_date: (*invoice_date).into() }
            }
            Body::InvoiceSyncSucceeded(told) | Body::InvoiceSyncFailed(told) => Self::Provider {
                payment_provider: told.payment_provider.map(PaymentProvider::name),
                payment_provider_id: told.payment_provider_id.as_deref(),
            },
            Body::InvoicePaymentProcessing(told) => Self::Provider {
                payment_provider: told.payment_provider.map(PaymentProvider::name),
                payment_provider_id: told.payment_provider_id.as_deref(),
            },
            Body::InvoicePaymentSucceeded(told) => Self::Paid {
                told: Attempted::of(told),
                shared_payment_token_id: told.shared_payment_token_id.as_deref(),
            },
            Body::InvoicePaymentFailed(told) => Self::Failed(Attempted::of(told)),
            Body::InvoiceMarkedAsPaid { payment_received_date, external_id, notes, .. } => {
                Self::MarkedAsPaid {
                    payment_received_date: (*payment_received_date).into(),
                    external_id: external_id.as_deref(),
                    notes: notes.as_deref(),
                }
            }
            Body::InvoiceDunningScheduleCreated(of) => Self::DunningCreated {
                dunning_schedule: Schedule::of(of),
                dunning_steps: of.steps.iter().map(Step::of).collect(),
                source: "payment_failed",
            },
            Body::InvoiceDunningScheduleStepExecuted { step, .. } => {
                Self::DunningExecuted { dunning_step: Step::of(step) }
            }
            Body::InvoiceDunningScheduleEnded(of) => Self::DunningEnded {
                dunning_schedule: Schedule::of(of),
                dunning_steps: of.steps.iter().map(Step::of).collect(),
            },
            Body::InvoiceDunningScheduleReset { schedule, previous } => Self::DunningReset {
                dunning_schedule: Schedule::of(schedule),
                previous_schedule: Schedule::of(previous),
            },
            Body::DueDateRecalculationStarted { started_at } => {
                Self::recalculation(*started_at, None, None)
            }
            Body::DueDateRecalculationCompleted { started_at, completed_at } => {
                Self::recalculation(*started_at, Some(*completed_at), None)
            }
            Body::DueDateRecalculationCanceled { started_at, canceled_at } => {
                Self::recalculation(*started_at, None, Some(*canceled_at))
            }
            _ => Self::None {},
        }
    }

    fn recalculation(
        started_at: Timestamp,
        completed_at: Option<Timestamp>,
        canceled_at: Option<Timestamp>,
    ) -> Self {
        let (completed_at, canceled_at) =
            (completed_at.map(Moment::from), canceled_at.map(Moment::from));
        Self::Recalculation { started_at: started_at.into(), completed_at, canceled_at }
    }
}

impl<'a> Attempted<'a> {
    fn of(told: &'a PaymentTold) -> Self {
        Self {
            payment_provider: told.payment_provider.map(PaymentProvider::name),
            payment_provider_id: told.payment_provider_id.as_deref(),
            payment_provider_transaction_id: told.payment_provider_transaction_id.as_deref(),
        }
    }
}

/// The id of a plan that is left: empty where it was a contract, since the published types refuse null.
fn left(id: Option<PlanId>) -> String {
    id.map(|id| id.to_string()).unwrap_or_default()
}

impl Unit {
    fn of(unit: &PricingUnit) -> Self {
        Self { id: unit.to_string(), name: unit.to_string(), symbol: None, display_name: None }
    }
}

impl WrittenBlock {
    fn of(block: &credit::CreditBlock) -> Self {
        let of = CreditBlock::from(block);
        Self {
            id: of.id,
            balance: of.balance.0.to_string(),
            effective_date: of.effective_date,
            expiry_date: of.expiry_date,
            per_unit_cost_basis: of.per_unit_cost_basis,
            status: of.status,
            maximum_initial_balance: of.maximum_initial_balance.map(|of| of.0.to_string()),
            filters: of.filters,
            credit_block_source: of.credit_block_source,
            metadata: of.metadata,
        }
    }
}
