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
    /// Standard output; `json` says whom it is for.
    pub(crate) fn new(json: bool) -> Self {
        Self { out: BufWriter::with_capacity(1 << 16, io::stdout().lock()), json }
    }

    /// Whether programs read this: then only [`Output::json`] is to be used.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether escape sequences for colour are wanted.
    pub(crate) fn is_styled(&self) -> bool {
        is_styled(io::stdout().is_terminal())
    }

    /// Writes text as it stands.
    pub(crate) fn text(&mut self, text: fmt::Arguments<'_>) -> Result<(), Failure> {
        Ok(self.out.write_fmt(text)?)
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Writes one object on a line of its own.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer(&mut self.out, value).map_err(io::Error::from)?;
        Ok(self.out.write_all(b"\n")?)
    }

    /// Hands on what was written, so that readers of slow commands see it.
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

/// What `--color` says, once it is known.
static COLOR: OnceLock<Color> = OnceLock::new();

/// Takes note of `--color`.
pub(crate) fn set_color(color: Color) {
    let _ = COLOR.set(color);
}

/// Whether escape sequences are wanted on a stream: as `--color` says, else as
/// <https://no-color.org> has it.
pub(crate) fn is_styled(is_terminal: bool) -> bool {
    match COLOR.get() {
        Some(Color::Always) => true,
        Some(Color::Never) => false,
        _ => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

/// Says something on standard error. That nobody can read it is no reason to fail.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end_matches('\n'));
}

/// Bytes as people can read them: in quotes, what is not printable escaped as in Rust.
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

/// A bar for long work, which only people at a terminal see.
pub(crate) fn progress(length: u64) -> ProgressBar {
    if io::stderr().is_terminal() {
        ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr())
    } else {
        ProgressBar::hidden()
    }
}
