//! Turns the definitions of terminals into patterns, with references to terminals expanded.
//!
//! Expansion may double at each step, so sizes are computed before anything is copied.

use crate::grammar::lower::Context;
use crate::grammar::lower::source::At;
use crate::grammar::lower::tree::{Body, Leaf, NamedTerminal, Node, Term, TerminalIndex};
use crate::grammar::pattern::Pattern;
use crate::util::components::depth_first;
use crate::util::diagnostic::Diagnostic;

/// Maximum number of expressions in all patterns together, with named terminals expanded.
const MAX_SIZE: u64 = 1_000_000;
/// Maximum depth of an expanded pattern. Later layers walk patterns recursively.
const MAX_DEPTH: u64 = 200;

/// Definitions of terminals that are known to be acyclic.
#[derive(Debug)]
pub(crate) struct Patterns<'a> {
    terminals: &'a [NamedTerminal],
    measures: Vec<Measure>,
    /// Number of expressions expanded so far.
    size: u64,
}

/// Size of an expanded terminal.
#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    size: u64,
    depth: u64,
}

/// Checks that no terminal contains itself or a rule, and that none is too large.
///
/// AFTER THIS: each terminal can be written out as one pattern.
pub(crate) fn check<'a>(
    context: &mut Context,
    terminals: &'a [NamedTerminal],
) -> Option<Patterns<'a>> {
    let mut patterns =
        Patterns { terminals, measures: vec![Measure::default(); terminals.len()], size: 0 };
    let order = bottom_up(context, terminals)?;
    let mut sound = true;
    for terminal in order {
        let Some(body) = &terminals[terminal].body else { continue };
        let Some(measure) = patterns.measure(context, body) else {
            sound = false;
            continue;
        };
        if measure.depth > MAX_DEPTH {
            let name = &terminals[terminal].name;
            let message = format!(
                "terminal `{name}` is nested more than {MAX_DEPTH} levels deep after \
                         expansion"
            );
            let place = context.sources.place(terminals[terminal].at);
            context.report(Diagnostic::error("nesting-too-deep", message).at(place));
            sound = false;
        }
        patterns.measures[terminal] = measure;
    }
    sound.then_some(patterns)
}

/// Returns an order in which every terminal comes after those that it refers to, or `None` if one
/// refers to itself, directly or not.
fn bottom_up(context: &mut Context, terminals: &[NamedTerminal]) -> Option<Vec<TerminalIndex>> {
    let named: Vec<Vec<TerminalIndex>> = terminals
        .iter()
        .map(|terminal| terminal.body.as_ref().map(fragments_of).unwrap_or_default())
        .collect();
    let mut order = Vec::with_capacity(terminals.len());
    let mut recursive = None;
    let note = |path: &[TerminalIndex]| {
        recursive = Some(path.to_vec());
        false
    };
    depth_first(&named, |terminal| order.push(terminal), note);
    let Some(path) = recursive else { return Some(order) };
    let cycle: Vec<String> =
        path.iter().map(|&on_path| format!("`{}`", terminals[on_path].name)).collect();
    let message = format!("a terminal contains itself: {}", cycle.join(" contains "));
    let place = context.sources.place(terminals[path[0]].at);
    context.report(
        Diagnostic::error("recursive-terminal", message)
            .at(place)
            .help("use `*` or `+`, or make it a rule: terminals are regular languages"),
    );
    None
}

/// Returns the terminals that `body` refers to.
pub(crate) fn fragments_of(body: &Body) -> Vec<TerminalIndex> {
    let mut names = Vec::new();
    collect(body, &mut names);
    names
}

fn collect(body: &Body, names: &mut Vec<TerminalIndex>) {
    fn term(node: &Node, names: &mut Vec<TerminalIndex>) {
        match node {
            Node::Terminal(terminal) => names.push(*terminal),
            Node::Group(body) => collect(body, names),
            Node::Repeat { term: inner, .. } | Node::Complement(inner) | Node::Shortest(inner) => {
                term(&inner.node, names);
            }
            Node::Intersection(parts) => parts.iter().for_each(|part| collect(part, names)),
            Node::Rule(_)
            | Node::Leaf(_)
            | Node::Parameter(_)
            | Node::Call { .. }
            | Node::Value(_)
            | Node::If(_) => {}
        }
    }
    body.iter().flat_map(|sequence| &sequence.terms).for_each(|inner| term(&inner.node, names));
}

impl Patterns<'_> {
    /// Returns the terminals that the definition of `terminal` refers to.
    pub(crate) fn fragments(&self, terminal: TerminalIndex) -> Vec<TerminalIndex> {
        self.terminals[terminal].body.as_ref().map(fragments_of).unwrap_or_default()
    }

    /// Returns the leaf that defines a terminal, possibly through other terminals, if it is a
    /// single one.
    pub(crate) fn leaf(&self, mut terminal: TerminalIndex) -> Option<&Leaf> {
        loop {
            let mut body = self.terminals[terminal].body.as_ref()?;
            loop {
                let [sequence] = &body[..] else { return None };
                let [term] = &sequence.terms[..] else { return None };
                match &term.node {
                    Node::Leaf(leaf) => return Some(leaf),
                    Node::Group(group) => body = group,
                    Node::Terminal(inner) => {
                        terminal = *inner;
                        break;
                    }
                    _ => return None,
                }
            }
        }
    }

    /// Expands a terminal. Returns `None` for a declared one, and if an error was reported.
    pub(crate) fn write_out(
        &mut self,
        context: &mut Context,
        terminal: TerminalIndex,
    ) -> Option<Pattern> {
        let terminals = self.terminals;
        let body = terminals[terminal].body.as_ref()?;
        let size = self.measures[terminal].size;
        self.take(context, size, terminals[terminal].at, &terminals[terminal].name)?;
        Some(self.alternatives(context, body))
    }

    /// Expands the body of an `%ignore`. Returns `None` if an error was reported.
    pub(crate) fn write_out_body(
        &mut self,
        context: &mut Context,
        body: &Body,
        at: At,
    ) -> Option<Pattern> {
        let measure = self.measure(context, body)?;
        if measure.depth > MAX_DEPTH {
            let place = context.sources.place(at);
            let message = format!(
                "the pattern is nested more than {MAX_DEPTH} levels deep after \
                                   expansion"
            );
            context.report(Diagnostic::error("nesting-too-deep", message).at(place));
            return None;
        }
        self.take(context, measure.size, at, "%ignore")?;
        Some(self.alternatives(context, body))
    }

    /// Takes `size` from the budget.
    fn take(&mut self, context: &mut Context, size: u64, at: At, name: &str) -> Option<()> {
        self.size = self.size.saturating_add(size);
        if self.size <= MAX_SIZE {
            return Some(());
        }
        let place = context.sources.place(at);
        let message = format!(
            "the patterns have more than {MAX_SIZE} expressions after the expansion of `{name}`"
        );
        context.report(Diagnostic::error("pattern-too-large", message).at(place));
        None
    }

    /// Returns the expanded size of `body`, or `None` if it contains something invalid in a
    /// terminal.
    fn measure(&self, context: &mut Context, body: &Body) -> Option<Measure> {
        let mut whole = Measure { size: 1, depth: 0 };
        let mut sound = true;
        for sequence in body {
            if sequence.precedence.is_some() {
                let place = context.sources.place(sequence.at);
                let message = "%prec is not allowed in a terminal";
                context.report(
                    Diagnostic::error("misplaced-prec", message)
                        .at(place)
                        .help("give the terminal a priority instead: `NAME.2: ...`"),
                );
                sound = false;
            }
            for term in &sequence.terms {
                match self.measure_term(context, term) {
                    Some(measure) => {
                        whole.size = whole.size.saturating_add(measure.size);
                        whole.depth = whole.depth.max(measure.depth);
                    }
                    None => sound = false,
                }
            }
            whole.size = whole.size.saturating_add(1);
        }
        whole.depth += 2;
        sound.then_some(whole)
    }

    fn measure_term(&self, context: &mut Context, term: &Term) -> Option<Measure> {
        match &term.node {
            Node::Leaf(Leaf::Literal { text, .. } | Leaf::Regex { pattern: text, .. }) => {
                Some(Measure { size: 1 + text.len() as u64 / 64, depth: 1 })
            }
            Node::Leaf(Leaf::Range(..)) => Some(Measure { size: 1, depth: 1 }),
            Node::Leaf(Leaf::Substring(chunks)) => {
                Some(Measure { size: 1 + chunks.len() as u64 / 16, depth: 1 })
            }
            Node::Leaf(Leaf::Schema(_)) => {
                let place = context.sources.place(term.at);
                context.report(
                    Diagnostic::error(
                        "schema-in-terminal",
                        "a terminal cannot contain a JSON \
                                                             Schema",
                    )
                    .at(place)
                    .help("use the schema in a rule: its texts are not lexemes"),
                );
                None
            }
            Node::Leaf(Leaf::Tokens(_)) => {
                let place = context.sources.place(term.at);
                context.report(
                    Diagnostic::error(
                        "token-in-terminal",
                        "a terminal cannot contain a token of the vocabulary",
                    )
                    .at(place)
                    .help("use the token in a rule"),
                );
                None
            }
            Node::Intersection(parts) => {
                let mut whole = Measure { size: 1, depth: 0 };
                for part in parts {
                    let Measure { size, depth } = self.measure(context, part)?;
                    whole = Measure {
                        size: whole.size.saturating_add(size),
                        depth: whole.depth.max(depth),
                    };
                }
                Some(Measure { depth: whole.depth + 1, ..whole })
            }
            Node::Complement(term) | Node::Shortest(term) => {
                let Measure { size, depth } = self.measure_term(context, term)?;
                Some(Measure { size: size.saturating_add(1), depth: depth + 1 })
            }
            Node::Terminal(terminal) => {
                if self.terminals[*terminal].body.is_none() {
                    let place = context.sources.place(term.at);
                    let name = &self.terminals[*terminal].name;
                    let message = format!(
                        "`{name}` is only declared and has no pattern, so no terminal can contain \
                         it"
                    );
                    context.report(Diagnostic::error("declared-terminal", message).at(place));
                    return None;
                }
                Some(self.measures[*terminal])
            }
            Node::Group(body) => self.measure(context, body),
            Node::Repeat { term, .. } => {
                let Measure { size, depth } = self.measure_term(context, term)?;
                Some(Measure { size: size.saturating_add(1), depth: depth + 1 })
            }
            Node::Rule(_)
            | Node::Parameter(_)
            | Node::Call { .. }
            | Node::Value(_)
            | Node::If(_) => {
                let place = context.sources.place(term.at);
                context.report(
                    Diagnostic::error("rule-in-terminal", "a terminal cannot contain a rule")
                        .at(place)
                        .help(
                            "make it a terminal with a name in upper case: a terminal consists of \
                             strings, regexes and terminals",
                        ),
                );
                None
            }
        }
    }

    // The functions below run on measured bodies only: their depth and work are bounded.

    fn alternatives(&self, context: &Context, body: &Body) -> Pattern {
        let mut all = Vec::with_capacity(body.len());
        for sequence in body {
            let mut parts = Vec::with_capacity(sequence.terms.len());
            for term in &sequence.terms {
                match self.term(context, term) {
                    Pattern::Concat(inner) => parts.extend(inner),
                    pattern => parts.push(pattern),
                }
            }
            match if parts.len() == 1 { parts.remove(0) } else { Pattern::Concat(parts) } {
                Pattern::Alternation(inner) => all.extend(inner),
                pattern => all.push(pattern),
            }
        }
        if all.len() == 1 { all.remove(0) } else { Pattern::Alternation(all) }
    }

    fn term(&self, context: &Context, term: &Term) -> Pattern {
        match &term.node {
            Node::Leaf(leaf) => leaf.pattern(|| context.sources.place(term.at)),
            Node::Group(body) => self.alternatives(context, body),
            Node::Repeat { term, min, max } => Pattern::Repeat {
                pattern: Box::new(self.term(context, term)),
                min: *min,
                max: *max,
            },
            Node::Intersection(parts) => Pattern::Intersection(
                parts.iter().map(|part| self.alternatives(context, part)).collect(),
            ),
            Node::Complement(term) => Pattern::Complement(Box::new(self.term(context, term))),
            Node::Shortest(term) => Pattern::Shortest(Box::new(self.term(context, term))),
            Node::Terminal(terminal) => match &self.terminals[*terminal].body {
                Some(body) => self.alternatives(context, body),
                None => Pattern::Alternation(Vec::new()),
            },
            // Rejected when it was measured.
            Node::Rule(_)
            | Node::Parameter(_)
            | Node::Call { .. }
            | Node::Value(_)
            | Node::If(_) => Pattern::Alternation(Vec::new()),
        }
    }
}
