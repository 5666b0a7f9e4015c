//! The part of the Protocol Buffers wire format that a SentencePiece model needs: fields, in order,
//! by number.

/// The value of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Integers, booleans and enumerations; negative ones in two's complement.
    Varint(u64),
    /// Strings, bytes and messages.
    Bytes(&'a [u8]),
    /// Numbers of eight bytes.
    Fixed64,
    /// Numbers of four bytes, as a float.
    Float(f32),
}

/// The fields of a message; iteration ends after an error.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Returns the fields of `message`.
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn varint(&mut self) -> Result<u64, &'static str> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or("a number is cut off")?;
            self.rest = rest;
            // Bits past the 64th are dropped, as other readers do.
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number has more than ten bytes")
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], &'static str> {
        let taken =
            usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length));
        let (value, rest) = taken.ok_or("a field is longer than the message that contains it")?;
        self.rest = rest;
        Ok(value)
    }

    fn field(&mut self) -> Result<(u64, Value<'a>), &'static str> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => {
                self.take(8)?;
                Value::Fixed64
            }
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(length)?)
            }
            5 => {
                let bytes = self.take(4)?;
                Value::Float(bytes.try_into().map_or(0.0, f32::from_le_bytes))
            }
            _ => return Err("a field has a type that is not used"),
        };
        Ok((tag >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_of_fields() {
        let message = [
            0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 0, 0, 0x80, 0x3f, 0x21, 1, 2, 3, 4, 5, 6,
            7, 8,
        ];
        let fields: Result<Vec<_>, _> = Fields::new(&message).collect();
        let expected = vec![
            (1, Value::Varint(150)),
            (2, Value::Bytes(b"hi")),
            (3, Value::Float(1.0)),
            (4, Value::Fixed64),
        ];
        assert_eq!(fields, Ok(expected));
    }

    #[test]
    fn negative_numbers_are_twos_complement() {
        let message = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Fields::new(&message).next(), Some(Ok((1, Value::Varint(u64::MAX)))));
    }

    #[test]
    fn a_message_cut_off_anywhere_is_an_error_and_ends() {
        for message in
            [&[0x08][..], &[0x80], &[0x0a, 5, 1], &[0x0b], &[0x0d, 1], &[0x09], &[0x08, 0xff]]
        {
            let fields: Vec<_> = Fields::new(message).collect();
            assert!(fields.len() == 1 && fields[0].is_err(), "{message:?}");
        }
        assert!(
            Fields::new(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1])
                .any(|f| f.is_err())
        );
    }
}
