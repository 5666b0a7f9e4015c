//! XGrammar's functions: [`Function`].
//!
//! `Substring` becomes rules, one for each state of the automaton of all runs of chunks (Blumer et
//! al. 1985). Later passes write out the regular ones of these. A dispatch becomes free text up to
//! each tag, and the rule after the tag.

use crate::grammar::characters::expr::ExprId;
use crate::grammar::characters::regexes::{self, Flags};
use crate::grammar::characters::resolve::Resolver;
use crate::grammar::first_found::{Search, Texts};
use crate::grammar::lower::source::At;
use crate::grammar::lower::substring;
use crate::grammar::tokens::Tokens;
use crate::syntax::ast::Spanned;
use crate::syntax::gbnf::ast::{Argument, Call, Function, Value};
use crate::util::diagnostic::Diagnostic;

/// Maximum number of characters of all texts of one call.
const MAX_CHARACTERS: usize = 100_000;

/// Steps per letter of the automaton that finds one text among others, through all passes.
const STEPS_OF_A_LETTER: usize = 80;
/// Bytes of its patterns and automata.
const BYTES_OF_A_LETTER: usize = 40;

/// Arguments of a dispatch.
struct Dispatch<T> {
    /// Texts or tokens to find, each with the rule after it.
    tags: Vec<(T, ExprId)>,
    excludes: Vec<T>,
    /// Whether text and tags continue after the rule.
    loops: bool,
}

impl Resolver<'_> {
    /// Returns the expression for the call; it matches nothing if an error was reported.
    pub(super) fn call(&mut self, call: &Call, at: At) -> ExprId {
        let made = match call.function {
            Function::Regex => self.regex(call, at),
            Function::Substring => self.substring(call, at),
            Function::Token => self.ids(call).map(|ids| self.exprs.token(ids)),
            Function::ExcludeToken => self.ids(call).map(|ids| self.others(ids, at)),
            Function::TagDispatch => self.tag_dispatch(call, at),
            Function::TokenTagDispatch => self.token_tag_dispatch(call, at),
        };
        made.unwrap_or_else(|place| {
            let place = place.map_or(at, |value| At::new(self.source, &value.span));
            let message = "the function does not take these arguments";
            let help = format!("write {}", call.function.usage());
            self.report(Diagnostic::error("bad-arguments", message).help(help), place);
            self.exprs.nothing()
        })
    }

    fn regex<'a>(&mut self, call: &'a Call, at: At) -> Result<ExprId, Misplaced<'a>> {
        let (places, named) = arguments(call, &["flags", "json_string"])?;
        let [Spanned { node: Value::Text(pattern), .. }] = places[..] else { return Err(None) };
        let mut flags = Flags { ignore_case: false, dot_all: true };
        if let Some(value) = named[0] {
            let Value::Text(text) = &value.node else { return Err(Some(value)) };
            if !text.chars().all(|flag| "isu".contains(flag)) {
                return Err(Some(value));
            }
            flags = Flags { ignore_case: text.contains('i'), dot_all: text.contains('s') };
        }
        if let Some(value) = named[1].filter(|value| value.node != Value::Flag(false)) {
            return Err(Some(value));
        }
        Ok(regexes::read(self.exprs, pattern, flags).unwrap_or_else(|message| {
            let help = "use Lark's notation for look-around, back references and word boundaries; \
                        a backslash in a string is written `\\\\`";
            self.report(Diagnostic::error("regex-unsupported", message).help(help), at);
            self.exprs.nothing()
        }))
    }

    fn substring<'a>(&mut self, call: &'a Call, at: At) -> Result<ExprId, Misplaced<'a>> {
        let (places, _) = arguments(call, &[])?;
        let chunks = places.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
        if self.is_too_large(chunks.iter().copied(), at) {
            return Ok(self.exprs.nothing());
        }
        let states = substring::runs(&chunks);
        let rules: Vec<usize> = states.iter().map(|_| self.made.add(self.exprs, at)).collect();
        for (&rule, moves) in rules.iter().zip(&states) {
            let mut ways = vec![self.exprs.empty()];
            for &(chunk, to) in moves {
                let parts = vec![self.exprs.literal(chunk), self.exprs.rule(rules[to])];
                ways.push(self.exprs.concat(parts));
            }
            let body = self.exprs.choice(ways);
            self.made.define(rule, body);
        }
        Ok(self.exprs.rule(rules[0]))
    }

    fn ids<'a>(&mut self, call: &'a Call) -> Result<Tokens, Misplaced<'a>> {
        let (places, _) = arguments(call, &[])?;
        let ids = places.into_iter().map(id).collect::<Result<Vec<_>, _>>()?;
        if ids.is_empty() { Err(None) } else { Ok(tokens(&ids)) }
    }

    /// Reads the tags of a dispatch and its options.
    fn dispatch<'a, T: PartialEq>(
        &mut self,
        call: &'a Call,
        read: impl Fn(&'a Spanned<Value>) -> Result<T, Misplaced<'a>>,
        contradicts: impl Fn(&T, &T) -> bool,
    ) -> Result<Dispatch<T>, Misplaced<'a>> {
        let (places, named) = arguments(call, &["loop_after_dispatch", "excludes"])?;
        let mut tags: Vec<(T, ExprId)> = Vec::new();
        for place in places {
            let Value::Several(pair) = &place.node else { return Err(Some(place)) };
            let [tag, rule] = &pair[..] else { return Err(Some(place)) };
            let Value::Name(name) = &rule.node else { return Err(Some(rule)) };
            let (tag, at) = (read(tag)?, At::new(self.source, &rule.span));
            let rule = self.rule(name, at);
            match tags.iter_mut().find(|(known, _)| *known == tag) {
                Some((_, rules)) => *rules = self.exprs.choice(vec![*rules, rule]),
                None => tags.push((tag, rule)),
            }
        }
        let loops = match named[0] {
            None => true,
            Some(Spanned { node: Value::Flag(flag), .. }) => *flag,
            Some(other) => return Err(Some(other)),
        };
        let mut excludes = Vec::new();
        if let Some(value) = named[1] {
            // A single value in brackets is not always parsed as a list.
            let values = match &value.node {
                Value::Several(values) => &values[..],
                _ => std::slice::from_ref(value),
            };
            for value in values {
                let exclude = read(value)?;
                if tags.iter().any(|(tag, _)| contradicts(&exclude, tag)) {
                    return Err(Some(value));
                }
                excludes.push(exclude);
            }
        }
        Ok(Dispatch { tags, excludes, loops })
    }

    fn tag_dispatch<'a>(&mut self, call: &'a Call, at: At) -> Result<ExprId, Misplaced<'a>> {
        let filled = |value: &'a Spanned<Value>| {
            text(value).and_then(|text| if text.is_empty() { Err(Some(value)) } else { Ok(text) })
        };
        let begins = |exclude: &&str, tag: &&str| tag.starts_with(*exclude);
        let Dispatch { tags, excludes, loops } = self.dispatch(call, filled, begins)?;
        let texts = tags.iter().map(|(tag, _)| *tag).chain(excludes.iter().copied());
        if self.is_too_large(texts.clone(), at) {
            return Ok(self.exprs.nothing());
        }
        let texts = Texts::from(texts.map(str::to_owned).collect::<Vec<_>>());
        if !self.exprs.searches_for(&texts) {
            // Each text found has an automaton that searches for all of them.
            let letters = texts.len() * texts.iter().map(String::len).sum::<usize>();
            if !self.context.count(STEPS_OF_A_LETTER * letters, BYTES_OF_A_LETTER * letters) {
                return Ok(self.exprs.nothing());
            }
        }
        let search = |found| Search { texts: texts.clone(), found };
        let first_found = texts.over_characters();
        let mut ways = Vec::new();
        for longest in 0..texts.len() {
            let found = first_found.found_with(longest);
            if found.is_empty() || found.iter().any(|&text| text >= tags.len()) {
                continue;
            }
            let behind = found.iter().map(|&tag| tags[tag].1).collect();
            let parts = vec![self.exprs.search(search(Some(longest))), self.exprs.choice(behind)];
            ways.push(self.exprs.concat(parts));
        }
        let free = self.exprs.search(search(None));
        let free = self.exprs.repeat(free, 0, Some(1));
        if !loops {
            ways.push(free);
            return Ok(self.exprs.choice(ways));
        }
        let tagged = self.exprs.choice(ways);
        let tagged = self.exprs.repeat(tagged, 0, None);
        Ok(self.exprs.concat(vec![tagged, free]))
    }

    fn token_tag_dispatch<'a>(&mut self, call: &'a Call, at: At) -> Result<ExprId, Misplaced<'a>> {
        let Dispatch { tags, excludes, loops } =
            self.dispatch(call, id, |one, other| one == other)?;
        let named: Vec<u32> = tags.iter().map(|&(id, _)| id).chain(excludes).collect();
        if named.is_empty() {
            return Err(None);
        }
        let other = self.others(tokens(&named), at);
        let rule = self.made.add(self.exprs, at);
        let mut ways = vec![self.exprs.empty()];
        for (id, behind) in tags {
            let mut parts = vec![self.exprs.token(tokens(&[id])), behind];
            if loops {
                parts.push(self.exprs.rule(rule));
            }
            ways.push(self.exprs.concat(parts));
        }
        let parts = vec![other, self.exprs.rule(rule)];
        ways.push(self.exprs.concat(parts));
        let body = self.exprs.choice(ways);
        self.made.define(rule, body);
        Ok(self.exprs.rule(rule))
    }

    fn is_too_large<'t>(&mut self, texts: impl Iterator<Item = &'t str>, at: At) -> bool {
        let is_large = texts.map(str::len).sum::<usize>() > MAX_CHARACTERS;
        if is_large {
            let message = format!("the texts have more than {MAX_CHARACTERS} characters in total");
            self.report(Diagnostic::error("grammar-too-large", message), at);
        }
        is_large
    }
}

/// An argument that the function does not take; `None` if one is missing, or one is too many.
type Misplaced<'a> = Option<&'a Spanned<Value>>;

/// The arguments without names, and those with the given names.
type Arguments<'a> = (Vec<&'a Spanned<Value>>, Vec<Misplaced<'a>>);

fn arguments<'a>(call: &'a Call, names: &[&str]) -> Result<Arguments<'a>, Misplaced<'a>> {
    let mut places = Vec::new();
    let mut named = vec![None; names.len()];
    for Argument { name, value } in &call.arguments {
        match name {
            None => places.push(value),
            Some(name) => match names.iter().position(|known| known == name) {
                Some(place) => named[place] = Some(value),
                None => return Err(Some(value)),
            },
        }
    }
    Ok((places, named))
}

fn text(value: &Spanned<Value>) -> Result<&str, Misplaced<'_>> {
    match &value.node {
        Value::Text(text) => Ok(text),
        _ => Err(Some(value)),
    }
}

fn id(value: &Spanned<Value>) -> Result<u32, Misplaced<'_>> {
    match value.node {
        Value::Number(id) => Ok(id),
        _ => Err(Some(value)),
    }
}

fn tokens(ids: &[u32]) -> Tokens {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    Tokens::Ids(ids.into_iter().map(|id| (id, id)).collect())
}
