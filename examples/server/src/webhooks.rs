//! Webhook endpoints: where they may lie, and the worker that delivers to them.

use accrue::{
    Billing, Error,
    webhook::{Reach, WebhookKey},
};
use accrue_console::ConsoleBuilder;
use accrue_http::{Api, Webhooks};
use accrue_webhooks::{HyperTransport, TokioTimer, Worker};
use clap::Args;

use crate::{OneLine, Stopped, host_key::HostKey};

/// Where webhook endpoints may lie.
#[derive(Args, Clone, Debug, Default)]
pub struct WebhookOptions {
    /// Sends webhook messages to private addresses as well, and over plain http: for tests
    ///
    /// Without the option endpoints are addresses of https, and only what is public is connected to: otherwise whoever
    /// has an API key could have requests made to what only this server reaches.
    #[arg(long)]
    pub webhook_allow_private: bool,
}

impl WebhookOptions {
    fn reach(&self) -> Reach {
        match self.webhook_allow_private {
            true => Reach::everything(),
            false => Reach::public(),
        }
    }

    /// Returns what the API is to know of endpoints.
    pub(crate) fn webhooks(&self, key: &HostKey) -> Result<Webhooks, Error> {
        Ok(Webhooks::new(WebhookKey::new(&key.0)?).reaching(self.reach()))
    }

    /// Lets people who enter the console add endpoints.
    pub(crate) fn of_console(
        &self,
        console: ConsoleBuilder,
        key: &HostKey,
    ) -> Result<ConsoleBuilder, Error> {
        Ok(console.webhooks(WebhookKey::new(&key.0)?, self.reach()))
    }

    /// Makes the worker, which writes the messages as the API shows what they are about.
    pub(crate) fn worker(
        &self,
        billing: &Billing,
        api: &Api,
        key: &HostKey,
    ) -> Result<Worker, Error> {
        let transport = HyperTransport::new(self.reach());
        let worker = Worker::new(billing.clone(), api.clone(), transport, WebhookKey::new(&key.0)?);
        Ok(worker.on_disabled(|account, endpoint| {
            let account = OneLine(account.id());
            tracing::warn!(%account, endpoint = %endpoint.id, "a webhook endpoint is disabled: it is gone, or fails");
        }))
    }
}

/// Delivers messages until the server is asked to stop, and then ends what is under way.
pub(crate) async fn deliver(worker: Worker, stopped: Stopped) {
    let counters = worker.counters();
    worker.run_until(TokioTimer, stopped.wait()).await;
    let (delivered, failed) = (counters.delivered(), counters.failed_attempts());
    match counters.last_store_failure() {
        None => tracing::info!(delivered, failed, "no more messages are sent"),
        Some(failure) => {
            let failure = OneLine(failure);
            tracing::warn!(delivered, failed, %failure, "no more messages are sent; the store has failed meanwhile");
        }
    }
}
