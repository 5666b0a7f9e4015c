//! The pieces of texts ([`self_loops`](crate::util::self_loops)), as far as scan states tell them
//! apart: one byte stands for all of its class.

use smallvec::SmallVec;

use crate::util::byte_classes::ByteClasses;
use crate::util::self_loops::{BETWEEN, Groups, WITHINS, Within, characters_of, group, step_utf8};

/// Which bytes have to be looked at to know what pieces lead to.
#[derive(Debug)]
pub(super) struct Pieces {
    /// By class: a byte of it, and the groups of all its bytes.
    classes: Box<[(u8, Groups)]>,
    /// By place within a character: the bytes that go on there.
    within: [Box<[Next]>; WITHINS],
}

/// A byte of a character, and the place behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) byte: u8,
    pub(super) place: Within,
    /// The groups of the characters that begin with the byte; all groups, where it begins none.
    kind: Groups,
}

impl Pieces {
    pub(super) fn new(classes: &ByteClasses) -> Self {
        let mut of_classes: Box<[(u8, Groups)]> =
            classes.representatives().iter().map(|&byte| (byte, 0)).collect();
        for byte in 0..=u8::MAX {
            of_classes[usize::from(classes.get(byte))].1 |= group(byte);
        }
        Self { classes: of_classes, within: std::array::from_fn(|at| bytes_at(at, classes)) }
    }

    /// A byte of each class that has bytes of these groups, and those of the groups that it has.
    pub(super) fn classes_of(&self, of: Groups) -> impl Iterator<Item = (u8, Groups)> + '_ {
        let within = self.classes.iter().map(move |&(byte, groups)| (byte, groups & of));
        within.filter(|&(_, groups)| groups != 0)
    }

    /// The bytes with which a character of this kind goes on at a place.
    pub(super) fn bytes_of(&self, kind: Groups, at: Within) -> impl Iterator<Item = Next> + '_ {
        self.within[at].iter().copied().filter(move |next| next.kind & kind != 0)
    }
}

/// The bytes past ASCII that go on at a place, one for all that are alike.
fn bytes_at(at: Within, classes: &ByteClasses) -> Box<[Next]> {
    let mut known: SmallVec<[(u8, Within, Groups); 16]> = SmallVec::new();
    let mut bytes = Vec::new();
    for byte in 0x80..=u8::MAX {
        let Some(place) = step_utf8(at, byte) else { continue };
        let kind = if at == BETWEEN { characters_of(byte) } else { Groups::MAX };
        let alike = (classes.get(byte), place, kind);
        if !known.contains(&alike) {
            known.push(alike);
            bytes.push(Next { byte, place, kind });
        }
    }
    bytes.into()
}
