//! accrue is an embeddable usage-based billing engine: a library that a host links in.
//!
//! Usage events go in; metered usage, cost, credit balances, alerts and the messages that webhooks
//! carry come out. No service runs beside it, and it brings no executor: its futures run on any.
//!
//! # Quick start
//!
//! ```
//! use accrue::{
//!     AccountId, Billing, Clock, Currency, Decimal, Email, EventKey, EventName, ManualClock, Name,
//!     PageRequest, PropertyName, SeededEntropy, Timestamp,
//!     alert::{NewAlert, Thresholds},
//!     cost::CostQuery,
//!     customer::NewCustomer,
//!     item::NewItem,
//!     metric::{MetricQuery, NewMetric},
//!     plan::NewPlan,
//!     price::{Cadence, Model, NewPrice, Unit},
//!     store::MemoryStore,
//!     subscription::NewSubscription,
//!     usage::Event,
//! };
//!
//! # pollster::block_on(async {
//! // A program hands in the machine's clock and entropy: `Billing::with_system(store)`.
//! let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z")?);
//! let billing = Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1));
//! let account = billing.account(AccountId::parse("acme")?);
//!
//! // What is sold, what of it is measured, and the plan that customers subscribe to.
//! let item = account.create_item(NewItem::new(Name::parse("Model")?)).await?;
//! let sql = MetricQuery::parse("SELECT sum(output_tokens) FROM events")?;
//! let metric = NewMetric::new(Name::parse("Tokens")?, item.id, sql);
//! let metric = account.create_metric(metric).await?;
//! let usd = Currency::parse("USD")?;
//! let each = Model::Unit(Unit::new(Decimal::parse("0.00001")?));
//! let tokens = NewPrice::builder(Name::parse("Output tokens")?, item.id)
//!     .billed(Cadence::Monthly, usd)
//!     .usage(metric.id, each);
//! let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
//! plan.prices = vec![tokens.into()];
//! let plan = account.create_plan(plan).await?;
//!
//! // A customer on the plan, and an alert on its cost.
//! let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
//! let ada = account.create_customer(ada).await?;
//! let pro = account.create_subscription(NewSubscription::new(ada.id, plan.id)).await?;
//! let thresholds = Thresholds::new([Decimal::parse("0.01")?])?;
//! account.create_subscription_alert(pro.id, NewAlert::cost_exceeded(thresholds)).await?;
//!
//! // An event. What it makes fire is in the same commit.
//! let tokens = (PropertyName::parse("output_tokens")?, 1_200_u64.into());
//! let event = Event {
//!     idempotency_key: EventKey::parse("request-1")?,
//!     event_name: EventName::parse("completion")?,
//!     timestamp: clock.now(),
//!     properties: [tokens].into_iter().collect(),
//!     customer: ada.id.into(),
//! };
//! account.ingest([event]).await?;
//! let usage = account.subscription_usage(pro.id).await?;
//! assert_eq!(usage.metrics[0].quantity, Some(Decimal::parse("1200")?));
//! let costs = account.subscription_costs(pro.id, &CostQuery::default()).await?;
//! assert_eq!(costs[0].total, Decimal::parse("0.012")?);
//!
//! // The messages that wait. One that is acknowledged is gone.
//! let waiting = PageRequest::first_of_messages(100)?;
//! let messages = account.list_messages(&waiting).await?.data;
//! let types: Vec<_> = messages.iter().map(|message| message.message_type()).collect();
//! assert_eq!(types, [
//!     "plan.created",
//!     "customer.created",
//!     "subscription.created",
//!     "subscription.started",
//!     "subscription.cost_exceeded",
//! ]);
//! account.acknowledge(messages.iter().map(|message| message.place)).await?;
//! assert!(account.list_messages(&waiting).await?.data.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # Promises, and where they are tested
//!
//! 1. **One commit.** The effect of an operation, the alerts that it fires, their messages and the
//!    stored answer of its idempotency key are one atomic batch. Tests that a store applies a batch as a
//!    whole: the suite `accrue-conformance` on every store, `tests/torn.rs` of `accrue-fjall` and of
//!    `accrue-sled` on a log that was cut off. Tests that the engine needs no more: the properties in
//!    `tests/`. Tests that a correction, which is prepared in many commits, counts in one:
//!    `tests/tests/it/correction_steps.rs`.
//! 2. **Alerts with no lag.** A threshold is judged in the commit that moves the value; one message
//!    for each crossing, however events are cut into batches: the tests of
//!    [`alert::crossing`] and the properties in `tests/`.
//! 3. **Any store.** A backend is the three methods of [`store::Store`]: the suite, which the store
//!    in memory, `accrue-fjall`, `accrue-sled` and `examples/custom-store` pass.
//! 4. **Time is an input.** The engine reads no clock, no randomness, no environment and no file:
//!    `clippy.toml` bans the calls, `tests/tests/tidy` their names, and `.ci/run` holds the
//!    dependencies to no runtime. [`ManualClock`] and [`SeededEntropy`] stand in for the machine.
//! 5. **Exact numbers.** [`Decimal`] is exact, and no floating point touches a quantity: the tests
//!    of `decimal.rs`, a lint against float arithmetic, and a pass of most of the core's tests under
//!    `serde_json/arbitrary_precision`, which a host may have switched on.
//!
//! # The map, in reading order
//!
//! The direction of dependence is the direction of reading: each of these uses those above it.
//!
//! - Words: ids, texts, [`Timestamp`] and [`Timeframe`], [`Decimal`], [`Zone`], [`Currency`],
//!   pages, [`Error`]; and [`limits`], every bound in one place.
//! - [`expression`]: conditions over the properties of events.
//! - The domain, one module per idea, synchronous and without a store: [`account`], [`customer`],
//!   [`item`], [`metric`], [`price`], [`plan`], [`subscription`], [`license`], [`coupon`], [`usage`], [`backfill`],
//!   [`cost`], [`credit`], [`alert`], [`webhook`]; [`related`], the references between resources;
//!   [`api_key`] and [`portal`], the credentials of callers and of customers; [`person`], those who work with the
//!   engine, and [`audit`], what they did; and [`idempotency`], the answers that are kept by key.
//! - [`store`]: the trait that a backend implements, and [`MemoryStore`](store::MemoryStore). It
//!   knows nothing of the domain.
//! - [`schema`]: every table, its key and its document, declared on one page.
//! - `engine`: [`Billing`] and [`Account`], which load, decide and save; one loop commits.
//! - `system` (feature `system`, on by default): the machine's clock and entropy. With
//!   `default-features = false` the crate asks the machine for nothing.
//!
//! # Features
//!
//! - `system`, on by default: [`SystemClock`], [`SystemEntropy`] and `Billing::with_system`.
//! - `jiff`: conversions between [`Timestamp`] and `jiff::Timestamp`. The types of jiff 0.2 are then
//!   part of the interface; the crate is there anyway.
//! - `time`: conversions between [`Timestamp`] and `time::OffsetDateTime`, of the crate `time` 0.3.
//! - `tracing`: a span for each operation that writes, of the crate `tracing` 0.1.
//!
//! Each of them adds to the interface, and changes nothing else.
//!
//! The spans are named `operation`, with the target `accrue` and the level info. Transitions and
//! corrections that come before an operation have spans within its own. Reads have none, nor has a
//! replay. The fields:
//!
//! - `operation`: its name, such as `ingest`, `create_customer` or `apply_transitions`.
//! - `account`: its id.
//! - `attempts`: number of its runs. It is run again where it lost a race, where something came before
//!   it, where it needed more locks, and where it took too long to decide.
//! - `conflicts`: commits that lost a race.
//! - `rows_read`: rows that its runs have asked the store for, absent ones too.
//! - `rows_written`: rows that its commit has put or deleted, those of its idempotency key too; 0 where
//!   nobody knows whether it was written.
//!
//! The last four are recorded when it ends, also where its future is dropped.

pub mod account;
pub mod alert;
pub mod api_key;
pub mod audit;
pub mod backfill;
pub mod cost;
pub mod coupon;
pub mod credit;
pub mod customer;
pub mod expression;
pub mod idempotency;
pub mod invoice;
pub mod item;
pub mod license;
pub mod limits;
pub mod metric;
pub mod person;
pub mod plan;
pub mod portal;
pub mod price;
pub mod related;
pub mod schema;
pub mod store;
pub mod subscription;
pub mod usage;
pub mod webhook;

mod carried;
mod currency;
mod decimal;
mod engine;
mod entropy;
mod error;
mod event;
mod fraction;
mod hex;
mod id;
mod metadata;
mod meter;
mod pace;
mod page;
mod period;
mod rating;
#[cfg(feature = "system")]
mod system;
mod text;
mod time;
mod token;
mod zone;

#[cfg(feature = "system")]
pub use self::system::{SystemClock, SystemEntropy};
pub use self::{
    carried::{Carried, CarriedUpdate},
    currency::{Currency, CurrencyError},
    decimal::{Decimal, DecimalError, JsonNumber, WrittenDecimal},
    engine::{
        Account, Attempt, BalanceChange, Billing, Call, ChangedResources, ChangedSubscription,
        Collected, CostChange, FannedOut, InvoicingProvider, KeyedCall, PayloadRenderer,
        PaymentGateway, PeriodChange, Preview, PreviewedMessage, TaxProvider, Tick, UsageChange,
    },
    entropy::{Entropy, SeededEntropy},
    error::{Error, ErrorKind, RefusedEvent, Violation},
    fraction::{Fraction, FractionError},
    id::{
        AdjustmentId, AdjustmentIntervalId, AlertId, ApiKeyId, AuditEntryId, BackfillId,
        BalanceTransactionId, CouponId, CreditBlockId, CreditNoteId, CreditNoteLineId, CustomerId,
        DeliveryAttemptId, DimensionalPriceGroupId, IdError, IdOr, InvitationId, InvoiceId,
        InvoiceLineId, ItemId, LedgerEntryId, LicenseId, LicenseTypeId, MessageId, MetricId,
        MigrationId, PaymentAttemptId, PaymentMethodId, PersonId, PlanId, PlanPhaseId,
        PortalSessionId, PriceId, PriceIntervalId, SessionId, SubscriptionChangeId, SubscriptionId,
        TopUpId, WebhookEndpointId,
    },
    metadata::{Metadata, MetadataUpdate, Patch},
    pace::Pace,
    page::{Cursor, InstantRange, ListFilter, Page, PageRequest},
    text::{
        AccountId, Description, Email, EventKey, EventName, ExternalId, IdempotencyKey, LengthUnit,
        Name, PricingUnit, PropertyName, RedemptionCode, TextError,
    },
    time::{Clock, ManualClock, Timeframe, TimeframeError, Timestamp, TimestampError},
    zone::{CivilDate, Zone, ZoneError},
};
