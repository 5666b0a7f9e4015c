//! Deeply nested groups become rules.
//!
//! A count that is expanded to `(x (x)?)?` nests as deep as it counts, and every later pass walks
//! the tree recursively. Therefore a group at every [`LEVELS`]th level becomes a rule of its own,
//! placed after the rule that contains it. The words are rearranged before the parser sees them:
//! this is linear, and no tree is deeper than [`LEVELS`].

use std::collections::VecDeque;

use crate::syntax::error::SyntaxError;
use crate::syntax::gbnf::ast::Attributes;
use crate::syntax::gbnf::token::Token;

/// Number of nested brackets that are kept.
const LEVELS: usize = 48;

/// A word between its byte offsets.
type Word<'input> = (usize, Token<'input>, usize);

/// An open group that becomes a rule.
struct Hoisted<'input> {
    words: Vec<Word<'input>>,
    /// Number of brackets that are open in it, without its own.
    depth: usize,
    is_assertion: bool,
}

/// Returns the same words, with deep groups as rules. Brackets are balanced up to the first fault.
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
    /// The next words for the parser.
    out: VecDeque<Word<'input>>,
    /// Number of brackets that are open in the rule itself.
    depth: usize,
    open: Vec<Hoisted<'input>>,
    /// Rules to be placed after the current one.
    rules: Vec<Vec<Word<'input>>>,
    /// The name of the current rule.
    rule: String,
    /// Number of groups that became rules.
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

    /// Returns the number of brackets that are open in the innermost rule.
    fn depth(&mut self) -> &mut usize {
        self.open.last_mut().map_or(&mut self.depth, |group| &mut group.depth)
    }

    fn push(&mut self, word: Word<'input>) {
        match self.open.last_mut() {
            Some(group) => group.words.push(word),
            None => self.out.push_back(word),
        }
    }

    /// Makes the group that `bracket` opens a rule. No name in a file contains brackets.
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
