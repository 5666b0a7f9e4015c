//! Samples that may lie beside the project (`../shared/data`): real tokenizers and texts. Tests
//! that use them say so when they are absent, and check what they can without them.

#![allow(unreachable_pub, reason = "a test's own module")]
#![allow(dead_code, reason = "each test uses its own part")]

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

use lrmask::{TokenId, Vocabulary};

/// As the command line cuts texts for replays.
#[path = "../../cli/src/tokenizer.rs"]
pub(crate) mod tokenizer;

use tokenizer::Tokenizer;

/// The samples' directory, if it is there.
pub fn directory() -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    if directory.is_dir() {
        return Some(directory);
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        say("note: no samples beside the project: what needs them is skipped, and says nothing");
    });
    None
}

/// Writes a line that is shown though the test passes.
pub fn say(line: &str) {
    // The harness holds back what `eprintln!` writes, not what goes to the stream itself.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The files of a compressed archive, by path.
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

/// A file, decompressed when its name says that it is compressed.
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

/// Vocabularies with their tokenizers: built-in ones by name, and those of `files` that lie beside
/// the project.
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

/// One of the small tokenizer files of our own.
pub fn mini(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vocabularies").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Cuts `text` into tokens at random, the same for the same seed. `None` when the vocabulary cannot
/// spell the text.
pub fn cut_random(vocabulary: &Vocabulary, text: &[u8], seed: u64) -> Option<Vec<TokenId>> {
    let mut random = fastrand::Rng::with_seed(seed);
    vocabulary.cut(text, |choices| random.usize(..choices.len()))
}
