//! `%declare _INDENT _DEDENT` without a `%indent`: the meaning of lines is then defined in Lark's
//! `Indenter`, which is not part of a grammar file. Its defaults are assumed: the terminal
//! `_NEWLINE` (`_NL` in Lark's own example), brackets by their usual names, tabs of eight columns.
//! Many programs omit the underscores.

use hashbrown::HashMap;

use crate::grammar::ir::Indentation;
use crate::grammar::lower::Context;
use crate::grammar::lower::table::TerminalTable;
use crate::grammar::lower::tree::{Leaf, TerminalIndex};

/// Brackets: their names in Lark, and the strings.
const BRACKETS: [[(&str, &str); 2]; 3] = [
    [("LPAR", "("), ("RPAR", ")")],
    [("LSQB", "["), ("RSQB", "]")],
    [("LBRACE", "{"), ("RBRACE", "}")],
];

/// Usual names for the beginning and the end of a block, and for the end of a line.
const BLOCKS: [(&str, &str); 2] = [("_INDENT", "_DEDENT"), ("INDENT", "DEDENT")];
const NEWLINES: [&str; 4] = ["_NEWLINE", "_NL", "NEWLINE", "NL"];

/// Returns the omitted directive if the file declares the two terminals and has one that ends
/// lines.
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
    let place = context.sources.place(table.named[indent].at);
    let all = Indentation::new([names[newline], indent, dedent], place);
    Some(Indentation { open, close, is_assumed: true, ..all })
}
