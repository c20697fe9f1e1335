use accrue::{Account, PageRequest, PayloadRenderer as _, webhook::PayloadStyle};
use accrue_http::{Api, OwnError};
use http::Method;
use serde::Deserialize;

use crate::BasePath;

/// The messages that wait, for tests: `POST` takes the oldest of them, as an endpoint would receive them.
#[derive(Debug)]
pub(crate) struct MessagesRoute {
    path: String,
}

/// What is sent.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    #[serde(default)]
    payload_style: Style,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Style {
    #[default]
    Expanded,
    Standard,
}

impl MessagesRoute {
    /// Below the base path, and at the root of the server.
    pub(crate) fn new(base_path: &BasePath) -> Self {
        Self { path: format!("{}/messages", base_path.as_str()) }
    }

    pub(crate) fn is_asked_for(&self, method: &Method, path: &str) -> bool {
        [self.path.as_str(), "/messages"].contains(&path) && *method == Method::POST
    }

    /// Answers the oldest messages of an account that wait, which are delivered then.
    pub(crate) async fn answer(
        &self,
        api: &Api,
        account: &Account,
        body: &[u8],
    ) -> Result<String, OwnError> {
        let expected = "expected an object as {\"payload_style\": \"standard\"}, or nothing";
        let asked: Asked = match body {
            [] => Asked::default(),
            body => serde_json::from_slice(body).map_err(|_| OwnError::invalid("", expected))?,
        };
        let style = match asked.payload_style {
            Style::Expanded => PayloadStyle::Expanded,
            Style::Standard => PayloadStyle::Standard,
        };
        let page = account.list_messages(&PageRequest::default()).await;
        let messages = page.map_err(OwnError::failed)?.data;
        let mut payloads = Vec::new();
        for message in &messages {
            let payload = api.render(account, message, style).await;
            payloads.push(payload.map_err(OwnError::failed)?);
        }
        let places = messages.iter().map(|message| message.place);
        account.acknowledge(places).await.map_err(OwnError::failed)?;
        Ok(format!("{{\"data\":[{}]}}", payloads.join(",")))
    }
}
