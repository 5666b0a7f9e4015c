//! Node sets and the walks done from them.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Bounds, KeptWriter};
use crate::index::generation::Generation;
use crate::index::token_set::TokenSet;
use crate::index::walk::{Boundary, End, NodeSet, Origin, Walk};
use crate::scanner::ObligationsId;
use crate::util::id::{ScanStateId, TerminalId};
use crate::util::store::{Kept, Malformed, Reader, Writer, ensure, ensure_below};

/// Writes the node sets, that of all the vocabulary left out, and then the walks of each. Sets are numbered in the order
/// of their nodes, so that equal indices are equal bytes; what other threads add meanwhile comes behind.
pub(super) fn save(generation: &Generation, writer: &mut Writer, kept: &mut KeptWriter) {
    let mut sets = generation.all_node_sets();
    sets.sort_unstable_by(|a, b| a.nodes().cmp(b.nodes()));
    sets.insert(0, generation.root.clone());
    let mut numbers: HashMap<Arc<NodeSet>, u32, FxBuildHasher> = HashMap::default();
    numbers.extend(sets.iter().cloned().zip(0..));
    let mut walks = Writer::default();
    let mut at = 0;
    while let Some(set) = sets.get(at).cloned() {
        at += 1;
        let mut done = set.all_walks();
        done.sort_unstable_by_key(|(from, _)| *from);
        walks.list(&done, |w, (from, walk)| {
            from.save(w);
            w.list(&walk.ends, |w, end| end.save(w, kept));
            w.list(&walk.boundaries, |w, boundary| {
                let next = sets.len() as u32;
                let number = *numbers.entry(boundary.nodes.clone()).or_insert(next);
                if number == next {
                    sets.push(boundary.nodes.clone());
                }
                boundary.save(number, w);
            });
        });
    }
    writer.list(&sets[1..], |w, set| w.numbers(set.nodes()));
    writer.raw(&walks.into_bytes());
}

/// Takes node sets and walks.
pub(super) fn load(
    generation: &Generation,
    reader: &mut Reader<'_>,
    kept: &Kept,
    bounds: &Bounds,
) -> Result<(), Malformed> {
    let mut sets = vec![generation.root.clone()];
    for _ in 0..reader.length(5)? {
        let nodes = reader.numbers()?;
        ensure_below(&nodes, bounds.nodes, "a set of nodes")?;
        sets.push(generation.share(NodeSet::new(nodes)));
    }
    for set in &sets {
        for _ in 0..reader.length(17)? {
            let from = Origin::load(reader, bounds)?;
            let ends = reader.list(18, |r| End::load(r, kept, bounds))?;
            let boundaries = reader.list(16, |r| Boundary::load(r, &sets, bounds))?;
            let walk = Walk { ends: ends.into(), boundaries: boundaries.into() };
            generation.add_bytes(walk.bytes());
            set.add_walk(from, walk);
        }
    }
    Ok(())
}

fn leading(reader: &mut Reader<'_>) -> Result<Box<[u8]>, Malformed> {
    let length = reader.length(1)?;
    Ok(reader.raw(length)?.into())
}

/// A scan state and obligations.
fn place(reader: &mut Reader<'_>, bounds: &Bounds) -> Result<(ScanStateId, ObligationsId), Malformed> {
    let (state, obligations) = (reader.u32()?, reader.u32()?);
    ensure_below(&[state], bounds.scan_states, "the scan state of a walk")?;
    ensure_below(&[obligations], bounds.obligations, "the obligations of a walk")?;
    Ok((ScanStateId(state), ObligationsId(obligations)))
}

impl Origin {
    fn save(self, writer: &mut Writer) {
        writer.u32(self.state.0);
        writer.u32(self.obligations.0);
        writer.bool(self.counting);
    }

    fn load(reader: &mut Reader<'_>, bounds: &Bounds) -> Result<Self, Malformed> {
        let (state, obligations) = place(reader, bounds)?;
        Ok(Self { state, obligations, counting: reader.bool()? })
    }
}

impl End {
    fn save(&self, writer: &mut Writer, kept: &mut KeptWriter) {
        writer.u32(self.state.0);
        writer.u32(self.obligations.0);
        writer.length(self.leading.len());
        writer.raw(&self.leading);
        self.tokens.save(writer, kept);
    }

    fn load(reader: &mut Reader<'_>, kept: &Kept, bounds: &Bounds) -> Result<Self, Malformed> {
        let (state, obligations) = place(reader, bounds)?;
        let leading = leading(reader)?;
        let kind = reader.u8()?;
        Ok(Self { state, obligations, leading, tokens: TokenSet::load(kind, reader, kept, bounds)? })
    }
}

impl Boundary {
    /// `nodes` is the number of its node set.
    fn save(&self, nodes: u32, writer: &mut Writer) {
        writer.u32(self.label.0);
        writer.u32(self.obligations.0);
        writer.length(self.leading.len());
        writer.raw(&self.leading);
        writer.u32(nodes);
    }

    fn load(reader: &mut Reader<'_>, sets: &[Arc<NodeSet>], bounds: &Bounds) -> Result<Self, Malformed> {
        let (label, obligations) = (reader.u32()?, reader.u32()?);
        ensure_below(&[label], bounds.terminals, "the label of a boundary")?;
        ensure_below(&[obligations], bounds.obligations, "the obligations of a boundary")?;
        let leading = leading(reader)?;
        let nodes = sets.get(reader.u32()? as usize).cloned();
        ensure(nodes.is_some(), "the nodes of a boundary")?;
        let nodes = nodes.ok_or(Malformed { what: "the nodes of a boundary" })?;
        Ok(Self { label: TerminalId(label), obligations: ObligationsId(obligations), leading, nodes })
    }
}
