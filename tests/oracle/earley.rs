//! An Earley recogniser over terminals: the terminals that may follow a history, and whether it is
//! a sentence. The second judge: if neither precedence nor the order of rules removes anything, the
//! stacks of a history must give the same results.
//!
//! Each chart is closed by repeating all three rules until nothing changes, which also treats
//! nullable nonterminals correctly. Productions with an unproductive symbol are dropped first: then
//! every history whose chart is not empty is a prefix of a sentence. Earley 1970.

use super::spec::{Spec, Symbol};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// A production, the position of its dot, and its origin.
type Item = (usize, usize, usize);

/// The chart of one history: one set of items per position.
pub type Chart = Vec<Rc<BTreeSet<Item>>>;

/// The context-free part of a [`Spec`], without unproductive productions.
#[derive(Debug)]
pub struct Earley {
    productions: Vec<(usize, Vec<Symbol>)>,
    /// The productions of each nonterminal.
    of: HashMap<usize, Vec<usize>>,
    start: usize,
}

impl Earley {
    pub fn new(spec: &Spec) -> Self {
        let productions: Vec<_> = spec.productive().into_iter().map(|p| (p.lhs, p.rhs)).collect();
        let mut of: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, (lhs, _)) in productions.iter().enumerate() {
            of.entry(*lhs).or_default().push(number);
        }
        Self { productions, of, start: spec.start }
    }

    /// Returns the chart of the empty history.
    pub fn empty(&self) -> Chart {
        let first = (0..self.productions.len())
            .filter(|&p| self.productions[p].0 == self.start)
            .map(|p| (p, 0, 0))
            .collect();
        self.close(Vec::new(), first)
    }

    /// Returns the chart after one more terminal.
    pub fn extend(&self, chart: &Chart, terminal: usize) -> Chart {
        let last = &chart[chart.len() - 1];
        let next = last
            .iter()
            .filter(|item| self.expected(item) == Some(Symbol::Terminal(terminal)))
            .map(|&(production, dot, origin)| (production, dot + 1, origin))
            .collect();
        self.close(chart.clone(), next)
    }

    /// Returns the terminals that may follow, as a bit set.
    pub fn acceptable(&self, chart: &Chart) -> u32 {
        let mut acceptable = 0;
        for item in &*chart[chart.len() - 1] {
            if let Some(Symbol::Terminal(terminal)) = self.expected(item) {
                acceptable |= 1 << terminal;
            }
        }
        acceptable
    }

    /// Whether the history is a sentence.
    pub fn is_sentence(&self, chart: &Chart) -> bool {
        chart[chart.len() - 1].iter().any(|item| {
            item.2 == 0 && self.productions[item.0].0 == self.start && self.expected(item).is_none()
        })
    }

    fn expected(&self, &(production, dot, _): &Item) -> Option<Symbol> {
        self.productions[production].1.get(dot).copied()
    }

    /// Returns `chart` with one more set: the closure of `kernel` under prediction and completion.
    fn close(&self, mut chart: Chart, kernel: BTreeSet<Item>) -> Chart {
        let here = chart.len();
        let mut items = kernel;
        loop {
            let mut found = Vec::new();
            for item in &items {
                match self.expected(item) {
                    Some(Symbol::Terminal(_)) => {}
                    Some(Symbol::Nonterminal(n)) => {
                        found.extend(self.of.get(&n).into_iter().flatten().map(|&p| (p, 0, here)));
                    }
                    None => {
                        let (done, _, origin) = *item;
                        let lhs = Symbol::Nonterminal(self.productions[done].0);
                        let waiting = if origin == here { &items } else { &*chart[origin] };
                        for waiting in waiting.iter().filter(|w| self.expected(w) == Some(lhs)) {
                            found.push((waiting.0, waiting.1 + 1, waiting.2));
                        }
                    }
                }
            }
            let before = items.len();
            items.extend(found);
            if items.len() == before {
                chart.push(Rc::new(items));
                return chart;
            }
        }
    }
}
