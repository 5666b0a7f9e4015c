//! The pieces of texts ([`self_loops`](crate::util::self_loops)), as far as scan states distinguish
//! them: one byte represents its whole class.

use smallvec::SmallVec;

use crate::util::byte_classes::ByteClasses;
use crate::util::self_loops::{BETWEEN, Groups, WITHINS, Within, characters_of, group, step_utf8};

/// The bytes that have to be looked at to know where pieces lead.
#[derive(Debug)]
pub(super) struct Utf8Units {
    /// By class: one of its bytes, and the groups of all of them.
    classes: Box<[(u8, Groups)]>,
    /// By position within a character: the bytes that may be next.
    within: [Box<[Next]>; WITHINS],
}

/// A byte of a character, and the position after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) byte: u8,
    pub(super) place: Within,
    /// The groups of the characters that begin with the byte; all groups if it does not begin one.
    kind: Groups,
}

impl Utf8Units {
    pub(super) fn new(classes: &ByteClasses) -> Self {
        let mut of_classes: Box<[(u8, Groups)]> =
            classes.representatives().iter().map(|&byte| (byte, 0)).collect();
        for byte in 0..=u8::MAX {
            of_classes[usize::from(classes.get(byte))].1 |= group(byte);
        }
        Self { classes: of_classes, within: std::array::from_fn(|at| bytes_at(at, classes)) }
    }

    /// Returns a byte of each class that has bytes of these groups, and which of the groups it has.
    pub(super) fn classes_of(&self, of: Groups) -> impl Iterator<Item = (u8, Groups)> + '_ {
        let within = self.classes.iter().map(move |&(byte, groups)| (byte, groups & of));
        within.filter(|&(_, groups)| groups != 0)
    }

    /// Returns the bytes with which a character of this kind continues at a position.
    pub(super) fn bytes_of(&self, kind: Groups, at: Within) -> impl Iterator<Item = Next> + '_ {
        self.within[at].iter().copied().filter(move |next| next.kind & kind != 0)
    }
}

/// Returns the bytes past ASCII that may be next at a position, one of each equivalence class.
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
