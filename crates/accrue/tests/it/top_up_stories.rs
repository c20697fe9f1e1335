//! Stories of a ledger with top-ups, beside a ledger of whole numbers that knows no rows: balances, blocks
//! and invoices are the same, however time is cut (invoicing 13.2, 13.4).

use std::time::Duration;

use accrue::{
    Decimal,
    credit::{BlockStatus, ExpiryUnit, NewTopUp, TopUpExpiry, TopUpInvoice},
    invoice::{Invoice, InvoiceFilter, InvoiceStatus},
};
use proptest::{collection::vec, option, prelude::*};

use crate::{
    bought_credits::buyer,
    support::{
        credited::{CREDITS, decrement, expiring, increment},
        fixture::{at, block_on, number},
        priced::{Priced, unit},
    },
};

#[derive(Clone, Debug)]
enum Step {
    Use(i64),
    Take(i64),
    /// How much, and in how many hours it expires.
    Give(i64, Option<i64>),
    TopUp(Plan),
    /// One of the invoices that are issued.
    Pay(usize),
    Void(usize),
    Wait(i64),
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    threshold: i64,
    amount: i64,
    is_paid_before: bool,
    days: Option<i64>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let plan = (0..8_i64, 5..40_i64, any::<bool>(), option::of(1..4_i64));
    let plan = plan.prop_map(|(threshold, amount, is_paid_before, days)| {
        Step::TopUp(Plan { threshold, amount, is_paid_before, days })
    });
    let step = prop_oneof![
        5 => (1..60_i64).prop_map(Step::Use),
        1 => (1..20_i64).prop_map(Step::Take),
        2 => (1..30_i64, option::of(1..60_i64)).prop_map(|(amount, hours)| Step::Give(amount, hours)),
        2 => plan,
        3 => (0..9_usize).prop_map(Step::Pay),
        1 => (0..9_usize).prop_map(Step::Void),
        3 => (1..40_i64).prop_map(Step::Wait),
    ];
    vec(step, 1..24)
}

/// What a block is in the oracle. Hours count from noon of the first day.
#[derive(Clone, Debug)]
struct Lot {
    expiry: i64,
    basis: i64,
    given: i64,
    left: i64,
    is_pending: bool,
    /// The top-up that bought it.
    of: usize,
}

const NEVER: i64 = i64::MAX;
const NOBODY: usize = usize::MAX;

/// The ledger, its top-up, and the invoices: each of the lot of its place in the list.
#[derive(Debug, Default)]
struct Oracle {
    now: i64,
    has_begun: bool,
    overdraft: i64,
    lots: Vec<Lot>,
    plan: Option<(usize, Plan)>,
    plans: usize,
    awaits: Option<usize>,
    has_more: bool,
    /// Lot, amount, status and day.
    invoices: Vec<(usize, i64, InvoiceStatus, i64)>,
}

fn day(hour: i64) -> i64 {
    (hour + 12).div_euclid(24)
}

impl Oracle {
    fn balance(&self) -> i64 {
        self.active().map(|lot| lot.left).sum::<i64>() - self.overdraft
    }

    fn active(&self) -> impl Iterator<Item = &Lot> {
        self.lots.iter().filter(|lot| !lot.is_pending)
    }

    fn add(&mut self, mut lot: Lot) -> usize {
        if !lot.is_pending {
            self.has_begun = true;
            let paid = self.overdraft.min(lot.left);
            self.overdraft -= paid;
            lot.left -= paid;
        }
        self.lots.push(lot);
        self.lots.len() - 1
    }

    fn take(&mut self, mut amount: i64) {
        self.has_begun = true;
        let mut order: Vec<_> = (0..self.lots.len()).collect();
        order.sort_by_key(|place| (self.lots[*place].expiry, self.lots[*place].basis));
        for place in order {
            let lot = &mut self.lots[place];
            if !lot.is_pending && self.now < lot.expiry {
                let taken = lot.left.min(amount);
                lot.left -= taken;
                amount -= taken;
            }
        }
        self.overdraft += amount;
        self.judge(true);
    }

    fn judge(&mut self, has_fallen: bool) {
        if has_fallen || self.has_more {
            self.buy();
        }
    }

    fn buy(&mut self) {
        let Some((of, plan)) = self.plan else { return };
        if self.awaits.is_some() {
            return;
        }
        self.has_more = false;
        for _ in 0..10 {
            if self.balance() > plan.threshold || self.awaits.is_some() {
                return;
            }
            let expiry = plan.days.map_or(NEVER, |days| (day(self.now) + days) * 24 - 12);
            let (given, is_pending) = (plan.amount, plan.is_paid_before);
            let lot = Lot { expiry, basis: 1, given, left: given, is_pending, of };
            let place = self.add(lot);
            self.invoices.push((place, given, InvoiceStatus::Issued, day(self.now)));
            if is_pending {
                self.awaits = Some(place);
            }
        }
        self.has_more = self.awaits.is_none() && self.balance() <= plan.threshold;
    }

    fn wait(&mut self, until: i64) {
        loop {
            let open =
                self.lots.iter().enumerate().filter(|(_, lot)| !lot.is_pending && lot.left > 0);
            let due = open.filter(|(_, lot)| lot.expiry <= until);
            let Some((place, expiry)) =
                due.map(|(place, lot)| (place, lot.expiry)).min_by_key(|(_, at)| *at)
            else {
                break;
            };
            self.now = expiry;
            self.lots[place].left = 0;
            self.judge(true);
        }
        self.now = until;
    }

    fn issued(&self) -> Vec<usize> {
        let all = self.invoices.iter().enumerate();
        all.filter(|(_, of)| of.2 == InvoiceStatus::Issued).map(|(place, _)| place).collect()
    }

    fn pay(&mut self, invoice: usize) {
        self.invoices[invoice].2 = InvoiceStatus::Paid;
        let place = self.invoices[invoice].0;
        if !self.lots[place].is_pending {
            return;
        }
        let mut lot = self.lots[place].clone();
        self.has_begun = true;
        lot.is_pending = false;
        let paid = self.overdraft.min(lot.left);
        self.overdraft -= paid;
        lot.left -= paid;
        let (expiry, rest) = (lot.expiry, lot.left);
        self.lots[place] = lot;
        if self.awaits == Some(place) {
            (self.awaits, self.has_more) = (None, true);
        }
        self.judge(false);
        if expiry <= self.now && rest > 0 {
            self.lots[place].left = 0;
            self.judge(true);
        }
    }

    fn void(&mut self, invoice: usize) {
        self.invoices[invoice].2 = InvoiceStatus::Void;
        let place = self.invoices[invoice].0;
        if self.plan.is_some_and(|(of, _)| of == self.lots[place].of) {
            (self.plan, self.awaits, self.has_more) = (None, None, false);
        }
        let lot = &mut self.lots[place];
        if lot.is_pending {
            (lot.is_pending, lot.left) = (false, 0);
        } else if lot.left > 0 {
            lot.left = 0;
            self.judge(true);
        }
    }

    fn show(&self) -> Shown {
        let balance = self.has_begun.then(|| self.balance().to_string());
        let open = |lot: &&Lot| lot.left > 0 && (!lot.is_pending || self.now < lot.expiry);
        let lots = self.lots.iter().filter(open);
        let mut blocks: Vec<_> =
            lots.map(|lot| (lot.left.to_string(), lot.given.to_string(), lot.is_pending)).collect();
        blocks.sort();
        let invoices = self.invoices.iter();
        let invoices = invoices.map(|(_, amount, status, day)| (amount.to_string(), *status, *day));
        Shown { balance, blocks, invoices: invoices.collect() }
    }
}

/// What both sides come to.
#[derive(Debug, PartialEq)]
struct Shown {
    balance: Option<String>,
    /// What is left, of how much, and whether it waits for a payment.
    blocks: Vec<(String, String, bool)>,
    invoices: Vec<(String, InvoiceStatus, i64)>,
}

/// Every invoice, by number.
fn invoices(priced: &Priced) -> Vec<Invoice> {
    use InvoiceStatus::{Draft, Issued, Paid, Void};

    let statuses = vec![Draft, Issued, Paid, Void];
    let filter = InvoiceFilter { statuses, ..InvoiceFilter::default() };
    let page = accrue::PageRequest::first(100).unwrap();
    let mut found = block_on(priced.fixture.account.list_invoices(&filter, &page)).unwrap().data;
    found.sort_by_key(|invoice| invoice.invoice_number.clone());
    found
}

fn shown(priced: &Priced) -> Shown {
    let day = |invoice: &Invoice| {
        let is_of = |days: &i64| at(&instant(days * 24 - 12)) == invoice.invoice_date;
        (0..60).find(is_of).expect("it bears a day")
    };
    let mut blocks: Vec<_> = priced
        .blocks()
        .iter()
        .filter(|block| !block.is_overdraft())
        .map(|block| {
            let given = block.maximum_initial_balance.as_ref().map(Decimal::to_string).unwrap();
            let is_pending = block.status == BlockStatus::PendingPayment;
            (block.balance.to_string(), given, is_pending)
        })
        .collect();
    blocks.sort();
    let invoices = invoices(priced);
    let invoices = invoices.iter().map(|of| (of.total.to_string(), of.status, day(of)));
    Shown { balance: priced.balance(), blocks, invoices: invoices.collect() }
}

/// How a story is told: whether somebody looks and ticks every hour.
#[derive(Clone, Copy, Debug)]
enum Rhythm {
    Hourly,
    Late,
}

fn tell(steps: &[Step], rhythm: Rhythm) {
    let (ada, mut oracle) = (buyer(), Oracle::default());
    for (place, step) in steps.iter().enumerate() {
        match step {
            Step::Use(amount) => {
                ada.use_now(&place.to_string(), &amount.to_string());
                if oracle.has_begun {
                    oracle.take(*amount);
                }
            }
            Step::Take(amount) => {
                ada.book(decrement(&amount.to_string())).unwrap();
                oracle.take(*amount);
            }
            Step::Give(amount, hours) => {
                let text = amount.to_string();
                let new = match hours {
                    Some(hours) => expiring(&text, &instant(oracle.now + hours)),
                    None => increment(&text),
                };
                ada.book(new).unwrap();
                let expiry = hours.map_or(NEVER, |hours| oracle.now + hours);
                let (given, left) = (*amount, *amount);
                let lot = Lot { expiry, basis: 0, given, left, is_pending: false, of: NOBODY };
                oracle.add(lot);
                oracle.judge(false);
            }
            Step::TopUp(plan) => {
                ada.top_up(new_top_up(plan));
                oracle.plan = Some((oracle.plans, *plan));
                oracle.plans += 1;
                (oracle.awaits, oracle.has_more) = (None, false);
                oracle.buy();
            }
            Step::Pay(which) | Step::Void(which) => {
                let issued = oracle.issued();
                let Some(place) = issued.get(which % issued.len().max(1)) else { continue };
                let invoice = invoices(&ada)[*place].clone();
                if matches!(step, Step::Pay(_)) {
                    ada.mark_paid(&invoice);
                    oracle.pay(*place);
                } else {
                    ada.void_invoice(&invoice);
                    oracle.void(*place);
                }
            }
            Step::Wait(hours) => {
                for _ in 0..*hours {
                    ada.fixture.clock.advance(Duration::from_secs(60 * 60));
                    if matches!(rhythm, Rhythm::Hourly) {
                        ada.fixture.tick();
                    }
                }
                oracle.wait(oracle.now + hours);
                // Invoices are shown as they were when somebody last wrote.
                ada.fixture.tick();
            }
        }
        assert_eq!(shown(&ada), oracle.show(), "after step {place} of {steps:?}");
    }
}

fn new_top_up(plan: &Plan) -> NewTopUp {
    let invoice =
        TopUpInvoice { require_successful_payment: plan.is_paid_before, ..TopUpInvoice::default() };
    let (threshold, amount) =
        (number(&plan.threshold.to_string()), number(&plan.amount.to_string()));
    let after = plan.days.map(|days| u32::try_from(days).unwrap());
    let expires_after = after.map(|after| TopUpExpiry { after, unit: ExpiryUnit::Day });
    let new = NewTopUp::new(unit(CREDITS), threshold, amount, "1".parse().unwrap(), invoice);
    NewTopUp { expires_after, ..new }
}

/// The instant of an hour of the story.
fn instant(hour: i64) -> String {
    let (days, hours) = (day(hour), (hour + 12).rem_euclid(24));
    let (month, day) = if days + 10 > 31 { (4, days + 10 - 31) } else { (3, days + 10) };
    let (month, day) = if month == 4 && day > 30 { (5, day - 30) } else { (month, day) };
    format!("2026-{month:02}-{day:02}T{hours:02}:00:00Z")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn invoicing_13_4_top_ups_come_to_what_an_oracle_says(steps in steps()) {
        tell(&steps, Rhythm::Late);
        tell(&steps, Rhythm::Hourly);
    }
}
