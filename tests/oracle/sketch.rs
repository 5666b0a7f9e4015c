//! A grammar without sugar, which can be printed in both notations.

use std::fmt::Write as _;

/// A grammar.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    pub basic: bool,
    /// Whether conflicts are settled as in Yacc; otherwise they are followed.
    pub shift: bool,
    /// The argument of `match`, the same in both notations.
    pub matching: Option<&'static str>,
    /// The start symbols, the usual one first.
    pub starts: Vec<String>,
    pub declared: Vec<String>,
    /// In the order of the file.
    pub terminals: Vec<Terminal>,
    pub rules: Vec<Rule>,
    pub relations: Vec<Relation>,
    pub exclusive: Vec<String>,
    /// `left`, `right` or `nonassoc`, and the names; the loosest first.
    pub levels: Vec<(&'static str, Vec<String>)>,
    /// The arguments of `indent`, the same in both notations.
    pub indent: Option<String>,
}

/// A terminal with a pattern.
#[derive(Clone, Debug)]
pub struct Terminal {
    pub name: String,
    /// A string in quotes, or a regex between slashes, with the same meaning in both notations.
    pub pattern: String,
    /// Whether its priority is raised.
    pub raised: bool,
    pub ignored: bool,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    pub name: String,
    pub priority: i32,
    pub alternatives: Vec<Alternative>,
}

/// An alternative of a rule.
#[derive(Clone, Debug)]
pub struct Alternative {
    pub symbols: Vec<String>,
    /// The argument of `%prec`.
    pub level: Option<String>,
}

/// A directive about a word.
#[derive(Clone, Debug)]
pub struct Relation {
    /// `reserved`, `fallback`, `soft` or `lookahead`.
    pub kind: &'static str,
    pub word: String,
    pub other: String,
    /// The context of the word, if the kind has one.
    pub after: Option<Vec<String>>,
    pub ahead: Vec<Vec<String>>,
}

impl Sketch {
    /// Prints the grammar for the engine.
    pub fn lark(&self) -> String {
        let mut lark = format!("%lexer {}\n", self.lexer());
        if let Some(matching) = self.matching {
            writeln!(lark, "%match {matching}").unwrap();
        }
        if self.shift {
            lark.push_str("%conflicts shift\n");
        }
        writeln!(lark, "%start {}", self.starts.join(" ")).unwrap();
        if !self.declared.is_empty() {
            writeln!(lark, "%declare {}", self.declared.join(" ")).unwrap();
        }
        for rule in &self.rules {
            let alternatives: Vec<String> =
                rule.alternatives.iter().map(Alternative::print).collect();
            let priority =
                if rule.priority == 0 { String::new() } else { format!(".{}", rule.priority) };
            writeln!(lark, "{}{priority}: {}", rule.name, alternatives.join(" | ")).unwrap();
        }
        for Terminal { name, pattern, raised, ignored } in &self.terminals {
            writeln!(lark, "{name}{}: {pattern}", if *raised { ".1" } else { "" }).unwrap();
            if *ignored {
                writeln!(lark, "%ignore {name}").unwrap();
            }
        }
        for relation in &self.relations {
            let Relation { kind, word, other, .. } = relation;
            writeln!(lark, "%{kind} {other} {word}{}", relation.around(" ")).unwrap();
        }
        if !self.exclusive.is_empty() {
            writeln!(lark, "%exclusive {}", self.exclusive.join(" ")).unwrap();
        }
        for (associativity, names) in &self.levels {
            writeln!(lark, "%{associativity} {}", names.join(" ")).unwrap();
        }
        if let Some(indent) = &self.indent {
            writeln!(lark, "%indent {indent}").unwrap();
        }
        lark
    }

    /// Prints the grammar for the oracle, with the given start.
    pub fn spec(&self, start: &str) -> String {
        let mut spec = format!("lexer {}\nstart {start}\n", self.lexer());
        let also: Vec<&str> =
            self.starts.iter().map(String::as_str).filter(|other| *other != start).collect();
        if !also.is_empty() {
            writeln!(spec, "also {}", also.join(" ")).unwrap();
        }
        if let Some(matching) = self.matching {
            writeln!(spec, "match {matching}").unwrap();
        }
        if self.shift {
            spec.push_str("conflicts shift\n");
        }
        let mut ranked: Vec<&Terminal> = self.terminals.iter().collect();
        // A stable sort: the order in the file is the last criterion. Ignored terminals come after
        // the rest under the contextual lexer, unless they have look-around.
        let yields = |terminal: &Terminal| {
            let looks_around =
                ["(?=", "(?!", "(?<"].iter().any(|look| terminal.pattern.contains(look));
            terminal.ignored && self.lexer() == "contextual" && !looks_around
        };
        ranked.sort_by_key(|terminal| {
            let all = self.matching == Some("all") && yields(terminal);
            (all, !terminal.raised, yields(terminal), !terminal.pattern.starts_with('"'))
        });
        for Terminal { name, pattern, ignored, raised } in ranked {
            write!(spec, "terminal {name} {}", slashed(pattern)).unwrap();
            if *raised {
                spec.push_str(" priority 1");
            }
            if *ignored {
                spec.push_str(" ignored");
            }
            // The lists of a `lookahead` come last.
            let own = || self.relations.iter().filter(|relation| relation.word == *name);
            let (last, plain): (Vec<_>, Vec<_>) =
                own().partition(|relation| relation.kind == "lookahead");
            for relation in plain.into_iter().chain(last) {
                write!(spec, " {} {}{}", relation.kind, relation.other, relation.around(","))
                    .unwrap();
            }
            spec.push('\n');
        }
        for name in &self.declared {
            writeln!(spec, "declared {name}").unwrap();
        }
        if !self.exclusive.is_empty() {
            writeln!(spec, "exclusive {}", self.exclusive.join(" ")).unwrap();
        }
        for (associativity, names) in &self.levels {
            writeln!(spec, "{associativity} {}", names.join(" ")).unwrap();
        }
        if let Some(indent) = &self.indent {
            writeln!(spec, "indent {indent}").unwrap();
        }
        for rule in &self.rules {
            writeln!(spec, "priority {} {}", rule.name, rule.priority).unwrap();
            for alternative in &rule.alternatives {
                writeln!(spec, "rule {} -> {}", rule.name, alternative.print()).unwrap();
            }
        }
        spec
    }

    fn lexer(&self) -> &'static str {
        if self.basic { "basic" } else { "contextual" }
    }
}

impl Alternative {
    fn print(&self) -> String {
        let level = self.level.iter().map(|name| format!("%prec {name}"));
        self.symbols.iter().cloned().chain(level).collect::<Vec<_>>().join(" ")
    }
}

impl Relation {
    /// Returns the required context of the word; empty for the other kinds.
    fn around(&self, separator: &str) -> String {
        let after = self.after.iter().map(|after| format!(" after {}", after.join(separator)));
        let keywords = std::iter::once("before").chain(std::iter::repeat("then"));
        let ahead = keywords
            .zip(&self.ahead)
            .map(|(name, list)| format!(" {name} {}", list.join(separator)));
        after.chain(ahead).collect()
    }
}

fn slashed(pattern: &str) -> String {
    match pattern.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(text) => {
            format!("/{}/", regex::escape(&text.replace("\\n", "\n")).replace('\n', "\\n"))
        }
        None => {
            let preceded =
                [("/(?<=", "preceded"), ("/(?<!", "unpreceded")].iter().find_map(|(look, word)| {
                    let (before, own) = pattern.strip_prefix(look)?.split_once(')')?;
                    Some((format!("/{own}"), format!(" {word} /{before}/")))
                });
            let (pattern, preceded) =
                preceded.unwrap_or_else(|| (pattern.to_owned(), String::new()));
            let followed =
                [("(?=", "followed"), ("(?!", "unfollowed")].iter().find_map(|(look, word)| {
                    let (own, behind) = pattern.strip_suffix(")/")?.split_once(look)?;
                    Some(format!("{own}/ {word} /{behind}/"))
                });
            followed.unwrap_or(pattern) + &preceded
        }
    }
}
