//! The syntax after an opening parenthesis: kinds of groups, their names, flags.

use crate::lexer::error::PatternError;
use crate::lexer::error::PatternErrorKind::Syntax;
use crate::lexer::python::parser::{Group, Parser};

impl Parser<'_, '_> {
    /// Reads the syntax after an opening parenthesis, up to the inside of the group.
    pub(super) fn group(&mut self, start: usize) -> Result<Group, PatternError> {
        if !self.cursor.eat("?") {
            return Ok(Group::Numbered(self.groups.begin()));
        }
        if self.cursor.eat(":") {
            return Ok(Group::Inside(self.flags));
        }
        if self.cursor.eat("#") {
            self.cursor.take_while(usize::MAX, |c| c != ')');
            if !self.cursor.eat(")") {
                return Err(self.cursor.syntax(start, "this comment is not closed"));
            }
            return Ok(Group::Nothing);
        }
        if self.cursor.eat("P<") {
            self.name(start)?;
            return Ok(Group::Numbered(self.groups.begin()));
        }
        if self.cursor.eat("P=") {
            let from = self.cursor.pos;
            self.cursor.take_while(usize::MAX, |c| c != ')');
            let name = from..self.cursor.pos;
            return match self.cursor.eat(")") {
                true => Ok(Group::Reference(name)),
                false => Err(self.cursor.back_reference(start)),
            };
        }
        for (sign, ahead, negated) in
            [("=", true, false), ("!", true, true), ("<=", false, false), ("<!", false, true)]
        {
            if self.cursor.eat(sign) {
                return Ok(Group::Look { ahead, negated });
            }
        }
        if self.cursor.eat(">") {
            return Err(self
                .cursor
                .unsupported(start, "an atomic group is not supported")
                .help("write `(?:` and exclude from the group the text that follows it"));
        }
        if self.cursor.eat("(") {
            let from = self.cursor.pos;
            self.cursor.take_while(usize::MAX, |c| c != ')');
            let name = from..self.cursor.pos;
            if self.cursor.eat(")") {
                return Ok(Group::Conditional(name));
            }
            return Err(self.cursor.syntax(start, "the name of the tested group is not closed"));
        }
        if self.cursor.peek().is_some_and(|c| c == '-' || c.is_ascii_alphabetic() && c != 'P') {
            return self.inline_flags(start);
        }
        self.cursor.bump();
        let error = self.cursor.syntax(start, "Python has no such kind of group");
        Err(match self.cursor.text[..self.cursor.pos].ends_with('<') {
            true => error.help("write `(?P<name>...)` for a named group"),
            false => error.help("write `(?:...)` for a group, `\\(` for the character"),
        })
    }

    /// Reads `name>` after `(?P<`.
    fn name(&mut self, start: usize) -> Result<(), PatternError> {
        let from = self.cursor.pos;
        self.cursor.take_while(usize::MAX, |c| c != '>' && c != ')');
        let text = self.cursor.text;
        let name = &text[from..self.cursor.pos];
        if !self.cursor.eat(">") {
            return Err(self.cursor.syntax(start, "the name of this group is not closed by `>`"));
        }
        let mut chars = name.chars();
        let good = chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
            && chars.all(|c| c == '_' || c.is_alphanumeric());
        if !good {
            return Err(self.cursor.error(
                Syntax,
                from..self.cursor.pos - 1,
                "the name of a group must be an identifier",
            ));
        }
        if !self.groups.name(name) {
            return Err(self
                .cursor
                .error(Syntax, from..self.cursor.pos - 1, format!("two groups are named {name}"))
                .help("group names have no effect here: remove them"));
        }
        Ok(())
    }

    /// Reads flags after `(?`, for the whole pattern or up to the colon of a group.
    fn inline_flags(&mut self, start: usize) -> Result<Group, PatternError> {
        let mut flags = self.flags;
        let mut on = String::new();
        let mut off = String::new();
        let mut turning_on = true;
        loop {
            let at = self.cursor.pos;
            let Some(c) = self.cursor.bump() else {
                return Err(self.cursor.syntax(start, "this group is not closed"));
            };
            match c {
                'i' => flags.ignore_case = turning_on,
                's' => flags.dot_all = turning_on,
                'x' => flags.verbose = turning_on,
                'm' => flags.multi_line = turning_on,
                'a' | 'u' if turning_on => flags.ascii = c == 'a',
                'a' | 'u' => {
                    return Err(self
                        .cursor
                        .syntax(at, format!("the flag `{c}` cannot be turned off")));
                }
                'L' => {
                    return Err(self
                        .cursor
                        .syntax(at, "the flag `L` applies to patterns over bytes only")
                        .help("remove it: texts are UTF-8"));
                }
                '-' if turning_on => {
                    turning_on = false;
                    continue;
                }
                ')' | ':' => {
                    let missing = if turning_on { on.is_empty() } else { off.is_empty() };
                    if missing || c == ')' && !turning_on {
                        return Err(self
                            .cursor
                            .syntax(start, "a flag, or the `:` of a group, is missing"));
                    }
                    if on.contains('a') && on.contains('u') || on.chars().any(|c| off.contains(c)) {
                        return Err(self.cursor.syntax(start, "these flags contradict each other"));
                    }
                    if c == ':' {
                        return Ok(Group::Inside(flags));
                    }
                    break;
                }
                c => {
                    return Err(self
                        .cursor
                        .syntax(at, format!("`{c}` is not a flag"))
                        .help("the flags are a, i, m, s, u and x"));
                }
            }
            if turning_on { on.push(c) } else { off.push(c) }
        }
        if !self.at_start {
            return Err(self
                .cursor
                .syntax(start, "flags for the whole pattern must be at its start")
                .help(format!("write `(?{on}:...)` around the part to which they apply")));
        }
        self.flags = flags;
        Ok(Group::Nothing)
    }
}
