//! Every bound in one place, named with its unit, with the clause that it comes from.
//!
//! "§" is the specification of the API; "store" is the contract of [`Store`](crate::store::Store); a
//! bound with neither is this engine's own.

use std::time::Duration;

/// The longest key of a row, in bytes (store 9).
pub const KEY_BYTES: usize = 512;
/// The longest document, in bytes (store 9).
pub const DOCUMENT_BYTES: usize = 64 * 1024;
/// The most preconditions of one commit (store 9).
pub const COMMIT_PRECONDITIONS: usize = 65_536;
/// The most changes of one commit (store 9).
pub const COMMIT_CHANGES: usize = 65_536;
/// The most bytes of keys and documents in the changes of one commit (store 9).
pub const COMMIT_BYTES: usize = 32 * 1024 * 1024;
/// The number of locks that the customers of a process share.
pub const CUSTOMER_LOCKS: u16 = 1_024;
/// The number of locks that the queues of endpoints share in a process: no customer waits for one.
pub const QUEUE_LOCKS: u16 = 64;
/// The number of places at which the processes that share a store wait for their turns: one for each lock.
pub const TURNS: u16 = CUSTOMER_LOCKS + QUEUE_LOCKS;
/// The most rows that one scan asks for (store 9).
pub const SCAN_ROWS: usize = 1_000;

/// The most significant digits of a number that comes in.
pub const DECIMAL_DIGITS: usize = 28;
/// The most digits behind the point of a number that comes in.
pub const DECIMAL_PLACES: i64 = 28;
/// The power of ten that a number that comes in stays below.
pub const DECIMAL_MAGNITUDE: i64 = 28;

/// The longest account id, in bytes.
pub const ACCOUNT_ID_BYTES: usize = 64;
/// The longest external id, in bytes.
pub const EXTERNAL_ID_BYTES: usize = 256;
/// The longest code that a coupon is redeemed by, in bytes (invoicing 11.1).
pub const REDEMPTION_CODE_BYTES: usize = 256;
/// The longest pricing unit, in characters.
pub const PRICING_UNIT_CHARACTERS: usize = 64;
/// The longest name, in characters.
pub const NAME_CHARACTERS: usize = 500;
/// The longest description, in characters.
pub const DESCRIPTION_CHARACTERS: usize = 5_000;
/// The longest e-mail address, in characters.
pub const EMAIL_CHARACTERS: usize = 500;
/// The most entries of metadata.
pub const METADATA_ENTRIES: usize = 50;
/// The longest key of metadata, in bytes.
pub const METADATA_KEY_BYTES: usize = 128;
/// The longest value of metadata, in bytes.
pub const METADATA_VALUE_BYTES: usize = 512;

/// The most metadata of a resource, in bytes as JSON writes it.
pub const METADATA_BYTES: usize = 40 * 1024;

/// The most bytes of the fields of a resource that are only stored, as JSON writes them.
pub const CARRIED_BYTES: usize = 8 * 1024;

/// The longest idempotency key, in characters (§4.5.2, §8).
pub const IDEMPOTENCY_KEY_CHARACTERS: usize = 64;
/// The time for which a key is remembered after its operation completed, in hours (§4.5.4, §8).
pub const IDEMPOTENCY_HOURS: u64 = 48;
/// The time by which the clock of a process may be ahead, in seconds, for no record to be removed that is
/// good for others.
pub const CLOCK_SKEW_SECONDS: u64 = 60 * 60;
/// The largest stored answer, in bytes: a subscription with the most prices, each with the most
/// metadata, is one.
pub const ANSWER_BYTES: usize = 12 * 1024 * 1024;
/// The largest piece of a stored answer in one row, in bytes as JSON writes them.
pub const ANSWER_PART_BYTES: usize = 48 * 1024;
/// The most rows that a footprint guesses.
pub const FOOTPRINT_ROWS: usize = 64;
/// The most requests of one customer that are committed together.
pub const TOGETHER: usize = 64;
/// How often requests that are committed together are run, each time without one that is to go alone, before all of them
/// go alone.
pub const DISMISSED: usize = 4;
/// The most keyed operations in flight in one process.
pub const IN_FLIGHT: usize = 65_536;
/// The most runs of one operation that lose a race.
pub const RUNS: usize = 64;
/// The greatest age of the instant that an operation is decided at, at its commit, in seconds.
pub const DECISION_SECONDS: u64 = 60;
/// The work of an operation after which others get their turn on its thread, in comparisons of an
/// expression: a fraction of a millisecond.
pub const TURN_WORK: usize = 2_000;
/// The work of corrections that a request does before its own, in comparisons of an expression: where
/// more is due, it is to be sent again.
pub const CORRECTION_WORK: usize = 1_000_000;
/// The size of the cache of decoded rows, in bytes.
pub const DECODED_BYTES: u64 = 16 * 1024 * 1024;
/// The size of all copies of customers that a process keeps, in bytes.
pub const RESIDENT_BYTES: u64 = 64 * 1024 * 1024;
/// The most rows of copies that are read anew at once, after a lost race.
pub const REFRESHED_ROWS: usize = 16 * 1024;
/// The most names of customers whose copies are found by them.
pub const RESIDENT_NAMES: u64 = 100_000;
/// The most rows that the copy of one customer has.
pub const RESIDENT_ROWS: usize = 256;

/// Windows of 15 minutes of a customer that are kept open, together with the row that guards them.
pub const OPEN_WINDOWS: usize = 2;
/// Hours of a customer whose events are counted there.
pub const OPEN_HOURS: usize = 2;
/// Bytes of open figures of a customer, about: what does not fit gets rows of its own.
pub const OPEN_BYTES: usize = 8 * 1024;

/// The longest key of an event, in bytes.
pub const EVENT_KEY_BYTES: usize = 256;
/// The longest name of an event, in bytes.
pub const EVENT_NAME_BYTES: usize = 128;
/// The most properties of an event.
pub const EVENT_PROPERTIES: usize = 64;
/// The longest name of a property, in bytes.
pub const PROPERTY_NAME_BYTES: usize = 128;
/// The longest string value of a property, in bytes.
pub const PROPERTY_VALUE_BYTES: usize = 4 * 1024;
/// The largest event, in bytes of its texts as JSON writes them.
pub const EVENT_BYTES: usize = 16 * 1024;
/// The bytes of events in a row from which on it takes no more: it has room for the largest event, and
/// for some that amendments make longer.
pub const EVENT_BLOCK_BYTES: usize = 32 * 1024;
/// The rows of events that one scan asks for.
pub const SCAN_EVENT_BLOCKS: usize = 32;
/// The most events of one batch.
pub const BATCH_EVENTS: usize = 1_000;
/// The work of one batch: the comparisons of all metrics for each of its events, and the additions of
/// each event for each subscription.
pub const BATCH_WORK: usize = 10_000_000;
/// The longest time that an event may lie in the future, in seconds.
pub const FUTURE_SECONDS: u64 = 5 * 60;
/// The grace period of an account that has not chosen one, in hours.
pub const GRACE_HOURS: u64 = 24;
/// The longest grace period, in days: shorter than any month, so that an event that is taken never
/// lies in a monthly period before the previous one.
pub const GRACE_DAYS: u64 = 28;
/// The hours after which a pending change of a subscription expires, in an account that has not chosen
/// (subscriptions 4.2).
pub const PENDING_CHANGE_HOURS: u32 = 24;
/// The most hours that an account may choose for that: 31 days.
pub const PENDING_CHANGE_HOURS_CHOSEN: u32 = 31 * 24;
/// The longest timeframe of a backfill, in days, of an account that has not chosen one (wire 3.3).
pub const BACKFILL_DAYS: u32 = 31;
/// The longest timeframe of a backfill that an account may choose, in days.
pub const BACKFILL_DAYS_CHOSEN: u32 = 366;
/// The time after its creation at which a backfill closes that was given no instant, in hours (wire 3.3).
pub const BACKFILL_HOURS: u64 = 24;
/// The most backfills of an account that are pending, or about to be reverted.
pub const OPEN_BACKFILLS: usize = 300;
/// The most times that one event can be brought: once by no backfill, else each time by another one.
pub const EVENT_SLOTS: usize = 100;
/// The places of events, or the rows, that one step of a correction looks at before it is committed.
pub const STEP_EVENTS: usize = 2_000;
/// The readings that one step of a correction adds up before it is committed: a step has a few more.
pub const STEP_READINGS: usize = 10_000;
/// The comparisons that one step of a correction makes before it is committed: those of one event it
/// makes whole.
pub const STEP_TERMS: usize = 1_000_000;
/// The billing periods that one step of a correction sums anew before it is committed: those of one
/// day, or of one subscription, it takes whole.
pub const STEP_PERIODS: usize = 500;
/// The most events that a preview of a closing backfill reads.
pub const PREVIEWED_EVENTS: usize = 100_000;
/// The most amendments of events of a customer, and the most deprecations (wire 3.5).
pub const AMENDMENTS: usize = 100;
/// The time over which amendments and deprecations are counted, in days (wire 3.5).
pub const AMENDMENT_DAYS: u64 = 100;
/// The stretches of time in which it is not known whether a distinct value was seen: of more, the
/// closest become one.
pub const UNKNOWN_STRETCHES: usize = 4;
/// The most ids of one search (wire 3.5).
pub const SEARCH_EVENTS: usize = 500;
/// The rows of hours and customers that a page of event volumes reads before it ends with a whole
/// hour.
pub const VOLUME_ROWS: usize = 10_000;
/// The greatest age of the start of the timeframe of an evaluated price, in days.
pub const EVALUATION_DAYS: u32 = 100;
/// The most properties that an evaluated price is grouped by: an event has no more.
pub const EVALUATION_GROUPINGS: usize = 64;
/// The most bytes of the values of all groups of an evaluation of prices, as JSON writes them.
pub const EVALUATION_BYTES: usize = 8 * 1024 * 1024;
/// The most events that one evaluation of prices reads.
pub const EVALUATION_EVENTS: usize = 100_000;
/// The most prices of one evaluation (subscriptions 9.1).
pub const EVALUATION_PRICES: usize = 100;
/// The most events that an evaluation brings along, which are not ingested (subscriptions 9.2).
pub const EVALUATION_PREVIEW_EVENTS: usize = 500;
/// The most comparisons for a figure that is added up event by event: those of its metrics and of its
/// filter for each event.
pub const READ_TERMS: usize = 10_000_000;

/// The longest text of an expression or of a metric's SQL, in bytes.
pub const EXPRESSION_BYTES: usize = 4 * 1024;
/// The most parentheses, `NOT`s and `CASE`s within each other in an expression.
pub const EXPRESSION_DEPTH: usize = 64;

/// The most switches of alerts, off or on, that an account remembers: an even number.
pub const SWITCHES: usize = 1_000;
/// The longest time that an API key's old secret is good beside the new one, in days.
pub const API_KEY_OVERLAP_DAYS: u64 = 30;
/// The most people, disabled ones included.
pub const PEOPLE: usize = 1_000;
/// The most bytes of the hash of a password.
pub const PASSWORD_HASH_BYTES: usize = 1_024;
/// The time for which an invitation is good, in hours.
pub const INVITATION_HOURS: u64 = 72;
/// The time for which the invitation of the first person is good, and one to choose another password, in hours.
pub const SHORT_INVITATION_HOURS: u64 = 24;
/// The time without a request after which a session is over.
pub const SESSION_IDLE: Duration = Duration::from_secs(12 * 60 * 60);
/// The time after which a session is over, however it is used.
pub const SESSION_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The most sessions that a person has at a time: another one takes the place of that which was used longest ago.
pub const SESSIONS: usize = 50;
/// The time for which a session's use is not written again.
pub const SESSION_USE: Duration = Duration::from_secs(5 * 60);
/// The time for which entries of the audit log are kept, in days.
pub const AUDIT_DAYS: u64 = 400;
/// The longest subject of an entry of the audit log, in characters.
pub const AUDIT_SUBJECT_CHARACTERS: usize = 200;
/// The most metrics of an account, archived ones included: every event is held against each.
pub const METRICS: usize = 100;
/// The most comparisons that an event takes with all metrics of an account.
pub const METRIC_TERMS: usize = 5_000;
/// The longest time that the discount of a coupon lasts, in months (invoicing 11.1).
pub const COUPON_MONTHS: u32 = 120;
/// The most times that a coupon can be redeemed (invoicing 11.1).
pub const COUPON_REDEMPTIONS: u32 = 1_000_000_000;
/// The most live subscriptions of a customer.
pub const SUBSCRIPTIONS: usize = 200;
/// The most subscriptions of a customer that events may still count for, ended ones included.
pub const ACTIVE_SUBSCRIPTIONS: usize = 1_000;
/// The most bytes of intervals in one row, as JSON: further ones are in another row.
pub const TERMS_BYTES: usize = 48 * 1024;
/// The most phases of a plan.
pub const PHASES: usize = 100;
/// The longest trial of a subscription, in days.
pub const TRIAL_DAYS: u32 = 999_999;
/// The largest subscription, in bytes as JSON and without its intervals: its alerts lie in the same row.
pub const SUBSCRIPTION_BYTES: usize = 50 * 1024;
/// The most changes of the quantities of fixed fees that a subscription is given over its life.
pub const FEE_CHANGES: usize = 500;
/// The most licenses of a type that a subscription has at a time, those that are yet to start included; and
/// the most of one external id over its life.
pub const LICENSES: usize = 5_000;
/// The longest timeframe of the usage of licenses, in days (subscriptions 7.5).
pub const LICENSE_USAGE_DAYS: usize = 366;
/// The most figures of a license on a day that its usage is computed of, for one answer.
pub const LICENSE_FIGURES: usize = 100_000;
/// The most subscriptions that a migration names.
pub const MIGRATED: usize = 1_000;
/// The most price intervals, and adjustment intervals, that a subscription has once they were changed.
pub const INTERVALS: usize = 1_000;
/// The longest session in the portal, in minutes (invoicing 16.3).
pub const PORTAL_MINUTES: u16 = 180;
/// The most sessions in the portal that a customer has at a time.
pub const PORTAL_SESSIONS: usize = 100;
/// The most payment methods of a customer.
pub const PAYMENT_METHODS: usize = 50;
/// The longest token of a payment, or id that a payment provider gives one, in characters.
pub const PROVIDER_CHARACTERS: usize = 500;
/// The most attempts to pay an invoice, to which one is added by hand.
pub const PAYMENT_ATTEMPTS: usize = 100;
/// The most retries of a payment that has failed (invoicing 8.7).
pub const RETRIES: usize = 10;
/// The longest time after the failure of a payment at which it is tried again, in days.
pub const RETRY_DAYS: u32 = 365;
/// The most taxes of a line of an invoice.
pub const TAXES_OF_LINE: usize = 20;
/// The most lines by hand of an invoice.
pub const LINES_BY_HAND: usize = 200;
/// The longest time that a one-off invoice is dated ahead, in months (invoicing 9.1).
pub const INVOICE_AHEAD_MONTHS: u32 = 12;
/// The most invoices that an end in the past takes back, and billing periods that it cuts off (invoicing 6.2).
pub const REWOUND: usize = 100;
/// The most credit notes of an invoice to which one is added by hand.
pub const CREDIT_NOTES: usize = 500;
/// The most customers that a list of subscriptions is filtered by.
pub const FILTERED_CUSTOMERS: usize = 100;
/// The most prices of a version of a plan.
pub const PRICES: usize = 100;
/// The most units of a package: the largest whole number that every store keeps exactly (store 8).
pub const PACKAGE_UNITS: u64 = (1 << 53) - 1;
/// The most tiers of a price.
pub const TIERS: usize = 200;
/// The most cells of a matrix.
pub const MATRIX_CELLS: usize = 100;
/// The most cells of all prices of a version of a plan, those of whole metrics aside: those of each matrix with
/// one more for its default, and one of any other price of a dimensional price group. The running total of a
/// billing period has a figure for each.
pub const VERSION_CELLS: usize = 200;
/// The most cells of all prices that a subscription has at one time, counted as those of a version: those of its plan,
/// and as many of prices of its own.
pub const SUBSCRIPTION_CELLS: usize = 400;
/// The most different meters of the prices of an account, those of whole metrics aside: every event is
/// held against each.
pub const METERS: usize = 20;
/// The most meters of an account that count by a condition of a subscription's own (subscriptions 1.5), each with what
/// it is divided by: every event is held against each, and they stay when no subscription has them any more.
pub const FILTERED_METERS: usize = 200;
/// The most children of a customer (subscriptions 1.5).
pub const CHILDREN: usize = 100;
/// The most figures of usage of lists of customers that a billing period of a subscription has: all of them fit one row.
pub const LISTED_FIGURES: usize = 600;
/// The most bytes of the combinations of values that prices of dimensional price groups divide one meter by, as
/// JSON writes them: some hundreds.
pub const COMBINATION_BYTES: usize = 32 * 1024;
/// The most prices of a dimensional price group that are created at once (subscriptions 6.2).
pub const DIMENSIONAL_PRICES: usize = 100;
/// The most groups of one meter in which the usage of a customer can be: in four weeks, and in a period of a
/// subscription whose prices rate them.
pub const GROUPS: u64 = 1_000;
/// The most dimensions of a matrix, or of a dimensional price group.
pub const DIMENSIONS: usize = 10;
/// The most bytes of the values of all cells of a matrix.
pub const MATRIX_VALUE_BYTES: usize = 24 * 1024;
/// The longest value of a dimension, in bytes.
pub const DIMENSION_VALUE_BYTES: usize = 128;
/// The most bytes of a text of a price model that is only shown, such as the name of a row.
pub const MODEL_TEXT_BYTES: usize = 256;
/// The longest custom billing cycle, in months.
pub const CYCLE_MONTHS: u16 = 120;
/// The longest custom billing cycle, in days.
pub const CYCLE_DAYS: u16 = 3_660;
/// The digits behind the point that an amount in a pricing unit of the host's own is rounded to,
/// where it is.
pub const PRICING_UNIT_PLACES: u32 = 2;
/// The most alerts on spend of a subscription or a version of a plan (wire 1.4).
pub const SPEND_ALERTS: usize = 50;
/// The most price filters of an alert, a credit block or an adjustment.
pub const PRICE_FILTERS: usize = 10;
/// The most values of all price filters of an alert, or of a credit block.
pub const PRICE_FILTER_VALUES: usize = 100;
/// The most adjustments of a version of a plan, or that a subscription is created with.
pub const ADJUSTMENTS: usize = 100;
/// The most bytes of the JSON of those adjustments: they lie in one row with the prices of the version.
pub const ADJUSTMENT_BYTES: usize = 16 * 1024;
/// The most currencies and pricing units in which a customer has credits, or alerts on them.
pub const LEDGERS: usize = 100;
/// The most times that a top-up buys with one change of a balance (invoicing 13.4).
pub const TOP_UPS_AT_ONCE: u32 = 10;
/// How long ago a top-up may begin to watch (invoicing 13.4).
pub const TOP_UP_BACK: std::time::Duration = std::time::Duration::from_secs(10 * 24 * 60 * 60);
/// The most blocks of a ledger that have something left and have not expired: usage that is given back
/// may open more, a caller may not.
pub const CREDIT_BLOCKS: usize = 200;
/// The entries of a ledger that usage can still add to, one for each block and price: the oldest is
/// committed where there would be more.
pub const PENDING_ENTRIES: usize = 100;
/// The blocks that a ledger remembers to have paid an overdraft off: payments of older ones are counted
/// with the oldest.
pub const PAYERS: usize = 20;
/// The blocks that the usage of a billing period is remembered to have drawn from: draws on others are
/// counted with the one that was drawn longest ago.
pub const DRAWN_BLOCKS: usize = 200;
/// The amounts that invoices within a billing period have billed of the overdraft, of which each is remembered: the
/// oldest of a price count as one.
pub const BILLED_AMOUNTS: usize = 100;
/// The amounts, by block and price, that the usage of a billing period is remembered to have drawn: as long as those
/// are of several blocks.
pub const DRAWN_AMOUNTS: usize = 400;
/// The most deleted blocks of a ledger instead of which others were drawn from, as far as that was not
/// given back since: with [`INSTEAD_BLOCKS`] the most that giving back reads and follows.
pub const DELETED_BLOCKS: usize = 100;
/// The blocks that are remembered to have been drawn from instead of one that was deleted: draws on
/// others are counted with the one that was drawn from first of these.
pub const INSTEAD_BLOCKS: usize = 10;
/// The most thresholds of an alert.
pub const THRESHOLDS: usize = 100;
/// The most alerts on the cost of groups of a subscription or a version of a plan (subscriptions 8.1).
pub const GROUPED_ALERTS: usize = 50;
/// The most alerts on the pools of licenses of a subscription or a version of a plan (subscriptions 7.6).
pub const LICENSE_ALERTS: usize = 50;
/// The most keys by which an alert groups usage (subscriptions 8.1).
pub const GROUPING_KEYS: usize = 4;
/// The most groups of a subscription that an alert watches in a billing period: with more it is disabled (subscriptions
/// 8.2).
pub const WATCHED_GROUPS: u64 = 1_000;
/// The most groups of a meter, of a customer in four weeks or of a subscription in a period, by which an alert is judged
/// at once: with more it is disabled before they are counted.
pub const GROUPS_COUNTED_AT_ONCE: u64 = 5_000;
/// The most meters of an account that its alerts on groups need: every event is held against each, and they stay when
/// no alert has them any more.
pub const WATCHED_METERS: usize = 100;
/// The most threshold overrides of an alert (subscriptions 8.1).
pub const THRESHOLD_OVERRIDES: usize = 100;
/// The most bytes of the values of all threshold overrides of an alert: each message that tells of it has them.
pub const THRESHOLD_OVERRIDE_BYTES: usize = 16 * 1024;
/// The most bytes of the groups of a message that an alert fired for, where they are more than one: what is more is told
/// in further ones.
pub const GROUPS_TOLD_BYTES: usize = 24 * 1024;
/// The most changes to the alerts of a version of a plan that its subscriptions have yet to apply:
/// a tick applies them.
pub const PENDING_CHANGES: u64 = 10_000;
/// The most thresholds that an alert is given over its life, those of its overrides among them.
pub const THRESHOLDS_OF_A_LIFE: usize = 1_000;

/// The most endpoints of an account (subscriptions 10.1).
pub const WEBHOOK_ENDPOINTS: usize = 20;
/// The most characters of the address of an endpoint.
pub const URL_CHARS: usize = 2_048;
/// The most days that two secrets of an endpoint overlap.
pub const SECRET_OVERLAP_DAYS: u64 = 30;
/// The most retries of a message.
pub const DELIVERY_RETRIES: usize = 20;
/// The most time that a message is tried for: three days.
pub const DELIVERY_TIME: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// The most time that an endpoint has itself left alone for.
pub const RETRY_AFTER: Duration = Duration::from_secs(60 * 60);
/// The number of failures in a row from which on an endpoint is sent one message at a time.
pub const FAILURES_IN_A_ROW: u32 = 10;
/// The number of days without a success after which an endpoint is disabled.
pub const FAILING_DAYS: u64 = 5;
/// The most attempts of a delivery that are kept: the last ones.
pub const KEPT_ATTEMPTS: usize = 20;
/// The most bytes of what an endpoint has answered that are kept.
pub const KEPT_ANSWER_BYTES: usize = 1_024;
/// The number of days that a message is kept once it is sent (subscriptions 10.2).
pub const MESSAGE_DAYS: u64 = 30;
/// The most bytes of a body in the expanded style: a longer one is sent in the standard style.
pub const PAYLOAD_BYTES: usize = 1024 * 1024;
/// The most bytes of a body in one row: further ones are in another row.
pub const BODY_PART_BYTES: usize = 30 * 1024;
/// How long a worker has an endpoint for itself.
pub const LEASE: Duration = Duration::from_secs(60);
/// The number of subscriptions of a plan from which on its alerts cannot be previewed.
pub const PREVIEWED: usize = 1_000;
/// The most rows of an answer that has no pages, and the most subscriptions that are looked at for a
/// page of them.
pub const RESULT_ROWS: usize = 10_000;
/// The most rows of a page (§4.1, §8).
pub const PAGE_ROWS: usize = 100;
/// The most entries of a page of a ledger (wire 6.2).
pub const LEDGER_PAGE_ROWS: usize = 1_000;
/// The most messages of a page of those that wait: as many as one scan reads.
pub const MESSAGE_PAGE_ROWS: usize = SCAN_ROWS;
/// The rows of a page whose size the caller did not choose (§4.1, §8).
pub const PAGE_DEFAULT_ROWS: usize = 20;
