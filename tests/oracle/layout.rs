//! Indentation: what the beginnings and ends of lines say, on complete texts.
//!
//! The definition. A line begins at the beginning of the text and behind each NEWLINE lexeme that
//! was read as such. Its ignored lexemes leave it beginning; a NEWLINE before any other lexeme ends
//! a blank line, and counts for nothing. The first lexeme that is neither is preceded by INDENT or
//! DEDENTs, as the width of the line has it. Between brackets NEWLINE is ignored. The text ends its
//! last line, if that has begun, and all blocks. A lexeme that joins lines does not stand last.

use super::spec::Indentation;

/// Columns with tabs as wide as said, and with tabs of one column.
type Width = (usize, usize);

/// What lines before and brackets mean to the next lexeme.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The widths of the open blocks but the outermost.
    widths: Vec<Width>,
    brackets: usize,
    /// Of a line whose first lexeme has not come: the ignored lexemes in it, and whether they join
    /// lines.
    beginning: Option<Vec<(Vec<u8>, bool)>>,
    /// Whether the last lexeme joins lines.
    joined: bool,
}

/// What happens where a line's first lexeme begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Indent(Width),
    /// So many blocks end.
    Dedent(usize),
}

impl Layout {
    /// At the beginning of a text.
    pub fn begin() -> Self {
        Self { beginning: Some(Vec::new()), ..Self::default() }
    }

    /// Whether NEWLINE counts for nothing here.
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

    /// How many blocks are open.
    pub fn blocks(&self) -> usize {
        self.widths.len()
    }

    /// What the first lexeme of this line does, or `None` where its width is wrong.
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

    /// Behind the beginning of a line.
    pub fn after_step(&self, step: Step) -> Self {
        let mut after = Self { beginning: None, ..self.clone() };
        match step {
            Step::Indent(width) => after.widths.push(width),
            Step::Dedent(count) => after.widths.truncate(after.widths.len() - count),
        }
        after
    }

    /// Behind an ignored lexeme, or a NEWLINE that counts for nothing.
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

    /// Behind a terminal that the parser has taken.
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

    /// Whether the end of the text ends a line here, and blocks; else it does neither.
    pub fn ends_line(&self) -> Option<bool> {
        (self.brackets == 0).then_some(self.beginning.is_none())
    }
}

/// The width of the blanks that a line begins with. Where the first thing behind them joins lines,
/// it settles the width (both columns) if there were blanks, and is forgotten if there were none.
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
