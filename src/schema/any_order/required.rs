//! Requirements of alternatives on the members of an object.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::schema::alternatives::Alternative;
use crate::schema::formula::FormulaId;
use crate::schema::states::Key;
use crate::util::bitset::BitSet;

use FormulaId as F;

/// Maximum number of tries to violate all denied conditions.
const MOST_TRIES: usize = 10_000;

/// Members with the same effect.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The key of the members, if it matters.
    pub(super) key: Option<Key>,
    pub(super) effect: Effect,
}

/// Effect of a member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Effect {
    /// Alternatives that allow it.
    pub(super) leaves: BitSet,
    /// Conditions denied by some alternative that it violates.
    pub(super) breaks: BitSet,
}

/// Requirements of an alternative. Each is a list of the numbers of those members that meet it and
/// that the alternative allows.
#[derive(Debug)]
pub(super) struct Required {
    /// Members under the required names.
    pub(super) lasting: Vec<Vec<usize>>,
    /// Members that violate a denied condition.
    pub(super) revocable: Vec<Vec<usize>>,
    /// Members that together violate all of these conditions.
    pub(super) remedy: Vec<Vec<usize>>,
}

impl Required {
    /// Returns the requirements of the alternative `number`. `denied` are the conditions denied by
    /// any alternative, and `by_name` maps each name to the numbers of its members. Returns `None`
    /// if the alternative denies several conditions, and no way to violate all of them was found.
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

    /// Whether each requirement has a member for which `is_one` holds.
    pub(super) fn is_met(&self, is_one: impl Fn(usize) -> bool) -> bool {
        let mut all = self.lasting.iter().chain(&self.revocable);
        all.all(|of| of.iter().any(|&member| is_one(member)))
    }
}

/// A search for members that violate all of several conditions, each under a different key, so that
/// none replaces another.
struct Remedy<'m> {
    members: &'m [Member],
    /// Members that are allowed.
    allowed: &'m [usize],
    /// Keys of the chosen members, each with the conditions that it has to violate.
    chosen: Vec<(Key, Vec<usize>)>,
    tries: usize,
}

impl Remedy<'_> {
    /// Returns the members of each key that violate their part of the conditions, or `None` if none
    /// exist or none were found.
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

    /// Chooses members that violate these conditions.
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
