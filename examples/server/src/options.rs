//! What a server is started with.

mod api_key;
mod api_keys;
mod base_path;
mod grace_period;
mod rate_limit;
mod store_at;
mod tax_rate;

use std::net::SocketAddr;

use accrue::Timestamp;
use clap::{Args, Parser, Subcommand, builder::ArgPredicate};

pub use self::{
    api_key::ApiKey,
    api_keys::{ApiKeyError, ApiKeyOptions, FixedKeys},
    base_path::BasePath,
    grace_period::GracePeriod,
    rate_limit::RateLimitPlan,
    store_at::{StoreAt, StoreOpenError},
    tax_rate::TaxRate,
};
use crate::{
    ConsoleOptions, KeyOptions, WebhookOptions, documents::LinkOptions, keys::KeysCommand,
};

/// Serves the billing API.
///
/// Requests go below the base path, with `Authorization: Bearer KEY`. `GET /healthz` needs no key: it
/// answers 200 while the store answers. SIGINT and SIGTERM let requests in flight finish.
#[derive(Clone, Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub struct Options {
    /// How to serve, where no command is given.
    #[command(flatten)]
    pub serve: ServeOptions,

    /// What to do instead.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done instead of serving.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Issues, lists, rotates and revokes the API keys that are kept in a store
    ///
    /// The store must not be open elsewhere: stop the server first.
    #[command(subcommand)]
    Keys(KeysCommand),
}

/// How to serve.
#[derive(Args, Clone, Debug)]
pub struct ServeOptions {
    /// The address and port to listen on; port 0 takes a free one
    ///
    /// Standard output says which it became: `listening on http://127.0.0.1:8080/v1`.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080", value_parser = address)]
    pub listen: SocketAddr,

    /// Where everything is stored
    ///
    /// `memory`, gone at the end; `fjall:DIR` or `sled:DIR` with a folder, which is made where it is missing; or
    /// `postgres:URL` with the connection string of a database, which several servers may share. `postgres://...` is such
    /// a URL itself. Every server of a database needs the same `--key-file`.
    #[arg(long, value_name = "memory|fjall:DIR|sled:DIR|postgres:URL", default_value = "memory")]
    pub store: StoreAt,

    /// The path that the API is served below
    #[arg(long, value_name = "PATH", default_value = "/v1")]
    pub base_path: BasePath,

    /// Who is let in.
    #[command(flatten)]
    pub api_keys: ApiKeyOptions,

    /// The quotas of each account, beyond which it is answered 429
    ///
    /// With a manual clock none where nothing is said: quotas come back by the engine's clock, and it
    /// stands still.
    #[arg(
        long,
        value_enum,
        value_name = "QUOTAS",
        default_value = "live",
        default_value_if("manual_clock", ArgPredicate::IsPresent, "none")
    )]
    pub rate_limit: RateLimitPlan,

    /// How long after its timestamp an event may be reported: a whole number with s, m, h or d, as in 12h
    /// or 3d; at most 28d
    ///
    /// It is set for each account that asks, and stays with it. Without the option an account keeps what
    /// it has: 24h, unless another was set.
    #[arg(long, value_name = "TIME")]
    pub grace_period: Option<GracePeriod>,

    /// Charges customers by a gateway that moves no money: for tests
    ///
    /// What becomes of a payment is decided by the number of the card in `shared_payment_token_id`, in the
    /// default token of a customer, or in its `payment_provider_id`, as in `tok_4242424242424242`:
    /// 4242424242424242 and 5555555555554444 pay, 4000000000003220 pays an hour later, and 4000000000000002
    /// declines, as any other does. Without the option `pay` is not available.
    #[arg(long)]
    pub sandbox_gateway: bool,

    /// Taxes every line of every invoice by a percentage, as in 20: for tests
    ///
    /// A customer whose `tax_configuration` says that it is exempt, or not taxed automatically, has none. Without
    /// the option nobody has.
    #[arg(long, value_name = "PERCENTAGE")]
    pub sandbox_tax: Option<TaxRate>,

    /// Syncs the invoices of customers of an invoicing provider: for tests
    ///
    /// Those of a customer whose `payment_provider` is quickbooks, bill.com, netsuite or stripe_invoice are synced
    /// once they are issued. Where it has no `payment_provider_id` that fails, and is tried again each hour.
    /// Without the option they stay issued.
    #[arg(long)]
    pub sandbox_invoicing: bool,

    /// The console.
    #[command(flatten)]
    pub console: ConsoleOptions,

    /// Webhook endpoints.
    #[command(flatten)]
    pub webhooks: WebhookOptions,

    /// Links for customers.
    #[command(flatten)]
    pub links: LinkOptions,

    /// What links and secrets are computed from.
    #[command(flatten)]
    pub key: KeyOptions,

    /// The instant (RFC 3339) at which the clock stands, until it is moved: for tests
    ///
    /// `PUT /clock` below the base path, with an API key and `{"now": "2026-04-01T00:00:00Z"}`, moves it
    /// forward for all accounts, and is answered once all is done that is due by then. `GET /clock`
    /// tells what it shows. A store does not keep it: start again where it stood.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub manual_clock: Option<Timestamp>,
}

fn instant(text: &str) -> Result<Timestamp, String> {
    let expected = || "expected a date and time, as in 2026-03-01T00:00:00Z".to_owned();
    Timestamp::parse(text).map_err(|_| expected())
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = || "expected an address and a port, as in 127.0.0.1:8080".to_owned();
    text.parse().map_err(|_| expected())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<ServeOptions, String> {
        let all = ["server"].iter().chain(arguments);
        let options = Options::try_parse_from(all).map_err(|error| error.to_string())?;
        assert!(options.command.is_none());
        Ok(options.serve)
    }

    #[track_caller]
    fn refused(arguments: &[&str], expected: &str) {
        let error = parsed(arguments).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn nothing_is_needed() {
        let options = parsed(&[]).unwrap();
        assert_eq!(options.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(options.store, StoreAt::Memory);
        assert_eq!(options.base_path.as_str(), "/v1");
        assert_eq!(options.rate_limit, RateLimitPlan::Live);
        assert!(!options.sandbox_gateway, "nobody is charged who was not asked for it");
        assert!(!options.webhooks.webhook_allow_private && !options.console.console);
    }

    #[test]
    fn an_address_has_a_port() {
        let options = parsed(&["--listen", "[::1]:0"]).unwrap();
        assert_eq!(options.listen.to_string(), "[::1]:0");
        for wrong in ["8080", "127.0.0.1", "127.0.0.1:65536", "localhost", ""] {
            refused(&["--listen", wrong], "expected an address and a port");
        }
    }

    #[test]
    fn a_store_is_in_memory_or_in_a_folder() {
        let at = |store| parsed(&["--store", store]).unwrap().store;
        assert_eq!(at("fjall:a b:c"), StoreAt::Fjall("a b:c".into()));
        assert_eq!(at("sled:a b:c"), StoreAt::Sled("a b:c".into()));
        for wrong in [
            "sled",
            "sled:",
            "fjall",
            "fjall:",
            "memory:",
            "Memory",
            "postgres",
            "postgres:",
            "postgresql:x",
            "",
        ] {
            refused(
                &["--store", wrong],
                "expected `memory`, `fjall:DIR`, `sled:DIR` or `postgres:URL`",
            );
        }
    }

    #[test]
    fn a_base_path_is_plain() {
        let base_path = |text| Ok::<_, String>(parsed(&["--base-path", text])?.base_path);
        for (text, expected) in [
            ("", ""),
            ("/", ""),
            ("/v1", "/v1"),
            ("/v1/", "/v1"),
            ("/billing/v1.2", "/billing/v1.2"),
        ] {
            assert_eq!(base_path(text).unwrap().as_str(), expected, "{text}");
        }
        for wrong in ["v1", "//v1", "/v1//x", "/{x}", "/a b", "/v1?", "/v1#", "/%31", "/ü"] {
            assert!(base_path(wrong).unwrap_err().contains("expected a path"), "{wrong}");
        }
    }

    #[test]
    fn a_tax_is_a_percentage() {
        let rate = |text| parsed(&["--sandbox-tax", text]).unwrap().sandbox_tax.unwrap();
        for (text, percentage, fraction) in
            [("20", "20", "0.2"), ("8.25", "8.25", "0.0825"), ("0", "0", "0")]
        {
            let rate = rate(text);
            assert_eq!(
                (rate.percentage().to_string(), rate.fraction().to_string()),
                (percentage.to_owned(), fraction.to_owned())
            );
        }
        for wrong in ["", "x", "20%", "100.01", "-1"] {
            refused(
                &[&format!("--sandbox-tax={wrong}")],
                "expected a percentage from 0 to 100, as in 20 or 8.25",
            );
        }
    }

    #[test]
    fn quotas_have_names() {
        let plan = |name| parsed(&["--rate-limit", name]).unwrap().rate_limit;
        assert_eq!(plan("test"), RateLimitPlan::Test);
        assert_eq!(plan("trial"), RateLimitPlan::Trial);
        assert_eq!(plan("none").quotas(), None);
        refused(&["--rate-limit", "some"], "live, test, trial, none");
    }

    #[test]
    fn quotas_stand_still_with_a_manual_clock() {
        let plan = |more: &[&str]| {
            let clock = ["--manual-clock", "2026-03-01T00:00:00Z"];
            parsed(&[&clock, more].concat()).unwrap().rate_limit
        };
        assert_eq!(plan(&[]), RateLimitPlan::None);
        assert_eq!(plan(&["--rate-limit", "trial"]), RateLimitPlan::Trial);
    }

    #[test]
    fn a_grace_period_has_a_unit() {
        let seconds =
            |text| parsed(&["--grace-period", text]).unwrap().grace_period.unwrap().time();
        for (text, expected) in
            [("0s", 0), ("90s", 90), ("90m", 5_400), ("12h", 43_200), ("3d", 259_200)]
        {
            assert_eq!(seconds(text).as_secs(), expected, "{text}");
        }
        assert_eq!(seconds("28d"), seconds("672h"));
        assert_eq!(parsed(&[]).unwrap().grace_period, None);
    }

    #[test]
    fn no_other_text_is_a_grace_period() {
        for wrong in [
            "",
            "h",
            "12",
            "12H",
            "1.5h",
            "+1h",
            "1h30m",
            "1 h",
            "12hours",
            "1w",
            "29d",
            "673h",
            "18446744073709551615d",
            "18446744073709551616s",
            "1ü",
        ] {
            refused(&["--grace-period", wrong], "as in 12h or 3d, and at most 28d");
        }
        let negative = parsed(&["--grace-period=-1h"]).unwrap_err();
        assert!(negative.contains("as in 12h or 3d"), "{negative}");
    }

    #[test]
    fn a_manual_clock_starts_at_an_instant() {
        let at = |text| parsed(&["--manual-clock", text]).unwrap().manual_clock.unwrap();
        assert_eq!(at("2026-03-01T00:00:00Z").to_string(), "2026-03-01T00:00:00.000000Z");
        assert_eq!(at("2026-03-01T00:00:00+01:00").to_string(), "2026-02-28T23:00:00.000000Z");
        for wrong in ["", "now", "2026-03-01", "2026-02-30T00:00:00Z", "1969-12-31T23:59:59Z"] {
            refused(&["--manual-clock", wrong], "expected a date and time, as in 2026-03-01T00");
        }
        refused(&["--manual-clock"], "a value is required for '--manual-clock <INSTANT>'");
    }

    #[test]
    fn an_account_has_a_name() {
        refused(&["--account", "", "--api-key", "x"], "account id has 0 bytes");
        refused(&["--account", &"x".repeat(65), "--api-key", "x"], "account id has 65 bytes");
        refused(&["--account", "a\nb", "--api-key", "x"], "control character");
        refused(&["--account"], "a value is required for '--account <NAME>'");
    }

    #[test]
    fn what_is_wrong_never_shows_a_key() {
        for wrong in [
            &["--api-key", "sec ret", "--listen", "x"][..],
            &["--account", "", "--api-key", "secret"],
            &["--api-key", "secret", "keys", "list"],
        ] {
            let all = ["server"].iter().chain(wrong);
            let error = Options::try_parse_from(all).unwrap_err().to_string();
            assert!(!error.contains("sec"), "{error}");
        }
    }

    #[test]
    fn the_help_says_that_ps_shows_a_key() {
        let help = <Options as clap::CommandFactory>::command().render_help().to_string();
        assert!(help.contains("since `ps` shows it"), "{help}");
    }
}
