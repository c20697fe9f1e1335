use std::{error::Error, time::Duration};

use accrue::{
    Billing, ExternalId, PaymentGateway,
    customer::{GatewayAccount, ListedPaymentMethod, PaymentMethodType},
    invoice::{PaymentInstrument, PaymentOutcome, StartedPayment},
};
use accrue_http::PaymentMethodSource;
use async_trait::async_trait;

/// How long nobody knows what becomes of a payment with the card that is asked first.
const ASKING_TIME: Duration = Duration::from_secs(60 * 60);

/// A payment gateway for tests: no money moves, and what becomes of a payment is decided by the number of
/// the card, which is in what the customer pays with.
///
/// It remembers nothing, and says the same of a payment however often it is asked.
#[derive(Clone, Debug)]
pub(crate) struct SandboxGateway {
    billing: Billing,
}

/// What a card does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Card {
    Pays,
    /// Its holder is asked first, and agrees after [`ASKING_TIME`].
    Asks,
    Declines,
}

impl SandboxGateway {
    pub(crate) fn new(billing: &Billing) -> Self {
        Self { billing: billing.clone() }
    }
}

#[async_trait]
impl PaymentGateway for SandboxGateway {
    async fn charge(&self, payment: &StartedPayment) -> Option<PaymentOutcome> {
        let transaction_id = Some(format!("sandbox-{}", payment.attempt_id));
        let received_at = match Card::of(&payment.instrument) {
            Card::Declines => return Some(PaymentOutcome::Declined { transaction_id }),
            Card::Pays => payment.started_at,
            Card::Asks => payment.started_at.saturating_add(ASKING_TIME),
        };
        (received_at <= self.billing.now())
            .then_some(PaymentOutcome::Succeeded { received_at, transaction_id })
    }
}

#[async_trait]
impl PaymentMethodSource for SandboxGateway {
    /// Lists one card, whose number is in the customer's id at the gateway; none where no digit is.
    async fn list(
        &self,
        of: &GatewayAccount,
    ) -> Result<Vec<ListedPaymentMethod>, Box<dyn Error + Send + Sync>> {
        let number = digits(&of.provider_id);
        if number.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![ListedPaymentMethod {
            external_id: ExternalId::parse(format!("pm_{number}"))?,
            method_type: PaymentMethodType::Card,
            is_default: true,
        }])
    }
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

impl Card {
    /// Finds the card by its number: the digits of a token, of a payment method, or of the id at the payment
    /// provider. A number that is none declines.
    fn of(instrument: &PaymentInstrument) -> Self {
        let text = match instrument {
            PaymentInstrument::Token(token) => token.as_str(),
            PaymentInstrument::Method { method_id, .. } => method_id.as_str(),
            PaymentInstrument::OfProvider(id) => id.as_str(),
            _ => "",
        };
        match digits(text).as_str() {
            "4242424242424242" | "5555555555554444" => Self::Pays,
            "4000000000003220" => Self::Asks,
            _ => Self::Declines,
        }
    }
}

#[cfg(test)]
mod tests {
    use accrue::Name;

    use super::*;

    #[test]
    fn a_card_is_known_by_its_number() {
        let token = |text: &str| Card::of(&PaymentInstrument::Token(text.to_owned()));
        for pays in ["4242424242424242", "tok_4242424242424242", "4242 4242 4242 4242"] {
            assert_eq!(token(pays), Card::Pays, "{pays}");
        }
        assert_eq!(token("tok-4000-0000-0000-3220"), Card::Asks);
        for declines in ["4000000000000002", "42424242424242424", "", "tok_visa"] {
            assert_eq!(token(declines), Card::Declines, "{declines}");
        }
        let id = Name::parse("cus_5555555555554444").unwrap();
        assert_eq!(Card::of(&PaymentInstrument::OfProvider(id.clone())), Card::Pays);
        let method_id = ExternalId::parse("pm_4000000000000002").unwrap();
        let method = PaymentInstrument::Method { provider_id: id, method_id };
        assert_eq!(Card::of(&method), Card::Declines, "the method counts, and not the account");
    }
}
