use std::{future::poll_fn, io::Read, pin::pin};

use accrue::Pace;
use bytes::Bytes;
use flate2::bufread::GzDecoder;
use http::{
    HeaderMap,
    header::{CONTENT_ENCODING, CONTENT_LENGTH},
};

use super::Share;
use crate::problem::{Problem, Violations};

/// Reads bodies, no more of them than is allowed.
pub(crate) struct Body {
    encoding: Encoding,
    most: usize,
}

enum Encoding {
    Identity,
    Gzip,
}

impl Body {
    /// Looks at what the headers say of a body, before any of it is read.
    pub(crate) fn declared(headers: &HeaderMap, most: usize) -> Result<Self, Problem> {
        let declared = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        let declared = declared.and_then(|length| length.parse::<u64>().ok());
        if declared.is_some_and(|length| usize::try_from(length).map_or(true, |it| it > most)) {
            return Err(too_large(most));
        }
        let encodings: Vec<_> = headers.get_all(CONTENT_ENCODING).iter().collect();
        let encoding = match encodings.as_slice() {
            [] => Encoding::Identity,
            [one] if one.as_bytes().eq_ignore_ascii_case(b"identity") => Encoding::Identity,
            [one] if one.as_bytes().eq_ignore_ascii_case(b"gzip") => Encoding::Gzip,
            _ => {
                let message = "is not known, expected gzip or none";
                return Err(Problem::invalid(Violations::one("/Content-Encoding", message)));
            }
        };
        Ok(Self { encoding, most })
    }

    /// Reads a body, and unpacks it. What it takes is noted in the share of the request.
    pub(crate) async fn read<B>(
        self,
        body: B,
        share: &mut Share<'_>,
        pace: &Pace,
    ) -> Result<Bytes, Problem>
    where
        B: http_body::Body<Data = Bytes>,
    {
        let packed = self.collect(body, share).await?;
        match self.encoding {
            Encoding::Identity => Ok(packed),
            Encoding::Gzip => self.unpack(&packed, share, pace).await,
        }
    }

    async fn collect<B>(&self, body: B, share: &mut Share<'_>) -> Result<Bytes, Problem>
    where
        B: http_body::Body<Data = Bytes>,
    {
        let mut body = pin!(body);
        let mut first: Option<Bytes> = None;
        let mut whole = Vec::new();
        let mut length = 0_usize;
        while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
            let Ok(frame) = frame else {
                return Err(Problem::invalid(Violations::one("", "the body broke off")));
            };
            // Trailers say nothing here.
            let Ok(data) = frame.into_data() else { continue };
            length = length.saturating_add(data.len());
            if length > self.most {
                return Err(too_large(self.most));
            }
            share.take(data.len())?;
            // Most bodies come as one piece, which need not be copied.
            match (&first, whole.is_empty()) {
                (None, true) => first = Some(data),
                (Some(begin), true) => {
                    whole.extend_from_slice(begin);
                    whole.extend_from_slice(&data);
                }
                (_, false) => whole.extend_from_slice(&data),
            }
        }
        Ok(if whole.is_empty() { first.unwrap_or_default() } else { whole.into() })
    }

    /// Unpacks one member: whoever packs a body writes one, and a million empty ones would take long.
    async fn unpack(
        &self,
        packed: &Bytes,
        share: &mut Share<'_>,
        pace: &Pace,
    ) -> Result<Bytes, Problem> {
        if packed.is_empty() {
            return Ok(Bytes::new());
        }
        let wrong = |message: &str| Problem::invalid(Violations::one("", message));
        let mut decoder = GzDecoder::new(&**packed);
        let mut whole = Vec::new();
        loop {
            let read = (&mut decoder).take(CHUNK).read_to_end(&mut whole);
            let read = read.map_err(|_| wrong("is not what gzip writes"))?;
            if read == 0 {
                break;
            }
            if whole.len() > self.most {
                return Err(too_large(self.most));
            }
            share.take(read)?;
            pace.spend_bytes(read).await;
        }
        match decoder.into_inner().is_empty() {
            true => Ok(whole.into()),
            false => Err(wrong("has something behind what gzip has packed, expected one member")),
        }
    }
}

/// How much is unpacked at once, in bytes.
const CHUNK: u64 = 32 * 1024;

fn too_large(most: usize) -> Problem {
    Problem::request_too_large(format!("the body has more than {most} bytes"))
}
