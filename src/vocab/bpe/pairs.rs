//! Whether two tokens may be neighbours within a piece: whether the tokenizer makes them of their
//! bytes.
//!
//! A sequence of tokens is what the tokenizer makes of a piece if and only if it makes each token
//! of its own bytes, and each two neighbours of theirs. For as long as no merge crosses a border,
//! the merges on both sides go on as if the other side were not there, and the lowest rank of all
//! is the lowest of some side. So the first merge that crosses a border also happens if only the
//! two tokens at it are there.
//!
//! While two tokens `a b` are merged, the symbols at their border are those of the right spine of
//! the tree of `a` and of the left spine of `b`. Merges on both sides alternate: the merges of a
//! side that come before a given one are those with a lower *key*, the greatest rank so far, and
//! with an equal key the left side comes first. A symbol at the border is made at its own key, and
//! taken by the merge above it at that one's key. Two symbols `x y` are neighbours for some time if
//! each is made before the other is taken; their pair is merged if some merge of a higher rank must
//! come before either is taken. [`Merges::most_left`] and [`Merges::most_right`] are the highest
//! ranks that come between.

use super::merges::{Made, Merges, NONE};

/// A token as the left part in the trees of others: which tokens begin with it.
#[derive(Debug)]
pub(super) struct Beginnings {
    /// All tokens that are made, each after the one that it begins with.
    order: Box<[u32]>,
    /// By token, its place in the order.
    place: Box<[u32]>,
    /// By place, the number of tokens that begin with the token there, and itself.
    count: Box<[u32]>,
}

impl Merges {
    /// Returns the highest rank between the making of `symbol` and its taking by `above`, of which
    /// it is the right part.
    #[inline]
    fn most_left(&self, above: u32, symbol: Made) -> u32 {
        let above = self.made(above);
        if above.key > symbol.key { above.key } else { above.rank }
    }

    /// Returns the same for the left part of `above`.
    #[inline]
    fn most_right(&self, above: u32, symbol: Made) -> u32 {
        let above = self.made(above);
        match above.key > symbol.key || self.made(above.right).key == symbol.key {
            true => above.key,
            false => above.rank,
        }
    }

    /// Returns whether these tokens, each of which is made of its bytes, may be neighbours within a
    /// piece. Costs the depth of their trees.
    pub(super) fn are_neighbours(&self, left: u32, right: u32) -> bool {
        let (mut x, mut y) = (left, right);
        let (mut most_x, mut most_y) = (NONE, NONE);
        loop {
            if let Some(pair) = self.pair(x, y)
                && pair.rank < most_x
                && pair.rank <= most_y
            {
                return false;
            }
            let (of_x, of_y) = (self.made(x), self.made(y));
            if of_x.key > of_y.key {
                most_x = self.most_left(x, self.made(of_x.right));
                x = of_x.right;
            } else if of_y.key > 0 {
                most_y = self.most_right(y, self.made(of_y.left));
                y = of_y.left;
            } else {
                return true;
            }
        }
    }

    /// Clears the bits of the tokens that may not follow `left` within a piece.
    pub(super) fn take_out_others(&self, left: u32, beginnings: &Beginnings, row: &mut [u32]) {
        let (mut x, mut most_x, mut taken) = (left, NONE, NONE);
        loop {
            let of_x = self.made(x);
            for pair in self.pairs_of(x) {
                let of_y = self.made(pair.right);
                if pair.rank >= most_x || of_y.key >= taken {
                    continue;
                }
                row[pair.right as usize / 32] &= !(1 << (pair.right % 32));
                let place = beginnings.place[pair.right as usize] as usize;
                let end = place + beginnings.count[place] as usize;
                let mut at = place + 1;
                while at < end {
                    let (above, count) = (beginnings.order[at], beginnings.count[at] as usize);
                    if of_x.key <= self.made(above).key && pair.rank <= self.most_right(above, of_y)
                    {
                        for &token in &beginnings.order[at..at + count] {
                            row[token as usize / 32] &= !(1 << (token % 32));
                        }
                    }
                    at += count;
                }
            }
            if of_x.key == 0 {
                return;
            }
            taken = of_x.key;
            most_x = self.most_left(x, self.made(of_x.right));
            x = of_x.right;
        }
    }
}

impl Beginnings {
    pub(super) fn new(merges: &Merges, width: usize) -> Self {
        let mut children: Vec<(u32, u32)> = Vec::new();
        let mut roots = Vec::new();
        for token in 0..width as u32 {
            let made = merges.made(token);
            match made.left {
                _ if made.key == NONE => {}
                NONE => roots.push(token),
                left => children.push((left, token)),
            }
        }
        children.sort_unstable();
        let of = |token: u32| {
            let first = children.partition_point(|&(left, _)| left < token);
            children[first..]
                .iter()
                .take_while(move |&&(left, _)| left == token)
                .map(|&(_, child)| child)
        };
        let (mut order, mut place) = (Vec::new(), vec![0; width]);
        let mut pending = roots;
        while let Some(token) = pending.pop() {
            place[token as usize] = order.len() as u32;
            order.push(token);
            pending.extend(of(token));
        }
        let mut count = vec![1u32; order.len()];
        for at in (0..order.len()).rev() {
            let left = merges.made(order[at]).left;
            if left != NONE {
                count[place[left as usize] as usize] += count[at];
            }
        }
        Self { order: order.into(), place: place.into(), count: count.into() }
    }
}
