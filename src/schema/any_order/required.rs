//! What alternatives require of the members of an object.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::schema::alternatives::Alternative;
use crate::schema::formula::FormulaId;
use crate::schema::states::Key;
use crate::util::bitset::BitSet;

use FormulaId as F;

/// How many ways to break all that is denied are gone through.
const MOST_TRIES: usize = 10_000;

/// Members that do the same.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The key, where it matters under which key they stand.
    pub(super) key: Option<Key>,
    pub(super) effect: Effect,
}

/// What a member does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Effect {
    /// The alternatives that allow it.
    pub(super) leaves: BitSet,
    /// The conditions that are denied by some alternative, and that it breaks.
    pub(super) breaks: BitSet,
}

/// What an alternative requires, by the numbers of members: of each member that must be there,
/// those that are one and that the alternative allows.
#[derive(Debug)]
pub(super) struct Required {
    /// Under the names that must be there.
    pub(super) lasting: Vec<Vec<usize>>,
    /// Those that break a condition that is denied.
    pub(super) revocable: Vec<Vec<usize>>,
    /// What breaks all of these conditions.
    pub(super) remedy: Vec<Vec<usize>>,
}

impl Required {
    /// What the alternative of this number requires, where all that is `denied` by any is numbered,
    /// and `by_name` has the numbers of the members under each name. `None` where it denies several
    /// conditions, and no way was found to break all of them.
    pub(super) fn of(
        alternative: &Alternative,
        number: usize,
        denied: &[F],
        members: &[Member],
        by_name: &FxHashMap<u32, Vec<usize>>,
    ) -> Option<Self> {
        let all = || {
            members.iter().enumerate().filter(|(_, member)| member.effect.leaves.contains(number))
        };
        let under = |name: &u32| {
            let own = by_name.get(name).into_iter().flatten().copied();
            own.filter(|&member| members[member].effect.leaves.contains(number)).collect()
        };
        let mut lasting: Vec<Vec<usize>> = alternative.required.iter().map(under).collect();
        if alternative.is_filled {
            lasting.push(all().map(|(member, _)| member).collect());
        }
        let conditions: Vec<usize> =
            (0..denied.len()).filter(|&own| alternative.denied.contains(&denied[own])).collect();
        let breaking = |&condition: &usize| {
            let own = all().filter(|(_, member)| member.effect.breaks.contains(condition));
            own.map(|(member, _)| member).collect::<Vec<usize>>()
        };
        let revocable: Vec<Vec<usize>> = conditions.iter().map(breaking).collect();
        let remedy = match &revocable[..] {
            [] => Vec::new(),
            [one] => vec![one.clone()],
            of if of.iter().any(Vec::is_empty) => Vec::new(),
            _ => {
                Remedy::find(members, &all().map(|(own, _)| own).collect::<Vec<_>>(), &conditions)?
            }
        };
        Some(Self { lasting, revocable, remedy })
    }

    /// Whether there is a member that `is_one` for each that is required.
    pub(super) fn is_met(&self, is_one: impl Fn(usize) -> bool) -> bool {
        let mut all = self.lasting.iter().chain(&self.revocable);
        all.all(|of| of.iter().any(|&member| is_one(member)))
    }
}

/// Members that break all of several conditions, each under another key: so none undoes what
/// another has broken.
struct Remedy<'m> {
    members: &'m [Member],
    /// Those that are allowed.
    allowed: &'m [usize],
    /// The keys of the members chosen, and which conditions each is there for.
    chosen: Vec<(Key, Vec<usize>)>,
    tries: usize,
}

impl Remedy<'_> {
    /// By key, the members each of which breaks its part of the conditions; `None` where there are
    /// none, or none were found.
    fn find(
        members: &[Member],
        allowed: &[usize],
        conditions: &[usize],
    ) -> Option<Vec<Vec<usize>>> {
        let mut remedy = Remedy { members, allowed, chosen: Vec::new(), tries: 0 };
        if !remedy.breaks(conditions) {
            return None;
        }
        let does = |&member: &usize, (key, conditions): &(Key, Vec<usize>)| {
            let Member { key: own, effect: Effect { breaks, .. } } = &members[member];
            *own == Some(*key) && conditions.iter().all(|&condition| breaks.contains(condition))
        };
        let like = |one: &(Key, Vec<usize>)| {
            allowed.iter().copied().filter(|member| does(member, one)).collect()
        };
        Some(remedy.chosen.iter().map(like).collect())
    }

    /// Chooses members that break these conditions.
    fn breaks(&mut self, conditions: &[usize]) -> bool {
        let Some(&first) = conditions.first() else { return true };
        let broken = |member: &Member| {
            conditions
                .iter()
                .copied()
                .filter(|&own| member.effect.breaks.contains(own))
                .collect::<Vec<_>>()
        };
        let all = self.allowed.iter().map(|&member| &self.members[member]);
        let breaks_first = all.filter(|member| member.effect.breaks.contains(first));
        let mut choices: Vec<(Key, Vec<usize>)> =
            breaks_first.filter_map(|member| Some((member.key?, broken(member)))).collect();
        choices.sort_by_key(|(_, broken)| Reverse(broken.len()));
        for (key, broken) in choices {
            self.tries += 1;
            if self.tries > MOST_TRIES {
                return false;
            }
            if self.chosen.iter().any(|&(chosen, _)| chosen == key) {
                continue;
            }
            let rest: Vec<usize> =
                conditions.iter().copied().filter(|own| !broken.contains(own)).collect();
            self.chosen.push((key, broken));
            if self.breaks(&rest) {
                return true;
            }
            self.chosen.pop();
        }
        false
    }
}
