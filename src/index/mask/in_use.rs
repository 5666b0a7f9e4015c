//! What stays when there is no room for all: what was asked for most.
//!
//! A path of the trie over stacks counts how often it was found. The paths of most uses are entered
//! in new tables, with what they lead to, until these are as large as they may be. So nothing is
//! left of what does not stay, and what stays is counted as what is new.

use super::copies::Copies;
use super::paths::Paths;
use super::stack_trie::Leaf;
use super::submask::Known;
use super::tables::{MaskTables, PartTables};
use crate::index::walk::{Walked, WalkedInUse};
use crate::util::uses::Aging;
use crate::vocab::rests::Rests;

impl MaskTables {
    /// The paths that were found most often, and their masks of `words` words, in about so many
    /// bytes, and near to what `rests` has. What others enter meanwhile may be missing.
    pub(crate) fn in_use(&self, room: usize, words: usize, rests: &Rests) -> Self {
        let paths = Paths::of(&self.stacks);
        // Behind the paths, so that all masks are there that they lead to.
        let mut masks = Copies::of(&self.masks, room, words, rests);
        let aging = Aging::of(self.began_with, self.stacks.len());
        let kept = Self::default();
        for path in paths.by_uses(|_| 1) {
            let Some((root, words)) = paths.whole(path.number, &kept.stacks) else { continue };
            let Some(mask) = masks.copy(path.leaf.mask) else { continue };
            kept.stacks.enter(root, &words, Leaf { mask, ..path.leaf }, &path.uses.aged(aging));
            if kept.stacks.bytes() + masks.bytes > room {
                break;
            }
        }
        for (of, own) in self.unions.iter() {
            let members: Option<Vec<u32>> = of.iter().map(|id| masks.known(*id)).collect();
            let Some(mut members) = members else { continue };
            if kept.bytes() + masks.bytes > room {
                break;
            }
            members.sort_unstable();
            kept.unions.add(&members, own.and_then(|own| masks.copy(own)));
        }
        let (masks, bytes) = masks.finish();
        kept.add_bytes(bytes);
        Self { masks, began_with: kept.stacks.len(), ..kept }
    }
}

impl PartTables {
    /// The submasks that save the most, for the walks that are `kept`, in about so many bytes. Only
    /// those of few tokens: such a one takes a hundred bytes. One of many takes as much as fifty of
    /// them, and what it mostly stands for is a base walk.
    pub(crate) fn in_use(&self, of: &Walked, kept: &mut WalkedInUse, room: usize) -> Self {
        let paths = Paths::of(&self.submasks);
        let (tables, before) = (Self::default(), kept.walked.bytes());
        for path in paths.by_uses(|known| known.steps) {
            if path.uses.get() == 0 || kept.walked.bytes() - before + tables.bytes() > room {
                break;
            }
            let Known { tokens, steps } = path.leaf;
            let Some(tokens) = kept.walked.tokens.copy_few(tokens, &of.tokens) else { continue };
            let Some((submask, words)) = paths.whole(path.number, &tables.submasks) else {
                continue;
            };
            let Some(submask) = submask.renumbered(of, kept) else { continue };
            tables.submasks.enter(
                submask,
                &words,
                Known { tokens, steps },
                &path.uses.aged(Aging::QUARTER),
            );
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::super::paths::Beginning;
    use super::super::stack_trie::{ASKS, LineKind, Root, StackTrie};
    use super::*;
    use crate::scanner::lookahead::ExpectationsId;
    use crate::scanner::{Lines, ObligationsId, Question};
    use crate::util::id::{CoreId, ScanStateId};

    const WIDTH: usize = 400;

    /// What a path reads, with the numbers of the trie's questions.
    type Reads = (u32, [u32; 6]);

    /// Paths that read three states, brackets, and the layout; each has a mask of its own.
    fn tables() -> (MaskTables, Vec<(Reads, Vec<u32>)>) {
        let tables = MaskTables::default();
        let mut random = fastrand::Rng::with_seed(7);
        let mut row: Vec<u32> = (0..WIDTH).map(|_| random.u32(..)).collect();
        let mut all = Vec::new();
        tables.stacks.questions.intern(Question::Brackets(9));
        let brackets = ASKS | tables.stacks.questions.intern(Question::Brackets(3));
        let layout = ASKS | tables.stacks.questions.intern(Question::Layout);
        for number in 0..240u32 {
            if number % 60 == 0 {
                row.iter_mut().for_each(|word| *word = random.u32(..));
            }
            row[random.usize(..WIDTH)] ^= 1 << random.usize(..32);
            let lines = Lines { depth: number / 8 % 5, ..Lines::default() };
            let answer = tables.stacks.number(&lines);
            let reads = (number / 40, [number % 2, brackets, number / 2 % 4, layout, answer, 7]);
            let (mask, bytes) = tables.masks.intern(&row);
            tables.add_bytes(bytes);
            let leaf = Leaf { mask, asks_end: number % 2 == 1 };
            tables.stacks.enter(root(reads.0), &reads.1, leaf, &number_of_uses(number));
            all.push((reads, row.clone()));
        }
        (tables, all)
    }

    fn root(state: u32) -> Root {
        Root {
            state: ScanStateId(state),
            obligations: ObligationsId::NONE,
            expectations: ExpectationsId::NONE,
            top: CoreId(0),
            fresh: false,
            line: LineKind::Inside,
        }
    }

    fn number_of_uses(number: u32) -> crate::util::uses::Uses {
        let uses = crate::util::uses::Uses::default();
        (0..number % 7).for_each(|_| uses.note());
        uses
    }

    /// What each path of a trie reads, with the layout itself, and its mask.
    fn content(tables: &MaskTables) -> Vec<(u32, Vec<u32>, u32, Vec<u32>)> {
        let paths = Paths::of(&tables.stacks);
        let content = paths.by_number.iter().map(|&(_, path)| {
            let number = path.number;
            let (root, words) = paths.whole(number, &StackTrie::default()).expect("a path");
            let depth = paths.layouts[paths.layout_of(number) as usize].depth;
            let mut row = vec![0; WIDTH];
            tables.masks.write_to(path.leaf.mask, &mut row);
            (root.state.0, [words[0], words[2], words[5]].to_vec(), depth, row)
        });
        let mut content: Vec<_> = content.collect();
        content.sort();
        content
    }

    impl Paths<'_, Root, Leaf> {
        /// The number of the layout that a path of these tests reads.
        fn layout_of(&self, number: u32) -> u32 {
            let (from, path) = self.get(number).expect("a path");
            let run = self.trie.runs.get(path.run);
            match (&run[..], from) {
                ([.., _, answer, _], _) => *answer,
                (_, Beginning::Fork(fork)) if run.len() == 1 => fork.read,
                _ => unreachable!("these paths end in a layout and a state"),
            }
        }
    }

    #[test]
    fn with_room_for_all_everything_stays() {
        let (tables, all) = tables();
        let kept = tables.in_use(usize::MAX, WIDTH, &Rests::default());
        assert_eq!(content(&kept), content(&tables));
        assert_eq!((kept.stacks.len(), kept.masks.len()), (tables.stacks.len(), all.len()));
        // A question that no path asks is gone; equal masks are known as before.
        assert_eq!(kept.stacks.questions.len(), 2);
        assert!(all.iter().all(|(_, row)| kept.masks.intern(row).1 == 0));
    }

    #[test]
    fn what_was_found_most_often_stays() {
        let (tables, _) = tables();
        let kept = tables.in_use(tables.bytes() / 3, WIDTH, &Rests::default());
        assert!(kept.bytes() < tables.bytes() / 2 && kept.stacks.len() > 20);
        let uses = |tables: &MaskTables| {
            let paths = Paths::of(&tables.stacks);
            paths.by_number.iter().map(|(_, path)| path.uses.get()).collect::<Vec<_>>()
        };
        let (before, after) = (uses(&tables), uses(&kept));
        // All are new, so that they count a quarter from then on.
        let least = after.iter().min().copied().unwrap_or_default();
        let more = before.iter().filter(|&&uses| uses / 4 > least).count();
        assert_eq!(after.iter().filter(|&&uses| uses > least).count(), more);
        let whole = content(&tables);
        assert!(content(&kept).iter().all(|path| whole.contains(path)));
    }
}
