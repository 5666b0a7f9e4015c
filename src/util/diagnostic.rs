//! Errors and warnings as plain data. The library never renders them; the command line does.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::meter::LimitReached;
use super::names::is_among;

/// The severity of a [`Diagnostic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// The grammar is used as it is.
    Warning,
    /// The grammar is refused.
    Error,
}

/// A finding about a grammar: what, where, an example, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Whether the grammar is refused.
    pub severity: Severity,
    /// A stable kebab-case name of the kind of finding, e.g. `undefined-symbol`.
    pub code: &'static str,
    /// The finding, in one sentence without a final stop.
    pub message: String,
    /// Name of the file as given by the caller (`"<grammar>"` if there is none), and the bytes in
    /// it. `None` if the finding belongs to no single place.
    pub place: Option<Place>,
    /// Further places, each with a short text.
    pub related: Vec<(Place, String)>,
    /// An example text that shows the fault, or an item listing; may have several lines.
    pub example: Option<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// The underlying error, if there is one.
    pub(crate) cause: Option<Cause>,
}

/// The underlying error of a finding.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    /// A limit of building was reached.
    Limit(LimitReached),
    /// An imported file cannot be read.
    Import(Arc<io::Error>),
}

impl Cause {
    pub(crate) fn error(&self) -> &(dyn Error + 'static) {
        match self {
            Self::Limit(limit) => limit,
            Self::Import(error) => &**error,
        }
    }
}

impl PartialEq for Cause {
    /// System errors are equal if they have the same kind: they cannot be compared further.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Limit(one), Self::Limit(other)) => one == other,
            (Self::Import(one), Self::Import(other)) => one.kind() == other.kind(),
            _ => false,
        }
    }
}

impl Eq for Cause {}

/// A place in a grammar file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// Name of the file as given by the caller; for imported files, the path of the import.
    pub source: Arc<str>,
    /// Byte offsets into that file.
    pub span: Range<usize>,
    /// Line of the first byte, from 1.
    pub line: u32,
    /// Column of the first byte in characters, from 1.
    pub column: u32,
}

impl Place {
    /// Returns the place of `span` in `text`, the content of `source`.
    pub(crate) fn new(source: &Arc<str>, text: &str, span: Range<usize>) -> Self {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            source: source.clone(),
            line: before.bytes().filter(|&b| b == b'\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
            span,
        }
    }
}

impl Place {
    /// Returns whether `other` is within this place.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        let (start, end) = (self.span.start, self.span.end);
        self.source == other.source && start <= other.span.start && other.span.end <= end
    }
}

impl Diagnostic {
    /// Creates an error of the given kind.
    pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message.into())
    }

    /// Creates a warning of the given kind.
    pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message.into())
    }

    fn new(severity: Severity, code: &'static str, message: String) -> Self {
        Self {
            severity,
            code,
            message,
            place: None,
            related: Vec::new(),
            example: None,
            help: None,
            cause: None,
        }
    }

    /// Creates the error that building reached a limit, with the phase's name for it.
    pub(crate) fn of_limit(code: &'static str, limit: LimitReached) -> Self {
        let mut error = Self::error(code, limit.to_string()).help(limit.help());
        error.cause = Some(Cause::Limit(limit));
        error
    }

    /// Returns the limit of building that was reached, if that is the reason.
    pub fn limit(&self) -> Option<&LimitReached> {
        match &self.cause {
            Some(Cause::Limit(limit)) => Some(limit),
            _ => None,
        }
    }

    /// Sets the underlying error.
    pub(crate) fn because(mut self, cause: Cause) -> Self {
        self.cause = Some(cause);
        self
    }

    /// Sets the place.
    pub(crate) fn at(mut self, place: impl Into<Option<Place>>) -> Self {
        self.place = place.into();
        self
    }

    /// Adds a further place.
    pub(crate) fn related(mut self, place: Place, text: impl Into<String>) -> Self {
        self.related.push((place, text.into()));
        self
    }

    /// Adds an example.
    pub(crate) fn example(mut self, text: impl Into<String>) -> Self {
        self.example = Some(text.into());
        self
    }

    /// Adds a suggestion of what to write instead.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

/// Kinds of findings of which a grammar can have any number, one for each name in it. If one cause
/// leads to many, the first ones show it.
const REPEATED: &str = "\
    dead-alternative|empty-terminal|regex-unsupported|reversed-range|rule-priority|set-of-signs|\
    shadowed-terminal|unproductive|unreachable|unused-rule|unused-terminal";

/// Number of findings of such a kind that are shown.
const SHOWN: usize = 4;

/// Removes findings that repeat others, and counts them there. Findings are similar if they have
/// the same code and the same help.
pub(crate) fn fold(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut alike: HashMap<(Severity, &'static str, Option<String>), Vec<usize>> = HashMap::new();
    for (index, finding) in
        findings.iter().enumerate().filter(|(_, finding)| is_among(REPEATED, finding.code))
    {
        alike
            .entry((finding.severity, finding.code, finding.help.clone()))
            .or_default()
            .push(index);
    }
    let mut findings: Vec<Option<Diagnostic>> = findings.into_iter().map(Some).collect();
    // A single extra finding is shown rather than counted.
    for group in alike.values().filter(|group| group.len() > SHOWN + 1) {
        let (shown, rest) = group.split_at(SHOWN);
        if let Some(Some(last)) = shown.last().map(|&last| &mut findings[last]) {
            last.message.push_str(&format!("; and {} more like it", rest.len()));
        }
        rest.iter().for_each(|&index| findings[index] = None);
    }
    findings.into_iter().flatten().collect()
}

/// Prints findings, each on lines of its own.
pub(crate) fn fmt_all(diagnostics: &[Diagnostic], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, diagnostic) in diagnostics.iter().enumerate() {
        if i > 0 {
            f.write_str("\n")?;
        }
        write!(f, "{diagnostic}")?;
    }
    Ok(())
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        if let Some(place) = &self.place {
            write!(f, "{}:{}:{}: ", place.source, place.line, place.column)?;
        }
        write!(f, "{severity}[{}]: {}", self.code, self.message)?;
        if let Some(example) = &self.example {
            write!(f, "\n  example: {}", example.replace('\n', "\n  "))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}
