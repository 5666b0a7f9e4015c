//! Grammars of characters (GBNF): selection of parts that become terminals, such that the language
//! stays that of the characters.
//!
//! Such a grammar has no lexer, and this engine's lexer takes the longest match. So terminals are
//! chosen for which the longest match is the only one; `README.md` next to this file has the
//! statement and its proof.

mod alphabet;
mod assemble;
mod automaton;
mod calls;
mod charset;
mod contexts;
mod cut;
mod equations;
mod expr;
mod kleene;
mod munch_safety;
mod print;
mod reach;
mod regexes;
mod regular;
mod resolve;
mod shortest;
mod tag_formats;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub(crate) use tag_formats::{TagFormat, TagFormatKind, lower_tag_formats};

use crate::grammar::analysis::{self, Report};
use crate::grammar::characters::alphabet::Alphabet;
use crate::grammar::characters::contexts::Budget;
use crate::grammar::characters::cut::{CutRules, Cuts};
use crate::grammar::characters::expr::Exprs;
use crate::grammar::characters::munch_safety::Checker;
use crate::grammar::characters::resolve::Rule;
use crate::grammar::lower::expand::{self, Productions};
use crate::grammar::lower::{Context, did_you_mean};
use crate::grammar::{Grammar, GrammarError};
use crate::syntax::gbnf::ast::File;
use crate::syntax::parse_gbnf;
use crate::util::bitset::BitSet;
use crate::util::diagnostic::Diagnostic;
use crate::util::limits::Limits;

/// Maximum number of rounds of taking apart; after these, terminals are whole and end at each
/// match.
const MAX_ROUNDS: usize = 10;
/// Maximum number of steps to find the terminals of each context, in all rounds together.
const MAX_CONTEXT_STEPS: usize = 4_000_000;
/// Maximum number of intervals in all classes of a grammar together.
const MAX_INTERVALS: usize = 4_000_000;

/// Lowers the GBNF grammar `text`, called `name` by its caller. `start` is the start rule, `root`
/// by default.
pub(crate) fn lower_gbnf(
    text: &str,
    name: &str,
    start: Option<&str>,
    limits: &Limits,
) -> Result<Grammar, GrammarError> {
    let mut context = Context::named(name, limits);
    context.count_file(text)?;
    let file = parse_gbnf(text).map_err(|error| error.diagnostic(&name.into(), text))?;
    let source = context.sources.add(name.into(), text);
    lower_file(&mut context, source, file, start)
}

/// Lowers the rules of `file`, which is source `source`.
fn lower_file(
    context: &mut Context,
    source: u32,
    file: File,
    start: Option<&str>,
) -> Result<Grammar, GrammarError> {
    let mut exprs = Exprs::default();
    let mut rules = resolve::resolve(context, source, &file, &mut exprs);
    drop(file);
    let root = find_start(context, &rules, start);
    let root = context.checked(root)?;
    // AFTER THIS: rules by number; no assertions.

    reach::trim(context, &mut exprs, &mut rules, root, start.is_none());
    context.check()?;
    // AFTER THIS: every rule that is referred to derives a text.

    kleene::simplify(context, &mut exprs, &mut rules);
    context.check()?;
    // AFTER THIS: the same languages with fewer derivations.

    regular::write_out(context, &mut exprs, &mut rules);
    context.check()?;
    // AFTER THIS: regular rules are written out where they are used.

    let settled = settle(context, &mut exprs, &rules, root);
    let Settled { parts, productions, every_match } = context.checked(settled)?;
    // AFTER THIS: terminals for which longest match and competition do no harm.

    let mut grammar =
        assemble::assemble(context, &mut exprs, &rules, &parts, &every_match, &productions);
    grammar.warnings = context.sorted();
    let start = grammar.start;
    let trimmed = analysis::trim(&Arc::new(grammar), start, Report::Reached)?;
    Ok(Grammar { cost: context.meter.cost(), ..trimmed })
}

/// Returns the start rule.
fn find_start(context: &mut Context, rules: &[Rule], start: Option<&str>) -> Option<usize> {
    let name = start.unwrap_or("root");
    let found = rules.iter().position(|rule| &*rule.name == name);
    if found.is_none() {
        let names = rules.iter().map(|rule| &*rule.name);
        context.report(match start {
            Some(name) => {
                let message = format!("there is no rule `{name}` to start from");
                did_you_mean(Diagnostic::error("undefined-symbol", message), name, names)
            }
            None => Diagnostic::error("no-start", "there is no rule `root` to start from")
                .help(other_starts(rules)),
        });
    }
    found
}

/// Returns help for a grammar without a rule `root`.
fn other_starts(rules: &[Rule]) -> String {
    const NAMED: usize = 12;
    let names: Vec<String> = rules
        .iter()
        .filter(|rule| !rule.is_made())
        .take(NAMED)
        .map(|rule| format!("`{}`", rule.name))
        .collect();
    let more = if rules.len() > NAMED { ", ..." } else { "" };
    let way = "name the start rule `root`, or select one with `--start RULE`";
    match names.is_empty() {
        true => way.to_owned(),
        false => format!("{way} ({}{more})", names.join(", ")),
    }
}

/// Terminals, the rules over them, and which of them may end at each match.
struct Settled {
    parts: CutRules,
    productions: Productions,
    every_match: BitSet,
}

/// Returns terminals for which longest match and competition do no harm: taken apart until that
/// holds for all, or else the largest ones, some of which may end at each match.
fn settle(
    context: &mut Context,
    exprs: &mut Exprs,
    rules: &[Rule],
    root: usize,
) -> Option<Settled> {
    let Some(alphabet) = Alphabet::new(exprs, MAX_INTERVALS) else {
        let message = format!(
            "the character classes have more than {MAX_INTERVALS} intervals in \
                               total"
        );
        context.report(Diagnostic::error("grammar-too-large", message));
        return None;
    };
    let checker = Checker::new(alphabet, &context.meter);
    // Which texts values of schemas have is not known here.
    let has_schemas = exprs.has_schemas();
    let mut settling = Settling { context, exprs, rules, root, checker, has_schemas };
    let apart = if has_schemas { None } else { settling.take_apart() };
    Some(apart.or_else(|| settling.end_anywhere()).unwrap_or_else(|| settling.spell()))
}

struct Settling<'a> {
    context: &'a mut Context,
    exprs: &'a mut Exprs,
    rules: &'a [Rule],
    root: usize,
    checker: Checker,
    /// Whether values of schemas occur next to the terminals: then all of these end at each match.
    has_schemas: bool,
}

impl Settling<'_> {
    /// Returns terminals that all use the longest match, or `None` if names would have to be
    /// spelled letter by letter, or finding them takes too long.
    fn take_apart(&mut self) -> Option<Settled> {
        let mut cuts = Cuts::default();
        let mut budget = Budget::new(MAX_CONTEXT_STEPS, &self.context.meter);
        for _ in 0..MAX_ROUNDS {
            let parts = cut::cut(self.exprs, self.rules, self.root, &cuts);
            if parts.spells {
                return None;
            }
            if !self.checker.measure(self.exprs, &parts.terminals, &mut cuts).ok()? {
                continue;
            }
            let productions = expand::expand(self.context, &parts.rules);
            let contexts = contexts::contexts(&productions, parts.terminals.len(), &mut budget)?;
            if self.checker.check(self.exprs, &parts.terminals, &contexts, &mut cuts).ok()? {
                let every_match = BitSet::new(parts.terminals.len());
                return Some(Settled { parts, productions, every_match });
            }
        }
        None
    }

    /// Returns the largest terminals. Those for which longest match or competition would do harm
    /// may end at each match; if finding these takes too long, all of them may.
    fn end_anywhere(&mut self) -> Option<Settled> {
        self.checker.rest();
        let mut cuts = Cuts::default();
        let mut budget = Budget::new(MAX_CONTEXT_STEPS, &self.context.meter);
        loop {
            let parts = cut::cut(self.exprs, self.rules, self.root, &cuts);
            if !self.checker.measure(self.exprs, &parts.terminals, &mut cuts).ok()? {
                continue;
            }
            let productions = expand::expand(self.context, &parts.rules);
            let known = cuts.same.len();
            let contexts = match self.has_schemas {
                true => None,
                false => contexts::contexts(&productions, parts.terminals.len(), &mut budget),
            };
            let every_match = contexts.and_then(|contexts| {
                self.checker
                    .find_every_match(self.exprs, &parts.terminals, &contexts, &mut cuts)
                    .ok()
            });
            if every_match.is_none() || cuts.same.len() == known {
                let every_match = every_match.unwrap_or_else(|| all(parts.terminals.len()));
                return Some(Settled { parts, productions, every_match });
            }
        }
    }

    /// Returns a terminal for each class of characters.
    fn spell(&mut self) -> Settled {
        let cuts = Cuts { is_all: true, ..Cuts::default() };
        let parts = cut::cut(self.exprs, self.rules, self.root, &cuts);
        let productions = expand::expand(self.context, &parts.rules);
        let every_match = all(parts.terminals.len());
        Settled { parts, productions, every_match }
    }
}

fn all(count: usize) -> BitSet {
    let mut all = BitSet::new(count);
    (0..count).for_each(|terminal| {
        all.insert(terminal);
    });
    all
}
