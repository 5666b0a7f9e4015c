//! Conditions on lists beside the rules: which members a list must have before it may end.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::grammar::ir::Symbol;
use crate::util::id::{NonterminalId, TerminalId};
use crate::util::lists::Lists;

/// A condition on lists, which no context-free rules of a bearable size could state: that n members
/// stand in a list, in any order, takes 2^n nonterminals.
///
/// A list begins behind a lexeme of `open`, and is right-recursive: `rest -> separator more`, `more
/// -> member rest`, `rest -> ` (nothing). So all of its members are on the parser's stack when it
/// ends, and it ends only where one of certain sets of members is among them. Members may stand
/// several times, and others between them. What is left of a list may depend on the members before
/// it. Then one set at least, of those that it may end with, must remain one that it can still end
/// with: so a list that lacks some members can always be gone on with.
///
/// Of members under one key the last alone counts. No two members of a set but its last one may be
/// under keys of which one nonterminal counts and another does not: what a list lacks is read in the
/// order of the set, and must not undo what was there.
///
/// Every member, required or not, is a nonterminal whose productions have two symbols at least:
/// what reduces to it takes off more than the state on top, and the parser does not do that by the
/// way (`lr::unit_reductions`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requirement {
    /// What is left of a list behind a member. No parse state may end a list in two ways.
    pub(crate) ends: Vec<End>,
    /// What stands between two members; `None` where nothing does.
    pub(crate) separator: Option<TerminalId>,
    /// What stands before the first member.
    pub(crate) open: TerminalId,
    /// Sets of members.
    pub(crate) sets: Vec<Vec<Member>>,
    /// Members under one key; what is in none of these lists has a key of its own.
    pub(crate) keys: Vec<Vec<NonterminalId>>,
}

/// Where a list may end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// What is left of the list there; its empty production ends the list.
    pub(crate) rest: NonterminalId,
    /// The numbers of the sets of which one must have been read. None where a list goes on.
    pub(crate) sets: Vec<u32>,
}

/// A member that is required: the nonterminals that are such a member, one at least.
pub(crate) type Member = Vec<NonterminalId>;

impl Requirement {
    /// That lists with these rests have all of these members.
    pub(crate) fn all(
        rests: &[NonterminalId],
        separator: Option<TerminalId>,
        open: TerminalId,
        members: &[NonterminalId],
    ) -> Self {
        let end = |&rest: &NonterminalId| End { rest, sets: vec![0] };
        let set = members.iter().map(|&member| vec![member]).collect();
        let ends = rests.iter().map(end).collect();
        Self { ends, separator, open, sets: vec![set], keys: Vec::new() }
    }

    /// All nonterminals that it names.
    pub(crate) fn nonterminals(&self) -> impl Iterator<Item = NonterminalId> {
        let members = self.sets.iter().flatten().chain(&self.keys).flatten().copied();
        self.ends.iter().map(|end| end.rest).chain(members)
    }

    /// Replaces nonterminals. What has none that replaces it is left out: of a member, and where it
    /// has no other the sets with this member.
    pub(crate) fn map(&mut self, new: impl Fn(NonterminalId) -> Option<NonterminalId>) {
        let mut numbers = Vec::with_capacity(self.sets.len());
        let mut kept = Vec::with_capacity(self.sets.len());
        for set in &self.sets {
            let member = |member: &Member| {
                let mapped: Member = member.iter().filter_map(|&id| new(id)).collect();
                (!mapped.is_empty()).then_some(mapped)
            };
            let set: Option<Vec<Member>> = set.iter().map(member).collect();
            numbers.push(set.is_some().then_some(kept.len() as u32));
            kept.extend(set);
        }
        self.sets = kept;
        for key in &mut self.keys {
            *key = key.iter().filter_map(|&id| new(id)).collect();
        }
        let end = |end: &End| {
            let sets = end.sets.iter().filter_map(|&set| numbers[set as usize]).collect();
            Some(End { rest: new(end.rest)?, sets })
        };
        self.ends = self.ends.iter().filter_map(end).collect();
    }

    /// Whether all numbers of sets name one.
    pub(crate) fn is_sound(&self) -> bool {
        let mut sets = self.ends.iter().flat_map(|end| &end.sets);
        sets.all(|&set| (set as usize) < self.sets.len())
    }
}

/// The ends of all lists of a grammar.
#[derive(Debug)]
pub(crate) struct Ends<'g> {
    requirements: &'g [Requirement],
    /// By rest: the number of the requirement, and that of the end.
    by_rest: HashMap<NonterminalId, (usize, usize), FxBuildHasher>,
}

impl<'g> Ends<'g> {
    /// Those of lists with these requirements.
    pub(crate) fn new(requirements: &'g [Requirement]) -> Self {
        let mut by_rest = HashMap::default();
        for (number, requirement) in requirements.iter().enumerate() {
            let ends = requirement.ends.iter().enumerate();
            by_rest.extend(ends.map(|(place, end)| (end.rest, (number, place))));
        }
        Self { requirements, by_rest }
    }

    /// The number of the requirement, and the end that a production is.
    fn of(&self, lhs: NonterminalId, rhs: &[Symbol]) -> Option<(usize, &'g End)> {
        let &(number, place) = self.by_rest.get(&lhs).filter(|_| rhs.is_empty())?;
        Some((number, &self.requirements[number].ends[place]))
    }

    /// Whether a production takes part in a text, where these nonterminals derive something, and
    /// terminals do that pass `allowed`: all of its symbols, and if it ends a list what that must
    /// have.
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
        sets.any(|set| set.iter().all(is_derived))
    }
}

/// Which of `count` nonterminals derive a sequence of terminals that all pass `allowed`: what ends
/// a list brings along what it must have. Linear.
pub(crate) fn derivable<'p>(
    count: usize,
    productions: impl Iterator<Item = (NonterminalId, &'p [Symbol])>,
    requirements: &[Requirement],
    allowed: impl Fn(TerminalId) -> bool,
) -> Vec<bool> {
    let ends = Ends::new(requirements);
    let mut ready: Vec<NonterminalId> = Vec::new();
    // By nonterminal: the members that it is, and the productions that wait for it.
    let mut is: Vec<(u32, u32)> = Vec::new();
    let mut waiting: Vec<(u32, u32)> = Vec::new();
    // By set, those of all requirements in a row: how many members it waits for, and the rests that
    // end with it.
    let mut wanted: Vec<usize> = Vec::new();
    let mut rests: Vec<Vec<NonterminalId>> = Vec::new();
    let mut first_set: Vec<usize> = Vec::with_capacity(requirements.len());
    // By member: its set, until it is derived.
    let mut set_of: Vec<Option<usize>> = Vec::new();
    for requirement in requirements {
        first_set.push(wanted.len());
        for set in &requirement.sets {
            for member in set {
                is.extend(member.iter().map(|id| (id.0, set_of.len() as u32)));
                set_of.push(Some(wanted.len()));
            }
            wanted.push(set.len());
            rests.push(Vec::new());
        }
    }
    // By production: how many nonterminals it waits for.
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
