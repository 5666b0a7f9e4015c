//! Node sets and the walks done from them.

use super::{Bounds, SavedNumbersWriter};
use crate::index::tokens::TokenSet;
use crate::index::tokens::{StoredTokensId, TokensId};
use crate::index::walk::{Base, Boundary, End, NodesId, Origin, Walk, Walked};
use crate::scanner::ObligationsId;
use crate::util::id::{ScanStateId, TerminalId};
use crate::util::saving::{Malformed, Reader, SavedNumbers, Writer, ensure, ensure_below};

/// Writes the node sets, that of all the vocabulary left out, and then the walks of each. Sets are
/// numbered in the order of their nodes, so that equal indices are equal bytes.
pub(super) fn save(
    walked: &Walked,
    words: usize,
    writer: &mut Writer,
    saved: &mut SavedNumbersWriter,
) {
    let mut walks: Vec<(NodesId, Origin, &Walk)> = walked.walks.walks().collect();
    // After the walks, so that what these lead to is there.
    let mut sets: Vec<NodesId> = (1..walked.walks.node_sets() as u32).map(NodesId).collect();
    sets.sort_unstable_by_key(|&set| walked.walks.nodes(set));
    sets.insert(0, NodesId::ROOT);
    let mut numbers = vec![0; sets.len()];
    sets.iter().zip(0..).for_each(|(set, number)| numbers[set.0 as usize] = number);
    walks.sort_unstable_by_key(|(nodes, from, _)| (numbers[nodes.0 as usize], *from));
    writer.list(&sets[1..], |w, &set| w.numbers(walked.walks.nodes(set)));
    writer.list(&walks, |w, (nodes, from, walk)| {
        w.u32(numbers[nodes.0 as usize]);
        from.save(w);
        w.list(&walk.ends, |w, end| end.save(walked, words, w, saved));
        w.list(&walk.boundaries, |w, boundary| {
            boundary.save(numbers[boundary.nodes.0 as usize], w);
        });
        w.list(&walk.bases, |w, base| {
            w.u32(base.state.0);
            w.length(base.leading.len());
            w.raw(&base.leading);
            w.u32(numbers[base.nodes.0 as usize]);
            let except = base.except.map_or(TokensId::NONE, TokensId::from);
            save_tokens(except, walked, words, w, saved);
        });
    });
}

/// Takes node sets and walks.
pub(super) fn load(
    walked: &Walked,
    reader: &mut Reader<'_>,
    saved: &SavedNumbers,
    bounds: &Bounds<'_>,
) -> Result<(), Malformed> {
    let mut sets = vec![NodesId::ROOT];
    for _ in 0..reader.length(5)? {
        let nodes = reader.numbers()?;
        ensure_below(&nodes, bounds.nodes, "a set of nodes")?;
        ensure(nodes.is_sorted_by(|one, other| one < other), "a set of nodes")?;
        sets.push(walked.walks.nodes_id(&nodes));
    }
    for _ in 0..reader.length(26)? {
        let nodes = nodes(reader, &sets)?;
        let from = Origin::load(reader, bounds)?;
        let ends = reader.list(18, |r| End::load(r, walked, saved, bounds))?;
        let boundaries = reader.list(20, |r| Boundary::load(r, &sets, bounds))?;
        let bases = reader.list(14, |r| Base::load(r, &sets, walked, saved, bounds))?;
        ensure(goes_on(walked, (nodes, from), &boundaries, &bases), "a walk")?;
        let walk =
            Walk::new(walked.walks.next_number(), ends.into(), boundaries.into(), bases.into());
        walked.walks.walk(nodes, from, || walk);
    }
    Ok(())
}

/// Whether whatever a walk leads to lies further down in the trie, or is a base walk, which leads
/// to no other: so going from one to the next comes to an end. What lies below a node has a greater
/// number.
fn goes_on(
    walked: &Walked,
    (nodes, from): (NodesId, Origin),
    boundaries: &[Boundary],
    bases: &[Base],
) -> bool {
    let first = |nodes: NodesId| walked.walks.nodes(nodes).first().copied().unwrap_or(u32::MAX);
    let least = first(nodes);
    boundaries.iter().all(|boundary| first(boundary.nodes) > least)
        && (bases.is_empty()
            || !from.is_base && bases.iter().all(|base| first(base.nodes) >= least))
}

fn nodes(reader: &mut Reader<'_>, sets: &[NodesId]) -> Result<NodesId, Malformed> {
    sets.get(reader.u32()? as usize).copied().ok_or(Malformed { what: "a set of nodes" })
}

fn leading(reader: &mut Reader<'_>) -> Result<Box<[u8]>, Malformed> {
    let length = reader.length(1)?;
    Ok(reader.raw(length)?.into())
}

/// A scan state and obligations.
fn place(
    reader: &mut Reader<'_>,
    bounds: &Bounds<'_>,
) -> Result<(ScanStateId, ObligationsId), Malformed> {
    let (state, obligations) = (reader.u32()?, reader.u32()?);
    bounds.ensure_states(&[state], "the scan state of a walk")?;
    ensure_below(&[obligations], bounds.obligations, "the obligations of a walk")?;
    Ok((ScanStateId(state), ObligationsId(obligations)))
}

/// Writes tokens as one set.
fn save_tokens(
    tokens: TokensId,
    walked: &Walked,
    words: usize,
    writer: &mut Writer,
    saved: &mut SavedNumbersWriter,
) {
    walked.tokens.collect(tokens, words).save(writer, saved);
}

fn load_tokens(
    reader: &mut Reader<'_>,
    walked: &Walked,
    saved: &SavedNumbers,
    bounds: &Bounds<'_>,
) -> Result<StoredTokensId, Malformed> {
    let kind = reader.u8()?;
    Ok(walked.tokens.add_set(TokenSet::load(kind, reader, saved, bounds)?))
}

impl Base {
    fn load(
        reader: &mut Reader<'_>,
        sets: &[NodesId],
        walked: &Walked,
        saved: &SavedNumbers,
        bounds: &Bounds<'_>,
    ) -> Result<Self, Malformed> {
        let state = reader.u32()?;
        bounds.ensure_states(&[state], "the scan state of a walk")?;
        let leading = leading(reader)?;
        let nodes = nodes(reader, sets)?;
        Ok(Self {
            state: ScanStateId(state),
            leading,
            nodes,
            except: Some(load_tokens(reader, walked, saved, bounds)?),
        })
    }
}

impl Origin {
    fn save(self, writer: &mut Writer) {
        writer.u32(self.state.0);
        writer.u32(self.obligations.0);
        writer.bool(self.counting);
        writer.bool(self.is_base);
    }

    fn load(reader: &mut Reader<'_>, bounds: &Bounds<'_>) -> Result<Self, Malformed> {
        let (state, obligations) = place(reader, bounds)?;
        Ok(Self { state, obligations, counting: reader.bool()?, is_base: reader.bool()? })
    }
}

impl End {
    fn save(
        &self,
        walked: &Walked,
        words: usize,
        writer: &mut Writer,
        saved: &mut SavedNumbersWriter,
    ) {
        writer.u32(self.state.0);
        writer.u32(self.obligations.0);
        writer.length(self.leading.len());
        writer.raw(&self.leading);
        save_tokens(self.tokens, walked, words, writer, saved);
    }

    fn load(
        reader: &mut Reader<'_>,
        walked: &Walked,
        saved: &SavedNumbers,
        bounds: &Bounds<'_>,
    ) -> Result<Self, Malformed> {
        let (state, obligations) = place(reader, bounds)?;
        let leading = leading(reader)?;
        let tokens = load_tokens(reader, walked, saved, bounds)?.into();
        Ok(Self { state, obligations, leading, tokens })
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
        writer.u32(self.tokens);
    }

    fn load(
        reader: &mut Reader<'_>,
        sets: &[NodesId],
        bounds: &Bounds<'_>,
    ) -> Result<Self, Malformed> {
        let (label, obligations) = (reader.u32()?, reader.u32()?);
        ensure_below(&[label], bounds.terminals, "the label of a boundary")?;
        ensure_below(&[obligations], bounds.obligations, "the obligations of a boundary")?;
        let leading = leading(reader)?;
        let nodes = nodes(reader, sets)?;
        let tokens = reader.u32()?;
        Ok(Self {
            label: TerminalId(label),
            obligations: ObligationsId(obligations),
            leading,
            nodes,
            tokens,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_that_go_round_are_refused() {
        let walked = Walked::default();
        let [above, below] = [[3, 9], [4, 5]].map(|nodes| walked.walks.nodes_id(&nodes));
        let origin = |is_base| Origin {
            state: ScanStateId(0),
            obligations: ObligationsId::NONE,
            counting: false,
            is_base,
        };
        let boundary = |nodes| Boundary {
            label: TerminalId(0),
            obligations: ObligationsId::NONE,
            leading: Box::default(),
            nodes,
            tokens: 1,
        };
        let base =
            |nodes| Base { nodes, state: ScanStateId(0), leading: Box::default(), except: None };
        let goes_on = |from: (NodesId, bool), boundaries: &[Boundary], bases: &[Base]| {
            goes_on(&walked, (from.0, origin(from.1)), boundaries, bases)
        };
        assert!(goes_on((NodesId::ROOT, false), &[boundary(above)], &[base(above)]));
        assert!(goes_on((above, false), &[boundary(below)], &[base(above)]));
        assert!(goes_on((above, true), &[boundary(below)], &[]));
        assert!(!goes_on((above, false), &[boundary(above)], &[]));
        assert!(!goes_on((below, false), &[], &[base(above)]));
        assert!(!goes_on((above, true), &[], &[base(above)]));
    }
}
