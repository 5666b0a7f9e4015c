//! Conditions on lists beside the rules: which members a list must have before it may end.

use serde::{Deserialize, Serialize};

use crate::util::id::{NonterminalId, TerminalId};

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
/// Of members under one key the last alone counts. So a member may undo what was there, and each
/// set says what to read where that happened.
///
/// Every member, required or not, is a nonterminal whose productions have two symbols at least:
/// what reduces to it takes off more than the state on top, and the parser does not do that by the
/// way (`lr::unit_reductions`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Requirement {
    /// What is left of a list behind a member. No parse state may end a list in two ways.
    pub(crate) ends: Vec<End>,
    /// What stands between two members; `None` where nothing does.
    pub(crate) separator: Option<TerminalId>,
    /// What stands before the first member.
    pub(crate) open: TerminalId,
    /// Sets of members.
    pub(crate) sets: Vec<Set>,
    /// Members under one key; what is in none of these lists has a key of its own.
    pub(crate) keys: Vec<Vec<NonterminalId>>,
}

/// Where a list may end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    /// What is left of the list there; its empty production ends the list.
    pub(crate) rest: NonterminalId,
    /// The numbers of the sets of which one must have been read, ascending. None where a list goes
    /// on.
    pub(crate) sets: Vec<u32>,
}

/// A member that is required: the nonterminals that are such a member, one at least.
pub(crate) type Member = Vec<NonterminalId>;

/// Members that are required together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Set {
    /// Members that stay, once they have been read: no list that may end with the set has another
    /// member under their keys.
    pub(crate) lasting: Vec<Member>,
    /// Members that others under their keys may undo.
    pub(crate) revocable: Vec<Member>,
    /// One of each of these is all that is revocable, whatever was read before: none of them undoes
    /// what another one is.
    pub(crate) remedy: Vec<Member>,
}

impl Set {
    /// That nothing but these members is required.
    pub(crate) fn of(lasting: Vec<Member>) -> Self {
        Self { lasting, ..Self::default() }
    }

    /// Members that make a list whole that has none.
    pub(crate) fn whole(&self) -> impl Iterator<Item = &Member> {
        self.lasting.iter().chain(&self.remedy)
    }

    /// All members of which each must be there.
    pub(crate) fn required(&self) -> impl Iterator<Item = &Member> {
        self.lasting.iter().chain(&self.revocable)
    }

    /// The set with other nonterminals, `None` where none replaces those of a member.
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
        Self { ends, separator, open, sets: vec![Set::of(set)], keys: Vec::new() }
    }

    /// All nonterminals that it names.
    pub(crate) fn nonterminals(&self) -> impl Iterator<Item = NonterminalId> {
        let sets = self.sets.iter().flat_map(|set| set.required().chain(&set.remedy));
        let members = sets.chain(&self.keys).flatten().copied();
        self.ends.iter().map(|end| end.rest).chain(members)
    }

    /// Replaces nonterminals. What has none that replaces it is left out: of a member, and where it
    /// has no other the sets with this member.
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

    /// Whether all numbers of sets name one.
    pub(crate) fn is_sound(&self) -> bool {
        let mut sets = self.ends.iter().flat_map(|end| &end.sets);
        sets.all(|&set| (set as usize) < self.sets.len())
    }
}
