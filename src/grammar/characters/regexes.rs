//! Regexes in XGrammar's syntax, which is ECMAScript's: a whole text, lazy repetitions as plain
//! ones, `^` and `$` at the ends.

use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::expr::{ExprId, Exprs};
use crate::grammar::regex::{Regex, ecma};

/// Flags that apply to a whole regex.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags {
    /// Whether ASCII letters match either case.
    pub(super) ignore_case: bool,
    /// Whether `.` matches any character, including line feeds.
    pub(super) dot_all: bool,
}

/// Returns the texts that the regex matches as a whole, or a message on the unsupported part.
pub(super) fn read(exprs: &mut Exprs, pattern: &str, flags: Flags) -> Result<ExprId, String> {
    let regex = ecma::parse_ascii(pattern, flags.ignore_case, flags.dot_all);
    let regex = regex.map_err(|refusal| format!("the regex is invalid: {}", refusal.0))?;
    expr(exprs, &regex, Ends { first: true, last: true })
}

/// Whether the text begins, or ends, with a part.
#[derive(Clone, Copy)]
struct Ends {
    first: bool,
    last: bool,
}

/// Recurses as deep as groups nest.
fn expr(exprs: &mut Exprs, regex: &Regex, ends: Ends) -> Result<ExprId, String> {
    Ok(match regex {
        Regex::Set(set) => {
            let ranges = set.iter().map(|range| (range.start().into(), range.end().into()));
            exprs.class(CharSet::new(&ranges.collect::<Vec<_>>()))
        }
        Regex::Start if ends.first => exprs.empty(),
        Regex::End if ends.last => exprs.empty(),
        Regex::Start => return Err("`^` is allowed only at the beginning".to_owned()),
        Regex::End => return Err("`$` is allowed only at the end".to_owned()),
        Regex::Boundary { .. } | Regex::Look { .. } => {
            return Err("it contains a look-around or a word boundary".to_owned());
        }
        Regex::Repeat(inner, min, max) => {
            let inner = expr(exprs, inner, Ends { first: false, last: false })?;
            exprs.repeat(inner, *min, *max)
        }
        Regex::Alternation(ways) => {
            let ways = ways.iter().map(|way| expr(exprs, way, ends));
            let ways = ways.collect::<Result<_, _>>()?;
            exprs.choice(ways)
        }
        Regex::Concat(parts) => {
            let mut all = Vec::with_capacity(parts.len());
            for (place, part) in parts.iter().enumerate() {
                let is_last = place + 1 == parts.len();
                let ends = Ends { first: ends.first && place == 0, last: ends.last && is_last };
                all.push(expr(exprs, part, ends)?);
            }
            exprs.concat(all)
        }
    })
}
