//! Bytes as lower-case hexadecimal digits.

/// Writes two digits for each byte.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    let mut text = vec![0; bytes.len().saturating_mul(2)];
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
    String::from_utf8(text).unwrap_or_default()
}

/// Reads two digits for each byte; none where the text is anything else.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_reads_back(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let text = encode(&bytes);
            prop_assert_eq!(decode(&text), Some(bytes));
            prop_assert_eq!(decode(&format!("{text}0")), None);
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in ["0", "zz", "AB", "é", " 1"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
