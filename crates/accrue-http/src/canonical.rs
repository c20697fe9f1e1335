/// A text that equal values have in common, and no others.
#[derive(Debug, Default)]
pub(crate) struct Canonical(String);

impl Canonical {
    /// Begins the text of a body of some bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        let mut text = String::with_capacity(bytes);
        text.push_str("json ");
        Self(text)
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    /// Begins an array or an object.
    pub(crate) fn open(&mut self, mark: char) {
        self.0.push(mark);
    }

    /// Ends an array or an object.
    pub(crate) fn close(&mut self, mark: char) {
        self.0.push(mark);
    }

    /// Ends an item of an array, or a member of an object: those in the order of their names.
    pub(crate) fn end_item(&mut self) {
        self.0.push(',');
    }

    /// Begins a member.
    pub(crate) fn name(&mut self, name: &str) {
        self.text(name);
        self.0.push(':');
    }

    /// Writes a member that is a string.
    pub(crate) fn member(&mut self, name: &str, value: &str) {
        self.name(name);
        self.text(value);
        self.end_item();
    }

    /// Writes a string, with its length before it: nothing in it needs an escape.
    pub(crate) fn text(&mut self, text: &str) {
        self.integer(i64::try_from(text.len()).unwrap_or(i64::MAX));
        self.0.push('"');
        self.0.push_str(text);
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.0.push_str(if value { "true" } else { "false" });
    }

    pub(crate) fn null(&mut self) {
        self.0.push_str("null");
    }

    /// Writes a number as its digits without zeros around them and a power of ten: 1, 1.0 and 10e-1 are
    /// one number. It is worked out on the text, so that 1e3000000 costs nothing.
    pub(crate) fn number(&mut self, number: &str) {
        let (sign, unsigned) = match number.strip_prefix('-') {
            Some(unsigned) => ("-", unsigned),
            None => ("", number),
        };
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let zero = |digit| digit == '0';
        let last = fraction.trim_end_matches(zero);
        let first = if last.is_empty() { whole.trim_end_matches(zero) } else { whole };
        let cut = mantissa_digits(whole, fraction).saturating_sub(mantissa_digits(first, last));
        let first = first.trim_start_matches(zero);
        let last = if first.is_empty() { last.trim_start_matches(zero) } else { last };
        if first.is_empty() && last.is_empty() {
            return self.0.push('0');
        }
        let (cut, behind) = (i64::try_from(cut), i64::try_from(fraction.len()));
        let power = match (exponent.parse::<i64>(), cut, behind) {
            (Ok(exponent), Ok(cut), Ok(behind)) => {
                exponent.checked_add(cut).and_then(|power| power.checked_sub(behind))
            }
            _ => None,
        };
        match power {
            Some(power) => {
                for piece in [sign, first, last, "e"] {
                    self.0.push_str(piece);
                }
                self.integer(power);
            }
            // An exponent that no integer holds is compared as it is spelled.
            None => self.0.push_str(number),
        }
    }

    fn integer(&mut self, value: i64) {
        // Most are the lengths of short texts.
        if let Some(small) = u8::try_from(value).ok().filter(|small| *small < 100) {
            let digit = |digit: u8| char::from(b'0'.saturating_add(digit));
            if small >= 10 {
                self.0.push(digit(small / 10));
            }
            return self.0.push(digit(small % 10));
        }
        if value < 0 {
            self.0.push('-');
        }
        let (mut digits, mut rest) = ([b'0'; 20], value.unsigned_abs());
        let mut used = 0;
        for digit in digits.iter_mut().rev() {
            *digit = b'0'.saturating_add(u8::try_from(rest % 10).unwrap_or_default());
            (used, rest) = (used + 1, rest / 10);
            if rest == 0 {
                break;
            }
        }
        let digits = digits.iter().skip(digits.len().saturating_sub(used));
        self.0.extend(digits.map(|digit| char::from(*digit)));
    }
}

const fn mantissa_digits(whole: &str, fraction: &str) -> usize {
    whole.len().saturating_add(fraction.len())
}
