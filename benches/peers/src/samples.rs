//! Longer texts that may lie beside the project, at `../shared/data`. None of them is the
//! project's, so none is in it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde::Deserialize;

/// Where texts come from.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Source {
    /// The files of a compressed archive that end so.
    Archive {
        /// The archive, below the samples.
        archive: String,
        /// How the names of files end.
        suffix: String,
    },
    /// A field of each line's JSON object, where another field is true.
    Records {
        /// The file, below the samples.
        records: String,
        /// The field with the text.
        field: String,
        /// The field that is true where the text is of use.
        only: String,
        /// The `id`s of records of which that is not so after all.
        #[serde(default)]
        except: Vec<String>,
    },
}

/// The texts of those sources that are there, in an order that mixes them, always the same.
///
/// # Errors
///
/// When one is there and cannot be read.
pub fn read(sources: &[Source], data: &Path) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    for source in sources {
        let (Source::Archive { archive: name, .. } | Source::Records { records: name, .. }) =
            source;
        let path = data.join(name);
        if path.is_file() {
            let found = match source {
                Source::Archive { suffix, .. } => archive(&path, suffix),
                Source::Records { field, only, except, .. } => records(&path, field, only, except),
            };
            texts.extend(found.map_err(|error| format!("{}: {error}", path.display()))?);
        }
    }
    texts.sort_by_cached_key(|text| (hash(text.as_bytes()), text.clone()));
    Ok(texts)
}

fn archive(path: &Path, suffix: &str) -> io::Result<Vec<String>> {
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(path)?));
    let mut texts = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.path()?.to_string_lossy().ends_with(suffix) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            texts.extend(String::from_utf8(bytes));
        }
    }
    Ok(texts)
}

fn records(path: &Path, field: &str, only: &str, except: &[String]) -> io::Result<Vec<String>> {
    let mut text = String::new();
    GzDecoder::new(&fs::read(path)?[..]).read_to_string(&mut text)?;
    let mut texts = Vec::new();
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line)?;
        let excepted = except.iter().any(|id| record["id"] == **id);
        if record[only] == serde_json::Value::Bool(true) && !excepted {
            texts.extend(record[field].as_str().map(str::to_owned));
        }
    }
    Ok(texts)
}

/// FNV-1a: the same on every machine.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_no_error() {
        let source =
            Source::Archive { archive: "nothing.tar.gz".to_owned(), suffix: ".json".to_owned() };
        assert_eq!(read(&[source], Path::new("nowhere")), Ok(Vec::new()));
    }
}
