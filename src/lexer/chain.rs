//! Patterns that are a sequence of byte classes: strings, and words in any case. Most terminals of
//! a programming language have this form; their automaton is a chain and is already minimal.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::util::byte_classes::ByteClasses;
use crate::util::meter::Meter;

/// Returns the bytes allowed at each position of `hir`, or `None` if it is no chain.
pub(super) fn steps(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let mut steps = Vec::new();
    let parts = match hir.kind() {
        HirKind::Concat(parts) => parts.as_slice(),
        _ => std::slice::from_ref(hir),
    };
    for part in parts {
        match part.kind() {
            HirKind::Literal(literal) => steps.extend(literal.0.iter().map(|&byte| vec![byte])),
            HirKind::Class(Class::Unicode(class)) if class.is_ascii() => {
                let bytes =
                    class.ranges().iter().flat_map(|range| range.start() as u8..=range.end() as u8);
                steps.push(bytes.collect());
            }
            HirKind::Class(Class::Bytes(class)) => {
                steps.push(
                    class.ranges().iter().flat_map(|range| range.start()..=range.end()).collect(),
                );
            }
            _ => return None,
        }
    }
    steps.iter().all(|step| !step.is_empty()).then_some(steps)
}

/// Returns the automaton that reads one byte of each step in turn.
pub(super) fn chain(steps: &[impl AsRef<[u8]>], meter: &Meter) -> Result<Dfa, PatternError> {
    let states = steps.len() + 1;
    if states > meter.states() {
        return Err(PatternError::string_too_long(steps.len(), meter));
    }
    let kinds = kinds(steps);
    let classes = ByteClasses::by_key(|byte| usize::from(kinds[usize::from(byte)]));
    let width = classes.count();
    meter.step(states + states * width / 4)?;
    let mut held = meter.holding();
    held.set(states * width * size_of::<u32>())?;
    let mut table = vec![Dfa::DEAD; states * width];
    for (at, step) in steps.iter().enumerate() {
        for &byte in step.as_ref() {
            table[at * width + usize::from(classes.get(byte))] = at as u32 + 1;
        }
    }
    Ok(Dfa::new(classes, table, (0..states as u32).rev().collect()))
}

/// Returns, by byte, a number that it shares with the bytes that occur in the same steps.
fn kinds(steps: &[impl AsRef<[u8]>]) -> [u8; 256] {
    let mut kinds = [0u8; 256];
    let mut sizes = vec![256usize];
    let mut met: Vec<(u8, usize)> = Vec::new();
    for step in steps.iter().map(AsRef::as_ref) {
        met.clear();
        for &byte in step {
            let kind = kinds[usize::from(byte)];
            match met.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, count)) => *count += 1,
                None => met.push((kind, 1)),
            }
        }
        for &(kind, count) in &met {
            if count == sizes[usize::from(kind)] {
                continue;
            }
            let fresh = sizes.len() as u8;
            sizes.push(count);
            sizes[usize::from(kind)] -= count;
            for &byte in step {
                let own = &mut kinds[usize::from(byte)];
                *own = if *own == kind { fresh } else { *own };
            }
        }
    }
    kinds
}
