//! Draws what `rates` and `growth` wrote as JSON: a picture for each operation, and one of the growth.

#![allow(
    clippy::as_conversions,
    clippy::float_arithmetic,
    clippy::print_stdout,
    reason = "it draws figures that people look at"
)]

mod growth;
mod rates;
mod svg;

use std::{
    fs,
    path::{Path, PathBuf},
};

use accrue_benches::Outcome;
use clap::Parser as _;
use serde::de::DeserializeOwned;

/// Draws what `rates --json` and `growth --json` wrote, as SVG.
#[derive(Debug, clap::Parser)]
#[command(name = "plots")]
struct Arguments {
    /// The folder that the pictures are written to, over those of before
    folder: PathBuf,

    /// What `rates --json` wrote
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,

    /// What `growth --json` wrote, of each backend
    #[arg(long, value_name = "FILE", num_args = 1..)]
    growth: Vec<PathBuf>,
}

fn main() -> Outcome<()> {
    let Arguments { folder, rates, growth } = Arguments::parse();
    let mut pictures = Vec::new();
    if let Some(path) = rates {
        pictures.extend(rates::pictures(&read(&path)?));
    }
    if !growth.is_empty() {
        let runs: Vec<_> = growth.iter().map(|path| read(path)).collect::<Outcome<_>>()?;
        pictures.push(("growth".to_owned(), growth::picture(&runs)));
    }
    if pictures.is_empty() {
        return Err("found neither --rates nor --growth, expected one of them".into());
    }
    fs::create_dir_all(&folder)?;
    for (name, picture) in pictures {
        let path = folder.join(name).with_extension("svg");
        fs::write(&path, picture)
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

fn read<T: DeserializeOwned>(path: &Path) -> Outcome<T> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let read = serde_json::from_str(&text);
    read.map_err(|error| format!("{}: {error}", path.display()).into())
}
