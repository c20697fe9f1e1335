//! What of the command line says whose the API keys are: the order of its arguments.

use std::path::PathBuf;

use accrue::AccountId;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use super::{
    ApiKeyOptions, Named, default_account,
    source::{Origin, Source, Text},
};

/// The arguments as they are declared. Their ids are the names of the fields.
#[derive(Args)]
struct Flags {
    /// The account of the API keys that come after it; may be repeated
    ///
    /// API keys before the first one are for the account `default`. An account is any name of up to 64
    /// bytes, and need not exist. Nothing of one account is seen with a key of another.
    #[arg(long, value_name = "NAME", value_parser = account)]
    account: Vec<AccountId>,

    /// An API key for the account that was named last: for development, since `ps` shows it to everybody
    /// on the machine; may be repeated
    ///
    /// 1 to 4096 visible ASCII characters, as any client sends them in `Authorization: Bearer`; no spaces,
    /// control characters or others, which a header does not carry unchanged. No two accounts have the
    /// same key. API keys that are kept in the store (`keys issue`) are good beside these, each for its
    /// account.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    api_key: Vec<Text>,

    /// A file that holds an API key for the account that was named last; `-` is standard input; may be
    /// repeated
    ///
    /// Instead of arguments, the environment variable ACCRUE_API_KEY may hold one key for the account
    /// `default`. With neither, the API keys are good that are kept in the store.
    #[arg(long, value_name = "FILE")]
    api_key_file: Vec<PathBuf>,
}

fn account(text: &str) -> Result<AccountId, String> {
    AccountId::parse(text).map_err(|error| error.to_string())
}

impl Args for ApiKeyOptions {
    fn augment_args(command: Command) -> Command {
        Flags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Flags::augment_args_for_update(command)
    }
}

impl FromArgMatches for ApiKeyOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let places = |id| matches.indices_of(id).into_iter().flatten();
        let Flags { account, api_key, api_key_file } = Flags::from_arg_matches(matches)?;
        let arguments = places("api_key").zip(api_key.into_iter().map(Origin::Argument));
        let files = places("api_key_file").zip(api_key_file.into_iter().map(Origin::File));
        let sources: Vec<_> =
            arguments.chain(files).map(|(place, origin)| Source { place, origin }).collect();
        Ok(by_account(places("account").zip(account).collect(), sources))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Gives each key to the account before it.
fn by_account(accounts: Vec<(usize, AccountId)>, mut sources: Vec<Source>) -> ApiKeyOptions {
    sources.sort_by_key(|source| source.place);
    let mut named = Vec::new();
    // From the last: what comes after an account, and was not taken yet, is its own.
    for (place, account) in accounts.into_iter().rev() {
        let first = sources.partition_point(|source| source.place < place);
        named.push(Named { account, sources: sources.split_off(first) });
    }
    if !sources.is_empty() {
        named.push(Named { account: default_account(), sources });
    }
    named.reverse();
    ApiKeyOptions(named)
}
