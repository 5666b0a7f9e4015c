//! The check of a grammar: where is a text viable whenever the engine says so at first sight?
//!
//! A text is viable when the lexeme in progress can become a terminal that the stack can shift, if
//! every stack so reached can be completed, by lexemes that longest match lets stand side by side.
//! For most terminals of most grammars that is certain, whatever the stack, and the check proves
//! it; where it is not, each configuration is decided by itself ([`super::viability`]). The passes,
//! in order:
//!
//! * [`separate`]: whether lexemes come apart at first sight; then what may follow what is known,
//!   and the passes up to [`adjacency`] have nothing to ask;
//! * [`terminals`]: which terminals are never a label; which words others cover;
//! * [`matching`]: where an author who knows Lark may be surprised by a lexeme;
//! * [`indentation`]: that blanks, brackets and blocks do not go their own way;
//! * [`scan_graph`]: all that lexemes can come to;
//! * [`adjacency`]: which terminals can always be made to follow which others;
//! * [`gates`]: which ignored terminals only some may follow;
//! * [`succession`]: the same in the terms of the proof, with what words ask of the lexemes behind
//!   them;
//! * [`crate::lr::completable`]: with that, which stacks can be completed (run only where it is in
//!   doubt).

mod adjacency;
mod direct;
mod gates;
mod indentation;
mod matching;
mod quoted;
mod scan_graph;
mod separate;
mod succession;
mod terminals;

use crate::grammar::ir::{Grammar, Symbol};
use crate::lr::completable::Completability;
use crate::lr::derivations::Place;
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
use succession::{Behind, Lexemes};

/// What is certain about the lexemes of a grammar, and what its author should know; or the errors
/// where the engine could not be exact.
pub(crate) fn check(
    grammar: &Grammar,
    lexis: &Lexis,
    limits: &Limits,
    meter: &Meter,
) -> Result<(Proof, Vec<Diagnostic>), Vec<Diagnostic>> {
    let steps = || limits.proof_steps.min(meter.steps_left() / STEPS_OF_A_PROOF_STEP);
    let adjacency = separate::adjacency(grammar, lexis, meter);
    if let Some(adjacency) = adjacency.map_err(|limit| vec![too_large(limit)])? {
        let mut findings = matching::check(grammar, lexis);
        findings.extend(terminals::covered_words(grammar, lexis));
        return Ok((prove(lexis, &adjacency, steps()), findings));
    }
    if lexis.states().has_every_match() {
        // The terminals were made so that every derivation is read: whatever the stack takes can be
        // completed as the rules say.
        let proof = Proof { sure: all(lexis.terminal_count()), is_whole: true, gates: Vec::new() };
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
    // The proof takes as much room again.
    drop(scan_graph);
    if let Some(ignored) = adjacency.unending(grammar) {
        findings.push(indentation::unending(grammar, ignored));
    }
    findings.extend(indentation::check_limit(grammar, lexis, adjacency.is_total(lexis.table())));
    let findings = sound(findings)?;
    Ok((prove(lexis, &adjacency, steps()), findings))
}

/// A step of the proof takes about so many of the meter's.
const STEPS_OF_A_PROOF_STEP: usize = 10;

/// The check came to a limit of building.
fn too_large(limit: LimitReached) -> Diagnostic {
    Diagnostic::of_limit("scanner-too-large", limit)
}

/// The findings, if none is an error.
fn sound(findings: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    match findings.iter().any(|finding| finding.severity == Severity::Error) {
        true => Err(findings),
        false => Ok(findings),
    }
}

/// Finds out behind which labels whatever is reached can be completed.
fn prove(lexis: &Lexis, adjacency: &Adjacency, proof_steps: usize) -> Proof {
    let table = lexis.table();
    if lexis.states().has_cuts() {
        // Where a lazy terminal does not compete, or one of high priority, lexemes may be longer:
        // candidate sets say nothing of their parts.
        return Proof::nothing(lexis.terminal_count());
    }
    let gates = adjacency.gates().to_vec();
    let count = lexis.terminal_count();
    // What asks something of the text behind it is not certain, whatever may follow.
    let is_whole = !lexis.states().has_conditions();
    if lexis.lookaheads.is_empty() && adjacency.is_total(table) && !table.has_settled_conflicts() {
        // Every cell of the tables is really there, so the completion that the items promise
        // exists.
        return Proof { sure: all(count), is_whole, gates };
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
        let pairs: Vec<(CoreId, Place)> =
            wanted.iter().map(|&(core, place, _)| (core, place)).collect();
        let shown = proof.prove(&pairs);
        let not = wanted.into_iter().zip(shown).filter(|(_, shown)| !shown);
        not.map(|((.., behind), _)| behind).collect::<Vec<Option<TerminalId>>>()
    };
    let doubtful = adjacency.doubtful();
    let mut unsure = prove(&mut std::iter::once(None).chain(doubtful.iter().copied().map(Some)));
    if unsure.is_empty() {
        return Proof { sure: all(count), is_whole, gates };
    }
    // Behind the others whatever may follow at all may follow, or what passes a gate: that is not
    // enough any more.
    let others =
        lexis.ignored.iter().map(TerminalId::new).filter(|ignored| !doubtful.contains(ignored));
    unsure.extend(prove(&mut others.map(Some)));
    // A NEWLINE that ends a blank line counts for nothing, like an ignored terminal.
    unsure.extend(lexis.indentation().map(|indentation| Some(indentation.newline)));
    let mut sure = all(count);
    for terminal in unsure.into_iter().flatten() {
        sure.remove(terminal.index());
        // The words that may be read as it.
        for word in (0..count).filter(|&word| lexis.may_be_read_as(TerminalId::new(word), terminal))
        {
            sure.remove(word);
        }
    }
    Proof { sure, is_whole: false, gates }
}

/// All of `count` labels.
fn all(count: usize) -> BitSet {
    let mut all = BitSet::new(count);
    (0..count).for_each(|label| {
        all.insert(label);
    });
    all
}

/// The cores on whose stacks a lexeme may begin where nothing is asked, each with the terminal that
/// was taken last (`None` at the beginning of the text).
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

/// Whether nothing may be asked directly behind this terminal.
fn may_ask_nothing(lexis: &Lexis, terminal: TerminalId) -> bool {
    let reads = |word| lexis.may_be_read_as(TerminalId::new(word), terminal);
    lexis.lookaheads.word(terminal).is_none() || (0..lexis.terminal_count()).any(reads)
}

/// By terminal, what the tables let follow it, `$` included.
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
