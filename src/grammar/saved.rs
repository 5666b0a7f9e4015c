//! The saved form of a grammar: its IR as JSON.
//!
//! The form holds the meaning of a grammar. Places in files, warnings, and rules that only another
//! start symbol reaches are omitted. `docs/saved.md` lists the changes of the IR that keep the form
//! readable.

use serde::{Deserialize, Serialize};

use super::Grammar;
use super::analysis::is_productive;
use super::ir::{
    Conflicts, Indentation, LexerKind, Matching, Nonterminal, Production, Symbol, Terminal,
};
use super::pattern::Pattern;
use super::requirement::Requirement;
use crate::util::fingerprint::Fingerprint;
use crate::util::id::{NonterminalId, ProductionId, TerminalId};
use crate::util::shared::Shared;

/// The fields of a grammar that are saved, under the same names.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Grammar")]
struct Fields {
    terminals: Shared<Terminal>,
    nonterminals: Shared<Nonterminal>,
    productions: Shared<Production>,
    start: NonterminalId,
    lexer: LexerKind,
    requirements: Vec<Requirement>,
    conflicts: Conflicts,
    leading_ignored: bool,
    matching: Matching,
    reserve_covered: Vec<TerminalId>,
    indentation: Option<Indentation<TerminalId>>,
    #[serde(skip)]
    starts: Vec<NonterminalId>,
    #[serde(skip)]
    warnings: Vec<crate::util::diagnostic::Diagnostic>,
    #[serde(skip)]
    untrimmed: Option<std::sync::Arc<Grammar>>,
    #[serde(skip)]
    cost: crate::util::meter::Cost,
}

/// Maximum nesting depth of JSON brackets in the saved form of a sound grammar. Its deepest parts
/// are patterns: two brackets for each of at most 256 nested patterns.
const DEEPEST: usize = 600;

impl Grammar {
    /// Returns a number that, barring collisions, differs between grammars that differ in a rule, a
    /// terminal, a name or a directive. It is the same on every machine. White space, comments and
    /// places in the file do not affect it. Takes time linear in the grammar's size.
    pub fn fingerprint(&self) -> u64 {
        fingerprint(&self.to_json())
    }

    /// Returns the saved form.
    pub(crate) fn to_json(&self) -> String {
        let mut json = Vec::new();
        let written = Fields::serialize(self, &mut serde_json::Serializer::new(&mut json));
        debug_assert!(written.is_ok(), "memory takes every write, and every key is a text");
        String::from_utf8(json).unwrap_or_default()
    }

    /// Reads the saved form. Returns `None` if the text is not the form of a grammar from which
    /// tables can be built.
    pub(crate) fn from_json(json: &str) -> Option<Self> {
        if depth(json) > DEEPEST {
            return None;
        }
        let mut json = serde_json::Deserializer::from_str(json);
        json.disable_recursion_limit();
        let mut grammar = Fields::deserialize(&mut json).ok()?;
        json.end().ok()?;
        for (index, production) in grammar.productions.iter().enumerate() {
            let of = grammar.nonterminals.get_mut(production.lhs.index())?;
            of.productions.push(ProductionId::new(index));
        }
        (is_sound(&grammar) && is_productive(&grammar)).then_some(grammar)
    }
}

/// Returns the fingerprint of a grammar, from its saved form.
pub(crate) fn fingerprint(json: &str) -> u64 {
    let mut hash = Fingerprint::default();
    hash.bytes(json.as_bytes());
    hash.value()
}

/// Returns the maximum number of brackets open at once, ignoring those in strings.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut bytes) = (0usize, 0, json.bytes());
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next().filter(|&byte| byte != b'"') {
                    // An escaped quote does not end the string.
                    if byte == b'\\' {
                        bytes.next();
                    }
                }
            }
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Whether every id is valid, and the ranks are a permutation.
fn is_sound(grammar: &Grammar) -> bool {
    let known = |id: &TerminalId| id.index() < grammar.terminals.len();
    let rule = |id: &NonterminalId| id.index() < grammar.nonterminals.len();
    let symbol = |symbol: &Symbol| match symbol {
        Symbol::Terminal(id) => known(id),
        Symbol::Nonterminal(id) => rule(id),
    };
    let mut ranks: Vec<u32> = grammar.terminals.iter().map(|terminal| terminal.rank).collect();
    ranks.sort_unstable();
    ranks.into_iter().eq(0..grammar.terminals.len() as u32)
        && rule(&grammar.start)
        && grammar.reserve_covered.iter().all(known)
        && grammar.productions.iter().all(|production| production.rhs.iter().all(symbol))
        && grammar.requirements.iter().all(|requirement| {
            requirement.is_sound()
                && requirement.nonterminals().all(|id| rule(&id))
                && requirement.separator.iter().all(known)
                && known(&requirement.open)
        })
        && grammar.terminals.iter().all(|terminal| {
            terminal.pattern.as_ref().is_none_or(Pattern::is_sound)
                && terminal.reserved_against.iter().all(known)
                && terminal.meant.iter().all(known)
                && terminal.fallback.iter().all(|fallback| known(&fallback.terminal))
                && terminal.budget.iter().all(|budget| budget.cuts.iter().all(known))
                && terminal.lookahead.iter().all(|lookahead| {
                    let lists = lookahead.after.iter().chain(&lookahead.before);
                    known(&lookahead.other)
                        && !lookahead.before.is_empty()
                        && lists.into_iter().all(|list| list.iter().all(known))
                })
        })
        && grammar.indentation.iter().all(|indentation| {
            let brackets = indentation.open.iter().chain(&indentation.close);
            indentation.tab > 0 && indentation.own().chain(brackets).all(known)
        })
}
