//! Random stories, in which each step is another process's: they come to what they come to in one process alone.

use std::{sync::Arc, time::Duration};

use accrue::{
    store::MemoryStore,
    subscription::{FeeQuantityChange, Subscription},
};

use crate::{
    Opened, Processes,
    peers::{Peer, Peers, Shop, fired, hour, used},
    split_mix::SplitMix,
};

const NAMES: [&str; 3] = ["ada", "bob", "eve"];
const STEPS: usize = 120;

/// Usage, grants, fees, alerts, ticks and time, in any order and through any process, come to the same figures, costs, balances and
/// messages as in one process with a store in memory.
pub fn random_steps_agree_with_one_process(processes: &dyn Processes) {
    let memory = InMemory::default();
    let many = Story::of(Peers::of(processes, 3));
    let alone = Story::of(Peers::of(&memory, 1));
    let mut random = SplitMix::new(12);
    for number in 0..STEPS {
        let step = Step::random(&mut random);
        let (found, expected) = (many.take(number, &step), alone.take(number, &step));
        assert_eq!(found, expected, "step {number}: {step:?}");
    }
    for process in 0..3 {
        let read = Step { process, ..Step::last() };
        assert_eq!(many.take(STEPS, &read), alone.take(STEPS, &read));
    }
}

/// A store in memory that one process has.
#[derive(Default)]
struct InMemory(Arc<MemoryStore>);

impl Processes for InMemory {
    fn open(&self) -> Opened {
        let Self(store) = self;
        Opened { store: Arc::<MemoryStore>::clone(store), turns: None }
    }
}

/// What a process does with a customer.
#[derive(Clone, Debug)]
struct Step {
    process: usize,
    customer: usize,
    act: Act,
    amount: u64,
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Use,
    Repeat,
    Grant,
    Fees,
    Alert,
    Wait,
    Tick,
    Read,
}

impl Step {
    fn random(random: &mut SplitMix) -> Self {
        let acts = [
            Act::Use,
            Act::Use,
            Act::Use,
            Act::Repeat,
            Act::Grant,
            Act::Fees,
            Act::Alert,
            Act::Wait,
            Act::Tick,
            Act::Read,
            Act::Read,
        ];
        let act = random.pick(&acts).copied().expect("there are some");
        let amount = u64::try_from(1 + random.below(9)).expect("it is small");
        Self { process: random.below(3), customer: random.below(NAMES.len()), act, amount }
    }

    const fn last() -> Self {
        Self { process: 0, customer: 0, act: Act::Read, amount: 0 }
    }
}

/// Processes, and what they sell to whom.
struct Story<'a> {
    peers: Peers<'a>,
    shop: Shop,
    subscriptions: [Subscription; 3],
}

impl<'a> Story<'a> {
    fn of(peers: Peers<'a>) -> Self {
        let shop = Shop::opened_by(peers.peer(0));
        let subscriptions = NAMES.map(|name| shop.subscriber(peers.peer(0), name));
        Self { peers, shop, subscriptions }
    }

    /// Takes a step, and says what comes of it.
    fn take(&self, number: usize, step: &Step) -> String {
        let peer = self.peers.peer(step.process);
        let (account, amount) = (&peer.account, step.amount);
        let pro = self.subscriptions.get(step.customer).expect("there are three");
        let name = NAMES.get(step.customer).expect("there are three");
        match step.act {
            Act::Use | Act::Repeat => {
                // A key comes again within the same few.
                let key = match step.act {
                    Act::Repeat => format!("{name} again {}", amount % 3),
                    _ => format!("{name} {number}"),
                };
                let ago = amount * 60;
                let told = peer.try_run(account.ingest([used(name, &key, peer.ago(ago), amount)]));
                match told {
                    Ok(told) => format!("{} {}", told.ingested, told.duplicates),
                    Err(error) => format!("{:?}", error.kind()),
                }
            }
            Act::Grant => {
                let entry = account.create_ledger_entry(pro.customer_id, self.shop.grant(amount));
                format!("{}", peer.run(entry).ending_balance)
            }
            Act::Fees => {
                let change = FeeQuantityChange::immediate(self.shop.fee, amount.into());
                let told = peer.try_run(account.update_fixed_fee_quantity(pro.id, change));
                format!("{:?}", told.map(|_| ()).map_err(|error| error.kind()))
            }
            Act::Alert => {
                let alert = self.shop.alert(&[10 * amount, 15 * amount]);
                let told = peer.try_run(account.create_subscription_alert(pro.id, alert));
                format!("{:?}", told.map(|_| ()).map_err(|error| error.kind()))
            }
            Act::Wait => {
                let hours = Duration::from_secs(amount * 16 * 60 * 60);
                self.peers.iter().for_each(|peer| peer.clock.advance(hours));
                String::new()
            }
            Act::Tick => {
                peer.tick();
                String::new()
            }
            Act::Read => self.read(peer),
        }
    }

    /// Says everything that a process answers.
    fn read(&self, peer: &Peer<'_>) -> String {
        let ever = hour("2026-03-01T00:00:00Z", "2026-09-01T00:00:00Z");
        let figures = self.subscriptions.iter().map(|pro| {
            let usage = self.shop.usage(peer, pro.customer_id, ever);
            let balance = self.shop.balance(peer, pro.customer_id);
            let cost = self.shop.cost(peer, pro.id, ever);
            let period = peer.read(peer.account.subscription_usage(pro.id)).timeframe;
            // Time is applied by whoever looks: all that is due was told before the messages are read.
            format!("{usage} {balance} {cost} {}..{}\n", period.start(), period.end())
        });
        let figures: String = figures.collect();
        peer.tick();
        let messages = peer.waiting();
        let fired = fired(&messages);
        let fired = self.subscriptions.iter().map(|pro| fired.get(&pro.id));
        format!("{figures}{:?} {}", fired.collect::<Vec<_>>(), messages.len())
    }
}
