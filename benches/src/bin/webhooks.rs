//! Prints how fast messages are delivered to a receiver on this machine, beside the same requests sent by hand; what
//! waiting messages take of memory; and the time from the commit of an event to the first byte of its message.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver as Queue, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use accrue::{
    Account, AccountId, Billing, Currency, Decimal, Email, EventKey, EventName, Name, SystemClock,
    SystemEntropy,
    alert::{NewAlert, Thresholds},
    customer::NewCustomer,
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    plan::NewPlan,
    price::{Cadence, Model, NewPrice, Unit},
    store::Store,
    subscription::NewSubscription,
    usage::Event,
    webhook::{EndpointUrl, NewEndpoint, Reach, WebhookKey},
};
use accrue_benches::{Backend, Outcome, now};
use accrue_http::{Api, FixedKey};
use accrue_webhooks::{
    Failure, HyperTransport, Response, Timer as _, TokioTimer, Transport, Worker, WorkerOptions,
};
use async_trait::async_trait;
use bytes::Bytes;
use clap::Parser as _;
use futures_util::{StreamExt as _, stream};
use http::Request;

/// Requests at once to the endpoint.
const AT_ONCE: usize = 8;

#[expect(clippy::print_stdout, reason = "this prints a table")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let Arguments { backend, answer, messages, rounds, waiting, events } = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let store = |name: &str| backend.open(&folder.path().join(name));

    println!("{backend}, one endpoint, {AT_ONCE} requests at once");
    println!(
        "{:>12} {:>10} {:>12} {:>12} {:>8}",
        "answer", "messages", "worker /s", "by hand /s", "ratio"
    );
    for answer in answer {
        for round in 0..rounds {
            let named = |name| store(&format!("answer {answer} round {round} {name}"));
            let stores = [named("recorded")?, named("timed")?];
            let (worker, by_hand) = rates(stores, messages, Duration::from_micros(answer)).await?;
            println!(
                "{answer:>9} µs {messages:>10} {worker:>12.0} {by_hand:>12.0} {:>8.2}",
                ratio(worker, by_hand)
            );
        }
    }
    for waiting in waiting {
        let grown = memory(store(&format!("waiting {waiting}"))?, waiting).await?;
        println!("{waiting} messages that wait: {} KiB more while they are delivered", grown);
    }
    let mut times = latencies(store("latency")?, events).await?;
    times.sort_unstable();
    let at = |share: usize| times.get(times.len().saturating_mul(share) / 100).copied();
    let (median, last) = (at(50).unwrap_or_default(), at(99).unwrap_or_default());
    println!(
        "from the commit of an event to the first byte of its message, {} events:",
        times.len()
    );
    println!("median {} µs, 99th percentile {} µs", median.as_micros(), last.as_micros());
    Ok(())
}

#[expect(clippy::float_arithmetic, reason = "a ratio is shown, not billed")]
fn ratio(worker: f64, by_hand: f64) -> f64 {
    worker / by_hand
}

/// Measures a worker on messages that wait, and the same requests by hand.
#[expect(clippy::float_arithmetic, reason = "a rate is shown, not billed")]
async fn rates(
    [recorded_on, timed_on]: [Arc<dyn Store>; 2],
    messages: usize,
    answer: Duration,
) -> Outcome<(f64, f64)> {
    let receiver = Receiver::listen(answer)?;
    let billing = |store| Billing::new(store, SystemClock, SystemEntropy);
    let (recorded, first) = (Recorded::default(), billing(recorded_on));
    let account = waiting(&first, &receiver, messages).await?;
    worker(&first, &account, recorded.clone())?.deliver_due().await?;
    receiver.has_all(messages)?;
    let requests = std::mem::take(&mut *recorded.requests());
    let second = billing(timed_on);
    let account = waiting(&second, &receiver, messages).await?;
    let worker = worker(&second, &account, HyperTransport::new(Reach::everything()))?;
    let start = now();
    worker.deliver_due().await?;
    let by_worker = start.elapsed();
    receiver.has_all(messages)?;
    let start = now();
    stream::iter(requests)
        .map(|request| recorded.transport.send(request))
        .buffer_unordered(AT_ONCE)
        .for_each(|_| std::future::ready(()))
        .await;
    let by_hand = start.elapsed();
    receiver.has_all(messages)?;
    let messages = f64::from(u32::try_from(messages)?);
    Ok((messages / by_worker.as_secs_f64(), messages / by_hand.as_secs_f64()))
}

/// Measures by how many KiB the most memory of the process grows while messages are delivered that wait.
async fn memory(store: Arc<dyn Store>, messages: usize) -> Outcome<u64> {
    let receiver = Receiver::listen(Duration::ZERO)?;
    let billing = Billing::new(store, SystemClock, SystemEntropy);
    let account = waiting(&billing, &receiver, messages).await?;
    let before = status("VmRSS")?;
    std::fs::write("/proc/self/clear_refs", "5")?;
    let transport = HyperTransport::new(Reach::everything());
    worker(&billing, &account, transport)?.deliver_due().await?;
    receiver.has_all(messages)?;
    Ok(status("VmHWM")?.saturating_sub(before))
}

/// Measures the time from the commit of events to the first bytes of the messages of the alerts that they fire.
async fn latencies(store: Arc<dyn Store>, events: usize) -> Outcome<Vec<Duration>> {
    let receiver = Receiver::listen(Duration::ZERO)?;
    let billing = Billing::new(store, SystemClock, SystemEntropy);
    let account = billing.account(AccountId::parse("bench")?);
    let customers = watched(&account, events).await?;
    // The messages of what was set up are for nobody.
    worker(&billing, &account, HyperTransport::new(Reach::everything()))?.deliver_due().await?;
    receiver.made_known_to(&account).await?;
    let worker = worker(&billing, &account, HyperTransport::new(Reach::everything()))?;
    let working = tokio::spawn(worker.run(TokioTimer));
    let mut times = Vec::new();
    for customer in customers {
        let event = Event {
            idempotency_key: EventKey::parse(format!("event {}", customer.id))?,
            event_name: EventName::parse("call")?,
            timestamp: billing.now(),
            properties: std::collections::BTreeMap::new().into_iter().collect(),
            customer: customer.id.into(),
        };
        account.ingest([event]).await?;
        let committed = now();
        times.push(receiver.next().await?.saturating_duration_since(committed));
        // The worker has nothing to do when the next one comes.
        TokioTimer.wait(Duration::from_millis(2)).await;
    }
    working.abort();
    Ok(times)
}

/// Makes an account with messages that wait for a receiver.
async fn waiting(billing: &Billing, receiver: &Receiver, messages: usize) -> Outcome<Account> {
    let account = billing.account(AccountId::parse("bench")?);
    receiver.made_known_to(&account).await?;
    write(&account, messages).await?;
    Ok(account)
}

/// Makes customers, each with a message.
async fn write(account: &Account, messages: usize) -> Outcome<()> {
    for number in 0..messages {
        let name = Name::parse(format!("customer {number}"))?;
        account.create_customer(NewCustomer::new(name, Email::parse("bench@example.com")?)).await?;
    }
    Ok(())
}

/// Makes customers with an alert that the first event fires.
async fn watched(account: &Account, customers: usize) -> Outcome<Vec<accrue::customer::Customer>> {
    let item = account.create_item(NewItem::new(Name::parse("api")?)).await?.id;
    let sql = MetricQuery::parse("SELECT COUNT(*) FROM events WHERE event_name = 'call'")?;
    let metric = account.create_metric(NewMetric::new(Name::parse("calls")?, item, sql)).await?.id;
    let usd = Currency::parse("USD")?;
    let mut plan = NewPlan::new(Name::parse("plan")?, usd);
    let unit = Model::Unit(Unit::new(Decimal::parse("0.01")?));
    let price = NewPrice::builder(Name::parse("calls")?, item).billed(Cadence::Monthly, usd);
    plan.prices = vec![price.usage(metric, unit).into()];
    let plan = account.create_plan(plan).await?.id;
    let mut made = Vec::new();
    for _ in 0..customers {
        let customer = NewCustomer::new(Name::parse("bench")?, Email::parse("bench@example.com")?);
        let customer = account.create_customer(customer).await?;
        let subscription =
            account.create_subscription(NewSubscription::new(customer.id, plan)).await?;
        let alert = NewAlert::usage_exceeded(metric, Thresholds::new([Decimal::from(1)])?);
        account.create_subscription_alert(subscription.id, alert).await?;
        made.push(customer);
    }
    Ok(made)
}

fn key() -> Outcome<WebhookKey> {
    Ok(WebhookKey::new(&[7; 32])?)
}

fn worker(
    billing: &Billing,
    account: &Account,
    transport: impl Transport + 'static,
) -> Outcome<Worker> {
    let api = Api::builder(billing.clone(), FixedKey::new("key", account.id().clone())).build();
    let options = WorkerOptions { requests_per_endpoint: AT_ONCE, ..WorkerOptions::default() };
    Ok(Worker::with_options(billing.clone(), api, transport, key()?, options))
}

/// The default transport, which remembers what it has sent.
#[derive(Clone)]
struct Recorded {
    transport: HyperTransport,
    requests: Arc<Mutex<Vec<Request<Bytes>>>>,
}

impl Default for Recorded {
    fn default() -> Self {
        let transport = HyperTransport::new(Reach::everything());
        Self { transport, requests: Arc::default() }
    }
}

impl Recorded {
    fn requests(&self) -> std::sync::MutexGuard<'_, Vec<Request<Bytes>>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Transport for Recorded {
    async fn send(&self, request: Request<Bytes>) -> Result<Response, Failure> {
        self.requests().push(request.clone());
        self.transport.send(request).await
    }
}

/// A receiver with a thread for each connection, which answers 204 and says when the first byte of a request came.
struct Receiver {
    address: SocketAddr,
    received: Queue<Instant>,
}

impl Receiver {
    /// Listens. Answers take a while.
    fn listen(pause: Duration) -> Outcome<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (sender, received) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                thread::spawn(move || serve(&stream, &sender, pause));
            }
        });
        Ok(Self { address, received })
    }

    async fn made_known_to(&self, account: &Account) -> Outcome<()> {
        let url = format!("http://{}/", self.address);
        let url = EndpointUrl::parse(&url, &Reach::everything())?;
        account.create_webhook_endpoint(NewEndpoint::new(url)).await?;
        Ok(())
    }

    /// Counts what came since it was asked last: each message once.
    fn has_all(&self, messages: usize) -> Outcome<()> {
        match self.received.try_iter().count() {
            received if received == messages => Ok(()),
            received => Err(format!("{received} of {messages} messages were received").into()),
        }
    }

    /// Waits for a request, and tells when its first byte came.
    async fn next(&self) -> Outcome<Instant> {
        let end = now() + Duration::from_secs(10);
        loop {
            if let Ok(at) = self.received.try_recv() {
                return Ok(at);
            }
            if now() > end {
                return Err("no message came".into());
            }
            TokioTimer.wait(Duration::from_micros(200)).await;
        }
    }
}

/// Answers the requests of a connection.
fn serve(stream: &TcpStream, received: &Sender<Instant>, pause: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        let at = now();
        let mut length = 0_usize;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().map_err(io::Error::other)?;
            }
        }
        io::copy(
            &mut reader.by_ref().take(u64::try_from(length).unwrap_or_default()),
            &mut io::sink(),
        )?;
        let _ = received.send(at);
        if !pause.is_zero() {
            thread::sleep(pause);
        }
        (&mut &*stream).write_all(b"HTTP/1.1 204 No Content\r\n\r\n")?;
    }
}

/// Reads a figure of this process, in KiB.
fn status(name: &str) -> Outcome<u64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such figure")?;
    Ok(line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse()?)
}

/// Prints how fast messages are delivered to a receiver on this machine, beside the same requests sent by hand; by how much
/// the memory of the process grows while waiting messages are delivered; and the time from the commit of an event to
/// the first byte of its message.
#[derive(clap::Parser)]
#[command(name = "webhooks", verbatim_doc_comment)]
struct Arguments {
    /// Where the account is kept
    #[arg(value_enum, default_value_t = Backend::Fjall)]
    backend: Backend,
    /// How many microseconds the receiver takes for an answer; may be given several times
    #[arg(long, value_name = "MICROS", value_delimiter = ',', default_values_t = [0, 1_000])]
    answer: Vec<u64>,
    /// How many messages a round delivers
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    messages: usize,
    /// How many rounds there are
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// How many messages wait when memory is measured; may be given several times
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [10_000, 100_000])]
    waiting: Vec<usize>,
    /// How many events fire an alert
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    events: usize,
}
