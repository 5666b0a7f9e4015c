//! Why a pattern was refused.

use std::fmt;
use std::ops::Range;

use crate::util::diagnostic::{Cause, Diagnostic, Place};
use crate::util::meter::{LimitReached, Meter};

/// Why the pattern of a terminal was refused. The caller knows the terminal's name and adds it
/// ([`PatternError::into_diagnostic`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternError(Box<Inner>);

/// Boxed, so that results stay small where nothing goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: PatternErrorKind,
    message: String,
    help: Option<String>,
    /// The regex that is at fault and the bytes in it, when it is a regex.
    regex: Option<(String, Range<usize>)>,
    /// Where the regex stands in the grammar file.
    place: Option<Place>,
    /// The limit of building, if that is the reason.
    limit: Option<LimitReached>,
}

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PatternErrorKind {
    /// The regex is not one: Python's `re` refuses it as well.
    Syntax,
    /// Python's `re` accepts it, but no finite automaton over a lexeme alone does that.
    Unsupported,
    /// The automaton, or the nesting, exceeds a limit.
    TooLarge,
}

impl PatternErrorKind {
    /// The stable name in diagnostics.
    pub(crate) fn code(self) -> &'static str {
        match self {
            PatternErrorKind::Syntax => "regex-syntax",
            PatternErrorKind::Unsupported => "regex-unsupported",
            PatternErrorKind::TooLarge => "pattern-too-large",
        }
    }
}

impl PatternError {
    pub(crate) fn new(kind: PatternErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            help: None,
            regex: None,
            place: None,
            limit: None,
        }))
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(PatternErrorKind::TooLarge, message).help(
            "write an unbounded repetition (`+`, `*`) or a smaller count, or take the pattern \
             apart into \
             several terminals and a rule",
        )
    }

    /// The error of a pattern that nests deeper than `most`.
    pub(super) fn too_deep(most: usize) -> Self {
        Self::new(PatternErrorKind::TooLarge, format!("it nests more than {most} deep"))
            .help("define the inner parts as terminals of their own, or nest less")
    }

    /// The error of a schema where only a pattern can be.
    pub(super) fn schema() -> Self {
        Self::new(PatternErrorKind::Unsupported, "a JSON Schema is no pattern")
            .help("name the schema in a rule")
    }

    /// The error of an operand of a combination that looks beyond its text.
    pub(super) fn asks_within_algebra() -> Self {
        let what = "a part of an intersection or a complement looks at the text around the lexeme";
        Self::new(PatternErrorKind::Unsupported, what).help(
            "leave the look-around out, or write the combination as a regex: `A & ~B` as `(?!B$)A`",
        )
    }

    /// The error of a repetition whose bounds are the wrong way round.
    pub(super) fn counts_swapped(min: u32, max: u32) -> Self {
        let what = format!("it is to be repeated at least {min} and at most {max} times");
        Self::new(PatternErrorKind::Syntax, what).help("write the smaller count first")
    }

    /// The error of a plain string that has too many bytes.
    pub(super) fn string_too_long(bytes: usize, meter: &Meter) -> Self {
        let message =
            format!("a string of {bytes} bytes makes more than {} states", meter.states());
        Self::new(PatternErrorKind::TooLarge, message)
            .help("take the string apart into several terminals")
            .beyond(meter.too_many_states())
    }

    /// Says what to write instead.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.0.help = Some(text.into());
        self
    }

    /// Says which limit of building was reached.
    pub(crate) fn beyond(mut self, limit: LimitReached) -> Self {
        self.0.limit = Some(limit);
        self
    }

    /// Says which bytes of which regex.
    pub(crate) fn within(mut self, regex: &str, span: Range<usize>, place: Option<&Place>) -> Self {
        self.0.regex = Some((regex.to_owned(), span));
        self.0.place = place.cloned();
        self
    }

    /// The limit of building at which this stopped, if one was reached.
    pub(crate) fn limit(&self) -> Option<&LimitReached> {
        self.0.limit.as_ref()
    }

    /// What is wrong, in words.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// What kind of fault it is.
    pub(crate) fn kind(&self) -> PatternErrorKind {
        self.0.kind
    }

    /// The bytes of the regex that are at fault, when it is a regex and the place is known.
    #[cfg(test)]
    pub(crate) fn span(&self) -> Option<Range<usize>> {
        self.0.regex.as_ref().map(|(_, span)| span.clone())
    }

    /// The error as a finding about terminal `name`; `place` stands in where the regex has no place
    /// itself.
    pub(crate) fn into_diagnostic(self, name: &str, place: Option<&Place>) -> Diagnostic {
        self.about(&format!("the pattern of terminal {name}"), place)
    }

    /// The same about a pattern that is no terminal's.
    pub(crate) fn about(self, subject: &str, place: Option<&Place>) -> Diagnostic {
        let excerpt = self.excerpt();
        let mut diagnostic =
            Diagnostic::error(self.0.kind.code(), format!("{subject}: {}", self.0.message))
                .at(self.0.place.or_else(|| place.cloned()));
        diagnostic.example = excerpt;
        diagnostic.help = self.0.help;
        diagnostic.cause = self.0.limit.map(Cause::Limit);
        diagnostic
    }

    /// The line of the regex with a caret line under the fault. Long lines are cut.
    pub(super) fn excerpt(&self) -> Option<String> {
        const BEFORE: usize = 40;
        const LENGTH: usize = 72;
        let (regex, span) = self.0.regex.as_ref()?;
        let line_start = regex[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let before: Vec<char> = regex[line_start..span.start].chars().collect();
        let cut = before.len().saturating_sub(BEFORE);
        let shown = |c: char| if c.is_control() { '\u{FFFD}' } else { c };
        let mut line: String = before[cut..].iter().copied().map(shown).collect();
        let rest = regex[span.start..].split('\n').next().unwrap_or_default();
        line.extend(rest.chars().take(LENGTH).map(shown));
        let width =
            regex[span.clone()].chars().take_while(|&c| c != '\n').take(LENGTH).count().max(1);
        Some(format!("{line}\n{}{}", " ".repeat(before.len() - cut), "^".repeat(width)))
    }
}

impl From<LimitReached> for PatternError {
    fn from(limit: LimitReached) -> Self {
        let mut error = Self::new(PatternErrorKind::TooLarge, limit.to_string()).help(limit.help());
        error.0.limit = Some(limit);
        error
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if let Some(excerpt) = self.excerpt() {
            write!(f, "\n  {}", excerpt.replace('\n', "\n  "))?;
        }
        if let Some(help) = &self.0.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PatternError {}
