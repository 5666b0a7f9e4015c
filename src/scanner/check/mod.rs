//! The check of a grammar: for which lexemes is a text certain to be viable at first sight?
//!
//! A text is viable when the lexeme in progress can become a terminal that the stack can shift, and
//! every stack reached in this way can be completed by lexemes that longest match allows next to
//! each other. For most terminals of most grammars that holds for every stack, and the check proves
//! it; elsewhere each configuration is decided by itself ([`super::viability`]). The passes, in
//! order:
//!
//! * [`separate`]: whether lexemes are separate at first sight; if so, the followers of each
//!   terminal are known, and the passes up to [`adjacency`] are skipped;
//! * [`terminals`]: which terminals are never a label; which words others cover;
//! * [`matching`]: where an author who knows Lark may be surprised by a lexeme;
//! * [`indentation`]: that blanks, brackets and blocks stay in step;
//! * [`scan_graph`]: all scan states that lexemes can reach;
//! * [`adjacency`]: which terminals can always be made to follow which others;
//! * [`ignored_follow`]: which ignored terminals only some terminals may follow;
//! * [`succession`]: the same in the terms of the proof, with the requirements of words on the
//!   lexemes after them;
//! * [`crate::lr::completable`]: with that, which stacks can be completed (run only if it is in
//!   doubt).

mod adjacency;
mod direct;
mod ignored_follow;
mod indentation;
mod matching;
mod quoted;
mod scan_graph;
mod separate;
mod succession;
mod terminals;

use crate::grammar::ir::{Grammar, Symbol};
use crate::lr::completable::Completability;
use crate::lr::derivations::LexicalStateId;
use crate::lr::table::ParseTable;
use crate::scanner::lookahead::ExpectationsId;
use crate::scanner::{Lexis, Proof};
use crate::util::bitset::BitSet;
use crate::util::diagnostic::{Diagnostic, Severity};
use crate::util::id::{CoreId, TerminalId};
use crate::util::limits::Limits;
use crate::util::meter::{LimitReached, Meter};
use adjacency::Adjacency;
use scan_graph::ScanGraph;
use separate::Separate;
use succession::{Behind, Lexemes};

/// Returns the facts that are certain about the lexemes of a grammar, and warnings for its author;
/// or errors if the engine could not be exact.
pub(crate) fn check(
    grammar: &Grammar,
    lexis: &Lexis,
    limits: &Limits,
    meter: &Meter,
) -> Result<(Proof, Vec<Diagnostic>), Vec<Diagnostic>> {
    let steps = || limits.proof_steps.min(meter.steps_left() / STEPS_OF_A_PROOF_STEP);
    let separate = separate::find(grammar, lexis, meter);
    if let Some(separate) = separate.map_err(|limit| vec![too_large(limit)])? {
        let Separate { adjacency, at_once } = separate;
        let mut findings = matching::check(grammar, lexis);
        findings.extend(terminals::covered_words(grammar, lexis));
        let is_separate = at_once && !lexis.table().has_settled_conflicts();
        return Ok((Proof { is_separate, ..prove(lexis, &adjacency, steps()) }, findings));
    }
    if lexis.states().has_every_match() {
        // The terminals were made so that every derivation is read, so any stack can be completed
        // as the rules say.
        let sure = all(lexis.terminal_count());
        let proof = Proof { sure, is_whole: true, is_separate: false, gates: Vec::new() };
        return Ok((proof, Vec::new()));
    }
    let findings = sound(indentation::check(grammar, lexis))?;
    let scan_states = limits.scan_states;
    let scan_graph =
        ScanGraph::explore(lexis, scan_states, meter).map_err(|limit| vec![too_large(limit)])?;
    let Some(scan_graph) = scan_graph else {
        return Err(vec![too_large(meter.too_many_scan_states(scan_states))]);
    };
    let mut findings = findings;
    findings.extend(matching::check(grammar, lexis));
    findings.extend(terminals::check_labels(grammar, lexis, &scan_graph));
    if grammar.indentation.is_some() && !lexis.lookaheads.is_empty() {
        findings.push(indentation::among_words(grammar));
        return Err(findings);
    }
    let adjacency = Adjacency::new(grammar, lexis, &scan_graph, meter)
        .map_err(|limit| vec![too_large(limit)])?;
    // The proof takes as much memory again.
    drop(scan_graph);
    if let Some(ignored) = adjacency.unending(grammar) {
        findings.push(indentation::unending(grammar, ignored));
    }
    findings.extend(indentation::check_limit(grammar, lexis, adjacency.is_total(lexis.table())));
    let findings = sound(findings)?;
    Ok((prove(lexis, &adjacency, steps()), findings))
}

/// A step of the proof takes about this many of the meter's.
const STEPS_OF_A_PROOF_STEP: usize = 10;

/// Returns the error that the check reached a limit of building.
fn too_large(limit: LimitReached) -> Diagnostic {
    Diagnostic::of_limit("scanner-too-large", limit)
}

/// Returns the findings, if none is an error.
fn sound(findings: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    match findings.iter().any(|finding| finding.severity == Severity::Error) {
        true => Err(findings),
        false => Ok(findings),
    }
}

/// Finds the labels after which every reachable stack can be completed.
fn prove(lexis: &Lexis, adjacency: &Adjacency, proof_steps: usize) -> Proof {
    let table = lexis.table();
    if lexis.states().has_cuts() {
        // If a lazy terminal, or one of high priority, does not compete, lexemes may be longer. So
        // facts about a candidate set do not hold for its subsets.
        return Proof::nothing(lexis.terminal_count());
    }
    let gates = adjacency.gates().to_vec();
    let count = lexis.terminal_count();
    // Terminals with a condition on the following text are not certain, whatever may follow.
    let is_whole = !lexis.states().has_conditions();
    if lexis.lookaheads.is_empty() && adjacency.is_total(table) && !table.has_settled_conflicts() {
        // Every cell of the tables is possible, so the completion that the items promise exists.
        return Proof { sure: all(count), is_whole, is_separate: false, gates };
    }
    let mut lexemes = Lexemes::new(lexis, adjacency);
    let best = lexemes.best();
    let possible = |terminal| adjacency.is_possible(terminal);
    let mut proof = Completability::new(table, lexemes, best, possible, proof_steps);
    let begun = places(lexis, &proof);
    let mut prove = |ignored: &mut dyn Iterator<Item = Option<TerminalId>>| {
        let mut wanted = Vec::new();
        for ignored in ignored {
            for &(core, taken) in &begun {
                let behind = Behind { taken, ignored, asked: ExpectationsId::NONE };
                wanted.push((core, proof.succession().place(behind), ignored.or(taken)));
            }
        }
        let pairs: Vec<(CoreId, LexicalStateId)> =
            wanted.iter().map(|&(core, place, _)| (core, place)).collect();
        let shown = proof.prove(&pairs);
        let not = wanted.into_iter().zip(shown).filter(|(_, shown)| !shown);
        not.map(|((.., behind), _)| behind).collect::<Vec<Option<TerminalId>>>()
    };
    let doubtful = adjacency.doubtful();
    let mut unsure = prove(&mut std::iter::once(None).chain(doubtful.iter().copied().map(Some)));
    if unsure.is_empty() {
        return Proof { sure: all(count), is_whole, is_separate: false, gates };
    }
    // After the other ignored terminals everything possible may follow, or the terminals of a gate.
    // That is no longer enough.
    let others =
        lexis.ignored.iter().map(TerminalId::new).filter(|ignored| !doubtful.contains(ignored));
    unsure.extend(prove(&mut others.map(Some)));
    // A NEWLINE that ends a blank line has no effect, like an ignored terminal.
    unsure.extend(lexis.indentation().map(|indentation| Some(indentation.newline)));
    let mut sure = all(count);
    for terminal in unsure.into_iter().flatten() {
        sure.remove(terminal.index());
        // The words that may be read as this terminal.
        for word in lexis.labels_read_as(terminal) {
            sure.remove(word.index());
        }
    }
    Proof { sure, is_whole: false, is_separate: false, gates }
}

/// Returns all of `count` labels.
fn all(count: usize) -> BitSet {
    let mut all = BitSet::new(count);
    (0..count).for_each(|label| {
        all.insert(label);
    });
    all
}

/// Returns the cores on whose stacks a lexeme may begin without open requirements, each with the
/// last terminal taken (`None` at the beginning of the text).
fn places(
    lexis: &Lexis,
    proof: &Completability<'_, Lexemes<'_>>,
) -> Vec<(CoreId, Option<TerminalId>)> {
    let taken = |core| match lexis.table().accessing(core) {
        None => Some((core, None)),
        Some(Symbol::Terminal(terminal)) => {
            may_ask_nothing(lexis, terminal).then_some((core, Some(terminal)))
        }
        Some(Symbol::Nonterminal(_)) => None,
    };
    proof.reached().filter_map(taken).collect()
}

/// Returns whether there may be no open requirement directly after this terminal.
fn may_ask_nothing(lexis: &Lexis, terminal: TerminalId) -> bool {
    lexis.lookaheads.word(terminal).is_none() || !lexis.labels_read_as(terminal).is_empty()
}

/// Returns, by terminal, the terminals that the tables let follow it, `$` included.
fn rows(table: &ParseTable) -> Vec<BitSet> {
    let count = table.end().index();
    let mut rows = vec![BitSet::new(count + 1); count];
    for state in (0..table.state_count()).map(CoreId::new) {
        if let Some(Symbol::Terminal(terminal)) = table.accessing(state) {
            rows[terminal.index()].union_with(table.row(state));
        }
    }
    rows
}
