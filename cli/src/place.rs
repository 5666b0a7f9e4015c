//! Position of a byte in a text, as line and column.

/// A position in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPlace {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
    /// Start of the line, in bytes.
    pub(crate) line_start: usize,
}

impl TextPlace {
    /// The beginning of a text.
    pub(crate) const START: Self = Self { line: 1, column: 1, line_start: 0 };

    /// Returns the position of `offset` in a piece of a text. The piece begins at this position,
    /// `first` bytes into the text.
    pub(crate) fn within(self, first: usize, piece: &[u8], offset: usize) -> Self {
        let place = Self::of(piece, offset);
        match place.line {
            1 => Self { column: self.column + place.column - 1, ..self },
            _ => Self {
                line: self.line + place.line - 1,
                column: place.column,
                line_start: first + place.line_start,
            },
        }
    }

    /// Returns the position of the character that contains the byte at `offset`. Invalid UTF-8
    /// counts as the characters that its bytes would begin.
    pub(crate) fn of(text: &[u8], offset: usize) -> Self {
        let mut offset = offset.min(text.len());
        let mut steps = 0;
        while steps < 3 && offset > 0 && text.get(offset).is_some_and(|&byte| is_continuation(byte))
        {
            offset -= 1;
            steps += 1;
        }
        let before = &text[..offset];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        Self {
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: before[line_start..].iter().filter(|&&byte| !is_continuation(byte)).count() + 1,
            line_start,
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "a\näöü!".as_bytes();
        let place = |offset| {
            let place = TextPlace::of(text, offset);
            (place.line, place.column)
        };
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(1), (1, 2));
        assert_eq!(place(2), (2, 1));
        assert_eq!([place(4), place(5)], [(2, 2), (2, 2)]);
        assert_eq!(place(8), (2, 4));
        assert_eq!(place(99), (2, 5));
        // The same in pieces.
        for cut in (0..text.len()).filter(|&cut| !is_continuation(text[cut])) {
            let begun = TextPlace::START.within(0, &text[..cut], cut);
            for offset in cut..=text.len() {
                let piece = begun.within(cut, &text[cut..], offset - cut);
                assert_eq!(piece, TextPlace::of(text, offset), "{cut} {offset}");
            }
        }
    }
}
