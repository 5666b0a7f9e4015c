//! Samples that may be placed next to the project (`../shared/data`): real tokenizers and texts.
//! Tests that are of samples alone are ignored unless asked for; the others print a note when
//! samples are absent, and run the checks that do not need them.

#![allow(unreachable_pub, reason = "a test's own module")]
#![allow(dead_code, reason = "each test uses its own part")]

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

use lrmask::{TokenId, Vocabulary};

/// Splits texts for replays as the command line does.
#[path = "../../cli/src/tokenizer.rs"]
pub(crate) mod tokenizer;

use tokenizer::Tokenizer;

/// Returns the samples' directory, if it exists.
pub fn directory() -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    if directory.is_dir() {
        return Some(directory);
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        say("note: samples are missing, so tests that also read them try less");
    });
    None
}

/// Returns a sample for a test that is of samples alone.
///
/// # Panics
///
/// If it is absent.
pub fn needed<T>(sample: Option<T>) -> T {
    sample.expect("the samples lie in ../shared/data")
}

/// Writes a line that is shown even if the test passes.
pub fn say(line: &str) {
    // The harness captures the output of `eprintln!`, but not writes to the stream itself.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Returns the files of a compressed archive, by path.
pub fn archive(path: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let file = std::fs::File::open(directory()?.join(path)).expect("the sample is readable");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut files = Vec::new();
    for entry in archive.entries().expect("the sample is an archive") {
        let mut entry = entry.expect("the archive is whole");
        if entry.header().entry_type().is_file() {
            let name = entry.path().expect("a path").to_string_lossy().into_owned();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("the archive is whole");
            files.push((name, content));
        }
    }
    files.sort();
    Some(files)
}

/// Returns a file, decompressed if its name has the ending of a compressed file.
pub fn file(path: &str) -> Option<Vec<u8>> {
    let content = std::fs::read(directory()?.join(path)).expect("the sample is readable");
    if !path.ends_with(".gz") {
        return Some(content);
    }
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&content[..])
        .read_to_end(&mut plain)
        .expect("the sample is whole");
    Some(plain)
}

/// Returns vocabularies with their tokenizers: built-in ones by name, and those of `files` that
/// exist next to the project.
pub(crate) fn vocabularies(
    builtin: &[&str],
    files: &[&str],
) -> Vec<(String, Vocabulary, Tokenizer)> {
    let mut found = Vec::new();
    for &name in builtin {
        let vocabulary = Vocabulary::builtin(name).expect("built in");
        found.push((name.to_owned(), vocabulary, Tokenizer::builtin(name).expect("built in")));
    }
    for &path in files {
        if let Some(file) = file(&format!("tokenizers/{path}")) {
            let vocabulary = Vocabulary::from_file_bytes(&file).expect("a sound tokenizer file");
            let tokenizer = Tokenizer::from_file_bytes(&file).expect("a sound tokenizer file");
            found.push((path.to_owned(), vocabulary, tokenizer));
        }
    }
    found
}

/// Returns one of the small tokenizer files of our own.
pub fn mini(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vocabularies").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Splits `text` into random tokens, the same for the same seed. `None` if the vocabulary cannot
/// spell the text.
pub fn cut_random(vocabulary: &Vocabulary, text: &[u8], seed: u64) -> Option<Vec<TokenId>> {
    let mut random = fastrand::Rng::with_seed(seed);
    vocabulary.cut(text, |choices| random.usize(..choices.len()))
}
