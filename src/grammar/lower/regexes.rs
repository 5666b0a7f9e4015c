//! Regexes in each notation's syntax: Lark's after its string escapes, llguidance's in Rust's
//! syntax.

use crate::grammar::lower::resolve::Resolver;
use crate::grammar::lower::rust_regex;
use crate::grammar::lower::source::At;
use crate::grammar::pattern::RegexFlags;
use crate::syntax::lark;
use crate::util::diagnostic::Diagnostic;

impl Resolver<'_> {
    /// Translates a regex of llguidance, which is in the syntax of the crate `regex`.
    pub(super) fn as_rust_reads(
        &mut self,
        pattern: &str,
        flags: RegexFlags,
        at: At,
    ) -> Option<String> {
        match rust_regex::as_python(pattern, flags) {
            Ok(python) => Some(python),
            Err(message) => {
                let place = self.context.sources.place(at);
                let error = Diagnostic::error("regex-syntax", format!("`/{pattern}/`: {message}"));
                self.context.report(error.at(place).help(
                    "use the syntax of Rust's crate `regex`, which llguidance's dialect has",
                ));
                None
            }
        }
    }

    /// Translates a regex of Lark, which undoes escapes first; llguidance does not.
    pub(super) fn as_lark_reads(&mut self, pattern: &str, flags: RegexFlags, at: At) -> String {
        for set in rust_regex::sets_with_operations(pattern) {
            let message = format!("Python reads `{set}` as a set of single characters");
            let warning =
                Diagnostic::warning("set-of-signs", message).at(self.context.sources.place(at));
            self.context.report(warning.help(
                "list the intended characters, write `\\p{...}` for a property, or escape `[` and \
                 `&`; nested sets need llguidance's dialect (`%llguidance {}`)",
            ));
        }
        let undone = lark::undone(pattern, flags.verbose);
        let Some(undone) = undone else { return pattern.to_owned() };
        let shown = undone.replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r");
        let message = format!(
            "Lark resolves escapes before it parses a regex, and reads this one as `/{shown}/`"
        );
        let warning =
            Diagnostic::warning("escape-undone", message).at(self.context.sources.place(at));
        self.context.report(warning.help(
            "if this is not intended, write `\\\\\\\"` for a backslash and a quotation mark, and \
             escape a special character once, as in `\\[`",
        ));
        undone
    }

    pub(super) fn flags(&mut self, written: &str, at: At) -> Option<RegexFlags> {
        let mut flags = RegexFlags { bytes: self.bytes, ..RegexFlags::default() };
        for flag in written.chars() {
            match flag {
                'i' => flags.ignore_case = true,
                'm' => flags.multi_line = true,
                's' => flags.dot_all = true,
                'x' => flags.verbose = true,
                'l' | 'u' => {}
                _ => {
                    let place = self.context.sources.place(at);
                    let message = format!(
                        "`{flag}` is not a regex flag; the flags are i, m, s, \
                                           l, u and x"
                    );
                    self.context.report(Diagnostic::error("bad-flag", message).at(place));
                    return None;
                }
            }
        }
        Some(flags)
    }
}
