//! Schemas with instances, in the form of MaskBench: a file each with `schema` and `tests`, which
//! have `data` and say whether they are `valid`.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::samples::{self, Source};

/// Where the sample lies, below the samples.
const ARCHIVE: &str = "json/maskbench.tar.gz";

/// A schema and texts of instances, as models write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The schema's text.
    pub schema: String,
    /// Texts of values that satisfy the schema.
    pub valid: Vec<String>,
    /// Texts of values that do not.
    pub invalid: Vec<String>,
}

#[derive(Deserialize)]
struct File<'t> {
    #[serde(borrow)]
    schema: &'t RawValue,
    #[serde(borrow, default)]
    tests: Vec<Test<'t>>,
}

#[derive(Deserialize)]
struct Test<'t> {
    valid: bool,
    #[serde(borrow)]
    data: &'t RawValue,
}

/// The samples that lie in `data`; where none do, those in `own`. Beside them, whether they are
/// the project's own.
///
/// # Errors
///
/// What is wrong with which file.
pub fn read(data: &Path, own: &Path) -> Result<(Vec<Sample>, bool), String> {
    let archive = Source::Archive { archive: ARCHIVE.to_owned(), suffix: ".json".to_owned() };
    let mut texts = samples::read(&[archive], data)?;
    let is_own = texts.is_empty();
    if is_own {
        let fault = |error: std::io::Error| format!("{}: {error}", own.display());
        let mut paths: Vec<_> =
            fs::read_dir(own).map_err(fault)?.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        texts = paths.iter().map(fs::read_to_string).collect::<Result<_, _>>().map_err(fault)?;
    }
    let samples: Result<Vec<_>, _> = texts.iter().map(|text| Sample::of(text)).collect();
    Ok((samples?, is_own))
}

impl Sample {
    fn of(text: &str) -> Result<Self, String> {
        let file: File<'_> =
            serde_json::from_str(text).map_err(|error| format!("a sample: {error}"))?;
        let texts = |valid: bool| {
            let chosen = file.tests.iter().filter(|test| test.valid == valid);
            chosen.map(|test| spaced(test.data.get())).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            schema: file.schema.get().to_owned(),
            valid: texts(true)?,
            invalid: texts(false)?,
        })
    }
}

/// The value as Python's `json.dumps(value, ensure_ascii=False)` writes it, but with its numbers as
/// they stand.
fn spaced(mut text: &str) -> Result<String, String> {
    let mut written = String::with_capacity(text.len());
    while let Some(next) = text.chars().next() {
        let length = match next {
            '"' => {
                let length = string_length(text);
                let string: String = serde_json::from_str(&text[..length])
                    .map_err(|error| format!("a sample: {error}"))?;
                written.push_str(&serde_json::Value::String(string).to_string());
                length
            }
            _ => {
                match next {
                    ' ' | '\n' | '\r' | '\t' => {}
                    ',' | ':' => written.extend([next, ' ']),
                    _ => written.push(next),
                }
                next.len_utf8()
            }
        };
        text = &text[length..];
    }
    Ok(written)
}

/// Bytes of the string that `text` begins with, its quotes among them.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers;

    #[test]
    fn instances_are_written_as_models_write_them() {
        let text = r#"{"schema": {"type":"array"}, "tests": [
            {"valid": true, "data": [ 1.50,"a\u0062\"", {"k":[]}]}, {"valid": false, "data": {}}]}"#;
        let expected = Sample {
            schema: r#"{"type":"array"}"#.to_owned(),
            valid: vec![r#"[1.50, "ab\"", {"k": []}]"#.to_owned()],
            invalid: vec!["{}".to_owned()],
        };
        assert_eq!(Sample::of(text), Ok(expected));
    }

    #[test]
    fn own_schemas_stand_in_for_samples() {
        let (samples, is_own) =
            read(Path::new("nowhere"), &peers::package().join("schemas")).expect("samples");
        assert!(is_own && samples.len() >= 10);
        assert!(
            samples.iter().all(|sample| !sample.valid.is_empty() && !sample.invalid.is_empty())
        );
    }
}
