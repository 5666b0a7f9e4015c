//! Files and standard input, which can be read only once.

use std::cell::Cell;
use std::io::Read;
use std::path::Path;

use crate::failure::Failure;

/// Reads the inputs that the arguments name.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    standard_input_taken: Cell<bool>,
}

impl Inputs {
    /// Returns the content of the file at `path`, or of standard input for `-`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or standard input is named twice.
    pub(crate) fn bytes(&self, path: &str) -> Result<Vec<u8>, Failure> {
        if path != "-" {
            return std::fs::read(path).map_err(|error| unreadable(path, &error));
        }
        self.take_standard_input()?;
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(path, &error))?;
        Ok(bytes)
    }

    /// Opens the same input, to be read in pieces.
    ///
    /// # Errors
    ///
    /// As [`Inputs::bytes`], except for errors after opening.
    pub(crate) fn open(&self, path: &str) -> Result<Box<dyn Read>, Failure> {
        if path != "-" {
            let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
            return Ok(Box::new(file));
        }
        self.take_standard_input()?;
        Ok(Box::new(std::io::stdin().lock()))
    }

    fn take_standard_input(&self) -> Result<(), Failure> {
        match self.standard_input_taken.replace(true) {
            true => Err(Failure::unusable("standard input (`-`) can be named only once")),
            false => Ok(()),
        }
    }

    /// Returns the same content as text, without a byte order mark.
    ///
    /// # Errors
    ///
    /// As [`Inputs::bytes`], and if the bytes are not UTF-8.
    pub(crate) fn text(&self, path: &str) -> Result<String, Failure> {
        let mut text = String::from_utf8(self.bytes(path)?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Failure::unusable(format_args!("{} is not UTF-8 at byte {at}", name(path)))
        })?;
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        Ok(text)
    }
}

/// Returns the name of the input at `path` in messages.
pub(crate) fn name(path: &str) -> &str {
    if path == "-" { "<stdin>" } else { path }
}

/// Returns whether `name` looks like the name of a built-in, and no file has that name.
pub(crate) fn is_bare_word(name: &str) -> bool {
    name != "-" && !name.contains(['/', '\\', '.']) && !Path::new(name).exists()
}

/// Returns the failure to read the input at `path`.
pub(crate) fn unreadable(path: &str, error: &std::io::Error) -> Failure {
    Failure::unusable(format_args!("cannot read {}: {error}", name(path)))
}
