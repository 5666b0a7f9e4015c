//! Shortest texts that symbols derive: Knuth, "A Generalization of Dijkstra's Algorithm" (IPL 6:1,
//! 1977).
//!
//! Invariant: a nonterminal's chosen production consists of symbols that were settled before it, so
//! expansion terminates. Lengths count terminals, each by its weight, and are capped at
//! [`UNKNOWN`], which also means that no text is derived.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::requirements::Requirements;
use super::rules::{COMPLETE, Code, Item, Rules};
use crate::util::lists::Lists;

/// Length of a text that is too long, or of a symbol that derives no text.
pub(super) const UNKNOWN: u64 = 1 << 32;

/// Upper bound on the length of the texts of nonterminals that are expanded.
const LONGEST: u64 = 24;

/// The shortest text of every nonterminal.
#[derive(Debug)]
pub(super) struct Yields {
    /// By terminal (and `$`).
    weight: Vec<u64>,
    /// By nonterminal.
    length: Vec<u64>,
    /// By nonterminal: the production used for expansion.
    production: Vec<u32>,
    /// By production that ends a list: the required members of the list, used instead of its empty
    /// text.
    instead: HashMap<u32, Arc<[Code]>, FxBuildHasher>,
    /// By item: the length of the shortest text of the symbols after the dot.
    rest: Vec<u64>,
    /// By code: the items with the dot before it.
    occurrences: Lists<Item>,
    /// By production: its last item with only nullable symbols before the dot.
    opening: Vec<Item>,
}

impl Yields {
    /// Computes all lengths, with weight 1 for every terminal.
    pub(super) fn new(rules: &Rules) -> Self {
        Self::weighted(rules, &Requirements::default(), |_| 1)
    }

    /// Computes all lengths; terminals weigh at least 1. The length of a list's end includes all
    /// required members of the list. Linear up to a logarithmic factor.
    pub(super) fn weighted(
        rules: &Rules,
        requirements: &Requirements,
        weigh: impl Fn(Code) -> u64,
    ) -> Self {
        let weight: Vec<u64> = (0..=rules.end()).map(|code| weigh(code).min(UNKNOWN)).collect();
        let items = 0..rules.item_count() as Item;
        let pairs: Vec<(Code, Item)> =
            items.map(|item| (rules.next(item), item)).filter(|pair| pair.0 != COMPLETE).collect();
        let occurrences = Lists::from_pairs(rules.code_count(), &pairs);
        let productions = rules.production_count();
        let mut length = vec![UNKNOWN; rules.nonterminal_count() + 1];
        let mut production = vec![u32::MAX; rules.nonterminal_count() + 1];
        let mut missing = vec![0usize; productions];
        let mut sum = vec![0u64; productions];
        let mut heap = BinaryHeap::new();
        let mut brought = Brought::new(requirements, &weight);
        for p in 0..productions {
            if let Some(sets) = requirements.sets_before(rules, p as u32) {
                brought.add(p, sets, |cost| heap.push(Reverse((cost, rules.lhs(p as u32), p))));
                continue;
            }
            let rhs = rules.rhs(p as u32);
            let nonterminals = rhs.iter().filter(|&&code| rules.nonterminal(code).is_some());
            missing[p] = nonterminals.count();
            let terminals = rhs.iter().filter(|&&code| rules.nonterminal(code).is_none());
            sum[p] = terminals.map(|&code| weight[code as usize]).sum::<u64>().min(UNKNOWN);
            if missing[p] == 0 {
                heap.push(Reverse((sum[p], rules.lhs(p as u32), p)));
            }
        }
        while let Some(Reverse((cost, nonterminal, p))) = heap.pop() {
            if production[nonterminal] != u32::MAX {
                continue;
            }
            length[nonterminal] = cost.min(UNKNOWN);
            production[nonterminal] = p as u32;
            let items = occurrences.get(rules.nonterminal_code(nonterminal) as usize).iter();
            for p in items.map(|&item| rules.production(item) as usize) {
                sum[p] = (sum[p] + cost).min(UNKNOWN);
                missing[p] -= 1;
                if missing[p] == 0 {
                    heap.push(Reverse((sum[p], rules.lhs(p as u32), p)));
                }
            }
            brought.derived(rules.nonterminal_code(nonterminal), cost, |cost, p| {
                heap.push(Reverse((cost, rules.lhs(p as u32), p)));
            });
        }
        let mut yields = Self {
            weight,
            length,
            production,
            instead: brought.instead(),
            rest: vec![0; rules.item_count()],
            occurrences,
            opening: vec![],
        };
        for item in
            (0..rules.item_count() as Item).rev().filter(|&item| rules.next(item) != COMPLETE)
        {
            let here = yields.length(rules, rules.next(item));
            yields.rest[item as usize] = (yields.rest[item as usize + 1] + here).min(UNKNOWN);
        }
        for p in 0..productions as u32 {
            let nullable = rules.rhs(p).iter().take_while(|&&code| rules.is_nullable(code)).count();
            yields.opening.push(rules.first(p) + nullable as Item);
        }
        yields
    }

    /// Returns the length of the shortest text of a symbol.
    pub(super) fn length(&self, rules: &Rules, code: Code) -> u64 {
        rules
            .nonterminal(code)
            .map_or_else(|| self.weight[code as usize], |nonterminal| self.length[nonterminal])
    }

    /// Returns the length of the shortest text of these symbols.
    pub(super) fn lengths(&self, rules: &Rules, codes: &[Code]) -> u64 {
        codes.iter().map(|&code| self.length(rules, code)).sum::<u64>().min(UNKNOWN)
    }

    /// Returns the length of the shortest text of the symbols after the dot; 0 if they are
    /// nullable.
    pub(super) fn rest(&self, item: Item) -> u64 {
        self.rest[item as usize]
    }

    /// Returns the items with the dot before a symbol.
    pub(super) fn occurrences(&self, code: Code) -> &[Item] {
        self.occurrences.get(code as usize)
    }

    /// Returns the symbol with the shortest text.
    pub(super) fn cheapest(&self, rules: &Rules, codes: &[Code]) -> Code {
        let cheapest = codes.iter().copied().min_by_key(|&code| self.length(rules, code));
        cheapest.unwrap_or(rules.end())
    }

    /// Appends the shortest text of `symbols`: terminals, and nonterminals whose texts are too long
    /// to be shown.
    pub(super) fn expand(&self, rules: &Rules, symbols: &[Code], text: &mut Vec<Code>) {
        self.expand_up_to(LONGEST, rules, symbols, text);
    }

    /// Appends the shortest text of `symbols`, where nonterminals with texts longer than `longest`
    /// are not expanded.
    pub(super) fn expand_up_to(
        &self,
        longest: u64,
        rules: &Rules,
        symbols: &[Code],
        text: &mut Vec<Code>,
    ) {
        let mut stack: Vec<Code> = symbols.iter().rev().copied().collect();
        while let Some(code) = stack.pop() {
            match rules.nonterminal(code) {
                Some(nonterminal) if self.length[nonterminal] == 0 => {}
                Some(nonterminal) if self.length[nonterminal] <= longest => {
                    let production = self.production[nonterminal];
                    let whole = self.instead.get(&production);
                    let rhs = whole.map_or(rules.rhs(production), |whole| whole);
                    stack.extend(rhs.iter().rev());
                }
                _ => text.push(code),
            }
        }
    }
}

/// Members required at the ends of lists, while lengths are settled: the shortest form of each
/// member of a list that has none, which is the one settled first.
struct Brought<'r> {
    requirements: &'r Requirements,
    /// By nonterminal that is a member: the members, numbered across all sets.
    members: HashMap<Code, Vec<u32>, FxBuildHasher>,
    /// By member: its set, and its shortest form.
    chosen: Vec<(u32, Option<Code>)>,
    sets: Vec<BroughtSet>,
}

/// The required members of one set.
struct BroughtSet {
    members: Range<usize>,
    /// Number of members not yet settled.
    missing: usize,
    /// Total cost of the others, with separators.
    sum: u64,
    /// The productions that end lists by this set.
    ends: Vec<usize>,
}

impl<'r> Brought<'r> {
    fn new(requirements: &'r Requirements, weight: &[u64]) -> Self {
        let mut members: HashMap<Code, Vec<u32>, FxBuildHasher> = HashMap::default();
        let mut chosen = Vec::new();
        let mut sets = Vec::with_capacity(requirements.set_count());
        for set in 0..requirements.set_count() as u32 {
            let separator = requirements.separator(set).map_or(0, |code| weight[code as usize]);
            let first = chosen.len();
            for forms in requirements.missing(set, |_| false) {
                for &form in forms {
                    members.entry(form).or_default().push(chosen.len() as u32);
                }
                chosen.push((set, None));
            }
            let members = first..chosen.len();
            let (missing, sum) = (members.len(), separator * members.len() as u64);
            sets.push(BroughtSet { members, missing, sum, ends: Vec::new() });
        }
        Self { requirements, members, chosen, sets }
    }

    /// Adds an end, by its production. `settle` receives its cost if that is known.
    fn add(&mut self, production: usize, sets: &[u32], mut settle: impl FnMut(u64)) {
        for &set in sets {
            let set = &mut self.sets[set as usize];
            set.ends.push(production);
            if set.missing == 0 {
                settle(set.sum);
            }
        }
    }

    /// Records that a nonterminal is settled. `settle` receives ends that this settles, with their
    /// costs.
    fn derived(&mut self, form: Code, cost: u64, mut settle: impl FnMut(u64, usize)) {
        for member in self.members.remove(&form).into_iter().flatten() {
            let (set, chosen) = &mut self.chosen[member as usize];
            if chosen.is_some() {
                continue;
            }
            *chosen = Some(form);
            let set = &mut self.sets[*set as usize];
            set.sum = (set.sum + cost).min(UNKNOWN);
            set.missing -= 1;
            if set.missing == 0 {
                set.ends.iter().for_each(|&end| settle(set.sum, end));
            }
        }
    }

    /// Returns, for each production that ends a list, all members of its cheapest set.
    fn instead(&self) -> HashMap<u32, Arc<[Code]>, FxBuildHasher> {
        let mut instead: HashMap<u32, Arc<[Code]>, FxBuildHasher> = HashMap::default();
        let mut order: Vec<(u32, &BroughtSet)> = (0..).zip(&self.sets).collect();
        order.retain(|(_, set)| set.missing == 0);
        order.sort_by_key(|(_, set)| set.sum);
        for (number, set) in order {
            let separator = self.requirements.separator(number);
            let forms = self.chosen[set.members.clone()].iter().filter_map(|&(_, form)| form);
            let whole: Arc<[Code]> =
                forms.flat_map(|form| separator.into_iter().chain([form])).collect();
            for &end in &set.ends {
                instead.entry(end as u32).or_insert_with(|| whole.clone());
            }
        }
        instead
    }
}

/// The shortest texts that begin with a given terminal.
#[derive(Debug)]
pub(super) struct Leading {
    terminal: Code,
    /// By nonterminal: the length, and the item whose next symbol provides the terminal.
    best: Vec<(u64, Item)>,
}

impl Leading {
    /// None, whatever texts begin with `terminal`.
    pub(super) fn none(rules: &Rules, terminal: Code) -> Self {
        Self { terminal, best: vec![(u64::MAX, 0); rules.nonterminal_count() + 1] }
    }

    /// For the texts that begin with `terminal`; for `$` there are none.
    pub(super) fn new(rules: &Rules, yields: &Yields, terminal: Code) -> Self {
        let mut leading = Self::none(rules, terminal);
        let mut heap = BinaryHeap::from([Reverse((1, terminal))]);
        while let Some(Reverse((cost, code))) = heap.pop() {
            if rules.nonterminal(code).is_some_and(|nonterminal| leading.best[nonterminal].0 < cost)
            {
                continue;
            }
            for &item in yields.occurrences(code) {
                let production = rules.production(item);
                let lhs = rules.lhs(production);
                let total = cost + yields.rest(item + 1);
                if item <= yields.opening[production as usize] && total < leading.best[lhs].0 {
                    leading.best[lhs] = (total, item);
                    heap.push(Reverse((total, rules.nonterminal_code(lhs))));
                }
            }
        }
        leading
    }

    /// Returns the length of the shortest text of the symbols after the dot that begins with the
    /// terminal, and the item whose next symbol provides it.
    pub(super) fn behind(
        &self,
        rules: &Rules,
        yields: &Yields,
        mut item: Item,
    ) -> Option<(u64, Item)> {
        let mut best: Option<(u64, Item)> = None;
        loop {
            let code = rules.next(item);
            if code == COMPLETE {
                return best;
            }
            let here = match rules.nonterminal(code) {
                Some(nonterminal) => self.best[nonterminal].0,
                None if code == self.terminal => 1,
                None => u64::MAX,
            };
            let total = here.saturating_add(yields.rest(item + 1));
            if here != u64::MAX && best.is_none_or(|(other, _)| total < other) {
                best = Some((total, item));
            }
            if !rules.is_nullable(code) {
                return best;
            }
            item += 1;
        }
    }

    /// Appends the text whose length [`Leading::behind`] returns, including the terminal.
    pub(super) fn expand(&self, rules: &Rules, yields: &Yields, item: Item, text: &mut Vec<Code>) {
        let mut rests: Vec<Item> = Vec::new();
        let mut at = self.behind(rules, yields, item).map(|(_, item)| item);
        while let Some(item) = at {
            rests.push(item + 1);
            at = rules.nonterminal(rules.next(item)).map(|nonterminal| self.best[nonterminal].1);
        }
        text.push(self.terminal);
        for &rest in rests.iter().rev() {
            yields.expand(rules, rules.rest(rest), text);
        }
    }
}
