//! Lowering of look-arounds: each becomes an empty capture whose number identifies it
//! ([`determinize_lookaround`]).

use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, Hir, HirKind, Repetition,
};

use crate::lexer::determinize::{self, Texts};
use crate::lexer::determinize_lookaround::{self, LookAround, Side};
use crate::lexer::dfa::Dfa;
use crate::lexer::error::{PatternError, PatternErrorKind};
use crate::lexer::lower::Builder;

/// Maximum number of look-arounds in a terminal: each is an automaton that runs along with the
/// terminal's own.
const MAX_LOOKS: usize = 100;

impl Builder<'_> {
    /// Returns a position followed by one of the texts of `wanted`, whose own look-arounds have the
    /// numbers from `first` on.
    pub(super) fn look_ahead(
        &mut self,
        wanted: &Hir,
        first: usize,
        negated: bool,
    ) -> Result<Hir, PatternError> {
        let dfa = self.automaton(wanted, first, Side::Ahead)?;
        self.look(LookAround { side: Side::Ahead, negated, dfa })
    }

    /// Returns a position after one of the texts of `wanted`, whose own look-arounds have the
    /// numbers from `first` on.
    pub(super) fn look_behind(
        &mut self,
        wanted: Hir,
        first: usize,
        negated: bool,
    ) -> Result<Hir, PatternError> {
        let inner: Vec<Side> = self.looks[first..].iter().map(|look| look.side).collect();
        if inner.contains(&Side::Ahead) {
            let message = "a look-ahead inside a look-behind is not supported";
            let error = PatternError::new(PatternErrorKind::Unsupported, message);
            return Err(error.help("write the cases as alternatives"));
        }
        let reach = inner.into_iter().try_fold(0, |most, side| Some(most.max(side.reach()?)));
        let width = width(&wanted).zip(reach).map(|(width, reach)| width.saturating_add(reach));
        let wanted = self.any_before(wanted);
        let dfa = self.automaton(&wanted, first, Side::Behind(width))?;
        self.look(LookAround { side: Side::Behind(width), negated, dfa })
    }

    /// Returns a position before which the text, from its beginning on, is one of `wanted`: the
    /// empty one, or one that ends in a certain character.
    pub(super) fn after_text(&mut self, wanted: &Hir) -> Result<Hir, PatternError> {
        let side = Side::Behind(Some(1));
        let dfa = self.automaton(wanted, self.looks.len(), side)?;
        self.look(LookAround { side, negated: false, dfa })
    }

    /// Returns the end of the text.
    pub(super) fn end_of_text(&mut self) -> Result<Hir, PatternError> {
        self.look_ahead(&Hir::literal([Dfa::END]), self.looks.len(), false)
    }

    /// Returns the beginning or the end of a word, whose characters are given, or any other
    /// position if `negated`.
    pub(super) fn boundary(
        &mut self,
        word: ClassUnicode,
        negated: bool,
    ) -> Result<Hir, PatternError> {
        let word = self.class(word)?;
        let (first, behind) = (self.looks.len(), Side::Behind(Some(1)));
        let dfas = [
            self.automaton(&self.any_before(word.clone()), first, behind)?,
            self.automaton(&word, first, Side::Ahead)?,
        ];
        let mut ways = Vec::new();
        for is_after in [true, false] {
            let is_before = is_after == negated;
            let [before, after] = dfas.clone();
            let looks = [
                LookAround { side: behind, negated: !is_after, dfa: before },
                LookAround { side: Side::Ahead, negated: !is_before, dfa: after },
            ];
            ways.push(Hir::concat(
                looks.map(|look| self.look(look)).into_iter().collect::<Result<_, _>>()?,
            ));
        }
        Ok(Hir::alternation(ways))
    }

    /// Returns a pattern for any bytes followed by `wanted`: a special token may precede a lexeme.
    pub(super) fn any_before(&self, wanted: Hir) -> Hir {
        let any = Hir::class(Class::Bytes(ClassBytes::new([ClassBytesRange::new(0, u8::MAX)])));
        let any = Repetition { min: 0, max: None, greedy: true, sub: Box::new(any) };
        Hir::concat(vec![Hir::repetition(any), wanted])
    }

    /// Returns a look-around as a numbered capture. Equal look-arounds share a number, so that
    /// their occurrences are followed as one: mostly the `\b` of a grammar.
    fn look(&mut self, look: LookAround) -> Result<Hir, PatternError> {
        let known = self.looks[self.first_look..].iter().position(|known| known.asks_as(&look));
        if let Some(known) = known {
            return Ok(place_of_look(self.first_look + known));
        }
        if self.looks.len() >= MAX_LOOKS {
            return Err(PatternError::too_large(format!(
                "it has more than {MAX_LOOKS} look-arounds"
            ))
            .help("split the pattern into several terminals"));
        }
        self.looks.push(look);
        Ok(place_of_look(self.looks.len() - 1))
    }

    /// Returns the automaton of the pattern of a look-around on this side, which contains the
    /// look-arounds from number `first` on.
    pub(super) fn automaton(
        &mut self,
        hir: &Hir,
        first: usize,
        side: Side,
    ) -> Result<Dfa, PatternError> {
        let inner = self.looks.split_off(first);
        if inner.is_empty() {
            let nfa =
                determinize::nondeterministic(&determinize::thompson(self.meter), hir, self.meter)?;
            return Ok(
                determinize::determinize(&nfa, Texts::All, self.meter)?.minimize(self.meter)?
            );
        }
        let compiler = determinize::thompson_with_looks(self.meter);
        let nfa = determinize::nondeterministic(&compiler, hir, self.meter)?;
        determinize_lookaround::determinize_nested(&nfa, &inner, first, side, self.meter)
    }
}

/// Returns the number of characters of each text, or `None` if texts differ in it.
pub(super) fn width(hir: &Hir) -> Option<usize> {
    match hir.kind() {
        HirKind::Empty | HirKind::Capture(_) => Some(0),
        HirKind::Literal(literal) => {
            Some(literal.0.iter().filter(|&byte| byte & 0xc0 != 0x80).count())
        }
        HirKind::Class(_) => Some(1),
        HirKind::Repetition(repetition) if repetition.max == Some(repetition.min) => {
            Some(width(&repetition.sub)?.saturating_mul(repetition.min as usize))
        }
        HirKind::Concat(parts) => {
            parts.iter().try_fold(0usize, |sum, part| Some(sum.saturating_add(width(part)?)))
        }
        HirKind::Alternation(parts) => {
            let first = width(parts.first()?)?;
            parts.iter().all(|part| width(part) == Some(first)).then_some(first)
        }
        HirKind::Repetition(_) | HirKind::Look(_) => None,
    }
}

/// Returns the capture of look-around number `number`.
fn place_of_look(number: usize) -> Hir {
    let sub = Box::new(Hir::empty());
    Hir::capture(Capture { index: number as u32 + 1, name: None, sub })
}
