//! Nonterminals that derive some text, given lists that need certain members before they end
//! ([`Requirement`]).

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::grammar::ir::Symbol;
use crate::grammar::requirement::{End, Member, Requirement};
use crate::util::id::{NonterminalId, TerminalId};
use crate::util::lists::Lists;

/// The ends of all lists of a grammar.
#[derive(Debug)]
pub(crate) struct Ends<'g> {
    requirements: &'g [Requirement],
    /// By rest: the number of the requirement, and the position of the end.
    by_rest: HashMap<NonterminalId, (usize, usize), FxBuildHasher>,
}

impl<'g> Ends<'g> {
    /// Creates the ends of lists with these requirements.
    pub(crate) fn new(requirements: &'g [Requirement]) -> Self {
        let mut by_rest = HashMap::default();
        for (number, requirement) in requirements.iter().enumerate() {
            let ends = requirement.ends.iter().enumerate();
            by_rest.extend(ends.map(|(place, end)| (end.rest, (number, place))));
        }
        Self { requirements, by_rest }
    }

    /// Returns the number of the requirement and the end if a production ends a list.
    fn of(&self, lhs: NonterminalId, rhs: &[Symbol]) -> Option<(usize, &'g End)> {
        let &(number, place) = self.by_rest.get(&lhs).filter(|_| rhs.is_empty())?;
        Some((number, &self.requirements[number].ends[place]))
    }

    /// Whether a production can occur in a text, given the nonterminals that derive something and
    /// the terminals that pass `allowed`: all its symbols do and, if it ends a list, one of the
    /// sets of required members does.
    pub(crate) fn is_alive(
        &self,
        (lhs, rhs): (NonterminalId, &[Symbol]),
        derived: &[bool],
        allowed: impl Fn(TerminalId) -> bool,
    ) -> bool {
        let derives = |symbol: &Symbol| match *symbol {
            Symbol::Terminal(terminal) => allowed(terminal),
            Symbol::Nonterminal(part) => derived[part.index()],
        };
        if !rhs.iter().all(derives) {
            return false;
        }
        let Some((number, end)) = self.of(lhs, rhs) else { return true };
        let is_derived = |member: &Member| member.iter().any(|id| derived[id.index()]);
        let mut sets = end.sets.iter().map(|&set| &self.requirements[number].sets[set as usize]);
        sets.any(|set| set.whole().all(is_derived))
    }
}

/// Marks which of `count` nonterminals derive a sequence of terminals that all pass `allowed`; the
/// end of a list also needs its required members. Linear.
pub(crate) fn derivable<'p>(
    count: usize,
    productions: impl Iterator<Item = (NonterminalId, &'p [Symbol])>,
    requirements: &[Requirement],
    allowed: impl Fn(TerminalId) -> bool,
) -> Vec<bool> {
    let ends = Ends::new(requirements);
    let mut ready: Vec<NonterminalId> = Vec::new();
    // By nonterminal: the members that it counts as, and the productions that wait for it.
    let mut is: Vec<(u32, u32)> = Vec::new();
    let mut waiting: Vec<(u32, u32)> = Vec::new();
    // By set, those of all requirements in sequence: the number of members that it waits for, and
    // the rests that end with it.
    let mut wanted: Vec<usize> = Vec::new();
    let mut rests: Vec<Vec<NonterminalId>> = Vec::new();
    let mut first_set: Vec<usize> = Vec::with_capacity(requirements.len());
    // By member: its set, until the member is derived.
    let mut set_of: Vec<Option<usize>> = Vec::new();
    for requirement in requirements {
        first_set.push(wanted.len());
        for set in &requirement.sets {
            let before = set_of.len();
            for member in set.whole() {
                is.extend(member.iter().map(|id| (id.0, set_of.len() as u32)));
                set_of.push(Some(wanted.len()));
            }
            wanted.push(set_of.len() - before);
            rests.push(Vec::new());
        }
    }
    // By production: the number of nonterminals that it waits for.
    let mut missing: Vec<(NonterminalId, u32)> = Vec::new();
    for (lhs, rhs) in productions {
        if let Some((number, end)) = ends.of(lhs, rhs) {
            for set in end.sets.iter().map(|&set| first_set[number] + set as usize) {
                if wanted[set] == 0 { ready.push(lhs) } else { rests[set].push(lhs) }
            }
            continue;
        }
        let (mut is_possible, mut parts) = (true, 0);
        for symbol in rhs {
            match *symbol {
                Symbol::Terminal(terminal) => is_possible &= allowed(terminal),
                Symbol::Nonterminal(part) => {
                    waiting.push((part.0, missing.len() as u32));
                    parts += 1;
                }
            }
        }
        if is_possible && parts == 0 {
            ready.push(lhs);
        }
        missing.push((lhs, if is_possible { parts } else { u32::MAX }));
    }
    let (is, waiting) = (Lists::from_pairs(count, &is), Lists::from_pairs(count, &waiting));
    let mut derived = vec![false; count];
    while let Some(nonterminal) = ready.pop() {
        if std::mem::replace(&mut derived[nonterminal.index()], true) {
            continue;
        }
        for &production in waiting.get(nonterminal.index()) {
            let (lhs, parts) = &mut missing[production as usize];
            if *parts != u32::MAX {
                *parts -= 1;
            }
            if *parts == 0 {
                ready.push(*lhs);
            }
        }
        for &member in is.get(nonterminal.index()) {
            let Some(set) = set_of[member as usize].take() else { continue };
            wanted[set] -= 1;
            if wanted[set] == 0 {
                ready.append(&mut rests[set]);
            }
        }
    }
    derived
}
