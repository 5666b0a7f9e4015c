//! Files and standard input, which can be read only once.

use std::cell::Cell;
use std::io::Read;
use std::path::Path;

use crate::failure::Failure;

/// Reads what the arguments name.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    standard_input_taken: Cell<bool>,
}

impl Inputs {
    /// The content of the file at `path`, or of standard input for `-`.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or standard input was named twice.
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

    /// The same, to be read piece by piece.
    ///
    /// # Errors
    ///
    /// As [`Inputs::bytes`], as far as opening it goes.
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

    /// The same as text.
    ///
    /// # Errors
    ///
    /// As [`Inputs::bytes`], and where the bytes are not UTF-8.
    pub(crate) fn text(&self, path: &str) -> Result<String, Failure> {
        String::from_utf8(self.bytes(path)?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Failure::unusable(format_args!("{} is not UTF-8 at byte {at}", name(path)))
        })
    }
}

/// What messages call the input at `path`.
pub(crate) fn name(path: &str) -> &str {
    if path == "-" { "<stdin>" } else { path }
}

/// Whether `name` looks like a built-in thing's name, and no file is called so.
pub(crate) fn is_bare_word(name: &str) -> bool {
    name != "-" && !name.contains(['/', '\\', '.']) && !Path::new(name).exists()
}

/// The failure to read the input at `path`.
pub(crate) fn unreadable(path: &str, error: &std::io::Error) -> Failure {
    Failure::unusable(format_args!("cannot read {}: {error}", name(path)))
}
