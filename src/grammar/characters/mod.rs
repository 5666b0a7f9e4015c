//! Grammars of characters (GBNF): which parts of them become terminals, such that the language
//! stays that of the characters.
//!
//! Such a grammar has no lexer, and this engine's lexer takes the longest match. So terminals are
//! chosen for which the longest match is the only one; `README.md` beside this file has the
//! statement and its proof.

mod alphabet;
mod assemble;
mod automaton;
mod charset;
mod contexts;
mod cut;
mod expr;
mod harmless;
mod reach;
mod regular;
mod resolve;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::grammar::analysis::{self, Report};
use crate::grammar::characters::alphabet::Alphabet;
use crate::grammar::characters::cut::{Cuts, Parts};
use crate::grammar::characters::expr::Exprs;
use crate::grammar::characters::harmless::Checker;
use crate::grammar::characters::resolve::Rule;
use crate::grammar::lower::expand::{self, Productions};
use crate::grammar::lower::{Context, did_you_mean};
use crate::grammar::{Grammar, GrammarError};
use crate::syntax::parse_gbnf;
use crate::util::diagnostic::Diagnostic;
use crate::util::limits::Limits;

/// Rounds of taking apart, before everything is taken apart.
const MAX_ROUNDS: usize = 40;
/// Steps to find out which terminals can stand at one place, in all rounds together.
const MAX_CONTEXT_STEPS: usize = 4_000_000;
/// Intervals in all classes of a grammar together.
const MAX_INTERVALS: usize = 4_000_000;

/// Lowers the GBNF grammar `text`, which its caller calls `name`. `start` is the rule that a text
/// is, if it is not `root`.
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
    let mut exprs = Exprs::default();
    let mut rules = resolve::resolve(&mut context, source, &file, &mut exprs);
    drop(file);
    let root = find_start(&mut context, &rules, start);
    let root = context.checked(root)?;
    // AFTER THIS: rules by number; no assertions.

    reach::trim(&mut context, &mut exprs, &mut rules, root, start.is_none());
    context.check()?;
    // AFTER THIS: every rule that is named derives a text.

    regular::write_out(&mut exprs, &mut rules);
    // AFTER THIS: what is regular is written out where it is named.

    let (parts, productions) = settle(&mut context, &mut exprs, &rules, root);
    context.check()?;
    // AFTER THIS: terminals for which longest match and competition do no harm.

    let mut grammar = assemble::assemble(&context, &mut exprs, &rules, &parts, &productions);
    grammar.warnings = context.sorted();
    let start = grammar.start;
    let trimmed = analysis::trim(&Arc::new(grammar), start, Report::Reached)?;
    Ok(Grammar { cost: context.meter.cost(), ..trimmed })
}

/// The rule that a text is.
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
                .help("name the rule that a whole text is `root`"),
        });
    }
    found
}

/// The terminals, taken apart until longest match does no harm; and the productions over them.
fn settle(context: &mut Context, exprs: &mut Exprs, rules: &[Rule], root: usize) -> (Parts, Productions) {
    let mut cuts = Cuts::default();
    let Some(alphabet) = Alphabet::new(exprs, MAX_INTERVALS) else {
        let message = format!("the classes of characters have more than {MAX_INTERVALS} parts");
        context.report(Diagnostic::error("grammar-too-large", message));
        return (Parts::default(), Productions::default());
    };
    let mut checker = Checker::new(alphabet);
    let mut budget = MAX_CONTEXT_STEPS;
    for _ in 0..MAX_ROUNDS {
        let parts = cut::cut(exprs, rules, root, &cuts);
        match checker.measure(exprs, &parts.terminals, &mut cuts) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(harmless::TooMuch) => break,
        }
        let productions = expand::expand(context, &parts.rules);
        let Some(contexts) = contexts::contexts(&productions, parts.terminals.len(), &mut budget) else {
            break;
        };
        match checker.check(exprs, &parts.terminals, &contexts, &mut cuts) {
            Ok(true) => return (parts, productions),
            Ok(false) => {}
            Err(harmless::TooMuch) => break,
        }
    }
    // One terminal a letter: each character is just one of them.
    cuts.letters = Some(checker.letters());
    let parts = cut::cut(exprs, rules, root, &cuts);
    let productions = expand::expand(context, &parts.rules);
    (parts, productions)
}
