//! The processes, the tasks that run in them, and the clock.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use accrue::{
    AccountId, Billing, Error, ErrorKind, ManualClock, Page, PageRequest, PlanId, SeededEntropy,
    Tick, Timestamp,
    plan::{MigrationTiming, NewMigration, PlanVersion},
    store::MemoryTurns,
};
use accrue_http::{Api, Authenticate, Category, Exceeded, RateLimit};
use async_trait::async_trait;
use bytes::Bytes;
use http::Response;

use super::{
    Report,
    asks::one,
    clients::Client,
    commits::Kept,
    gateway::{Gateway, Told},
    messages::{Inbox, Messages},
    model::Tenant,
    plan::{ACCOUNTS, PROCESSES, Step, When},
    random::{Random, Trace, numbered},
    store::{Flaw, SimStore, TaskId},
};
use crate::{
    host::{instant, micros},
    model::{At, Instant},
    stores::BoundedStore,
};

/// Everything that there is.
pub(super) struct World {
    pub(super) store: Arc<SimStore>,
    pub(super) clock: ManualClock,
    processes: Vec<Process>,
    /// For which half of the processes wait after a race that was lost.
    turns: Arc<MemoryTurns>,
    /// An engine that nothing befalls, to look with.
    pub(super) observer: Billing,
    pub(super) tenants: Vec<Tenant>,
    pub(super) clients: Vec<Client>,
    pub(super) flights: Vec<Flight>,
    pub(super) tasks: Vec<Task>,
    pub(super) kept: BTreeMap<(At, String), Vec<Kept>>,
    pub(super) messages: Messages,
    /// Customers that were written since figures were last compared.
    pub(super) touched: BTreeSet<(At, At)>,
    pub(super) trace: Trace,
    pub(super) report: Report,
    pub(super) events_sent: Vec<Vec<crate::model::Event>>,
    pub(super) gateway: Arc<Gateway>,
}

struct Process {
    billing: Billing,
    api: Api,
    lives: u64,
}

/// What was begun at some time, by its id.
#[derive(Clone, Copy)]
pub(super) struct Task {
    /// For which client, if for one.
    pub(super) client: Option<At>,
    /// In which process, and which of its lives, if in one.
    pub(super) place: Option<(usize, u64)>,
}

/// Something that is under way in a process.
pub(super) struct Flight {
    pub(super) task: TaskId,
    pub(super) process: usize,
    pub(super) client: Option<At>,
    /// When it began.
    began: Instant,
    /// What a read may answer: all figures that there were since it began, in the billing periods of
    /// then and of since.
    pub(super) seen: BTreeSet<String>,
    future: Pin<Box<dyn Future<Output = Landed>>>,
}

/// What became of it.
pub(super) enum Landed {
    Answer(Response<Bytes>),
    /// The ids in a list, as far as it was walked, and with which status it was broken off.
    Walked(Vec<String>, Option<u16>),
    Ticked(Result<Tick, Error>),
    Delivered,
    Collected(Result<(), Error>),
    Charged(Result<(), Error>),
    Migrated(Result<(), Error>),
    TakenBack(Result<(), Error>),
}

pub(super) fn account(index: At) -> AccountId {
    AccountId::parse(format!("tenant-{index}")).unwrap()
}

/// The token of an account is its name.
struct TokenIsAccount;

#[async_trait]
impl Authenticate for TokenIsAccount {
    async fn authenticate(&self, token: &str) -> Result<Option<AccountId>, Error> {
        Ok(AccountId::parse(token).ok())
    }
}

/// Refuses a request now and then.
struct Stingy(Arc<SimStore>);

impl RateLimit for Stingy {
    fn take(&self, _: &AccountId, _: Category, _: std::num::NonZeroU32) -> Result<(), Exceeded> {
        match self.0.draw(1) {
            true => Err(Exceeded::Wait(Duration::from_secs(1))),
            false => Ok(()),
        }
    }
}

impl World {
    /// A world with what every account has from the beginning.
    pub(super) fn new(flaw: Option<Flaw>) -> Result<Self, String> {
        let store = Arc::new(SimStore::new(flaw));
        let start = instant("2026-01-20T09:00:00Z");
        let clock = ManualClock::at(start);
        store.set(start.micros());
        let memory = Arc::clone(&store.inner);
        let observer = Billing::new(memory, clock.clone(), SeededEntropy::new(u64::MAX));
        let gateway = Arc::new(Gateway::new(clock.clone()));
        let mut world = Self {
            store,
            clock,
            processes: Vec::new(),
            turns: Arc::default(),
            observer,
            tenants: (0..ACCOUNTS).map(|_| Tenant::new()).collect(),
            clients: Vec::new(),
            flights: Vec::new(),
            tasks: Vec::new(),
            kept: BTreeMap::new(),
            messages: Messages::default(),
            touched: BTreeSet::new(),
            trace: Trace::default(),
            report: Report { episodes: 1, ..Report::default() },
            events_sent: vec![Vec::new(); ACCOUNTS],
            gateway,
        };
        world.processes = (0..PROCESSES).map(|index| world.process(index, 0)).collect();
        world.set_up()?;
        world.store.calm(false);
        Ok(world)
    }

    fn process(&self, index: usize, lives: u64) -> Process {
        let seed = numbered(index, lives);
        let store = BoundedStore(Arc::clone(&self.store));
        let mut billing = Billing::new(store, self.clock.clone(), SeededEntropy::new(seed));
        // Nothing depends on whether the others do.
        if index.is_multiple_of(2) {
            billing = billing.taking_turns(Arc::clone(&self.turns));
        }
        let api = Api::builder(billing.clone(), TokenIsAccount);
        let api = api.rate_limit(Stingy(Arc::clone(&self.store)));
        let api = api.payment_gateway(Arc::clone(&self.gateway)).build();
        Process { billing, api, lives }
    }

    pub(super) fn now(&self) -> Instant {
        accrue::Clock::now(&self.clock).micros()
    }

    pub(super) fn report(mut self) -> Report {
        self.report.trace = self.trace;
        self.report.faults = self.store.injected();
        self.report.others.insert("stale head", self.store.stale_heads());
        self.report.calls = self.store.calls();
        self.report
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.report.others.entry(what).or_default() += 1;
    }

    /// Does a step, and checks everything that it has touched.
    pub(super) fn step(&mut self, index: usize, step: &Step) -> Result<(), String> {
        self.report.steps += 1;
        self.trace.add(format!("{step:?}").as_bytes());
        self.store.reseed(numbered(index, 1));
        match step {
            Step::Ask { account, what, seed } => self.ask(account % ACCOUNTS, what, *seed),
            Step::Again { request, seed } => self.again(*request, *seed),
            Step::Misuse { request, seed } => self.misuse(*request, *seed),
            Step::Run { polls, seed } => {
                self.store.reseed(*seed);
                self.store.let_arrive(false);
                self.run(*polls, &mut Random::new(*seed))?;
            }
            Step::Fail { after, fault } => self.store.fail(*after, *fault),
            Step::Crash { process } => {
                self.count("crash");
                self.crash(process % PROCESSES);
            }
            Step::Pass { micros: span } => self.pass(*span),
            Step::Tick { process, limit } => {
                let billing = self.processes[process % PROCESSES].billing.clone();
                let limit = *limit;
                let tick = async move { Landed::Ticked(billing.tick(limit).await) };
                self.count("tick");
                self.fly(process % PROCESSES, None, Box::pin(tick));
            }
            Step::Collect { process, limit } => {
                let billing = self.processes[process % PROCESSES].billing.clone();
                let limit = *limit;
                let collect = async move {
                    Landed::Collected(billing.collect_garbage(limit).await.map(|_| ()))
                };
                self.count("collect");
                self.fly(process % PROCESSES, None, Box::pin(collect));
            }
            Step::Deliver { process, account: of, limit, acknowledged } => {
                let billing = &self.processes[process % PROCESSES].billing;
                let of = of % ACCOUNTS;
                let (account, inbox) = (billing.account(account(of)), self.messages.inbox());
                let deliver = deliver(account, of, inbox, *limit, *acknowledged);
                self.count("deliver");
                self.fly(process % PROCESSES, None, Box::pin(deliver));
            }
            Step::Charge { process, account: of, told } => {
                let of = of % ACCOUNTS;
                let billing = &self.processes[process % PROCESSES].billing;
                let (gateway, told) = (Arc::clone(&self.gateway), self.heard(of, *told));
                let charge = charge(billing.account(account(of)), gateway, told);
                self.count("charge");
                self.fly(process % PROCESSES, None, Box::pin(charge));
            }
            Step::TakeBack { process, account, what } => {
                self.take_back(process % PROCESSES, account % ACCOUNTS, *what);
            }
            Step::Migrate { process, account, what, when } => {
                self.migrate(process % PROCESSES, account % ACCOUNTS, (*what, *when));
            }
            Step::ApplyTransitions => self.apply_transitions()?,
        }
        self.look()
    }

    pub(super) fn pass(&mut self, span: i64) {
        self.clock.set(micros(self.now() + span));
        self.store.set(self.now());
        self.see();
        self.wake_clients();
    }

    pub(super) fn api(&self, process: usize) -> Api {
        self.processes[process].api.clone()
    }

    pub(super) fn billing(&self, process: usize) -> Billing {
        self.processes[process].billing.clone()
    }

    /// Begins something in a process.
    pub(super) fn fly(
        &mut self,
        process: usize,
        client: Option<At>,
        future: Pin<Box<dyn Future<Output = Landed>>>,
    ) {
        let task = self.tasks.len();
        let place = Some((process, self.processes[process].lives));
        self.tasks.push(Task { client, place });
        let began = self.now();
        let seen = self.figures_of(client, began).into_iter().collect();
        self.flights.push(Flight { task, process, client, began, seen, future });
    }

    /// Polls tasks so many times in all, each time one of them.
    pub(super) fn run(&mut self, polls: usize, random: &mut Random) -> Result<(), String> {
        for _ in 0..polls {
            if self.flights.is_empty() {
                return Ok(());
            }
            let index = random.below(self.flights.len());
            self.poll(index)?;
        }
        Ok(())
    }

    pub(super) fn poll(&mut self, index: usize) -> Result<(), String> {
        let flight = &mut self.flights[index];
        self.store.is_polled(flight.task);
        let polled = flight.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if self.store.has_run_away() {
            let client = self.flights[index].client.map(|client| &self.clients[client]);
            return Err(format!("something never ends: {client:?}"));
        }
        self.look()?;
        if let Poll::Ready(landed) = polled {
            let flight = self.flights.remove(index);
            self.land(&flight, landed)?;
        }
        for task in self.store.take_crashed() {
            let of = self.flights.iter().find(|flight| flight.task == task);
            if let Some(process) = of.map(|flight| flight.process) {
                self.crash(process);
            }
        }
        Ok(())
    }

    /// Looks at what was committed, and compares what it has touched.
    fn look(&mut self) -> Result<(), String> {
        let applied = self.store.take_applied();
        if applied.is_empty() {
            return Ok(());
        }
        for applied in applied {
            self.commit(&applied)?;
        }
        self.see();
        self.check_touched()
    }

    pub(super) fn step_commits(&mut self) -> Result<(), String> {
        self.look()
    }

    /// Reads that are under way may answer what is so now.
    fn see(&mut self) {
        for index in 0..self.flights.len() {
            let Flight { client, began, .. } = self.flights[index];
            let figures = [began, self.now()].map(|at| self.figures_of(client, at));
            self.flights[index].seen.extend(figures.into_iter().flatten());
        }
    }

    /// A process ends: nobody hears of what was under way, and another one begins in its place.
    pub(super) fn crash(&mut self, index: usize) {
        let (gone, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.flights).into_iter().partition(|of| of.process == index);
        self.flights = left;
        for flight in gone {
            drop(flight.future);
            if let Some(client) = flight.client {
                self.lost(client);
            }
        }
        let lives = self.processes[index].lives + 1;
        self.processes[index] = self.process(index, lives);
    }

    /// What the gateway tells by itself of one of the attempts of an account, if it knows any.
    pub(super) fn heard(&self, of: At, any: usize) -> Option<Told> {
        let bills = &self.tenants[of].books.bills;
        self.gateway.told(any, |invoice| bills.contains_key(&invoice.to_string()))
    }

    /// Takes back that an invoice was marked as paid, or a credit note, by a call of the library.
    fn take_back(&mut self, process: usize, of: At, what: usize) {
        let account = self.processes[process].billing.account(account(of));
        let books = &self.tenants[of].books;
        let marked = books.bills.iter().filter(|(_, bill)| bill.marked.is_some());
        let marked: Vec<_> = marked.map(|(id, _)| id.parse().unwrap()).collect();
        let notes = books.notes.values().filter(|note| note.voided_at.is_none());
        let notes: Vec<_> = notes.map(|note| note.id).collect();
        match (one(&marked, what), one(&notes, what)) {
            (Some((_, invoice)), note) if what.is_multiple_of(2) || note.is_none() => {
                let undo = account.undo_mark_invoice_paid(*invoice);
                let undo = async move { Landed::TakenBack(undo.await.map(|_| ())) };
                self.fly(process, None, Box::pin(undo));
            }
            (_, Some((_, note))) => {
                self.tenants[of].books.notes_to_void.insert(note.to_string());
                let void = account.void_credit_note(*note);
                let void = async move { Landed::TakenBack(void.await.map(|_| ())) };
                self.fly(process, None, Box::pin(void));
            }
            (_, None) => {}
        }
    }

    /// Has everybody on the first plan moved to one of its versions, or takes that back, by a call of the library.
    fn migrate(&mut self, process: usize, of: At, (what, when): (usize, When)) {
        let account = self.processes[process].billing.account(account(of));
        let plan: PlanId = self.tenants[of].plans[0].parse().unwrap();
        let under_way: Vec<_> = self.tenants[of].migrations_under_way().cloned().collect();
        if what.is_multiple_of(3)
            && let Some((_, id)) = one(&under_way, what / 3)
        {
            self.count("migration canceled");
            let cancel = account.cancel_migration(plan, id.parse().unwrap());
            let cancel = async move { Landed::Migrated(cancel.await.map(|_| ())) };
            return self.fly(process, None, Box::pin(cancel));
        }
        self.count("migration");
        let version = PlanVersion::new(1 + u32::from(what.is_multiple_of(2)));
        let mut new = NewMigration::to(version);
        new.when = match when {
            When::Immediate => MigrationTiming::Immediate,
            When::EndOfTerm => MigrationTiming::EndOfTerm,
            When::In(by) => MigrationTiming::At(micros(self.now() + by)),
        };
        let migrate = account.migrate_plan(plan, new);
        let migrate = async move { Landed::Migrated(migrate.await.map(|_| ())) };
        self.fly(process, None, Box::pin(migrate));
    }

    fn land(&mut self, flight: &Flight, landed: Landed) -> Result<(), String> {
        match landed {
            Landed::Answer(response) => self.answered(flight, response),
            Landed::Walked(ids, broken_off) => self.walked(flight, &ids, broken_off),
            Landed::Ticked(Ok(tick)) if tick.failed > 0 => Err(format!("{tick:?}")),
            // It was done meanwhile, or cannot be.
            Landed::TakenBack(Err(error)) | Landed::Migrated(Err(error))
                if error.kind() == ErrorKind::ConstraintViolation =>
            {
                Ok(())
            }
            Landed::Ticked(Err(error))
            | Landed::Collected(Err(error))
            | Landed::Charged(Err(error))
            | Landed::Migrated(Err(error))
            | Landed::TakenBack(Err(error)) => {
                self.excused(flight.task).map_err(|found| format!("{found}: {error:?}"))
            }
            Landed::Ticked(Ok(_))
            | Landed::Collected(Ok(()))
            | Landed::Charged(Ok(()))
            | Landed::Migrated(Ok(()))
            | Landed::TakenBack(Ok(())) => Ok(()),
            Landed::Delivered => self.check_inbox(),
        }
    }

    /// A failure has a reason that was injected, or too many races that were lost.
    pub(super) fn excused(&self, task: TaskId) -> Result<(), String> {
        let trouble = self.store.trouble(task);
        let runs = u64::try_from(accrue::limits::RUNS).unwrap();
        match trouble.faults > 0 || trouble.conflicts >= runs {
            true => Ok(()),
            false => Err(format!("a failure without a reason, {trouble:?}")),
        }
    }
}

/// Has payments charged, and reports once more what the gateway tells by itself.
async fn charge(account: accrue::Account, gateway: Arc<Gateway>, told: Option<Told>) -> Landed {
    let charged = account.collect_payments(&gateway).await;
    let reported = match told {
        Some((attempt, outcome)) => account.report_payment(attempt, outcome).await.map(|_| ()),
        None => Ok(()),
    };
    Landed::Charged(charged.and(reported))
}

/// Reads messages, and acknowledges some of them.
async fn deliver(
    account: accrue::Account,
    of: At,
    inbox: Inbox,
    limit: usize,
    acknowledged: usize,
) -> Landed {
    let page = PageRequest::first_of_messages(limit).unwrap();
    if let Ok(Page { data: messages, .. }) = account.list_messages(&page).await {
        inbox.lock().unwrap().extend(messages.iter().map(|message| (of, message.clone())));
        let places = messages.iter().take(acknowledged).map(|message| message.place);
        // Where that fails, they are delivered once more.
        let _ = account.acknowledge(places.collect::<Vec<_>>()).await;
    }
    Landed::Delivered
}

/// An instant as the wire has it.
pub(super) fn text(at: Instant) -> String {
    Timestamp::from_micros(at).unwrap().to_string()
}
