//! The rows of messages, and of where they are sent.

use crate::{
    AccountId, Error, MessageId, Timeframe, Timestamp, WebhookEndpointId,
    schema::{
        documents::*,
        index::Index,
        key::{KeyBytes, Part as _},
        slot::Slot,
    },
    store::{Document, Key, Scan, Table},
    webhook::{Delivery, DueDelivery, Endpoint, EndpointQueue, PayloadStyle, Place},
};

tables! {
    /// A message to an endpoint.
    delivery(account, message: MessageId, endpoint: WebhookEndpointId)
        -> Delivery [guarded by EndpointQueue];

    /// The messages of a queue that an endpoint is sent one after the other.
    delivery_line(account, endpoint: WebhookEndpointId, place: Place)
        = (account, endpoint, place.queue, place.number) -> DueDelivery [guarded by EndpointQueue] {
        scan delivery_lines(account, endpoint: WebhookEndpointId, queue: &[u8; 16]);
        read read_delivery_line();
    }

    /// A message that waits for an attempt to deliver it, by when that is.
    due_delivery(account, endpoint: WebhookEndpointId, at: Timestamp, place: Place)
        = (account, endpoint, at, place.queue, place.number)
        -> DueAt [guarded by EndpointQueue] {
        /// The messages that wait for an endpoint.
        range due_deliveries(account, endpoint: WebhookEndpointId);
        read read_due_delivery();
    }

    /// The queue of an endpoint, which guards the messages in it.
    endpoint_queue(account, endpoint: WebhookEndpointId) -> EndpointQueue;

    /// Endpoints with messages that wait, of all accounts, by when they are looked at next.
    endpoint_turn(at: Timestamp, account, endpoint: WebhookEndpointId) -> EndpointTurn {
        /// The endpoints to look at within a timeframe.
        range endpoint_turns();
        read read_endpoint_turn();
    }

    /// A part of the body that is sent of a message.
    message_body(account, message: MessageId, style: PayloadStyle, part: u16) -> MessageBody;

    /// Messages by whether all deliveries have succeeded, and by when they came up.
    message_by_outcome(account, of: &MessageEntry)
        = (account, [u8::from(of.is_delivered())], of.created_at, of.id) -> Nothing {
        list messages_of_outcome(account, is_delivered: &[u8; 1]);
    }

    /// Messages, by when they came up.
    message_by_time(account, of: &MessageEntry) = (account, of.created_at, of.id) -> Nothing {
        list messages(account);
    }

    /// Messages of a type, by when they came up.
    message_by_type(account, of: &MessageEntry)
        = (account, (of.message_type.as_str(), [0]), of.created_at, of.id) -> Nothing {
        list messages_of_type(account, message_type: (&str, [u8; 1]));
    }

    /// Messages of all accounts, by when they are removed.
    message_expiry(at: Timestamp, account, message: MessageId) -> MessageExpiry {
        /// The messages to remove within a timeframe.
        range message_expiries();
        read read_message_expiry();
    }

    /// What an alert has told in a message that is sent.
    message_told(account, message: MessageId) -> MessageTold;

    /// A message that waits.
    outbox(account, place: Place) = (account, place.queue, place.number) -> OutboxEntry {
        /// The messages of an account, by queue and number.
        scan waiting_messages(account);
        /// The messages of all accounts.
        scan all_waiting_messages();
        read read_outbox();
        pick written_message();
    }

    /// A message that endpoints are sent, without its body.
    sent_message(account, message: MessageId) -> MessageEntry;

    /// An endpoint.
    webhook_endpoint(account, endpoint: WebhookEndpointId)
        -> Endpoint [guarded by AccountHead], read_often {
        /// The endpoints of an account.
        scan webhook_endpoints(account);
        read read_webhook_endpoint();
    }
}
