//! Standard output, for people or for programs; and notes on standard error.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write as _};
use std::sync::OnceLock;

use indicatif::{ProgressBar, ProgressDrawTarget};
use serde::Serialize;

use crate::failure::Failure;

/// Standard output, locked and buffered.
#[derive(Debug)]
pub(crate) struct Output {
    out: BufWriter<StdoutLock<'static>>,
    json: bool,
}

impl Output {
    /// Locks standard output; `json` says whether programs read it.
    pub(crate) fn new(json: bool) -> Self {
        Self { out: BufWriter::with_capacity(1 << 16, io::stdout().lock()), json }
    }

    /// Returns whether programs read this: then only [`Output::json`] may be used.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Returns whether to write escape sequences for colour.
    pub(crate) fn is_styled(&self) -> bool {
        is_styled(io::stdout().is_terminal())
    }

    /// Writes text unchanged.
    pub(crate) fn text(&mut self, text: fmt::Arguments<'_>) -> Result<(), Failure> {
        Ok(self.out.write_fmt(text)?)
    }

    /// Writes bytes unchanged.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Writes one object on its own line.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)?;
        Ok(self.out.write_all(b"\n")?)
    }

    /// Flushes the output, so that readers of slow commands see it.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}

/// Whether messages have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// At a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The value of `--color`, once it is known.
static COLOR: OnceLock<Color> = OnceLock::new();

/// Stores the value of `--color`.
pub(crate) fn set_color(color: Color) {
    let _ = COLOR.set(color);
}

/// Returns whether to write escape sequences to a stream: as set by `--color`, or else by the rules
/// of <https://no-color.org>.
pub(crate) fn is_styled(is_terminal: bool) -> bool {
    match COLOR.get() {
        Some(Color::Always) => true,
        Some(Color::Never) => false,
        _ => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

/// Writes a note to standard error. Failing to write it is not an error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end_matches('\n'));
}

/// Bytes in readable form: in quotes, with unprintable ones escaped as in Rust.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted<'b>(pub(crate) &'b [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for chunk in self.0.utf8_chunks() {
            write!(f, "{}", chunk.valid().escape_debug())?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        f.write_str("\"")
    }
}

/// Returns a progress bar for long work, visible only at a terminal.
pub(crate) fn progress(length: u64) -> ProgressBar {
    if io::stderr().is_terminal() {
        ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr())
    } else {
        ProgressBar::hidden()
    }
}
