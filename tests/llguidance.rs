//! llguidance's dialect of Lark.
//!
//! * Cases (`tests/llguidance/*.case`): a grammar, texts that it has, texts that it lacks, beginnings. `README.md` there says how a
//!   case is written. Each text is read whole and token by token, and after every token the whole mask is held against
//!   the texts that are viable.
//! * Samples: grammars that people have published, where they are at hand (`LRMASK_SAMPLES`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lrmask::{CompiledGrammar, Grammar};

/// What the sample was written as by its author's program: a template with names in braces is no grammar yet.
fn is_template(text: &str) -> bool {
    let mut names = text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
    names.any(|name| name.is_empty() || name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        && !text.contains("%json")
        || text.contains("~$")
}

#[test]
fn samples_are_taken() {
    let Some(root) = std::env::var_os("LRMASK_SAMPLES").map(PathBuf::from) else {
        eprintln!("skipped: LRMASK_SAMPLES names no directory with `llguidance` and `lark` samples");
        return;
    };
    let mut files = Vec::new();
    below(&root.join("llguidance"), &mut files);
    below(&root.join("lark/guidance-ai+llguidance"), &mut files);
    assert!(!files.is_empty(), "no samples in {}", root.display());
    let (mut taken, mut templates) = (0, 0);
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("samples are UTF-8");
        let name = file.strip_prefix(&root).expect("below the root").display().to_string();
        if is_template(&text) {
            templates += 1;
            println!("no grammar, but the template of one: {name}");
            continue;
        }
        let built = Grammar::from_lark(&text)
            .map_err(|error| error.to_string())
            .and_then(|grammar| CompiledGrammar::new(&grammar).map_err(|error| error.to_string()));
        match built {
            Ok(_) => taken += 1,
            Err(error) => refused.entry(error).or_default().push(name),
        }
    }
    let grammars = files.len() - templates;
    println!("{taken} of {grammars} grammars taken, {templates} templates");
    for (reason, files) in &refused {
        println!("{reason}\n  {}", files.join("\n  "));
    }
    assert!(taken * 10 >= grammars * 9, "fewer than nine in ten");
}

fn below(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() { below(&path, files) } else { files.push(path) }
    }
}
