//! `%declare _INDENT _DEDENT` without a `%indent`: what lines mean is then in Lark's `Indenter`,
//! which is no part of a grammar file. Its defaults are taken: the terminal `_NEWLINE` (`_NL` in
//! Lark's own example), brackets by their usual names, tabs of eight columns. Many programs leave
//! the underscores out.

use hashbrown::HashMap;

use crate::grammar::ir::Indentation;
use crate::grammar::lower::Context;
use crate::grammar::lower::table::TerminalTable;
use crate::grammar::lower::tree::{Leaf, TerminalIndex};

/// Brackets: the names that Lark gives them, and the strings.
const BRACKETS: [[(&str, &str); 2]; 3] = [
    [("LPAR", "("), ("RPAR", ")")],
    [("LSQB", "["), ("RSQB", "]")],
    [("LBRACE", "{"), ("RBRACE", "}")],
];

/// What programs call the beginning and the end of a block, and the end of a line.
const BLOCKS: [(&str, &str); 2] = [("_INDENT", "_DEDENT"), ("INDENT", "DEDENT")];
const NEWLINES: [&str; 4] = ["_NEWLINE", "_NL", "NEWLINE", "NL"];

/// The directive that the file leaves unsaid, where it declares the two terminals and has one that
/// ends lines.
pub(crate) fn assumed(
    context: &Context,
    names: &HashMap<String, TerminalIndex>,
    table: &TerminalTable<'_>,
) -> Option<Indentation<TerminalIndex>> {
    let declared = |name: &str| {
        let terminal = *names.get(name)?;
        table.named.get(terminal).filter(|named| named.body.is_none()).map(|_| terminal)
    };
    let (indent, dedent) =
        BLOCKS.iter().find_map(|&(indent, dedent)| Some((declared(indent)?, declared(dedent)?)))?;
    let has_text = |name: &&str| {
        names.get(*name).is_some_and(|&terminal| table.named[terminal].body.is_some())
    };
    let newline = NEWLINES.into_iter().find(has_text)?;
    let bracket = |(name, text): (&str, &str)| {
        let leaf = Leaf::Literal { text: text.to_owned(), ignore_case: false };
        names.get(name).copied().or_else(|| table.find(&leaf))
    };
    let (mut open, mut close) = (Vec::new(), Vec::new());
    for [opening, closing] in BRACKETS {
        if let (Some(opening), Some(closing)) = (bracket(opening), bracket(closing)) {
            open.push(opening);
            close.push(closing);
        }
    }
    let place = Some(context.sources.place(table.named[indent].at));
    Some(Indentation {
        newline: names[newline],
        indent,
        dedent,
        open,
        close,
        join: None,
        tab: 8,
        levels: None,
        place,
        is_assumed: true,
    })
}
