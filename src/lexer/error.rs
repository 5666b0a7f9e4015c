//! Errors of patterns.

use std::fmt;
use std::ops::Range;

use crate::util::diagnostic::{Cause, Diagnostic, Place};
use crate::util::meter::{LimitReached, Meter};

/// The reason why the pattern of a terminal was refused. The caller knows the terminal's name and
/// adds it ([`PatternError::into_diagnostic`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternError(Box<Inner>);

/// Boxed, so that results stay small in the common case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: PatternErrorKind,
    message: String,
    help: Option<String>,
    /// The regex at fault and the byte range in it, if the pattern is a regex.
    regex: Option<(String, Range<usize>)>,
    /// Position of the regex in the grammar file.
    place: Option<Place>,
    /// The limit of building, if it is the reason.
    limit: Option<LimitReached>,
}

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PatternErrorKind {
    /// The regex is invalid: Python's `re` refuses it as well.
    Syntax,
    /// Python's `re` accepts it, but no finite automaton over a lexeme alone can express it.
    Unsupported,
    /// The automaton, or the nesting, exceeds a limit.
    TooLarge,
}

impl PatternErrorKind {
    /// Returns the stable name in diagnostics.
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
            "write an unbounded repetition (`+`, `*`) or a smaller count, or split the pattern \
             into several terminals and a rule",
        )
    }

    /// Returns the error of a pattern that nests deeper than `most`.
    pub(super) fn too_deep(most: usize) -> Self {
        Self::new(PatternErrorKind::TooLarge, format!("it is nested more than {most} levels deep"))
            .help("define the inner parts as separate terminals, or reduce the nesting")
    }

    /// Returns the error of a schema where only a pattern is allowed.
    pub(super) fn schema() -> Self {
        Self::new(PatternErrorKind::Unsupported, "a JSON Schema is not a pattern")
            .help("use the schema in a rule")
    }

    /// Returns the error of an operand of a combination that looks beyond its text.
    pub(super) fn asks_within_algebra() -> Self {
        let what = "an operand of an intersection or a complement depends on the text around the \
                    lexeme";
        Self::new(PatternErrorKind::Unsupported, what).help(
            "remove the look-around, or write the combination as a regex: `A & ~B` as `(?!B$)A`",
        )
    }

    /// Returns the error of a repetition whose bounds are swapped.
    pub(super) fn counts_swapped(min: u32, max: u32) -> Self {
        let what = format!("a repetition has the minimum {min}, which is above its maximum {max}");
        Self::new(PatternErrorKind::Syntax, what).help("write the smaller count first")
    }

    /// Returns the error of a plain string that has too many bytes.
    pub(super) fn string_too_long(bytes: usize, meter: &Meter) -> Self {
        let message =
            format!("a string of {bytes} bytes needs more than {} states", meter.states());
        Self::new(PatternErrorKind::TooLarge, message)
            .help("split the string into several terminals")
            .beyond(meter.too_many_states())
    }

    /// Adds a suggestion of what to write instead.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.0.help = Some(text.into());
        self
    }

    /// Sets the limit of building that was reached.
    pub(crate) fn beyond(mut self, limit: LimitReached) -> Self {
        self.0.limit = Some(limit);
        self
    }

    /// Sets the regex and the bytes at fault.
    pub(crate) fn within(mut self, regex: &str, span: Range<usize>, place: Option<&Place>) -> Self {
        self.0.regex = Some((regex.to_owned(), span));
        self.0.place = place.cloned();
        self
    }

    /// Returns the limit of building that was reached, if any.
    pub(crate) fn limit(&self) -> Option<&LimitReached> {
        self.0.limit.as_ref()
    }

    /// Returns the message.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the kind of the fault.
    pub(crate) fn kind(&self) -> PatternErrorKind {
        self.0.kind
    }

    /// Returns the bytes of the regex at fault, if the pattern is a regex and the place is known.
    #[cfg(test)]
    pub(crate) fn span(&self) -> Option<Range<usize>> {
        self.0.regex.as_ref().map(|(_, span)| span.clone())
    }

    /// Returns the error as a diagnostic about terminal `name`; `place` is used if the regex has no
    /// place itself.
    pub(crate) fn into_diagnostic(self, name: &str, place: Option<&Place>) -> Diagnostic {
        self.about(&format!("the pattern of terminal {name}"), place)
    }

    /// Returns the same about a pattern that is not a terminal's.
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

    /// Returns the line of the regex with a caret line under the fault. Long lines are cut.
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
