//! Lists that must have certain members, in any order: [`Requirement`].
//!
//! The role of each parse state in such a list: whether it has just read a member, and whether the
//! list may end there. [`super::members`] reads the members of a list from the stack.
//!
//! [`Requirement`]: crate::grammar::requirement::Requirement

use std::collections::BTreeMap;
use std::ops::Range;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::lr0::Automaton;
use super::rules::{Code, Rules, code};
use crate::grammar::Grammar;
use crate::grammar::ir;
use crate::util::id::CoreId;
use crate::util::lists::Lists;

/// The requirements on the lists of a grammar. Sets and members are numbered across all lists.
#[derive(Debug, Default)]
pub(super) struct Requirements {
    lists: Vec<List>,
    sets: Vec<Set>,
    /// By member: its set.
    set_of: Vec<u32>,
    /// By member: the nonterminals that count as it.
    forms: Lists<Code>,
    /// The nonterminals of each part of a remedy; these parts have their own numbers.
    remedies: Lists<Code>,
    ends: Vec<End>,
    /// By nonterminal for the rest of a list: the number of the end.
    by_rest: HashMap<usize, u32, FxBuildHasher>,
    /// By nonterminal that is a member or under a key of one: the members that it counts as.
    read_as: Lists<u32>,
    /// Its key; keys are numbered across all lists.
    key_of: Vec<u32>,
    /// By core; empty if there are no lists.
    roles: Vec<Role>,
}

/// Members that are required together.
#[derive(Debug)]
struct Set {
    members: Range<u32>,
    /// The first of the members that others may revoke.
    revocable: u32,
    /// What is read instead of the revocable members if one is missing.
    remedy: Range<u32>,
}

/// One list.
#[derive(Debug)]
pub(super) struct List {
    /// The members of all its sets.
    pub(super) members: Range<u32>,
    /// The keys that occur in it.
    pub(super) keys: Range<u32>,
    separator: Option<Code>,
}

/// A possible end of a list.
#[derive(Debug)]
pub(super) struct End {
    list: u32,
    /// The nonterminal for the rest of the list there.
    pub(super) rest: Code,
    /// The sets of which one must be complete, ascending.
    pub(super) sets: Box<[u32]>,
}

/// The role of a core in lists.
#[derive(Clone, Copy, Debug)]
struct Role {
    read: Symbol,
    /// The end of the list, if the core has just read a member.
    end: Option<u32>,
}

/// The symbol that was read last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// The opening symbol of a list.
    Open,
    /// A member or a symbol under the key of one, by its number in [`Requirements::read_as`].
    Member(u32),
    Other,
}

impl Requirements {
    /// Computes the requirements of `grammar`, whose productions are `rules`. Linear.
    pub(super) fn new(grammar: &Grammar, rules: &Rules, automaton: &Automaton) -> Self {
        let mut all = Self::default();
        if grammar.requirements.is_empty() {
            return all;
        }
        let code = |symbol| code(rules.terminal_count(), symbol);
        let rule = |id| code(ir::Symbol::Nonterminal(id));
        let mut symbols = vec![Symbol::Other; rules.code_count()];
        let mut key_count = 0;
        for (number, requirement) in (0..).zip(&grammar.requirements) {
            let (first_set, first) = (all.sets.len() as u32, all.set_of.len() as u32);
            // The members that each nonterminal counts as.
            let mut read_as: BTreeMap<Code, Vec<u32>> = BTreeMap::new();
            for set in &requirement.sets {
                let (begin, remedy) = (all.set_of.len() as u32, all.remedies.len() as u32);
                for member in set.required() {
                    for form in member.iter().map(|&id| rule(id)) {
                        read_as.entry(form).or_default().push(all.set_of.len() as u32);
                        all.forms.push(form);
                    }
                    all.forms.close();
                    all.set_of.push(all.sets.len() as u32);
                }
                for member in &set.remedy {
                    member.iter().for_each(|&id| all.remedies.push(rule(id)));
                    all.remedies.close();
                }
                all.sets.push(Set {
                    members: begin..all.set_of.len() as u32,
                    revocable: begin + set.lasting.len() as u32,
                    remedy: remedy..all.remedies.len() as u32,
                });
            }
            for end in &requirement.ends {
                all.by_rest.insert(end.rest.index(), all.ends.len() as u32);
                let sets = end.sets.iter().map(|&set| first_set + set).collect();
                all.ends.push(End { list: number, rest: rule(end.rest), sets });
            }
            let separator = requirement.separator.map(|id| code(ir::Symbol::Terminal(id)));
            symbols[requirement.open.index()] = Symbol::Open;
            let first_key = key_count;
            let mut read = |form: Code, counts: &[u32], key: u32| {
                all.read_as.extend(counts);
                symbols[form as usize] = Symbol::Member(all.read_as.close() as u32);
                all.key_of.push(key);
            };
            for key in &requirement.keys {
                for form in key.iter().map(|&id| rule(id)) {
                    read(form, &read_as.remove(&form).unwrap_or_default(), key_count);
                }
                key_count += 1;
            }
            for (form, counts) in read_as {
                read(form, &counts, key_count);
                key_count += 1;
            }
            let members = first..all.set_of.len() as u32;
            all.lists.push(List { members, keys: first_key..key_count, separator });
        }
        let role = |state: usize| {
            let mut ends = automaton.complete.get(state).iter();
            let read = automaton.accessing[state] as usize;
            let read = symbols.get(read).copied().unwrap_or(Symbol::Other);
            Role { read, end: ends.find_map(|&production| all.ended_by(rules, production)) }
        };
        all.roles = (0..automaton.state_count()).map(role).collect();
        all
    }

    /// Returns the number of the end whose empty production this is, if it is one.
    fn ended_by(&self, rules: &Rules, production: u32) -> Option<u32> {
        let end = self.by_rest.get(&rules.lhs(production)).copied();
        end.filter(|_| rules.rhs(production).is_empty())
    }

    /// Returns the sets of which one must be complete for a list to end by `production`, if that is
    /// an end.
    pub(super) fn sets_before(&self, rules: &Rules, production: u32) -> Option<&[u32]> {
        self.ended_by(rules, production).map(|end| &*self.ends[end as usize].sets)
    }

    /// Returns the number of sets.
    pub(super) fn set_count(&self) -> usize {
        self.sets.len()
    }

    /// Returns the number of members of a set.
    pub(super) fn member_count(&self, set: u32) -> usize {
        self.sets[set as usize].members.len()
    }

    /// Returns the set of a member.
    pub(super) fn set_of(&self, member: u32) -> u32 {
        self.set_of[member as usize]
    }

    /// Returns the members that a list with the members `met` lacks to end by `set`: one
    /// nonterminal of each of these slices, in this order.
    pub(super) fn missing(&self, set: u32, met: impl Fn(u32) -> bool) -> Vec<&[Code]> {
        let Set { members, revocable, remedy } = &self.sets[set as usize];
        let lasting = (members.start..*revocable).filter(|&member| !met(member));
        let mut missing: Vec<&[Code]> =
            lasting.map(|member| self.forms.get(member as usize)).collect();
        if (*revocable..members.end).any(|member| !met(member)) {
            missing.extend(remedy.clone().map(|member| self.remedies.get(member as usize)));
        }
        missing
    }

    /// Returns the separator of the members in the list of a set, if it has one.
    pub(super) fn separator(&self, set: u32) -> Option<Code> {
        let member = self.sets[set as usize].members.start;
        let list = self.lists.partition_point(|list| list.members.end <= member);
        self.lists.get(list)?.separator
    }

    /// Returns the end of a list at a core that has just read a member.
    #[inline]
    pub(super) fn ending(&self, core: CoreId) -> Option<&End> {
        let role = self.roles.get(core.index())?;
        role.end.map(|end| &self.ends[end as usize])
    }

    /// Returns the symbol that a core has read last.
    pub(super) fn read(&self, core: CoreId) -> Symbol {
        self.roles[core.index()].read
    }

    /// Returns the members that a symbol read counts as.
    pub(super) fn read_as(&self, member: u32) -> &[u32] {
        self.read_as.get(member as usize)
    }

    /// Returns the key of a symbol that was read.
    pub(super) fn key_of(&self, read: u32) -> u32 {
        self.key_of[read as usize]
    }

    /// Returns the list of an end.
    pub(super) fn list_of(&self, end: &End) -> &List {
        &self.lists[end.list as usize]
    }

    /// Returns whether a nonterminal is the rest of a list.
    pub(super) fn is_rest(&self, nonterminal: u32) -> bool {
        self.by_rest.contains_key(&(nonterminal as usize))
    }
}
