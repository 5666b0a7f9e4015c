//! Indentation: the meaning of line starts and line ends, on complete texts.
//!
//! The definition. A line begins at the beginning of the text and after each NEWLINE lexeme that
//! was read as such. Ignored lexemes do not end the beginning of a line; a NEWLINE before any other
//! lexeme ends a blank line, and has no effect. The first lexeme that is neither is preceded by
//! INDENT or DEDENTs, depending on the width of the line. Between brackets NEWLINE is ignored. The
//! end of the text ends the last line, if that has begun, and all blocks. A lexeme that joins lines
//! cannot be the last one.

use super::spec::Indentation;

/// Columns with tabs of the given width, and with tabs of one column.
type Width = (usize, usize);

/// The effect of earlier lines and brackets on the next lexeme.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The widths of the open blocks except the outermost.
    widths: Vec<Width>,
    brackets: usize,
    /// In a line without a first lexeme so far: its ignored lexemes, and whether they join lines.
    beginning: Option<Vec<(Vec<u8>, bool)>>,
    /// Whether the last lexeme joins lines.
    joined: bool,
}

/// The effect of a line's first lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Indent(Width),
    /// This many blocks end.
    Dedent(usize),
}

impl Layout {
    /// Returns the layout at the beginning of a text.
    pub fn begin() -> Self {
        Self { beginning: Some(Vec::new()), ..Self::default() }
    }

    /// Whether a NEWLINE has no effect here.
    pub fn is_loose(&self) -> bool {
        self.brackets > 0 || self.beginning.is_some()
    }

    pub fn begins_line(&self) -> bool {
        self.beginning.is_some()
    }

    /// Whether the text must not end here.
    pub fn is_joined(&self) -> bool {
        self.joined
    }

    /// Returns the number of open blocks.
    pub fn blocks(&self) -> usize {
        self.widths.len()
    }

    /// Returns the effect of the first lexeme of this line, or `None` if the line's width is wrong.
    pub fn step(&self, rules: &Indentation) -> Option<Step> {
        let width = width(self.beginning.as_ref()?, rules.tab);
        let all = [&[(0, 0)], self.widths.as_slice()].concat();
        let innermost = all[all.len() - 1];
        if width.0 > innermost.0 {
            let fits = width.1 > innermost.1
                && rules.levels.is_none_or(|levels| self.widths.len() < levels);
            return fits.then_some(Step::Indent(width));
        }
        let at = all.iter().position(|&open| open == width)?;
        Some(Step::Dedent(all.len() - 1 - at))
    }

    /// Returns the layout after the beginning of a line.
    pub fn after_step(&self, step: Step) -> Self {
        let mut after = Self { beginning: None, ..self.clone() };
        match step {
            Step::Indent(width) => after.widths.push(width),
            Step::Dedent(count) => after.widths.truncate(after.widths.len() - count),
        }
        after
    }

    /// Returns the layout after an ignored lexeme, or a NEWLINE without effect.
    pub fn after_ignored(&self, terminal: usize, lexeme: &[u8], rules: &Indentation) -> Self {
        let mut after = self.clone();
        after.joined = rules.join == Some(terminal);
        if let Some(lexemes) = &mut after.beginning {
            if terminal == rules.newline {
                lexemes.clear();
            } else {
                lexemes.push((lexeme.to_vec(), after.joined));
            }
        }
        after
    }

    /// Returns the layout after a terminal that the parser has taken.
    pub fn after_terminal(&self, terminal: usize, rules: &Indentation) -> Self {
        let mut after = Self { joined: false, ..self.clone() };
        if terminal == rules.newline {
            after.beginning = Some(Vec::new());
        } else if rules.open.contains(&terminal) {
            after.brackets += 1;
        } else if rules.close.contains(&terminal) {
            after.brackets = after.brackets.saturating_sub(1);
        }
        after
    }

    /// Returns whether the end of the text, which ends all blocks here, also ends a line; `None` if
    /// it ends neither.
    pub fn ends_line(&self) -> Option<bool> {
        (self.brackets == 0).then_some(self.beginning.is_none())
    }
}

/// Returns the width of the blanks at the beginning of a line. If the first lexeme after them joins
/// lines, it determines the width (both columns) if there were blanks, and is ignored if there were
/// none.
fn width(lexemes: &[(Vec<u8>, bool)], tab: usize) -> Width {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | 0x0c);
    let mut blanks: Vec<u8> = Vec::new();
    let mut open = true;
    for (lexeme, joins) in lexemes {
        let leading = lexeme.iter().take_while(|byte| is_blank(byte)).count();
        if open {
            blanks.extend(&lexeme[..leading]);
            open = leading == lexeme.len();
        }
        if *joins {
            match columns(&blanks, tab) {
                0 => (blanks, open) = (Vec::new(), true),
                column => return (column, column),
            }
        }
    }
    (columns(&blanks, tab), columns(&blanks, 1))
}

fn columns(blanks: &[u8], tab: usize) -> usize {
    let behind_form_feed = blanks.rsplit(|&byte| byte == 0x0c).next().unwrap_or_default();
    behind_form_feed.iter().fold(0, |column, &byte| match byte {
        b'\t' => column - column % tab + tab,
        _ => column + 1,
    })
}
