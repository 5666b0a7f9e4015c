//! Groups in groups become rules.
//!
//! What a count writes out as `(x (x)?)?` nests as deep as it counts, and every later pass walks
//! the tree recursively. So a group at every so many levels becomes a rule of its own, behind the
//! one in which it stands. The words are rearranged before the parser sees them: it is linear, and
//! no tree is deeper than [`LEVELS`].

use std::collections::VecDeque;

use crate::syntax::error::SyntaxError;
use crate::syntax::gbnf::ast::Attributes;
use crate::syntax::gbnf::token::Token;

/// Brackets that stay in each other.
const LEVELS: usize = 48;

/// A word between its byte offsets.
type Word<'input> = (usize, Token<'input>, usize);

/// A group that becomes a rule, and is open.
struct Hoisted<'input> {
    words: Vec<Word<'input>>,
    /// Brackets that are open in it, its own not counted.
    depth: usize,
    is_assertion: bool,
}

/// The same words, with deep groups as rules. Brackets are balanced up to the first fault.
pub(super) fn unnested<'input>(
    mut words: impl Iterator<Item = Result<Word<'input>, SyntaxError>>,
) -> impl Iterator<Item = Result<Word<'input>, SyntaxError>> {
    let mut nesting = Nesting::default();
    std::iter::from_fn(move || {
        loop {
            if let Some(word) = nesting.out.pop_front() {
                return Some(Ok(word));
            }
            match words.next() {
                Some(Ok(word)) => nesting.add(word),
                Some(Err(error)) => return Some(Err(error)),
                None if nesting.rules.is_empty() => return None,
                None => nesting.end_rule(),
            }
        }
    })
}

#[derive(Default)]
struct Nesting<'input> {
    /// What the parser is given next.
    out: VecDeque<Word<'input>>,
    /// Brackets that are open in the rule itself.
    depth: usize,
    open: Vec<Hoisted<'input>>,
    /// Rules that come after the one that is read.
    rules: Vec<Vec<Word<'input>>>,
    /// The name of the rule that is read.
    rule: String,
    /// How many groups became rules.
    count: usize,
}

impl<'input> Nesting<'input> {
    fn add(&mut self, (start, token, end): Word<'input>) {
        match token {
            Token::Defined(ref name, _) => {
                self.end_rule();
                self.rule = name.to_string();
                self.out.push_back((start, token, end));
            }
            Token::LeftParen | Token::LeftAssertion if *self.depth() == LEVELS => {
                self.hoist((start, token, end));
            }
            Token::LeftParen | Token::LeftAssertion => {
                *self.depth() += 1;
                self.push((start, token, end));
            }
            Token::RightParen if *self.depth() == 0 => self.close((start, token, end)),
            Token::RightParen => {
                *self.depth() -= 1;
                self.push((start, token, end));
            }
            _ => self.push((start, token, end)),
        }
    }

    /// Brackets that are open in the innermost rule.
    fn depth(&mut self) -> &mut usize {
        self.open.last_mut().map_or(&mut self.depth, |group| &mut group.depth)
    }

    fn push(&mut self, word: Word<'input>) {
        match self.open.last_mut() {
            Some(group) => group.words.push(word),
            None => self.out.push_back(word),
        }
    }

    /// The group that `bracket` opens becomes a rule. No name in a file has brackets.
    fn hoist(&mut self, bracket: Word<'input>) {
        let (start, token, end) = bracket;
        self.count += 1;
        let name = format!("{}({})", self.rule, self.count);
        let is_assertion = token == Token::LeftAssertion;
        if is_assertion {
            self.push((start, token, end));
        }
        self.push((start, Token::Name(name.clone().into()), end));
        let words = vec![(start, Token::Defined(name.into(), Attributes::default()), end)];
        self.open.push(Hoisted { words, depth: 0, is_assertion });
    }

    fn close(&mut self, bracket: Word<'input>) {
        let Some(group) = self.open.pop() else { return self.push(bracket) };
        self.rules.push(group.words);
        if group.is_assertion {
            self.push(bracket);
        }
    }

    fn end_rule(&mut self) {
        self.out.extend(self.rules.drain(..).flatten());
    }
}
