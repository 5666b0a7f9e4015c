//! Finds nonterminals that derive themselves. In such a grammar the action that precedence or the
//! order of rules leaves of a conflict may be a reduction that leads back to the same stack.

use super::rules::Rules;
use crate::util::components::strong_components;
use crate::util::lists::Lists;

/// Returns whether some nonterminal derives itself alone.
pub(super) fn is_cyclic(rules: &Rules) -> bool {
    let mut edges = Vec::new();
    for production in 0..rules.production_count() as u32 {
        let symbols = rules.rhs(production);
        let solid = symbols.iter().filter(|&&code| !rules.is_nullable(code)).count();
        // The other symbols can derive the empty text.
        let alone =
            symbols.iter().filter(|&&code| solid == 0 || solid == 1 && !rules.is_nullable(code));
        let alone = alone.filter_map(|&code| rules.nonterminal(code));
        edges.extend(alone.map(|nonterminal| (rules.lhs(production) as u32, nonterminal)));
    }
    let derives_itself = edges.iter().any(|&(lhs, alone)| lhs as usize == alone);
    let components = strong_components(&Lists::from_pairs(rules.nonterminal_count() + 1, &edges));
    derives_itself || (0..components.len()).any(|component| components.get(component).len() > 1)
}
