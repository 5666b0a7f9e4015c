//! Import cycles among the files of a source tree.
//!
//! A path is followed to the file that defines its target: through the modules on the way, and
//! through their re-exports. A module and those within it count as one, so imports between a file
//! and the modules around it are ignored; only imports from one such group to another count.

use std::collections::{BTreeMap, BTreeSet};

use super::{is_word, words};

/// Modules by name; `[]` is the root.
type Module = Vec<String>;

/// The sources of a crate.
#[derive(Default)]
pub(super) struct Sources {
    files: BTreeMap<Module, File>,
}

#[derive(Default)]
struct File {
    /// Paths in the code, as written.
    paths: Vec<Module>,
    /// The path of each name that the file brings into scope.
    uses: BTreeMap<String, Module>,
}

impl Sources {
    /// Adds a file; `code` has neither comments nor tests.
    pub(super) fn add(&mut self, module: Module, code: &str) {
        let mut file = File::default();
        let mut rest = code;
        let mut others = String::new();
        while let Some(at) = next_use(rest) {
            others.push_str(&rest[..at]);
            let statement = &rest[at + "use ".len()..];
            let end = statement.find(';').unwrap_or(statement.len());
            let mut leaves = Vec::new();
            expand(&mut Vec::new(), &statement[..end], &mut leaves);
            for (path, name) in leaves {
                file.uses.insert(name, path.clone());
                file.paths.push(path);
            }
            rest = &statement[end..];
        }
        others.push_str(rest);
        file.paths.extend(inline_paths(&others));
        self.files.insert(module, file);
    }

    /// Returns sets of files that import each other in a cycle, each sorted.
    pub(super) fn circles(&self) -> Vec<Vec<String>> {
        let imports: BTreeMap<&Module, BTreeSet<&Module>> =
            self.files.iter().map(|(module, file)| (module, self.imports(module, file))).collect();
        let reaches: BTreeMap<&Module, BTreeSet<&Module>> =
            imports.keys().map(|&module| (module, reached(module, &imports))).collect();
        let mut circles = BTreeSet::new();
        for (&module, reached) in &reaches {
            if reached.contains(module) {
                let is_on = |other: &&&Module| reaches[**other].contains(module);
                let circle: Vec<String> =
                    reached.iter().filter(is_on).map(|module| module.join("/")).collect();
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    fn imports(&self, module: &Module, file: &File) -> BTreeSet<&Module> {
        let targets =
            file.paths.iter().filter_map(|path| self.defining(&self.absolute(module, path)?, 0));
        targets
            .filter(|target| !target.starts_with(module) && !module.starts_with(target))
            .collect()
    }

    /// Returns the path from the root, if it names something of this crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Module> {
        let ups = path.iter().take_while(|name| *name == "super").count();
        let (base, rest) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (module, &path[1..]),
            "super" => (module.get(..module.len().checked_sub(ups)?)?, &path[ups..]),
            name => {
                let child = [module, &[name.to_owned()]].concat();
                self.files.contains_key(&child).then_some((module, path))?
            }
        };
        Some([base, rest].concat())
    }

    /// Returns the file that defines the target of a path from the root. Chains of re-exports are
    /// followed up to a fixed depth.
    fn defining(&self, path: &[String], depth: usize) -> Option<&Module> {
        let length =
            (0..=path.len()).rev().find(|&length| self.files.contains_key(&path[..length]))?;
        let (module, file) = self.files.get_key_value(&path[..length])?;
        let source = path.get(length).and_then(|name| file.uses.get(name)).filter(|_| depth < 8);
        let through = source.and_then(|source| {
            let source = self.absolute(module, source)?;
            self.defining(&[&source, &path[length + 1..]].concat(), depth + 1)
        });
        Some(through.unwrap_or(module))
    }
}

/// Returns everything that a file reaches by one import or more.
fn reached<'m>(
    from: &'m Module,
    imports: &BTreeMap<&'m Module, BTreeSet<&'m Module>>,
) -> BTreeSet<&'m Module> {
    let mut reached = BTreeSet::new();
    let mut pending = vec![from];
    while let Some(module) = pending.pop() {
        pending.extend(imports[module].iter().filter(|next| reached.insert(**next)));
    }
    reached
}

/// Returns the start of the next `use` statement.
fn next_use(code: &str) -> Option<usize> {
    code.match_indices("use ").map(|(at, _)| at).find(|&at| !code[..at].ends_with(is_word))
}

/// Returns the paths of a `use` tree, each with the name that it brings into scope.
fn expand(prefix: &mut Module, tree: &str, leaves: &mut Vec<(Module, String)>) {
    let tree = tree.trim();
    let length = prefix.len();
    let (head, list) = tree.split_once('{').map_or((tree, None), |(head, list)| (head, Some(list)));
    let (path, alias) =
        head.split_once(" as ").map_or((head, None), |(path, alias)| (path, Some(alias)));
    prefix.extend(words(path).map(str::to_owned));
    match list {
        Some(list) => {
            let (mut depth, mut start) = (0usize, 0);
            for (at, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth > 0 => depth -= 1,
                    ',' | '}' if depth == 0 => {
                        if !list[start..at].trim().is_empty() {
                            expand(prefix, &list[start..at], leaves);
                        }
                        start = at + 1;
                    }
                    _ => {}
                }
            }
        }
        None => {
            if prefix.last().is_some_and(|name| name == "self") && prefix.len() > 1 {
                prefix.pop();
            }
            let name =
                alias.map(str::trim).or(prefix.last().map(String::as_str)).unwrap_or_default();
            leaves.push((prefix.clone(), name.to_owned()));
        }
    }
    prefix.truncate(length);
}

/// Returns the paths in the code that begin with `crate`, `super` or `self`.
fn inline_paths(code: &str) -> Vec<Module> {
    let mut paths = Vec::new();
    for root in ["crate", "super", "self"] {
        let root = format!("{root}::");
        for (at, _) in code.match_indices(&root) {
            if !code[..at].ends_with(|c| is_word(c) || c == ':') {
                let end =
                    code[at..].find(|c| !is_word(c) && c != ':').map_or(code.len(), |end| at + end);
                paths.push(words(&code[at..end]).map(str::to_owned).collect());
            }
        }
    }
    paths
}

mod can_fail {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let mut sources = Sources::default();
        for (module, code) in files {
            let module =
                module.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            sources.add(module, code);
        }
        sources.circles()
    }

    #[test]
    fn circles_are_found_by_whatever_path() {
        assert_eq!(circles(&[("lr/a", "use super::b::B;"), ("lr/b", "")]).len(), 0);
        assert_eq!(
            circles(&[("lr/a", "use super::b::B;"), ("lr/b", "use crate::lr::a;")]),
            [["lr/a", "lr/b"]]
        );
        assert_eq!(
            circles(&[("lr/a", "use super::b::B;"), ("lr/b", "fn f() { super::a::g() }")]).len(),
            1
        );
        assert_eq!(
            circles(&[
                ("a", "use crate::{b::{B, C as D}, d};"),
                ("b", "use crate::a::A;"),
                ("d", "")
            ])
            .len(),
            1
        );
        let three = [
            ("a", "use crate::b;"),
            ("b", "use crate::c;"),
            ("c", "use crate::a::A;"),
            ("d", "use crate::a;"),
        ];
        assert_eq!(circles(&three), [["a", "b", "c"]]);
    }

    #[test]
    fn what_is_re_exported_counts_where_it_is_defined() {
        let b =
            |b| [("a", "use crate::r::B;"), ("r", "pub(crate) use b::B;"), ("r/b", b), ("c", "")];
        assert_eq!(circles(&b("use crate::a::A;")), [["a", "r/b"]]);
        assert_eq!(circles(&b("use crate::c::C;")).len(), 0);
    }

    #[test]
    fn a_module_and_those_within_it_are_one_room() {
        assert_eq!(circles(&[("lr", "use a::A;"), ("lr/a", "use super::B;")]).len(), 0);
        assert_eq!(
            circles(&[("lr/a", "use crate::lr::b::B;"), ("lr/b", "pub struct B;"), ("lr", "")])
                .len(),
            0
        );
    }
}
