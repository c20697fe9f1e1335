use clap::Args;

/// Links for customers, who need no API key: documents of invoices, and a portal.
#[derive(Args, Clone, Debug, Default)]
pub struct LinkOptions {
    /// Makes documents of invoices, at addresses that begin with this one: the server's, as customers reach it
    ///
    /// `invoice_pdf` and the like are links then that nobody can guess, below `/documents`. Whoever has one
    /// needs no API key. Without the option they are null.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub documents: Option<String>,

    /// Makes sessions of customers in a portal: its address, which tokens are appended to
    ///
    /// What is found there is not part of this server. Without the option there are no sessions.
    #[arg(long, value_name = "ADDRESS", value_parser = beginning)]
    pub portal: Option<String>,

    /// Who bills: name and address, in lines that a semicolon ends
    #[arg(long, value_name = "LINES", requires = "documents")]
    pub seller: Option<String>,
}

const EXPECTED: &str = "expected an address, as in https://billing.example.com";

/// Reads an address that links begin with.
fn address(text: &str) -> Result<String, String> {
    match text.contains(['?', '#']) {
        true => Err(EXPECTED.to_owned()),
        false => beginning(text),
    }
}

/// Reads an address, or the beginning of one.
fn beginning(text: &str) -> Result<String, String> {
    let is_one = ["http://", "https://"].iter().any(|scheme| {
        text.strip_prefix(scheme).is_some_and(|rest| !rest.trim_end_matches('/').is_empty())
    });
    let is_plain = text.bytes().all(|of| of.is_ascii_graphic() && !b"\"<>".contains(&of));
    match is_one && is_plain {
        true => Ok(text.to_owned()),
        false => Err(EXPECTED.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_no_query() {
        for right in ["http://127.0.0.1:8080", "https://billing.example.com/x/"] {
            assert_eq!(address(right).as_deref(), Ok(right));
        }
        for wrong in ["", "billing.example.com", "https://", "ftp://x", "https://x?y", "http://x y"]
        {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
