//! Why a command could not answer.

use std::io;

/// Why a command could not answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong use or unreadable input; the message is complete, and may have several lines.
    Unusable(String),
    /// Nobody reads the output any more, as when it is piped into `head`: no reason to complain.
    ReaderGone,
}

impl Failure {
    /// Wrong use or unreadable input, said in one line.
    pub(crate) fn unusable(message: impl std::fmt::Display) -> Self {
        Self::Unusable(format!("error: {message}"))
    }
}

/// Errors of writing; those of reading name their file and are made where the file is read.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::unusable(format_args!("cannot write the output: {error}")),
        }
    }
}
