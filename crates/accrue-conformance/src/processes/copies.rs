//! What a process keeps of a customer and of the account, after other processes have written: it answers what one process
//! alone would.

use std::{collections::BTreeMap, time::Duration};

use accrue::{
    Decimal, ErrorKind, ListFilter, PageRequest,
    customer::CustomerUpdate,
    metric::{MetricQuery, NewMetric},
    plan::{DefaultVersion, PlanVersionChange},
    subscription::{Cancellation, FeeQuantityChange, SubscriptionStatus},
};

use crate::{
    Processes,
    peers::{Peer, Peers, Shop, at, billed, customer, external_id, fired, hour, name, used},
};

const DAY: (&str, &str) = ("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");

/// Has each process serve a customer, so that it knows it.
fn serve(peers: &Peers<'_>, name: &str, round: &str) {
    for (number, peer) in peers.iter().enumerate() {
        ingest(peer, name, &format!("{name} {round} {number}"), 1);
    }
}

fn ingest(peer: &Peer<'_>, name: &str, key: &str, count: u64) {
    let event = used(name, key, peer.ago(60), count);
    assert_eq!(peer.run(peer.account.ingest([event])).ingested, 1);
}

/// Usage, costs and credits are those of all that was written, whoever wrote it and whoever is asked.
pub fn figures_are_those_of_one_process(processes: &dyn Processes) {
    let peers = Peers::of(processes, 3);
    let shop = Shop::opened_by(peers.peer(0));
    let pro = shop.subscriber(peers.peer(0), "ada");
    let (ada, day) = (pro.customer_id, hour(DAY.0, DAY.1));
    let month = hour("2026-03-10T00:00:00Z", "2026-04-01T00:00:00Z");
    let fee = shop.cost(peers.peer(0), pro.id, month);
    let (mut usage, mut balance) = (0_u64, 0_u64);
    for round in 1..=9_u64 {
        let writer = peers.peer(usize::try_from(round).expect("it is small"));
        ingest(writer, "ada", &format!("event {round}"), round);
        usage += round;
        if round.is_multiple_of(2) {
            writer.run(writer.account.create_ledger_entry(ada, shop.grant(round)));
            balance += round;
        }
        for peer in peers.iter() {
            assert_eq!(shop.usage(peer, ada, day), usage);
            assert_eq!(shop.balance(peer, ada), balance);
            let units = [fee.clone(), Decimal::from(2 * usage)].iter().sum::<Decimal>();
            assert_eq!(shop.cost(peer, pro.id, month), units);
        }
    }
}

/// An alert that one process has made fires at the usage that another brings, and not once it is disabled.
pub fn alerts_of_other_processes_fire(processes: &dyn Processes) {
    let peers = Peers::of(processes, 2);
    let (here, there) = (peers.peer(0), peers.peer(1));
    let shop = Shop::opened_by(here);
    let pro = shop.subscriber(here, "ada");
    serve(&peers, "ada", "before");
    let alert = there.account.create_subscription_alert(pro.id, shop.alert(&[5, 9]));
    let alert = there.run(alert).id;
    ingest(here, "ada", "five", 4);
    assert_eq!(fired(&there.waiting()), BTreeMap::from([(pro.id, vec![5])]));
    there.run(there.account.disable_alert(alert));
    ingest(here, "ada", "nine", 4);
    assert_eq!(fired(&there.waiting()), BTreeMap::from([(pro.id, vec![5])]));
    here.run(here.account.create_plan_alert(shop.plan, shop.alert(&[11])));
    ingest(there, "ada", "eleven", 1);
    for peer in peers.iter() {
        peer.tick();
        assert_eq!(fired(&peer.waiting()), BTreeMap::from([(pro.id, vec![5, 11])]));
    }
}

/// What one process sells from now on is what another subscribes to, and how many of a fee are charged what both bill.
pub fn plans_and_prices_of_other_processes_hold(processes: &dyn Processes) {
    let peers = Peers::of(processes, 2);
    let (here, there) = (peers.peer(0), peers.peer(1));
    let shop = Shop::opened_by(here);
    let month = hour("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z");
    let first = shop.subscriber(here, "ada");
    serve(&peers, "ada", "before");
    let before = peers.iter().map(|peer| shop.cost(peer, first.id, month)).collect::<Vec<_>>();
    assert!(before.iter().all(|cost| before.first() == Some(cost)), "{before:?}");

    let support = billed(shop.item, "support").fee_in_advance(Decimal::from(100));
    let change = PlanVersionChange {
        add: vec![support.into()],
        default: DefaultVersion::Replace,
        ..PlanVersionChange::default()
    };
    let version = there.run(there.account.change_plan_version(shop.plan, change)).version;
    let second = shop.subscriber(here, "bob");
    assert_eq!(second.plan_version, version, "the version that the other process has made");
    assert_ne!(first.plan_version, version);
    let more = peers.iter().map(|peer| shop.cost(peer, second.id, month)).collect::<Vec<_>>();
    assert!(more.iter().all(|cost| more.first() == Some(cost)), "{more:?}");
    assert!(more.first() > before.first(), "{more:?} beside {before:?}");

    let three = FeeQuantityChange::immediate(shop.fee, Decimal::from(3));
    here.run(here.account.update_fixed_fee_quantity(first.id, three));
    for peer in peers.iter() {
        let found = peer.read(peer.account.fetch_subscription(first.id));
        assert_eq!(found.fee_quantity(shop.fee, peer.now()), Some(&Decimal::from(3)));
    }
    let after = peers.iter().map(|peer| shop.cost(peer, first.id, month)).collect::<Vec<_>>();
    assert!(after.iter().all(|cost| after.first() == Some(cost)), "{after:?}");

    here.run(here.account.cancel_subscription(first.id, Cancellation::Immediate));
    let found = there.read(there.account.fetch_subscription(first.id));
    assert_eq!(found.status(there.now()), SubscriptionStatus::Ended);
}

/// What one process has configured is so for the others: grace periods, and metrics, which measure the usage before them too.
pub fn what_other_processes_have_configured_holds(processes: &dyn Processes) {
    let peers = Peers::of(processes, 2);
    let (here, there) = (peers.peer(0), peers.peer(1));
    let shop = Shop::opened_by(here);
    let ada = shop.subscriber(here, "ada").customer_id;
    serve(&peers, "ada", "before");
    let old = |peer: &Peer<'_>, key: &str| {
        peer.try_run(peer.account.ingest([used("ada", key, peer.ago(2 * 60 * 60), 1)]))
    };
    old(here, "old").expect("it lies in the grace period");
    let mut configuration = there.read(there.account.configuration());
    configuration.grace_period = Duration::from_secs(60 * 60);
    there.run(there.account.configure(configuration.clone()));
    for peer in peers.iter() {
        let refused = old(peer, "late").expect_err("it lies before the grace period");
        assert_eq!(refused.kind(), ErrorKind::RequestValidation);
    }
    configuration.grace_period = Duration::from_secs(3 * 60 * 60);
    here.run(here.account.configure(configuration));
    old(there, "late").expect("it lies in the grace period again");

    let query = MetricQuery::parse("SELECT max(n) FROM events").expect("it is a metric");
    let new = NewMetric::new(name("max"), shop.item, query);
    let max = there.run(there.account.create_metric(new)).id;
    ingest(here, "ada", "most", 40);
    for peer in peers.iter() {
        let day = hour(DAY.0, DAY.1);
        let found = peer.read(peer.account.usage_between(ada, max, day));
        assert_eq!(found, Some(Decimal::from(40)));
        assert_eq!(shop.usage(peer, ada, day), 44);
    }
}

/// A customer whom one process has deleted is gone for all, and whoever has its name then is another one.
pub fn customers_that_other_processes_delete_are_gone(processes: &dyn Processes) {
    let peers = Peers::of(processes, 2);
    let (here, there) = (peers.peer(0), peers.peer(1));
    let shop = Shop::opened_by(here);
    let mut gone = Vec::new();
    for round in ["one", "two", "three"] {
        let pro = shop.subscriber(here, "ada");
        serve(&peers, "ada", round);
        there.run(there.account.delete_customer(pro.customer_id));
        gone.push(pro.customer_id);
        for peer in peers.iter() {
            for id in &gone {
                let update =
                    CustomerUpdate { name: Some(name("eve")), ..CustomerUpdate::default() };
                let error = peer.try_run(peer.account.update_customer(*id, update));
                assert!(error.expect_err("it is gone").is_not_found());
            }
            let error =
                peer.try_run(peer.account.create_ledger_entry(pro.customer_id, shop.grant(1)));
            assert!(error.is_err(), "credits for one that is gone");
        }
    }
    let last = customer(there, "ada");
    ingest(here, "ada", "last", 5);
    for peer in peers.iter() {
        assert_eq!(peer.read(peer.account.fetch_customer(external_id("ada"))).id, last.id);
        assert_eq!(shop.usage(peer, last.id, hour(DAY.0, DAY.1)), 5);
        let page = PageRequest::first(10).expect("it is a page");
        let listed = peer.read(peer.account.list_customers(&ListFilter::default(), &page));
        assert_eq!(listed.data.iter().map(|of| of.id).collect::<Vec<_>>(), [last.id]);
    }
}

/// What a process has answered from what it keeps is so still when it answers again: a period that another has turned.
pub fn periods_that_other_processes_turn_are_turned(processes: &dyn Processes) {
    let peers = Peers::of(processes, 3);
    let shop = Shop::opened_by(peers.peer(0));
    let pro = shop.subscriber(peers.peer(0), "ada");
    let (first, account) = (peers.peer(0), &peers.peer(0).account);
    first.run(account.create_subscription_alert(pro.id, shop.alert(&[3])));
    serve(&peers, "ada", "march");
    for (month, turner) in [("04", 0), ("05", 1), ("06", 2)] {
        peers.set(&format!("2026-{month}-01T00:01:00Z"));
        peers.peer(turner).tick();
        for peer in peers.iter() {
            let usage = peer.read(peer.account.subscription_usage(pro.id));
            assert_eq!(usage.timeframe.start(), at(&format!("2026-{month}-01T00:00:00Z")));
        }
        for (number, peer) in peers.iter().enumerate() {
            let event = used("ada", &format!("{month} {number}"), peer.ago(1), 1);
            peer.run(peer.account.ingest([event]));
        }
    }
    let all = fired(&peers.peer(0).waiting());
    assert_eq!(all, BTreeMap::from([(pro.id, vec![3; 4])]), "once in each period");
}
