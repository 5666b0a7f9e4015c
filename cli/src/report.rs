//! Findings about a grammar: for people, with the source line and a caret, and for programs.

use std::io::IsTerminal as _;

use annotate_snippets::{
    AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};
use lrmask::{Diagnostic, Place, Severity};
use serde::Serialize;

use crate::grammars::{Source, Sources};
use crate::output;

/// Renders findings one after the other, for standard error.
pub(crate) fn for_stderr(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    render(diagnostics, sources, output::is_styled(std::io::stderr().is_terminal()))
}

/// Renders findings one after the other, each followed by an empty line.
pub(crate) fn render(diagnostics: &[Diagnostic], sources: &Sources, styled: bool) -> String {
    let renderer = renderer(styled);
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&renderer.render(&[group(diagnostic, sources)]));
        text.push_str("\n\n");
    }
    text
}

/// Returns the renderer of this program.
pub(crate) fn renderer(styled: bool) -> Renderer {
    if styled { Renderer::styled() } else { Renderer::plain() }
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &Sources) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        _ => Level::WARNING,
    };
    let mut group =
        Group::with_title(level.primary_title(&*diagnostic.message).id(diagnostic.code));

    // All places of one file are shown in one picture; files are in the order in which they are
    // first named.
    let mut marks: Vec<Mark<'a>> = Vec::new();
    if let Some(place) = &diagnostic.place {
        let (source, line, column) = (&*place.source, place.line, place.column);
        marks.push(Mark { source, span: place.span.clone(), line, column, label: None });
    }
    for (place, label) in &diagnostic.related {
        let (source, line, column) = (&*place.source, place.line, place.column);
        marks.push(Mark { source, span: place.span.clone(), line, column, label: Some(label) });
    }
    let mut shown: Vec<&str> = Vec::new();
    for first in &marks {
        if shown.contains(&first.source) {
            continue;
        }
        shown.push(first.source);
        let here: Vec<&Mark<'a>> =
            marks.iter().filter(|mark| mark.source == first.source).collect();
        group = match sources.get(first.source) {
            Some(source) => group.element(picture(&source, &here)),
            None => group.element(
                Origin::path(first.source)
                    .line(first.line as usize)
                    .char_column(first.column as usize),
            ),
        };
    }
    if let Some(example) = &diagnostic.example {
        let joint = if example.contains('\n') { "\n" } else { " " };
        let example = normalize_untrusted_str(example);
        group = group.element(Level::NOTE.message(format!("for example:{joint}{example}")));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
    }
    group
}

/// A place to be marked; the first one of a finding has no label.
struct Mark<'a> {
    source: &'a str,
    span: std::ops::Range<usize>,
    line: u32,
    column: u32,
    label: Option<&'a String>,
}

/// Returns the lines of `source` that contain the marks, and no others: the renderer processes
/// everything that it is given.
fn picture<'a>(
    source: &Source,
    marks: &[&Mark<'a>],
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let text = &*source.text;
    let from = marks.iter().map(|mark| mark.span.start).min().unwrap_or(0).min(text.len());
    let to = marks.iter().map(|mark| mark.span.end).max().unwrap_or(0).clamp(from, text.len());
    let bytes = text.as_bytes();
    let from = bytes[..from].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let to = bytes[to..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| to + at);
    // Lines begin and end at characters.
    let lines = text.get(from..to).unwrap_or_default().to_owned();
    let line = bytes[..from].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let at = |offset: usize| {
        let mut offset = offset.saturating_sub(from).min(lines.len());
        while !lines.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let annotations: Vec<_> = (marks.iter())
        .map(|mark| {
            let span = at(mark.span.start)..at(mark.span.end.max(mark.span.start));
            match mark.label {
                Some(label) => AnnotationKind::Context.span(span).label(label.as_str()),
                None => AnnotationKind::Primary.span(span),
            }
        })
        .collect();
    Snippet::source(lines).path(source.name.to_string()).line_start(line).annotations(annotations)
}

/// A finding for programs.
#[derive(Debug, Serialize)]
pub(crate) struct Finding<'a> {
    severity: &'static str,
    code: &'a str,
    message: &'a str,
    place: Option<Spot>,
    related: Vec<Related<'a>>,
    example: Option<&'a str>,
    help: Option<&'a str>,
}

/// A place for programs.
#[derive(Debug, Serialize)]
struct Spot {
    file: String,
    start: usize,
    end: usize,
    line: u32,
    column: u32,
}

/// A further place for programs.
#[derive(Debug, Serialize)]
struct Related<'a> {
    place: Spot,
    message: &'a str,
}

/// Returns findings for programs.
pub(crate) fn findings<'a>(diagnostics: &'a [Diagnostic], sources: &Sources) -> Vec<Finding<'a>> {
    diagnostics.iter().map(|diagnostic| finding(diagnostic, sources)).collect()
}

fn finding<'a>(diagnostic: &'a Diagnostic, sources: &Sources) -> Finding<'a> {
    let spot = |place: &Place| Spot {
        file: sources
            .get(&place.source)
            .map_or_else(|| place.source.to_string(), |file| file.name.to_string()),
        start: place.span.start,
        end: place.span.end,
        line: place.line,
        column: place.column,
    };
    Finding {
        severity: match diagnostic.severity {
            Severity::Error => "error",
            _ => "warning",
        },
        code: diagnostic.code,
        message: &diagnostic.message,
        place: diagnostic.place.as_ref().map(spot),
        related: (diagnostic.related.iter())
            .map(|(place, message)| Related { place: spot(place), message })
            .collect(),
        example: diagnostic.example.as_deref(),
        help: diagnostic.help.as_deref(),
    }
}
