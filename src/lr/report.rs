//! Describes conflicts: one finding for each, with an example text, the items, and both parses.
//! They are errors if conflicts are to be refused, otherwise warnings.
//!
//! Invariant: an example is a true prefix of sentences, or the message says that it is not.

use hashbrown::HashSet;

use super::conflict::Conflict;
use super::example::{Enclosing, Search, SearchResult};
use super::lr0::Automaton;
use super::names::Names;
use super::rules::{Code, Rules};
use super::yields::Leading;
use crate::grammar::Grammar;
use crate::grammar::ir::Conflicts;
use crate::util::diagnostic::{Diagnostic, Place};
use crate::util::meter::{LimitReached, Meter};

/// Upper bound on the conflicts shown; the others are only counted.
const SHOWN: usize = 20;

/// Upper bound on the terminals named in one message.
const NAMED: usize = 8;

/// Upper bound on the items listed in one message.
const LISTED: usize = 12;

/// One finding a conflict, and a last one that counts those not shown.
///
/// # Errors
/// When building has no steps left to prepare for that.
pub(super) fn explain(
    grammar: &Grammar,
    rules: &Rules,
    automaton: &Automaton,
    names: &Names,
    conflicts: &[Conflict],
    meter: &Meter,
) -> Result<Vec<Diagnostic>, LimitReached> {
    let search = Search::new(rules, automaton, (meter, SHARE))?;
    let report = Report { grammar, rules, names, search };
    // The same two alternatives conflict in many states.
    let mut alike: Vec<(String, Option<Place>)> = Vec::new();
    let mut shown: Vec<(&Conflict, usize)> = Vec::new();
    let mut more = 0;
    for conflict in conflicts {
        if !report.search.may_spend(STEPS_OF_A_MESSAGE) {
            more += 1;
            continue;
        }
        let key = (report.message(conflict), report.place(conflict));
        match alike.iter().position(|other| *other == key) {
            Some(known) => shown[known].1 += 1,
            None if shown.len() < SHOWN => {
                alike.push(key);
                shown.push((conflict, 0));
            }
            None => more += 1,
        }
    }
    let mut found: Vec<Diagnostic> = Vec::new();
    for (conflict, states) in shown {
        let mut finding = report.conflict(conflict);
        if let (Some(example), 1..) = (&mut finding.example, states) {
            let plural = if states == 1 { "state" } else { "states" };
            example.push_str(&format!("\nand in {states} more {plural}"));
        }
        // The first finding describes the remedy for all of them.
        if found.first().is_some_and(|first| first.help == finding.help) {
            finding.help = None;
        }
        found.push(finding);
    }
    if more > 0 {
        let plural = if more == 1 { "conflict" } else { "conflicts" };
        let rest = report.finding(format!("and {more} more {plural}"));
        found.push(rest.help("fix the first ones: that usually resolves the others too"));
    }
    Ok(found)
}

/// Divisor for the part of the meter's remainder that may be spent on examples: they only help
/// people, and their absence is no reason to refuse a grammar.
const SHARE: usize = 8;

/// Steps that it takes to put a conflict into words, and to hold these against others.
const STEPS_OF_A_MESSAGE: usize = 400;

/// Words of an example that are shown before its dot.
const BEFORE: usize = 60;

/// Upper bound on the words of an example shown after its dot.
const BEHIND: usize = 30;

struct Report<'a> {
    grammar: &'a Grammar,
    rules: &'a Rules,
    names: &'a Names,
    search: Search<'a>,
}

/// A parse of a text that contains the conflict.
struct Reading {
    /// The terminals alone.
    text: Vec<Code>,
    /// The text with the phrases around the conflict in brackets.
    shown: String,
}

impl Report<'_> {
    fn conflict(&self, conflict: &Conflict) -> Diagnostic {
        let mut lines = Vec::new();
        let mut help = match (self.grammar.conflicts, conflict.shift) {
            (Conflicts::Follow | Conflicts::Silent, _) => {
                "no action is needed: both parses are followed until the text decides between \
                 them, which takes time if that happens late. `%conflicts refuse` makes this an \
                 error, `%conflicts shift` resolves it as Yacc and Lark do"
            }
            (Conflicts::Shift, true) => {
                "resolved by shifting; a precedence (%left, %right, %nonassoc, %prec) would state \
                 this"
            }
            (Conflicts::Shift, false) => {
                "resolved by the priority of the rules (`rule.2:`), then by their order in the file"
            }
            (Conflicts::Refuse, true) => {
                "rewrite the rules so that only one of the two is possible, or give both the \
                 terminal and the alternative \
                 a precedence (%left, %right, %nonassoc, %prec)"
            }
            (Conflicts::Refuse, false) => {
                "rewrite the rules so that only one of them can end here: merge them, or \
                 distinguish them earlier (precedence does not decide between two rules)"
            }
        };
        let (rivals, (terminal, leading, found)) = self.meet(conflict);
        match found {
            SearchResult::Path(path) => {
                lines.push(self.prefix(&path, terminal));
                self.items(conflict, terminal, &mut lines);
                self.readings(&rivals, &path, (terminal, &leading), &mut lines);
            }
            SearchResult::Nothing => {
                lines.push("no single text leads to both, but one leads to each:".to_owned());
                for production in rivals {
                    let need = self.rules.last(production);
                    if let SearchResult::Path(path) =
                        self.search.path(conflict.state, &[need], &leading, terminal)
                    {
                        lines.push(self.prefix(&path, terminal));
                        let chain =
                            self.search.reduce_reading(&path, production, terminal, &leading);
                        if let Some(chain) = chain {
                            let reading = self.reading(&path, &chain, false, terminal, &leading);
                            lines.push(format!("  parsed as  {}", clip(&reading.shown)));
                        }
                    }
                }
                self.items(conflict, terminal, &mut lines);
                lines.push(
                    "the conflict is due to LALR(1) merging; the grammar may be LR(1)".to_owned(),
                );
                help = match self.grammar.conflicts {
                    Conflicts::Follow | Conflicts::Silent => {
                        "no action is needed: the two rules end alike in different contexts, which \
                         the parser distinguishes"
                    }
                    Conflicts::Refuse | Conflicts::Shift => {
                        "the two rules end alike in different contexts, which LALR(1) tables do \
                         not distinguish: inline one of the rules where it is used, or merge the \
                         two"
                    }
                };
            }
            SearchResult::GaveUp => {
                self.items(conflict, terminal, &mut lines);
                lines.push("no example was found within the limits of the search".to_owned());
            }
        }
        let found = self.finding(self.message(conflict)).example(lines.join("\n")).help(help);
        self.places(found, conflict)
    }

    fn finding(&self, message: String) -> Diagnostic {
        match self.grammar.conflicts {
            Conflicts::Refuse => Diagnostic::error("conflict", message),
            Conflicts::Follow | Conflicts::Silent | Conflicts::Shift => {
                Diagnostic::warning("conflict", message)
            }
        }
    }

    /// Finds actions that meet on a path, as listed by [`rivals`], and the path. Of three actions,
    /// two may really meet and the third only because of merging, so all are tried.
    fn meet(&self, conflict: &Conflict) -> (Vec<u32>, (Code, Leading, SearchResult)) {
        let attempt = |rivals: Vec<u32>| {
            let needs: Vec<u32> =
                rivals.iter().map(|&production| self.rules.last(production)).collect();
            let reached = self.reach(conflict, &needs);
            (rivals, reached)
        };
        let mut tried = rivals(conflict).map(attempt);
        let first = tried.next().expect("a conflict is between two actions");
        let meets =
            |(_, (_, _, found)): &(_, (_, _, SearchResult))| *found != SearchResult::Nothing;
        if meets(&first) {
            return first;
        }
        tried.find(meets).unwrap_or(first)
    }

    /// Finds a path on which one of the terminals is a real conflict. Two reductions may really
    /// meet on one terminal and only by merging on another, so the first few are tried.
    fn reach(&self, conflict: &Conflict, needs: &[u32]) -> (Code, Leading, SearchResult) {
        let attempt = |&terminal: &usize| {
            let terminal = terminal as Code;
            match self.search.leading(terminal) {
                Some(leading) => {
                    let found = self.search.path(conflict.state, needs, &leading, terminal);
                    (terminal, leading, found)
                }
                None => (terminal, Leading::none(self.rules, terminal), SearchResult::GaveUp),
            }
        };
        let mut tried = conflict.terminals.iter().take(NAMED).map(attempt);
        let first = tried.next().expect("a conflict is before some terminal");
        if first.2 != SearchResult::Nothing {
            return first;
        }
        tried.find(|(_, _, found)| *found != SearchResult::Nothing).unwrap_or(first)
    }

    fn message(&self, conflict: &Conflict) -> String {
        let name = |&terminal: &usize| self.names.symbol(terminal as Code).to_owned();
        let mut before: Vec<String> = conflict.terminals.iter().take(NAMED).map(name).collect();
        if conflict.terminals.len() > NAMED {
            before.push(format!("{} more", conflict.terminals.len() - NAMED));
        }
        let ends: Vec<String> = conflict
            .reductions
            .iter()
            .take(NAMED)
            .map(|&production| {
                let lhs = self.rules.lhs(production);
                format!("`{}`", self.names.symbol(self.rules.nonterminal_code(lhs)))
            })
            .collect();
        let before = before.join(", ");
        match (conflict.shift, ends.as_slice()) {
            (true, ends) => {
                format!("before {before}, the text can continue, or {} can end", ends.join(" or "))
            }
            (false, [a, b]) if a == b => format!("before {before}, {a} can end in two ways"),
            (false, ends) => format!("before {before}, {} can end", ends.join(" or ")),
        }
    }

    /// Returns the text before the conflict: `if x then s • else`.
    fn prefix(&self, path: &[u32], terminal: Code) -> String {
        let mut text = Vec::new();
        self.search.yields.expand(self.rules, &self.search.symbols(path), &mut text);
        let mut words: Vec<&str> = text.iter().map(|&code| self.names.in_text(code)).collect();
        words.extend(["•", self.names.in_text(terminal)]);
        clip(&words.join(" "))
    }

    fn items(&self, conflict: &Conflict, terminal: Code, lines: &mut Vec<String>) {
        lines.push(format!("state {}, before {}:", conflict.state, self.names.symbol(terminal)));
        let mut listed: Vec<String> = Vec::new();
        for &production in &conflict.reductions {
            listed.push(format!(
                "  reduce  {}",
                self.names.item(self.rules, self.rules.last(production))
            ));
        }
        if conflict.shift {
            for item in self.search.items_before(conflict.state as u32, terminal) {
                listed.push(format!("  shift   {}", self.names.item(self.rules, item)));
            }
        }
        let more = listed.len().saturating_sub(LISTED);
        lines.extend(listed.into_iter().take(LISTED));
        if more > 0 {
            lines.push(format!("  and {more} more"));
        }
    }

    /// Adds both parses.
    fn readings(
        &self,
        rivals: &[u32],
        path: &[u32],
        (terminal, leading): (Code, &Leading),
        lines: &mut Vec<String>,
    ) {
        let mut readings: Vec<Reading> = Vec::new();
        for &production in rivals {
            if let Some(chain) = self.search.reduce_reading(path, production, terminal, leading) {
                let reading = self.reading(path, &chain, false, terminal, leading);
                lines.push(format!("if reduced  {}", clip(&reading.shown)));
                readings.push(reading);
            }
        }
        if rivals.len() == 1
            && let Some(chain) = self.search.shift_reading(path, terminal, leading)
        {
            let reading = self.reading(path, &chain, true, terminal, leading);
            lines.push(format!("if shifted  {}", clip(&reading.shown)));
            readings.push(reading);
        }
        if let [a, b] = readings.as_slice()
            && a.text == b.text
        {
            lines.push("the same text has both parses: the grammar is ambiguous".to_owned());
        }
    }

    /// Writes a parse: the path's symbols, the conflict, and the completion of each enclosing
    /// production.
    fn reading(
        &self,
        path: &[u32],
        chain: &[Enclosing],
        shift: bool,
        terminal: Code,
        leading: &Leading,
    ) -> Reading {
        let yields = &self.search.yields;
        let mut reading = Reading { text: Vec::new(), shown: String::new() };
        // Productions of one symbol are omitted, except the one of the conflict.
        let is_shown = |depth: usize, enclosing: &Enclosing| {
            let production = self.rules.production(enclosing.item);
            depth == 0 || production != self.rules.accept() && self.rules.rhs(production).len() > 1
        };
        let symbols = self.search.symbols(path);
        let mut opening = chain.iter().enumerate().rev().peekable();
        for at in 0..=symbols.len() {
            while let Some((depth, enclosing)) =
                opening.next_if(|(_, enclosing)| enclosing.begins == at)
            {
                if is_shown(depth, enclosing) {
                    let lhs = self.rules.lhs(self.rules.production(enclosing.item));
                    let name = self.names.symbol(self.rules.nonterminal_code(lhs));
                    reading.word(&format!("⟨{name}:"));
                }
            }
            if let Some(symbol) = symbols.get(at) {
                let mut text = Vec::new();
                yields.expand(self.rules, &[*symbol], &mut text);
                reading.terminals(self.names, &text);
                if text.is_empty() {
                    reading.word(&format!("⟨{}:⟩", self.names.symbol(*symbol)));
                }
            }
        }
        for (depth, enclosing) in chain.iter().enumerate() {
            let mut text = Vec::new();
            let behind = enclosing.item + 1;
            if depth > 0 && enclosing.brings {
                leading.expand(self.rules, yields, behind, &mut text);
            } else if depth > 0 && !enclosing.empty {
                yields.expand(self.rules, self.rules.rest(behind), &mut text);
            } else if depth == 0 && shift {
                reading.word("•");
                text.push(terminal);
                yields.expand(self.rules, self.rules.rest(behind), &mut text);
            }
            reading.terminals(self.names, &text);
            if is_shown(depth, enclosing) {
                reading.shown.push('⟩');
            }
            if depth == 0 && !shift {
                reading.word("•");
            }
        }
        if terminal == self.rules.end() {
            reading.terminals(self.names, &[terminal]);
        }
        reading
    }

    /// Returns the alternative of the grammar that a production was made from.
    fn alternative(&self, production: u32) -> Option<Place> {
        self.grammar.productions.get(self.rules.origin(production))?.place.clone()
    }

    /// Returns the alternative to be reduced.
    fn place(&self, conflict: &Conflict) -> Option<Place> {
        conflict.reductions.iter().find_map(|&production| self.alternative(production))
    }

    fn places(&self, found: Diagnostic, conflict: &Conflict) -> Diagnostic {
        let place = |production: u32| self.alternative(production);
        // An alternative that was expanded has several productions.
        let mut seen = HashSet::new();
        let mut once = |place: &Place| seen.insert(place.clone());
        let ends: Vec<Place> = conflict
            .reductions
            .iter()
            .filter_map(|&production| place(production))
            .filter(&mut once)
            .collect();
        let mut goes_on: Vec<Place> = Vec::new();
        if conflict.shift {
            let items =
                self.search.items_before(conflict.state as u32, conflict.terminals[0] as Code);
            let shifted = items.filter_map(|item| place(self.rules.production(item)));
            goes_on.extend(shifted.filter(&mut once));
        }
        let (first, others) = ends
            .split_first()
            .map_or((None, &[][..]), |(first, others)| (Some(first.clone()), others));
        let found = found.at(first);
        let found = fold_places(found, others, "this may end here too");
        fold_places(found, &goes_on, "this may continue")
    }
}

/// Pairs of actions of a conflict that may meet: one reduction and the shift, or two reductions.
fn rivals(conflict: &Conflict) -> impl Iterator<Item = Vec<u32>> {
    let some = &conflict.reductions[..conflict.reductions.len().min(NAMED)];
    let with_shift = some.iter().filter(|_| conflict.shift).map(|&production| vec![production]);
    let pairs =
        (1..some.len()).flat_map(move |end| (0..end).map(move |at| vec![some[at], some[end]]));
    with_shift.chain(pairs)
}

/// Adds the first of the places, with the number of the others.
fn fold_places(found: Diagnostic, places: &[Place], text: &str) -> Diagnostic {
    match places {
        [] => found,
        [place] => found.related(place.clone(), text),
        [place, others @ ..] => {
            let plural = if others.len() == 1 { "alternative" } else { "alternatives" };
            found.related(
                place.clone(),
                format!("{text}, and so may {} more {plural}", others.len()),
            )
        }
    }
}

/// Shortens a long text to the words near the dot.
fn clip(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let dot = words.iter().position(|word| word.starts_with('•')).unwrap_or(0);
    let (from, to) = (dot.saturating_sub(BEFORE), (dot + 1 + BEHIND).min(words.len()));
    let mut clipped = words[from..to].join(" ");
    if from > 0 {
        clipped.insert_str(0, "… ");
    }
    if to < words.len() {
        clipped.push_str(" …");
    }
    clipped
}

impl Reading {
    fn word(&mut self, word: &str) {
        if !self.shown.is_empty() {
            self.shown.push(' ');
        }
        self.shown.push_str(word);
    }

    fn terminals(&mut self, names: &Names, text: &[Code]) {
        for &code in text {
            self.word(names.in_text(code));
            self.text.push(code);
        }
    }
}
