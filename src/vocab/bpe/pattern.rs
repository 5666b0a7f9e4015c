//! The pattern by which a tokenizer splits a text before it merges, as a program over classes of
//! characters.
//!
//! The patterns of tokenizers are regexes whose alternatives may end in a look-ahead for one
//! character: `\s+(?!\S)`. `regex-syntax` has no look-ahead, so it reads a character of a private
//! area in its place ([`MARK`]). The program is that of a backtracking matcher (Thompson 1968, with
//! alternatives in order of preference), which the splitter runs on all its threads at once.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Stands for the first look-ahead of a pattern, the next characters for the others.
const MARK: u32 = 0xf_0000;

/// Upper bound on the instructions of a program.
const MOST_INSTRUCTIONS: usize = 1 << 14;

/// Upper bound on a count of a repetition.
const MOST_REPETITIONS: u32 = 256;

/// Upper bound on the classes of characters.
pub(super) const MOST_CLASSES: usize = 128;

/// A set of classes: bit `c` for class `c`.
pub(super) type Classes = u128;

/// One instruction. A thread waits at a `Class`; the others are passed at once.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// Reads a character of these classes, and goes on to the next instruction.
    Class(Classes),
    /// Goes on at these places, the preferred one first.
    Split(Vec<u32>),
    /// Ends the match if a character of these classes follows, or none.
    MatchBefore(Classes),
    /// Ends the match.
    Match,
}

/// A program, and the classes of the characters that it reads.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) code: Vec<Instruction>,
    /// The places where the added tokens begin, which are matched as texts.
    pub(super) texts: Vec<u32>,
    pub(super) alphabet: Alphabet,
}

/// The partition of all characters into those that a program cannot tell apart.
#[derive(Debug)]
pub(super) struct Alphabet {
    /// The first character of each run of one class, ascending, with the class.
    runs: Vec<(u32, u8)>,
    ascii: [u8; 128],
    pub(super) count: usize,
}

impl Alphabet {
    /// Returns the class of a character.
    #[inline]
    pub(super) fn class(&self, character: char) -> u8 {
        match self.ascii.get(character as usize) {
            Some(&class) => class,
            None => {
                let after = self.runs.partition_point(|&(first, _)| first <= character as u32);
                self.runs[after.saturating_sub(1)].1
            }
        }
    }

    /// Returns the classes that have a character.
    pub(super) fn met(&self) -> impl Iterator<Item = u8> + '_ {
        let runs = self.runs.iter().filter(|&&(first, _)| char::from_u32(first).is_some());
        runs.map(|&(_, class)| class)
    }

    /// Returns the coarsest partition in which each of these sets, given as ascending ranges, is a
    /// union of classes. `None` if there are too many classes.
    fn new(sets: &[Vec<(u32, u32)>]) -> Option<Self> {
        let mut edges: Vec<(u32, usize)> = Vec::new();
        for (set, ranges) in sets.iter().enumerate() {
            edges.extend(ranges.iter().flat_map(|&(first, last)| [(first, set), (last + 1, set)]));
        }
        edges.sort_unstable();
        let mut inside = vec![false; sets.len()];
        let mut known: Vec<Vec<bool>> = vec![inside.clone()];
        let mut runs = vec![(0, 0u8)];
        let mut edges = edges.into_iter().peekable();
        while let Some((at, set)) = edges.next() {
            inside[set] = !inside[set];
            if edges.peek().is_some_and(|&(next, _)| next == at) {
                continue;
            }
            let class = known.iter().position(|other| *other == inside).unwrap_or_else(|| {
                known.push(inside.clone());
                known.len() - 1
            });
            if class >= MOST_CLASSES {
                return None;
            }
            runs.push((at, class as u8));
        }
        runs.dedup_by(|next, before| {
            let same_place = next.0 == before.0;
            if same_place {
                before.1 = next.1;
            }
            same_place || next.1 == before.1
        });
        let mut alphabet = Self { runs, ascii: [0; 128], count: known.len() };
        alphabet.ascii = std::array::from_fn(|character| {
            let after = alphabet.runs.partition_point(|&(first, _)| first as usize <= character);
            alphabet.runs[after.saturating_sub(1)].1
        });
        Some(alphabet)
    }

    /// Returns the classes of these ranges, which are unions of classes.
    fn classes(&self, ranges: &[(u32, u32)]) -> Classes {
        let mut classes = 0;
        for &(first, last) in ranges {
            let from = self.runs.partition_point(|&(start, _)| start <= first).saturating_sub(1);
            let within = self.runs[from..].iter().take_while(|&&(start, _)| start <= last);
            classes |= within.fold(0, |all, &(_, class)| all | 1 << class);
        }
        classes
    }
}

/// A set of characters, before the classes are known.
type Ranges = Vec<(u32, u32)>;

/// An instruction before the classes are known: sets are numbers.
enum Step {
    Set(usize),
    Split(Vec<u32>),
    /// Of the set that must not follow.
    MatchBefore(Option<usize>),
    Match,
}

#[derive(Default)]
struct Compiler {
    sets: Vec<Ranges>,
    code: Vec<Step>,
    looks: Vec<Ranges>,
}

impl Program {
    /// Compiles a pattern, and texts that are cut out before it is applied. Begins at place 0.
    ///
    /// # Errors
    ///
    /// The reason, for a message, if the pattern is not of the supported kind.
    pub(super) fn new(pattern: &str, texts: &[&str]) -> Result<Self, String> {
        let (pattern, looks) = take_looks(pattern)?;
        let hir = parse(&pattern)?;
        let mut compiler = Compiler::default();
        for look in looks {
            compiler.looks.push(ranges_of(&parse(&look)?).ok_or("a look-ahead is no class")?);
        }
        compiler.emit(&hir)?;
        compiler.code.push(Step::Match);
        let mut starts = Vec::new();
        for text in texts {
            starts.push(compiler.code.len() as u32);
            text.chars()
                .for_each(|character| compiler.set(vec![(character as u32, character as u32)]));
            compiler.code.push(Step::Match);
        }
        compiler.finish(starts)
    }
}

/// Splits the look-aheads off a pattern: each is replaced by its mark.
fn take_looks(pattern: &str) -> Result<(String, Vec<String>), String> {
    let (mut plain, mut looks) = (String::new(), Vec::new());
    let mut rest = pattern;
    let (mut in_class, mut quantified) = (0usize, false);
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        let was_quantified = std::mem::take(&mut quantified);
        match first {
            '\\' => {
                length += rest[1..].chars().next().map_or(0, char::len_utf8);
                if ["\\p{", "\\P{", "\\x{", "\\u{"].iter().any(|start| rest.starts_with(start)) {
                    length = rest.find('}').map_or(rest.len(), |end| end + 1);
                }
            }
            '[' => in_class += 1,
            ']' if in_class > 0 => in_class -= 1,
            '(' if in_class == 0 && rest.starts_with("(?!") => {
                let end = rest.find(')').ok_or("a look-ahead does not end")?;
                let mark =
                    char::from_u32(MARK + looks.len() as u32).ok_or("too many look-aheads")?;
                plain.push(mark);
                looks.push(rest[3..end].to_owned());
                rest = &rest[end + 1..];
                continue;
            }
            '(' if in_class == 0
                && ["(?=", "(?<", "(?>"].iter().any(|start| rest.starts_with(start)) =>
            {
                return Err(format!("it has \"{}\"", rest.chars().take(3).collect::<String>()));
            }
            '+' if in_class == 0 && was_quantified => {
                return Err("it has a possessive quantifier".to_owned());
            }
            '?' if in_class == 0 && was_quantified => {}
            '+' | '*' | '?' | '}' if in_class == 0 => quantified = true,
            _ => {}
        }
        plain.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Ok((plain, looks))
}

fn parse(pattern: &str) -> Result<Hir, String> {
    let parsed = regex_syntax::ParserBuilder::new().nest_limit(64).build().parse(pattern);
    parsed.map_err(|_| "it is not a regex that can be read".to_owned())
}

/// Returns the characters of a class, or of one character.
fn ranges_of(hir: &Hir) -> Option<Ranges> {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Some(class.ranges().iter().map(|r| (r.start() as u32, r.end() as u32)).collect())
        }
        HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let (first, none) = (characters.next()?, characters.next());
            none.is_none().then(|| vec![(first as u32, first as u32)])
        }
        _ => None,
    }
}

impl Compiler {
    fn emit(&mut self, hir: &Hir) -> Result<(), String> {
        if self.code.len() > MOST_INSTRUCTIONS {
            return Err("it is too large".to_owned());
        }
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => {
                let text =
                    std::str::from_utf8(&literal.0).map_err(|_| "it has bytes that are no text")?;
                for character in text.chars() {
                    match (character as u32).checked_sub(MARK).map(|look| look as usize) {
                        Some(look) if look < self.looks.len() => {
                            self.sets.push(self.looks[look].clone());
                            self.code.push(Step::MatchBefore(Some(self.sets.len() - 1)));
                        }
                        _ => self.set(vec![(character as u32, character as u32)]),
                    }
                }
            }
            HirKind::Class(_) => {
                let ranges = ranges_of(hir).ok_or("it has a class of bytes")?;
                self.set(ranges);
            }
            HirKind::Look(Look::End) => self.code.push(Step::MatchBefore(None)),
            HirKind::Look(_) => return Err("it has an assertion".to_owned()),
            HirKind::Repetition(repetition) => {
                let part = &repetition.sub;
                let most = repetition.max.unwrap_or(0).max(repetition.min);
                if most > MOST_REPETITIONS {
                    return Err(format!("it repeats something {most} times"));
                }
                let before = self.code.len();
                for _ in 0..repetition.min {
                    self.emit(part)?;
                }
                let preferred = |inside: u32, after: u32| match repetition.greedy {
                    true => vec![inside, after],
                    false => vec![after, inside],
                };
                match repetition.max {
                    None => {
                        let split = self.code.len();
                        self.code.push(Step::Match);
                        self.emit(part)?;
                        self.code.push(Step::Split(vec![split as u32]));
                        let after = self.code.len() as u32;
                        self.code[split] = Step::Split(preferred(split as u32 + 1, after));
                    }
                    Some(most) => {
                        let mut splits = Vec::new();
                        for _ in repetition.min..most {
                            splits.push(self.code.len());
                            self.code.push(Step::Match);
                            self.emit(part)?;
                        }
                        let after = self.code.len() as u32;
                        for split in splits {
                            self.code[split] = Step::Split(preferred(split as u32 + 1, after));
                        }
                    }
                }
                self.check_looks(before)?;
            }
            HirKind::Capture(capture) => self.emit(&capture.sub)?,
            HirKind::Concat(parts) => {
                for (place, part) in parts.iter().enumerate() {
                    let before = self.code.len();
                    self.emit(part)?;
                    if place + 1 < parts.len() {
                        self.check_looks(before)?;
                    }
                }
            }
            HirKind::Alternation(parts) => {
                let split = self.code.len();
                self.code.push(Step::Match);
                let (mut starts, mut ends) = (Vec::new(), Vec::new());
                for part in parts {
                    starts.push(self.code.len() as u32);
                    self.emit(part)?;
                    ends.push(self.code.len());
                    self.code.push(Step::Match);
                }
                let after = self.code.len() as u32;
                self.code[split] = Step::Split(starts);
                ends.into_iter().for_each(|end| self.code[end] = Step::Split(vec![after]));
            }
        }
        Ok(())
    }

    /// Returns an error if there is a look-ahead from this place on, because something follows it.
    fn check_looks(&self, from: usize) -> Result<(), String> {
        match self.code[from..].iter().any(|step| matches!(step, Step::MatchBefore(_))) {
            true => Err("a look-ahead is not at the end of an alternative".to_owned()),
            false => Ok(()),
        }
    }

    fn set(&mut self, ranges: Ranges) {
        self.sets.push(ranges);
        self.code.push(Step::Set(self.sets.len() - 1));
    }

    fn finish(self, texts: Vec<u32>) -> Result<Program, String> {
        if self.code.len() > MOST_INSTRUCTIONS {
            return Err("it is too large".to_owned());
        }
        let alphabet = Alphabet::new(&self.sets).ok_or("it tells too many characters apart")?;
        let all = Classes::MAX >> (MOST_CLASSES - alphabet.count);
        let classes = |set: usize| alphabet.classes(&self.sets[set]);
        let code = self.code.into_iter().map(|step| match step {
            Step::Set(set) => Instruction::Class(classes(set)),
            Step::Split(places) => Instruction::Split(places),
            Step::MatchBefore(set) => {
                Instruction::MatchBefore(set.map_or(0, |set| all & !classes(set)))
            }
            Step::Match => Instruction::Match,
        });
        let code = code.collect();
        Ok(Program { code, texts, alphabet })
    }
}
