//! Rules for the source tree, checked by a program: the imports of each layer, and forbidden
//! contents of files.
//!
//! Files are read as text without comments and contents of literals ([`code`]), so prose never
//! triggers a rule. Each rule is a function from a path and a text to a list of faults, and has a
//! test with a text that violates it. Test modules (`#[cfg(test)]`, files called `tests`) must
//! respect the layers and contain no `unsafe`, but may print, read files and be long.

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/prose.rs"]
mod prose;

use std::fs;
use std::path::{Path, PathBuf};

/// The imports allowed for each layer of the library. `constraint` is the façade and uses all but
/// `speculation`, which is above it; `lib.rs` re-exports.
const LAYERS: &[(&str, &[&str])] = &[
    ("util", &[]),
    ("syntax", &["util"]),
    ("grammar", &["syntax", "util"]),
    ("lr", &["grammar", "util"]),
    ("lexer", &["grammar", "util"]),
    ("vocab", &["util"]),
    ("scanner", &["lr", "lexer", "grammar", "util"]),
    ("index", &["scanner", "lr", "vocab", "util"]),
    ("matcher", &["index", "scanner", "lr", "vocab", "util"]),
    ("schema", &["lexer", "grammar", "util"]),
    (
        "constraint",
        &[
            "matcher", "index", "scanner", "schema", "vocab", "lexer", "lr", "grammar", "syntax",
            "util",
        ],
    ),
    ("speculation", &["constraint", "matcher", "util"]),
];

/// Upper bound on the lines of code of a file.
const LONGEST: usize = 500;

/// Upper bound on the columns of a line of prose.
const WIDEST: usize = 100;

/// Forbidden names: a library does not do I/O, hold global state, print, or stop half way. The
/// second part says whether the command line may.
const FORBIDDEN: &[(&str, bool)] = &[
    ("env::var", true),
    ("env::args", true),
    ("std::fs", true),
    ("std::net", false),
    ("std::process", true),
    ("std::io::stdin", true),
    ("println!", true),
    ("eprintln!", true),
    ("print!", true),
    ("eprint!", true),
    ("dbg!", false),
    ("todo!", false),
    ("unimplemented!", false),
    ("thread_local!", false),
    ("static mut", false),
    ("LazyLock", false),
];

/// Words that mark unfinished work; split in halves, so that this file passes as well.
const PROMISES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

#[test]
fn sources_keep_the_house_rules() {
    let mut faults = Vec::new();
    // The command line counts as one more layer.
    for (directory, layer) in [("src", ""), ("cli/src", "cli")] {
        let src = root().join(directory);
        let files =
            files_below(&src, &|path| path.extension().is_some_and(|extension| extension == "rs"));
        assert!(files.len() > 15, "the sources were not found");
        for path in files {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            let within = path.strip_prefix(&src).expect("files are below it");
            let path = Path::new(layer).join(within);
            for rule in [opens_with_docs, imports_downward, is_safe, is_pure, is_finished, is_short]
            {
                let faulty = |fault| format!("{directory}/{}: {fault}", within.display());
                faults.extend(rule(&path, &text).into_iter().map(faulty));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn files_import_each_other_in_no_circle() {
    let src = root().join("src");
    let mut sources = circles::Sources::default();
    for path in
        files_below(&src, &|path| path.extension().is_some_and(|extension| extension == "rs"))
    {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        let path = path.strip_prefix(&src).expect("files are below src");
        sources.add(module_of(path), &without_tests(path, &code(&text)));
    }
    assert_eq!(sources.circles(), Vec::<Vec<String>>::new());
}

#[test]
fn every_layer_is_in_the_table() {
    let known = |name: &str| LAYERS.iter().any(|(layer, _)| *layer == name);
    for entry in fs::read_dir(root().join("src")).expect("src is there") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            let name = path.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
            assert!(known(name), "src/{name} is no layer of the table in this file");
        }
    }
}

#[test]
fn every_test_grammar_says_why_it_is_there() {
    let grammars = root().join("tests/grammars");
    for entry in fs::read_dir(grammars).expect("tests/grammars is there") {
        let path = entry.expect("the directory can be read").path();
        if path.is_dir() {
            let readme = fs::read_to_string(path.join("README.md")).unwrap_or_default();
            assert!(
                !readme.trim().is_empty(),
                "{} has no README.md, or an empty one",
                path.display()
            );
        }
    }
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let mut faults = Vec::new();
    for path in files_below(root(), &|_| true) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        faults.extend(
            names_no_machine(&text).into_iter().map(|fault| format!("{}: {fault}", path.display())),
        );
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn prose_keeps_to_its_columns() {
    let ends_in =
        |path: &Path, wanted| path.extension().is_some_and(|extension| extension == wanted);
    // Results are written by programs, and copied as they are.
    let results = root().join("benches/peers/results");
    let is_prose =
        |path: &Path| (ends_in(path, "md") || ends_in(path, "rs")) && !path.starts_with(&results);
    let mut faults = Vec::new();
    for path in files_below(root(), &is_prose) {
        let text = fs::read_to_string(&path).expect("pages and sources are UTF-8");
        let prose = if ends_in(&path, "rs") { comments(&text) } else { text };
        let wide = too_wide(&prose).into_iter();
        faults.extend(wide.map(|line| format!("{}:{line} is too wide", path.display())));
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// Every change of a message shows on `tests/messages.txt`, which reads as a page. To write it:
/// `LRMASK_WRITE=1 cargo test --test tidy messages`.
#[test]
fn messages_are_as_the_page_has_them() {
    let page = root().join("tests/messages.txt");
    let mut now = String::new();
    for directory in ["src", "cli/src"] {
        for (path, text) in sources_below(directory) {
            let messages = prose::messages(&path, &text);
            if !messages.is_empty() {
                let blank = if now.is_empty() { "" } else { "\n" };
                now.push_str(&format!("{blank}# {directory}/{}\n", path.display()));
                messages.iter().for_each(|message| now.extend([message, "\n"]));
            }
        }
    }
    if std::env::var_os("LRMASK_WRITE").is_some() {
        fs::write(&page, &now).expect("the page can be written");
        return;
    }
    let page = fs::read_to_string(&page).unwrap_or_default();
    let missing = |of: &str, from: &str, sign: char| {
        let known: std::collections::BTreeSet<&str> = from.lines().collect();
        let lines = of.lines().filter(|line| !known.contains(line));
        lines.map(|line| format!("{sign} {line}\n")).collect::<String>()
    };
    let differs = missing(&page, &now, '-') + &missing(&now, &page, '+');
    assert!(page == now, "tests/messages.txt differs:\n{differs}");
}

#[test]
fn no_banned_words() {
    let mut faults = Vec::new();
    for directory in ["src", "cli/src"] {
        for (path, text) in sources_below(directory) {
            let avoided = prose::avoided_in_source(&path, &text).into_iter();
            faults.extend(avoided.map(|fault| format!("{directory}/{} {fault}", path.display())));
        }
    }
    let ends_in_md = |path: &Path| path.extension().is_some_and(|extension| extension == "md");
    let is_page = |path: &Path| path.parent() == Some(&root().join("docs")) && ends_in_md(path);
    let mut pages = files_below(&root().join("docs"), &is_page);
    pages.extend(["README.md", "CONTRIBUTING.md"].map(|page| root().join(page)));
    for page in pages {
        let text = fs::read_to_string(&page).expect("pages are UTF-8");
        let shown = page.strip_prefix(root()).unwrap_or(&page).display();
        faults.extend(
            prose::avoided_on_page(&text).into_iter().map(|fault| format!("{shown} {fault}")),
        );
    }
    assert!(faults.is_empty(), "\n{}\n{} words\n", faults.join("\n"), faults.len());
}

// The rules.

/// The file opens with module documentation.
fn opens_with_docs(_: &Path, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !text.starts_with("//! ") {
        faults.push("does not open with `//!`".to_owned());
    }
    faults
}

/// Imports follow [`LAYERS`], by `crate::` or by enough `super::` to reach the root; the command
/// line uses the public API as any other program does.
fn imports_downward(path: &Path, text: &str) -> Vec<String> {
    let code = code(text);
    let mut faults = Vec::new();
    let module = module_of(path);
    let Some(layer) = module.first() else { return faults };
    if layer == "cli" {
        if code.contains("#[path") {
            faults.push("`#[path]` would let the command line past the public API".to_owned());
        }
        return faults;
    }
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| name == layer) else {
        return faults;
    };
    let mut check = |name: &str| {
        if name != layer && !allowed.contains(&name) {
            faults.push(format!("`{layer}` may not import `crate::{name}`"));
        }
    };
    for (at, path) in code.match_indices("crate::") {
        if !code[..at].ends_with(is_word) {
            heads(&code[at + path.len()..]).into_iter().for_each(&mut check);
        }
    }
    for (at, _) in code.match_indices("super::") {
        if code[..at].ends_with("super::") || code[..at].ends_with(is_word) {
            continue;
        }
        let mut rest = &code[at..];
        let mut levels = 0;
        while let Some(next) = rest.strip_prefix("super::") {
            (rest, levels) = (next, levels + 1);
        }
        // A module inside a file may be one level deeper than the file.
        if levels > module.len() {
            check("an ancestor of all layers");
        } else if levels == module.len() && !in_test_module(&code, at) {
            heads(rest).into_iter().for_each(&mut check);
        }
    }
    faults
}

/// `unsafe` does not occur, and nothing allows it.
fn is_safe(_: &Path, text: &str) -> Vec<String> {
    let code = code(text);
    let found = words(&code).any(|word| word == "unsafe" || word == "unsafe_code");
    if found { vec!["`unsafe`".to_owned()] } else { Vec::new() }
}

/// The library does no I/O, reads no environment, has no global state and prints nothing.
fn is_pure(path: &Path, text: &str) -> Vec<String> {
    let code = without_tests(path, &code(text));
    let command_line = module_of(path).first().is_some_and(|layer| layer == "cli");
    (FORBIDDEN.iter())
        .filter(|(_, allowed)| !(command_line && *allowed))
        .filter(|(name, _)| code.match_indices(name).any(|(at, _)| !code[..at].ends_with(is_word)))
        .map(|(name, _)| format!("`{name}`"))
        .collect()
}

/// Nothing is marked as unfinished, not even in comments.
fn is_finished(_: &Path, text: &str) -> Vec<String> {
    (PROMISES.iter().filter(|promise| words(text).any(|word| word == **promise)))
        .map(|promise| format!("`{promise}`"))
        .collect()
}

/// One concept per file: comments, blank lines and test modules are not counted.
fn is_short(path: &Path, text: &str) -> Vec<String> {
    let code = without_tests(path, &code(text));
    let lines = code.lines().filter(|line| !line.trim().is_empty()).count();
    if lines > LONGEST {
        vec![format!("{lines} lines of code, more than {LONGEST}")]
    } else {
        Vec::new()
    }
}

/// Returns the lines that are too wide for prose. Tables, code and addresses are exempt.
fn too_wide(prose: &str) -> Vec<usize> {
    let mut is_code = false;
    let mut wide = Vec::new();
    for (number, line) in (1..).zip(prose.lines()) {
        let text = line.trim_start_matches([' ', '/', '!']);
        is_code ^= text.starts_with("```");
        let is_prose = !is_code && !text.starts_with('|') && text.contains(' ');
        if is_prose && line.chars().count() > WIDEST {
            wide.push(number);
        }
    }
    wide
}

/// Returns a source in which only the comment lines are left.
fn comments(source: &str) -> String {
    let comment =
        |line: &str| if line.trim_start().starts_with("//") { line } else { "" }.to_owned();
    source.lines().map(comment).collect::<Vec<_>>().join("\n")
}

/// Rejects paths of home directories and of this checkout.
fn names_no_machine(text: &str) -> Vec<String> {
    let homes = ["home", "Users", "root", "work", "mnt"].map(|directory| format!("/{directory}/"));
    let here = root().to_str().filter(|path| path.len() > "/lrmask".len()).map(str::to_owned);
    let mut faults = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for name in homes.iter().chain(&here) {
            let before = |at: usize| line[..at].chars().next_back();
            let begins = |at| before(at).is_none_or(|c| !is_word(c) && !"./*})".contains(c));
            if line.match_indices(name.as_str()).any(|(at, _)| begins(at)) {
                faults.push(format!("line {} names {name}", number + 1));
            }
        }
    }
    faults
}

// Reading sources.

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the project's files, without generated ones and hidden ones.
fn files_below(directory: &Path, wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let generated = ["corpus", "artifacts", "coverage", "proptest-regressions"];
    let mut files = Vec::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).expect("the project can be read") {
            let entry = entry.expect("the project can be read");
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().expect("the project can be read");
            let path = entry.path();
            if kind.is_dir() {
                // The tests have a corpus that belongs to the project.
                let is_generated = name == "target"
                    || generated.contains(&&*name) && !path.starts_with(root().join("tests"));
                if !name.starts_with('.') || name == ".ci" {
                    pending.extend((!is_generated).then_some(path));
                }
            } else if kind.is_file() && name != ".git" && wanted(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns the Rust sources below a directory of the project: paths within it, and texts.
fn sources_below(directory: &str) -> Vec<(PathBuf, String)> {
    let directory = root().join(directory);
    let is_source = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
    let files = files_below(&directory, &is_source).into_iter();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        (path.strip_prefix(&directory).expect("files are below it").to_owned(), text)
    };
    files.map(read).collect()
}

/// `lr/table.rs` is `[lr, table]`; `lr/mod.rs` is `[lr]`; `lib.rs` is `[]`.
fn module_of(path: &Path) -> Vec<String> {
    let mut module: Vec<String> =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
        module.pop();
    }
    module
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

/// Returns the first names of a path after `crate::`: one, or those within braces.
fn heads(path: &str) -> Vec<&str> {
    let Some(list) = path.strip_prefix('{') else {
        return words(path).take(1).collect();
    };
    let mut heads = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                heads.extend(words(&list[start..at]).next());
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    heads
}

/// A part of a source.
#[derive(Clone, Copy)]
enum Piece<'t> {
    /// Code without literals.
    Code(&'t str),
    Comment(&'t str),
    /// A string or a character, with its quotes.
    Literal(&'t str),
}

impl<'t> Piece<'t> {
    fn text(&self) -> &'t str {
        match *self {
            Self::Code(text) | Self::Comment(text) | Self::Literal(text) => text,
        }
    }
}

/// Splits a source into code, comments and literals.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    // Code begins at `start`, and `at` is the position in it.
    let (mut start, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let after_word = match (at > start, pieces.last()) {
            (true, _) => text[..at].ends_with(is_word),
            (false, last) => matches!(last, Some(Piece::Literal(_))),
        };
        let (length, is_comment) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), true)
        } else if rest.starts_with("/*") {
            (block_comment(rest), true)
        } else if let Some(length) = raw_string(rest).filter(|_| !after_word) {
            (length, false)
        } else if c == '"' {
            (quoted(rest, '"'), false)
        } else if let Some(length) = character(rest) {
            (length, false)
        } else {
            at += c.len_utf8();
            continue;
        };
        if at > start {
            pieces.push(Piece::Code(&text[start..at]));
        }
        let piece = &rest[..length];
        pieces.push(if is_comment { Piece::Comment(piece) } else { Piece::Literal(piece) });
        at += length;
        start = at;
    }
    if at > start {
        pieces.push(Piece::Code(&text[start..at]));
    }
    pieces
}

/// Returns the text without comments and with the contents of literals replaced by `_`, keeping
/// line breaks.
fn code(text: &str) -> String {
    code_of(&pieces(text))
}

fn code_of(pieces: &[Piece]) -> String {
    let mut code = String::new();
    for piece in pieces {
        let fill = match piece {
            Piece::Code(text) => {
                code.push_str(text);
                continue;
            }
            Piece::Comment(_) => ' ',
            Piece::Literal(_) => '_',
        };
        code.extend(piece.text().chars().map(|c| if c == '\n' { c } else { fill }));
    }
    code
}

/// Returns the length of a block comment, including nested ones.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Returns the length of a literal that begins and ends with `quote`.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a raw string at the start, including prefix and hashes.
fn raw_string(text: &str) -> Option<usize> {
    let body = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inside = body[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let length = inside.find(&close).map_or(inside.len(), |at| at + close.len());
    Some(text.len() - inside.len() + length)
}

/// Returns the length of a character literal at the start; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut chars = text.strip_prefix('\'')?.chars();
    match chars.next()? {
        '\\' => Some(quoted(text, '\'')),
        c => (chars.next()? == '\'').then_some(2 + c.len_utf8()),
    }
}

/// Returns `code` without its test modules; empty if the whole file is one.
fn without_tests(path: &Path, code: &str) -> String {
    if module_of(path).iter().any(|name| name == "tests") {
        return String::new();
    }
    let mut kept = String::new();
    let mut rest = code;
    while let Some((at, length)) = test_module(rest) {
        kept.push_str(&rest[..at]);
        rest = &rest[at + length..];
    }
    kept + rest
}

fn in_test_module(code: &str, at: usize) -> bool {
    let mut offset = 0;
    while let Some((start, length)) = test_module(&code[offset..]) {
        if (offset + start..offset + start + length).contains(&at) {
            return true;
        }
        offset += start + length;
    }
    false
}

/// Returns the position of the first `#[cfg(test)]` item and its length, up to its closing brace or
/// semicolon.
fn test_module(code: &str) -> Option<(usize, usize)> {
    let start = code.find("#[cfg(test)]")?;
    let mut depth = 0usize;
    for (at, c) in code[start..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some((start, at + 1)),
            '}' => depth = depth.saturating_sub(1),
            ';' if depth == 0 => return Some((start, at + 1)),
            _ => {}
        }
    }
    Some((start, code.len() - start))
}

/// Each rule rejects its violation, and accepts its opposite.
mod rules_can_fail {
    use super::*;

    fn faults(rule: fn(&Path, &str) -> Vec<String>, path: &str, text: &str) -> usize {
        rule(Path::new(path), text).len()
    }

    #[test]
    fn opening() {
        assert_eq!(faults(opens_with_docs, "lr/table.rs", "//! Tables.\n"), 0);
        assert_eq!(faults(opens_with_docs, "lr/table.rs", "use std::fmt;\n"), 1);
        assert_eq!(faults(opens_with_docs, "lr/table.rs", "// Tables.\n"), 1);
    }

    #[test]
    fn layers() {
        let lr = |text| faults(imports_downward, "lr/table.rs", text);
        assert_eq!(lr("use crate::grammar::Grammar; use crate::lr::stack::Stack;"), 0);
        assert_eq!(lr("use crate::vocab::Vocabulary;"), 1);
        assert_eq!(lr("fn f() { crate::scanner::check() }"), 1);
        assert_eq!(lr("use crate::{grammar::{Grammar, ir}, lexer::Dfa, matcher};"), 2);
        assert_eq!(lr("use super::super::vocab::Vocabulary;"), 1);
        assert_eq!(lr("use super::stack::Stack;"), 0);
        assert_eq!(lr("use super::super::super::Grammar;"), 1);
        assert_eq!(lr("// crate::vocab is below no table.\nconst A: &str = \"crate::vocab\";"), 0);
        assert_eq!(lr("#[cfg(test)]\nmod tests { use crate::vocab::Vocabulary; }"), 1);
        assert_eq!(faults(imports_downward, "vocab/mod.rs", "use super::grammar::Grammar;"), 1);
        assert_eq!(
            faults(imports_downward, "vocab/mod.rs", "#[cfg(test)]\nmod tests { use super::*; }"),
            0
        );
        assert_eq!(faults(imports_downward, "cli/main.rs", "#[path = \"../x.rs\"] mod x;"), 1);
        assert_eq!(faults(imports_downward, "cli/main.rs", "use crate::output::Output;"), 0);
    }

    #[test]
    fn safety() {
        assert_eq!(faults(is_safe, "util/id.rs", "// Nothing unsafe.\nfn f() {}"), 0);
        assert_eq!(faults(is_safe, "util/id.rs", "fn f() { unsafe { g() } }"), 1);
        assert_eq!(faults(is_safe, "util/id.rs", "#![allow(unsafe_code)]"), 1);
    }

    #[test]
    fn purity() {
        let library = |text| faults(is_pure, "lr/table.rs", text);
        assert_eq!(
            library("/// Prints with `println!`.\nfn f(out: &mut String) { writeln!(out) }"),
            0
        );
        assert_eq!(library("fn f() { println!() }"), 1);
        assert_eq!(library("fn f() { let _ = std::env::var(\"A\"); std::fs::read(\"a\"); }"), 2);
        assert_eq!(library("fn f() { todo!() } fn g() { dbg!(1); }"), 2);
        assert_eq!(library("static mut COUNT: u32 = 0;"), 1);
        assert_eq!(library("#[cfg(test)]\nmod tests { fn f() { println!() } }"), 0);
        assert_eq!(faults(is_pure, "cli/main.rs", "fn f() { println!() }"), 0);
        assert_eq!(faults(is_pure, "cli/main.rs", "fn f() { dbg!(1); }"), 1);
    }

    #[test]
    fn promises() {
        assert_eq!(faults(is_finished, "lr/table.rs", "// Done.\n"), 0);
        assert_eq!(faults(is_finished, "lr/table.rs", concat!("// TO", "DO: later\n")), 1);
    }

    #[test]
    fn length() {
        let short = "// a comment\n\n".repeat(LONGEST) + &"f();\n".repeat(LONGEST);
        assert_eq!(faults(is_short, "lr/table.rs", &short), 0);
        assert_eq!(faults(is_short, "lr/table.rs", &"f();\n".repeat(LONGEST + 1)), 1);
        let tests = format!("f();\n#[cfg(test)]\nmod tests {{\n{}}}\n", "f();\n".repeat(LONGEST));
        assert_eq!(faults(is_short, "lr/table.rs", &tests), 0);
        assert_eq!(faults(is_short, "lr/tests/table.rs", &"f();\n".repeat(LONGEST + 1)), 0);
    }

    #[test]
    fn columns() {
        let word = "word ".repeat(21);
        assert_eq!(too_wide(&format!("short\n| {word} |\n```\n{word}\n```\n{word}\n")), [6]);
        let source =
            format!("let a = \"{word}\";\n/// | {word}\n/// ```\n/// {word}\n/// ```\n// {word}");
        assert_eq!(too_wide(&comments(&source)), [6]);
    }

    #[test]
    fn machines() {
        assert_eq!(names_no_machine("see docs/work/plan and https://example.org/home/x").len(), 0);
        assert_eq!(
            names_no_machine(concat!("read \"/ho", "me/somebody/tokenizer.json\"")).len(),
            1
        );
    }

    #[test]
    fn literals_and_comments_are_not_code() {
        let text = "a /* b /* c */ \n d */ e \"f\\\"g\" 'h' '\\'' r#\"i\"j\"# &'k l // m\nn";
        assert_eq!(
            words(&code(text)).filter(|word| !word.starts_with('_')).collect::<String>(),
            "aekln"
        );
        assert_eq!(code(text).lines().count(), text.lines().count());
    }
}
