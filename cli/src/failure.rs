//! Failures of commands.

use std::io;

/// The reason why a command could not answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong use or unreadable input; the message is complete, and may have several lines.
    Unusable(String),
    /// The reader of the output is gone, for example when it is piped into `head`: not worth a
    /// message.
    ReaderGone,
}

impl Failure {
    /// Returns wrong use or unreadable input, with a message of one line.
    pub(crate) fn unusable(message: impl std::fmt::Display) -> Self {
        Self::Unusable(format!("error: {message}"))
    }
}

/// Errors of writing; those of reading name their file and are created where the file is read.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::unusable(format_args!("cannot write the output: {error}")),
        }
    }
}
