//! Lists that must have certain members, in any order: [`Requirement`](ir::Requirement).
//!
//! What each parse state is to such a list: whether it has just read a member, and whether the list
//! may end there. [`super::members`] reads the stack for what the list has.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::lr0::Automaton;
use super::rules::{Code, Rules, code};
use crate::grammar::Grammar;
use crate::grammar::ir;
use crate::util::id::{CoreId, NonterminalId};

/// What the lists of a grammar must have.
#[derive(Debug, Default)]
pub(super) struct Requirements {
    lists: Vec<List>,
    /// By nonterminal that is what is left of a list: the number of the list.
    by_rest: HashMap<usize, usize, FxBuildHasher>,
    /// By core, none where there are no lists.
    roles: Vec<Role>,
}

/// One list.
#[derive(Debug)]
pub(super) struct List {
    /// How many members it must have.
    pub(super) count: usize,
    /// All of them, each behind a separator if there are any.
    pub(super) whole: Arc<[Code]>,
}

/// What a core is to lists.
#[derive(Clone, Copy, Debug)]
struct Role {
    read: Symbol,
    /// The list that may end there, if it has just read a member.
    ends: Option<u32>,
}

/// What has been read last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// What opens lists.
    Open,
    /// The member with this place among those that are required.
    Member(u32),
    Other,
}

impl Requirements {
    /// Those of `grammar`, whose productions are `rules`. Linear.
    pub(super) fn new(grammar: &Grammar, rules: &Rules, automaton: &Automaton) -> Self {
        let mut all = Self::default();
        if grammar.requirements.is_empty() {
            return all;
        }
        let mut symbols = vec![Symbol::Other; rules.code_count()];
        for (number, requirement) in grammar.requirements.iter().enumerate() {
            let code = |symbol| code(rules.terminal_count(), symbol);
            let member = |&id: &NonterminalId| code(ir::Symbol::Nonterminal(id));
            let separator = requirement.separator.map(|id| code(ir::Symbol::Terminal(id)));
            let members = requirement.members.iter().map(member);
            for (place, member) in (0..).zip(members.clone()) {
                symbols[member as usize] = Symbol::Member(place);
            }
            symbols[requirement.open.index()] = Symbol::Open;
            let whole = members.flat_map(|member| separator.into_iter().chain([member])).collect();
            all.lists.push(List { count: requirement.members.len(), whole });
            all.by_rest.extend(requirement.rests.iter().map(|rest| (rest.index(), number)));
        }
        let role = |state: usize| {
            let mut ends = automaton.complete.get(state).iter();
            let list = ends.find_map(|&production| all.ended_by(rules, production));
            let read = automaton.accessing[state] as usize;
            let read = symbols.get(read).copied().unwrap_or(Symbol::Other);
            Role { read, ends: list.map(|list| list as u32) }
        };
        all.roles = (0..automaton.state_count()).map(role).collect();
        all
    }

    /// The number of the list that a production ends.
    fn ended_by(&self, rules: &Rules, production: u32) -> Option<usize> {
        let list = self.by_rest.get(&rules.lhs(production)).copied();
        list.filter(|_| rules.rhs(production).is_empty())
    }

    /// What ends a list whatever was read of it: all that it must have, where `production` ends
    /// one.
    pub(super) fn whole(&self, rules: &Rules, production: u32) -> Option<&Arc<[Code]>> {
        self.ended_by(rules, production).map(|list| &self.lists[list].whole)
    }

    /// The list that may end in a core.
    #[inline]
    pub(super) fn ending(&self, core: CoreId) -> Option<&List> {
        let role = self.roles.get(core.index())?;
        role.ends.map(|list| &self.lists[list as usize])
    }

    /// What a core has read last.
    pub(super) fn read(&self, core: CoreId) -> Symbol {
        self.roles[core.index()].read
    }

    /// The list that a nonterminal is left of.
    pub(super) fn list_of(&self, rest: u32) -> Option<&List> {
        self.by_rest.get(&(rest as usize)).map(|&list| &self.lists[list])
    }
}
