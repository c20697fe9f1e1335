//! How a healthy client fares beside expensive requests. A server is started for each kind of them;
//! connections send them in a loop, while others send pings and small keyed ingests at a steady pace.
//!
//! A healthy request is measured from when it was to be sent, so that no stall hides those that would
//! have come within it.

#![allow(clippy::print_stdout, reason = "a program prints figures that people read")]

mod expensive;
mod healthy;
mod kinds;
mod largest;
mod options;
mod table;

use std::{process::ExitCode, time::Duration};

use accrue_load_tests::{Catalogue, Client, Outcome, before_now, serve_if_asked};
use clap::Parser as _;
use tokio::time::Instant;

use self::{
    expensive::Expensive,
    healthy::Healthy,
    kinds::{Attack, Kind, Setting},
    options::Options,
    table::Row,
};

fn main() -> Outcome<ExitCode> {
    if let Some(code) = serve_if_asked() {
        return Ok(code);
    }
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(&options))
}

async fn run(options: &Options) -> Outcome<ExitCode> {
    let kinds = options.kinds();
    let mut crowds = vec![vec![]];
    crowds.extend(kinds.iter().map(|kind| vec![*kind]));
    if kinds.len() > 1 {
        crowds.push(kinds);
    }
    let mut rows = Vec::new();
    for crowd in &crowds {
        let row = beside(options, crowd).await?;
        eprintln!("{}", row.line());
        rows.push(row);
    }
    println!("{}", table::healthy(&rows));
    println!("{}\n{}", table::expensive(&rows, options.seconds), table::notes(&rows));
    Ok(match rows.iter().all(Row::is_well) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Measures a healthy client beside requests of these kinds.
async fn beside(options: &Options, crowd: &[Kind]) -> Outcome<Row> {
    let folder = tempfile::tempdir()?;
    let server = options.server.launch(folder.path())?.start().await?;
    let mut client = Client::new(server.address());
    let catalogue = Catalogue::create(&mut client).await?;
    let start = before_now(Duration::from_secs(60 * 60));
    catalogue.subscribe(&mut client, healthy::CUSTOMER, Catalogue::PLAN, start).await?;
    let mut setting = Setting { options, client, catalogue, notes: Vec::new() };
    let mut makers = Vec::new();
    for kind in crowd {
        makers.push(kind.prepare(&mut setting).await?);
    }
    let connections = 0..options.connections;
    let attacks = connections.zip(makers.iter().cycle()).map(|(connection, make)| make(connection));
    let attacks: Vec<Attack> = attacks.collect();

    let end = Instant::now() + Duration::from_secs(options.seconds);
    let healthy = healthy::begin(server.address(), options.rate, end);
    let expensive = expensive::send(server.address(), attacks, end).await;
    let healthy: Healthy = healthy.await??;
    let expensive: Expensive = expensive?;
    let (crowd, notes) = (crowd.to_vec(), setting.notes);
    Ok(Row { crowd, healthy, expensive, notes, memory: server.memory() })
}
