//! Output files.

use std::fs::File;
use std::io::Write as _;

use crate::failure::Failure;

/// Writes a file next to its final path and renames it: processes that have mapped the old file
/// keep it, and no reader ever sees an incomplete new one.
pub(crate) fn write_whole(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    let beside = format!("{path}.{}.new", std::process::id());
    let written = File::create_new(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    });
    if written.is_err() {
        // Nothing is lost if this fails, too.
        let _ = std::fs::remove_file(&beside);
    }
    written.map_err(|error| Failure::unusable(format_args!("cannot write {path}: {error}")))
}
