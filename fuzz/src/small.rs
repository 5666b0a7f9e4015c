//! Small grammars, written down twice: in Lark's notation for the engine, without sugar for the
//! oracle.

use std::fmt::Write as _;

use arbitrary::{Result, Unstructured};

/// The bytes that texts are made of. `b` and `c` behave alike in most patterns, the blank is what
/// is ignored.
pub const ALPHABET: &[u8] = b"abc1. ";

/// A small grammar and a vocabulary.
#[derive(Debug)]
pub struct Small {
    /// For the engine.
    pub lark: String,
    /// For the oracle: `tests/grammars/README.md` describes it.
    pub oracle: String,
    pub basic: bool,
    /// The words that are one terminal or another, as later text has it.
    pub soft: Vec<Vec<u8>>,
    pub tokens: Vec<Vec<u8>>,
}

/// A terminal, before ranks are known.
struct Terminal {
    regex: String,
    literal: bool,
    ignored: bool,
    modifier: Option<(Modifier, usize)>,
}

#[derive(Clone, Copy)]
enum Modifier {
    Reserved,
    Fallback,
    Soft,
}

impl Small {
    /// Draws one; `None` when what was drawn has symbols that are unreachable or derive nothing.
    pub fn draw(input: &mut Unstructured<'_>) -> Result<Option<Self>> {
        let basic = input.arbitrary()?;
        let mut terminals = Vec::new();
        for _ in 0..input.int_in_range(1..=4)? {
            let literal = input.ratio(2, 5)?;
            let mut regex = String::new();
            if literal {
                for _ in 0..input.int_in_range(1..=3)? {
                    regex.push(*input.choose(b"aabc1.")? as char);
                }
            } else {
                draw_regex(input, 3, &mut regex)?;
            }
            terminals.push(Terminal { regex, literal, ignored: false, modifier: None });
        }
        // Strings have the better ranks.
        terminals.sort_by_key(|terminal| !terminal.literal);
        let used = terminals.len();
        for index in 0..used {
            if terminals[index].literal && input.ratio(1, 4)? {
                let other = input.int_in_range(0..=used - 1)?;
                let modifier =
                    *input.choose(&[Modifier::Reserved, Modifier::Fallback, Modifier::Soft])?;
                let plain = !terminals[other].literal;
                terminals[index].modifier = (plain && other != index).then_some((modifier, other));
            }
        }
        let blanks = ["", " ", " +", "[ .]+", " b* ", "\\.[^1]*1"];
        let ignored = *input.choose(&blanks)?;
        if !ignored.is_empty() {
            terminals.push(Terminal {
                regex: ignored.into(),
                literal: false,
                ignored: true,
                modifier: None,
            });
        }
        let count = input.int_in_range(1..=3)?;
        let mut rules: Vec<Vec<Vec<Symbol>>> = Vec::new();
        for _ in 0..count {
            let mut alternatives = Vec::new();
            for _ in 0..input.int_in_range(1..=3)? {
                let mut symbols = Vec::new();
                for _ in 0..input.int_in_range(0..=3)? {
                    symbols.push(match input.ratio(2, 3)? {
                        true => Symbol::Terminal(input.int_in_range(0..=used - 1)?),
                        false => Symbol::Rule(input.int_in_range(0..=count - 1)?),
                    });
                }
                if !alternatives.contains(&symbols) {
                    alternatives.push(symbols);
                }
            }
            rules.push(alternatives);
        }
        if !is_sound(&rules, used) {
            return Ok(None);
        }
        let mut tokens: Vec<Vec<u8>> = ALPHABET.iter().map(|&byte| vec![byte]).collect();
        for _ in 0..input.int_in_range(0..=8)? {
            let mut token = Vec::new();
            for _ in 0..input.int_in_range(2..=4)? {
                token.push(*input.choose(ALPHABET)?);
            }
            tokens.push(token);
        }
        let is_soft = |terminal: &&Terminal| matches!(terminal.modifier, Some((Modifier::Soft, _)));
        let soft =
            terminals.iter().filter(is_soft).map(|word| word.regex.clone().into_bytes()).collect();
        let (lark, oracle) = print(basic, &terminals, &rules);
        Ok(Some(Self { lark, oracle, basic, soft, tokens }))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Symbol {
    Terminal(usize),
    Rule(usize),
}

/// Whether every rule derives something and every symbol is reached: the engine may drop what is
/// neither, and then fewer terminals compete than the oracle knows of.
fn is_sound(rules: &[Vec<Vec<Symbol>>], terminals: usize) -> bool {
    let mut productive = vec![false; rules.len()];
    let mut reached = vec![false; rules.len()];
    let mut used = vec![false; terminals];
    reached[0] = true;
    for _ in 0..rules.len() {
        for (index, alternatives) in rules.iter().enumerate() {
            for symbols in alternatives {
                let derives = |symbol: &Symbol| match symbol {
                    Symbol::Terminal(_) => true,
                    Symbol::Rule(rule) => productive[*rule],
                };
                productive[index] |= symbols.iter().all(derives);
                let is_reached = reached[index];
                for symbol in symbols.iter().filter(|_| is_reached) {
                    match symbol {
                        Symbol::Terminal(terminal) => used[*terminal] = true,
                        Symbol::Rule(rule) => reached[*rule] = true,
                    }
                }
            }
        }
    }
    // Once more, for what the last round reached.
    for (index, alternatives) in rules.iter().enumerate() {
        for symbol in alternatives.iter().flatten().filter(|_| reached[index]) {
            if let Symbol::Terminal(terminal) = symbol {
                used[*terminal] = true;
            }
        }
    }
    productive.iter().chain(&reached).chain(&used).all(|&yes| yes)
}

/// A regular expression that Python and the `regex` crate read alike. It may match the empty text:
/// then the engine refuses the grammar.
fn draw_regex(input: &mut Unstructured<'_>, depth: u32, regex: &mut String) -> Result<()> {
    let leaf = depth == 0 || input.ratio(1, 3)?;
    if leaf {
        regex.push_str(*input.choose(&[
            "a", "b", "1", "\\.", "[ab]", "[bc]", "[abc]", "[^a]", "[1.]", "ab", "bc",
        ])?);
        return Ok(());
    }
    match input.int_in_range(0..=4)? {
        0 | 1 => {
            draw_regex(input, depth - 1, regex)?;
            draw_regex(input, depth - 1, regex)?;
        }
        2 => {
            regex.push_str("(?:");
            draw_regex(input, depth - 1, regex)?;
            regex.push('|');
            draw_regex(input, depth - 1, regex)?;
            regex.push(')');
        }
        _ => {
            regex.push_str("(?:");
            draw_regex(input, depth - 1, regex)?;
            regex.push(')');
            regex.push_str(*input.choose(&["*", "+", "?", "{2}", "{1,2}"])?);
        }
    }
    Ok(())
}

fn print(basic: bool, terminals: &[Terminal], rules: &[Vec<Vec<Symbol>>]) -> (String, String) {
    let mut lark = format!("%lexer {}\n", if basic { "basic" } else { "contextual" });
    let mut oracle = String::from("start start\n");
    let terminal_name = |index: usize| format!("T{}", ["A", "B", "C", "D", "E", "F"][index]);
    let rule_name = |index: usize| ["start", "left", "right"][index];
    for (index, alternatives) in rules.iter().enumerate() {
        let name = rule_name(index);
        for (number, symbols) in alternatives.iter().enumerate() {
            let texts: Vec<String> = (symbols.iter())
                .map(|symbol| match symbol {
                    Symbol::Terminal(terminal) => terminal_name(*terminal),
                    Symbol::Rule(rule) => rule_name(*rule).to_owned(),
                })
                .collect();
            let text = texts.join(" ");
            let head = if number == 0 { format!("{name}: ") } else { "    | ".to_owned() };
            let _ = writeln!(lark, "{head}{text}");
            let _ = writeln!(oracle, "rule {name} -> {text}");
        }
    }
    for (index, terminal) in terminals.iter().enumerate() {
        let (name, regex) = (terminal_name(index), &terminal.regex);
        let (mut modifiers, mut directive) = (String::new(), String::new());
        if terminal.ignored {
            modifiers = " ignored".into();
            directive = format!("%ignore {name}\n");
        }
        if let Some((modifier, other)) = terminal.modifier {
            let other = terminal_name(other);
            let word = match modifier {
                Modifier::Reserved => "reserved",
                Modifier::Fallback => "fallback",
                Modifier::Soft => "soft",
            };
            modifiers = format!(" {word} {other}");
            directive = format!("%{word} {other} {name}\n");
        }
        let pattern = match terminal.literal {
            true => format!("\"{regex}\""),
            false => format!("/{regex}/"),
        };
        let _ = write!(lark, "{name}: {pattern}\n{directive}");
        let regex = if terminal.literal { regex.replace('.', "\\.") } else { regex.clone() };
        let _ = writeln!(oracle, "terminal {name} /{}/{modifiers}", regex.replace(' ', "\\x20"));
    }
    (lark, oracle)
}
