//! Boundaries by what the stack is reduced to before their labels.
//!
//! Behind an operand any operator may come, and what each of them does reads how the operand looked
//! and what it stands behind. Most of that is gone once the stack has been reduced: what `+` does
//! depends on no more than that it stands behind a sum. So the boundaries of a walk are parted by
//! what the stack is reduced to before their labels are shifted, and those of each part are looked
//! for together on the reduced stack, as a submask: it is found again whatever the operand was, and
//! for all operators of a level at once. The page beside [`index`](crate::index) has figures.

use smallvec::SmallVec;

use super::composer::Composer;
use super::part::{Part, SomeBoundaries};
use super::submask::{Site, Sites};
use super::task::WalkInParts;
use crate::index::walk::Boundary;
use crate::scanner::Reads;
use crate::util::bitset::BitSet;

impl<'g> Composer<'g> {
    /// Adds a site for each part of a walk's boundaries before whose labels a stack is reduced
    /// to the same. Returns what is left to look for: the whole walk, if parting it does not pay.
    pub(super) fn part(
        &self,
        parts: &WalkInParts<'g>,
        reads: &mut Reads,
        sites: &mut Sites<'g>,
    ) -> Part {
        let WalkInParts { walk, from, line, taking, part } = parts;
        let (scanner, walk) = (self.walker.scanner, *walk);
        let ([at], Part::AllBut(SomeBoundaries::NONE)) = (&from[..], part) else { return *part };
        // Where there are conflicts, a stack is reduced in several ways before one label, in
        // ambiguous grammars in very many.
        let may_part = !scanner.table().has_conflicts() && !at.layout.begins_line();
        if walk.boundaries.len() < MANY || !may_part {
            return *part;
        }
        let mut labels = BitSet::new(scanner.table().end().index() + 1);
        // Those that are shifted before whatever follows, and of these what the stack may take.
        let (mut shifted, mut taken) = (SomeBoundaries::NONE, SmallVec::<[_; 32]>::new());
        let mut count = 0;
        for (place, &Boundary { label, ref leading, .. }) in SomeBoundaries::first(walk) {
            if leading.is_empty() && scanner.lexis().shifted().contains(label.index()) {
                shifted.add(place);
                if taking.is_none_or(|taking| taking.may_take(label)) {
                    count += usize::from(labels.insert(label.index()));
                    taken.push((place, label));
                }
            }
        }
        if count < MANY {
            return *part;
        }
        for (stack, labels) in at.stack.reduced(scanner.table(), &labels, reads) {
            let own = taken.iter().filter(|(_, label)| labels.contains(label.index()));
            let boundaries = own.map(|&(place, _)| place).collect();
            sites.push(Site::shifted(walk, boundaries, at, stack, line.clone()));
        }
        Part::AllBut(shifted)
    }
}

/// Fewer labels are looked for one by one: to reduce the stack would take longer.
const MANY: usize = 4;
