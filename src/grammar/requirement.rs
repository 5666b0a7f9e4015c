//! Conditions on lists in addition to the rules: the members that a list needs before it may end.

use serde::{Deserialize, Serialize};

use crate::util::id::{NonterminalId, TerminalId};

/// A condition on lists for which context-free rules would be too large: requiring n members in any
/// order takes 2^n nonterminals.
///
/// A list begins after a lexeme of `open`, and is right-recursive: `rest -> separator more`,
/// `more -> member rest`, `rest -> ` (nothing). So all its members are on the parser's stack when
/// it ends, and it may end only if they include one of certain sets of members. Members may occur
/// several times, with others between them. The remainder of a list may depend on the members
/// before it. In that case at least one of the sets that it may end with must stay possible, so
/// that a list that lacks some members can always be continued.
///
/// Of several members under one key only the last counts. So a member may undo an earlier one, and
/// each set says which members to read if that happened.
///
/// Every member, required or not, is a nonterminal whose productions have at least two symbols:
/// reducing to it pops more than the top state, and the parser does not do that in passing
/// (`lr::unit_reductions`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Requirement {
    /// Remainders of a list after a member. No parse state may end a list in two ways.
    pub(crate) ends: Vec<End>,
    /// Terminal between two members; `None` if there is none.
    pub(crate) separator: Option<TerminalId>,
    /// Terminal before the first member.
    pub(crate) open: TerminalId,
    /// Sets of members.
    pub(crate) sets: Vec<Set>,
    /// Members grouped by key; a member in none of these lists has a key of its own.
    pub(crate) keys: Vec<Vec<NonterminalId>>,
}

/// A point at which a list may end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    /// Remainder of the list at this point; its empty production ends the list.
    pub(crate) rest: NonterminalId,
    /// Numbers of the sets of which one must have been read, ascending. Empty if the list must
    /// continue.
    pub(crate) sets: Vec<u32>,
}

/// A required member: the nonterminals that count as it, at least one.
pub(crate) type Member = Vec<NonterminalId>;

/// Members that are required together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Set {
    /// Members that stay once they have been read: no list that may end with the set has another
    /// member under their keys.
    pub(crate) lasting: Vec<Member>,
    /// Members that others under their keys may undo.
    pub(crate) revocable: Vec<Member>,
    /// One of each of these supplies all revocable members, whatever was read before: none of them
    /// undoes another.
    pub(crate) remedy: Vec<Member>,
}

impl Set {
    /// Requires these members only.
    pub(crate) fn of(lasting: Vec<Member>) -> Self {
        Self { lasting, ..Self::default() }
    }

    /// Returns the members that complete a list that has none.
    pub(crate) fn whole(&self) -> impl Iterator<Item = &Member> {
        self.lasting.iter().chain(&self.remedy)
    }

    /// Returns all members that must be present.
    pub(crate) fn required(&self) -> impl Iterator<Item = &Member> {
        self.lasting.iter().chain(&self.revocable)
    }

    /// Returns the set with replaced nonterminals, or `None` if a member loses all of its own.
    fn map(&self, new: impl Fn(NonterminalId) -> Option<NonterminalId>) -> Option<Self> {
        let member = |member: &Member| {
            let mapped: Member = member.iter().filter_map(|&id| new(id)).collect();
            (!mapped.is_empty()).then_some(mapped)
        };
        let members = |of: &[Member]| of.iter().map(member).collect::<Option<Vec<Member>>>();
        Some(Self {
            lasting: members(&self.lasting)?,
            revocable: members(&self.revocable)?,
            remedy: members(&self.remedy)?,
        })
    }
}

impl Requirement {
    /// Requires all of `members` in lists with these remainders.
    pub(crate) fn all(
        rests: &[NonterminalId],
        separator: Option<TerminalId>,
        open: TerminalId,
        members: &[NonterminalId],
    ) -> Self {
        let end = |&rest: &NonterminalId| End { rest, sets: vec![0] };
        let set = members.iter().map(|&member| vec![member]).collect();
        let ends = rests.iter().map(end).collect();
        Self { ends, separator, open, sets: vec![Set::of(set)], keys: Vec::new() }
    }

    /// Returns all nonterminals that it names.
    pub(crate) fn nonterminals(&self) -> impl Iterator<Item = NonterminalId> {
        let sets = self.sets.iter().flat_map(|set| set.required().chain(&set.remedy));
        let members = sets.chain(&self.keys).flatten().copied();
        self.ends.iter().map(|end| end.rest).chain(members)
    }

    /// Replaces nonterminals. One without a replacement is removed from its member; a member that
    /// loses all of them removes the sets that contain it.
    pub(crate) fn map(&mut self, new: impl Fn(NonterminalId) -> Option<NonterminalId>) {
        let mut numbers = Vec::with_capacity(self.sets.len());
        let mut kept = Vec::with_capacity(self.sets.len());
        for set in &self.sets {
            let set = set.map(&new);
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

    /// Whether all set numbers are valid.
    pub(crate) fn is_sound(&self) -> bool {
        let mut sets = self.ends.iter().flat_map(|end| &end.sets);
        sets.all(|&set| (set as usize) < self.sets.len())
    }
}
