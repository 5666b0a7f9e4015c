//! Grammars that are cheap to compile, and texts that are expensive to process.

use lrmask::{
    Constraint, ConstraintCache, GrammarReader, KeyOrder, Limits, SchemaOptions, Source, Vocabulary,
};

use crate::{Answer, Attack};

pub(crate) fn attacks() -> Vec<Attack> {
    let attack = |name, sizes, run| Attack { name, sizes, run };
    vec![
        attack(
            "operators opened and closed in any order",
            [10_000, 100_000, 400_000],
            |n, limits| random(&dangling(200), n, limits, |depth| depth < 60),
        ),
        attack("40 operators, nested", [1_000, 10_000, 20_000], |n, limits| {
            random(&dangling(40), n, limits, |_| true)
        }),
        attack("brackets in brackets", [1_000, 100_000, 1_000_000], |n, limits| {
            text(
                "start: x\nx: \"[\" x \"]\" | \"{\" x \"}\" | \"a\"\n",
                &"[{".repeat(n / 2),
                limits,
            )
        }),
        attack("two readings alive on deep stacks", [1_000, 10_000, 40_000], |n, limits| {
            let grammar = "start: a | b\na: \"m\" p \".\"\nb: \"m\" q \"!\"\n\
                p: \"(\" p \")\" | \"x\"\nq: \"(\" q \")\" | \"x\"\n";
            text(grammar, &format!("m{}x{}", "(".repeat(n), ")".repeat(n)), limits)
        }),
        attack("readings that double", [10, 100, 1_000], |n, limits| {
            let grammar = "%lexer basic\nstart: (A | X)+\nA: \"a\"\nX: /a{65}b/\n";
            text(grammar, &"a".repeat(n), limits)
        }),
        attack("matches pending in ever new combinations", [25, 100, 600], |n, limits| {
            let grammar = "%lexer basic\nstart: (A | B | X | Y)+\nA: \"-\"\nB: \"+\"\n\
                X: /[-+]{900}b/\nY: /(-|\\+[-+]{30})*c/\n";
            text(grammar, &"-+".repeat(n / 2), limits)
        }),
        attack("ambiguous sums", [10, 100, 1_000], |n, limits| {
            text("start: e\ne: e e | e \"+\" e | \"a\" | \"a\" \"+\"\n", &"a+".repeat(n), limits)
        }),
        attack("the most ambiguous text", [100, 400, 1_600], |n, limits| {
            text("start: s\ns: \"a\" s s | \"a\" s | \"a\"\n", &"a".repeat(n), limits)
        }),
        attack("brackets in lines that may be words", [100, 400, 1_600], |n, limits| {
            let grammar = "%lexer basic\nstart: (e | NEWLINE | b)*\n\
                b: NEWLINE INDENT e+ NEWLINE DEDENT\ne: OPEN e* CLOSE | A | \"x\"\n\
                OPEN: \"(\"\nCLOSE: \")\"\nA: /\\(/\nNEWLINE: /\\n+/\n\
                %declare INDENT DEDENT\n%ignore / +/\n\
                %indent NEWLINE INDENT DEDENT open OPEN close CLOSE\n%soft A OPEN\n";
            text(grammar, &"(".repeat(n), limits)
        }),
        attack("members that are all required, in any order", [100, 1_000, 10_000], |n, limits| {
            let keys: Vec<String> = (0..n).map(|key| format!("\"k{key}\"")).collect();
            let schema = format!("{{\"type\": \"object\", \"required\": [{}]}}", keys.join(","));
            let members: Vec<String> = keys.iter().rev().map(|key| format!("{key}:1")).collect();
            let twice = [&members[..n / 2], &members].concat();
            instance(&schema, &format!("{{{}}}", twice.join(",")), limits)
        }),
        attack("alternatives that members leave, in any order", [4, 20, 60], |n, limits| {
            let property = |of: usize, key: usize| {
                let values = if (of >> (key % 5)).is_multiple_of(2) { "integer" } else { "string" };
                format!("\"k{key}\": {{\"type\": \"{values}\"}}")
            };
            let branch = |of: usize| {
                let properties: Vec<String> = (0..30).map(|key| property(of, key)).collect();
                format!(
                    "{{\"properties\": {{\"kind\": {{\"const\": {of}}}, {}}}, \
                     \"required\": [\"kind\", \"k{}\"]}}",
                    properties.join(","),
                    of % 30
                )
            };
            let branches: Vec<String> = (0..n).map(branch).collect();
            let schema = format!("{{\"type\": \"object\", \"oneOf\": [{}]}}", branches.join(","));
            let members: Vec<String> = (0..30).rev().map(|key| format!("\"k{key}\":1")).collect();
            let members = vec![members.join(","); 20].join(",");
            instance(&schema, &format!("{{{members},\"kind\":0}}"), limits)
        }),
        attack("alternatives that require much, in any order", [4, 32, 200], |n, limits| {
            let names: Vec<String> = (0..600).map(|key| format!("\"k{key}\"")).collect();
            let all = names.join(",");
            let branch = |of: usize| {
                format!(
                    "{{\"allOf\": [{{\"$ref\": \"#/$defs/all\"}}], \"required\": [\"own{of}\"]}}"
                )
            };
            let branches: Vec<String> = (0..n).map(branch).collect();
            let schema = format!(
                "{{\"type\": \"object\", \"anyOf\": [{}], \"$defs\": {{\"all\": {{\"required\": [{all}]}}}}}}",
                branches.join(",")
            );
            let members: Vec<String> = names.iter().rev().map(|key| format!("{key}:1")).collect();
            instance(&schema, &format!("{{{},\"own0\":1}}", members.join(",")), limits)
        }),
        attack("alternatives read side by side, nested", [8, 32, 100], |n, limits| {
            let branch = |of: usize| {
                format!(
                    "{{\"properties\": {{\"kind\": {{\"const\": {of}}}, \"v\": {{\"$ref\": \"#\", \
                     \"properties\": {{\"x{of}\": {{\"type\": \"integer\"}}}}}}}}, \
                     \"required\": [\"kind\"]}}"
                )
            };
            let branches: Vec<String> = (0..n).map(branch).collect();
            let schema = format!("{{\"type\": \"object\", \"anyOf\": [{}]}}", branches.join(","));
            let (begin, end) = ("{\"v\":".repeat(100), ",\"kind\":0}".repeat(100));
            instance(&schema, &format!("{begin}{{\"kind\":0}}{end}"), limits)
        }),
        attack("conditions that are denied, in any order", [2, 8, 32], |n, limits| {
            let condition = |of: usize| {
                let keys =
                    (of..of + 12).map(|key| format!("\"k{key}\": {{\"type\": \"integer\"}}"));
                format!("{{\"properties\": {{{}}}}}", keys.collect::<Vec<_>>().join(","))
            };
            let conditions: Vec<String> = (0..n).map(condition).collect();
            let any = conditions.join(",");
            let schema = format!("{{\"type\": \"object\", \"not\": {{\"anyOf\": [{any}]}}}}");
            let members = (0..n + 12).rev().map(|key| format!("\"k{key}\":1,\"k{key}\":null"));
            instance(&schema, &format!("{{{}}}", members.collect::<Vec<_>>().join(",")), limits)
        }),
        attack("items that must differ", [1_000, 10_000, 50_000], |n, limits| {
            let items: Vec<String> = (0..n).map(|item| format!("\"{item}\"")).collect();
            let schema = "{\"type\": \"array\", \"uniqueItems\": true}";
            instance(schema, &format!("[{}]", items.join(",")), limits)
        }),
        attack("members of an item that must differ", [1_000, 10_000, 30_000], |n, limits| {
            let members: Vec<String> = (0..n).map(|key| format!("\"{key}\":1")).collect();
            let item = format!("{{{}}}", members.join(","));
            let schema = "{\"type\": \"array\", \"uniqueItems\": true}";
            instance(schema, &format!("[{item},{item}"), limits)
        }),
        attack("ambiguous nesting with dead ends", [4, 8, 16], |n, limits| {
            let grammar = "start: s \"#\"\ns: x s x | y s y | x\nx: \"a\" | \"b\"\n\
                y: \"b\" | \"c\"\n%nonassoc \"a\"\n";
            text(grammar, &"ab".repeat(n), limits)
        }),
        attack("true dead ends, undecided", [2, 8, 32], |n, limits| {
            let grammar = "%lexer basic\nstart: (A | L B)+ \"!\"\nA: \"a\"\nL: /a{3}/\n\
                B: /b+(?!c)/\nC: \"ab\"\nD: /ba{2}/\n";
            text(grammar, &"aaab".repeat(n), limits)
        }),
        attack("look-ahead conditions in turns", [10, 100, 1_000], |n, limits| {
            let grammar = "start: (A | B | C)+\nA: /a+(?![ab]{0,20}c)/\nB: /b+(?=a{0,20}b)/\n\
                C: /[ab](?!a{7}b)/\n";
            text(grammar, &"abba".repeat(n), limits)
        }),
        attack("one mask, each terminal looking ahead for itself", [5, 15, 30], |n, limits| {
            let terminal = |i| format!("A{i}: /[ab]{{1,{}}}(?=[ab]{{0,{}}}c)/\n", i + 1, i + 10);
            first_mask(&any_of(n, "C: \"c\"\n", &terminal), limits)
        }),
        attack("one mask, each terminal looking out for itself", [5, 15, 30], |n, limits| {
            let terminal = |i| format!("A{i}: /a+b{{{i}}}(?![ab]{{0,{}}}c)/\n", i + 40);
            first_mask(&any_of(n, "C: \"c\"\n", &terminal), limits)
        }),
        attack("constraints in a cache (CVE-2025-32381)", [10, 100, 1_000], |n, limits| {
            let vocabulary = bytes();
            let most = limits.clone().index_bytes(1 << 20);
            let cache = ConstraintCache::new(32 << 20);
            for i in 0..n {
                let text = format!("start: A+\nA: /[a-z]{{{}}}x/\n", i + 1);
                let _ = cache.get_or_build(&Source::lark(text), &vocabulary, &most);
            }
            Answer {
                bytes: n * 30,
                word: format!("{} kept, {} MB", cache.len(), cache.bytes() >> 20),
            }
        }),
    ]
}

/// Returns `n` opening operators, each with an optional end.
fn dangling(n: usize) -> String {
    let rules: Vec<String> =
        (0..n).map(|i| format!("\"a{i}-\" s | \"a{i}-\" s \"z{i}-\" s")).collect();
    let names: Vec<String> = (0..n).map(|i| format!("\"z{i}-\"")).collect();
    format!("%nonassoc {}\nstart: s\ns: \"x\" | {}\n", names.join(" "), rules.join(" | "))
}

/// Returns a repeated choice of `n` terminals, and of one more.
fn any_of(n: usize, more: &str, terminal: &dyn Fn(usize) -> String) -> String {
    let names: Vec<String> = (0..n).map(|i| format!("A{i}")).collect();
    let terminals: String = (0..n).map(terminal).collect();
    format!("start: ({} | C)+\n{terminals}{more}", names.join(" | "))
}

/// Returns single bytes.
fn bytes() -> Vocabulary {
    words(1)
}

/// Returns single bytes, and all words of `a` and `b` with up to this many letters.
fn words(letters: u32) -> Vocabulary {
    let bit = |number: u32, at: u32| if number >> at & 1 == 0 { b'a' } else { b'b' };
    let of = |length: u32| {
        (0..1 << length).map(move |number| (0..length).map(|at| bit(number, at)).collect())
    };
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let tokens: Vec<Vec<u8>> = bytes.chain((2..=letters).flat_map(of)).collect();
    Vocabulary::from_tokens(tokens).unwrap_or_else(|error| panic!("{error}"))
}

fn constraint(
    grammar: &str,
    vocabulary: &Vocabulary,
    limits: &Limits,
) -> Result<Constraint, String> {
    let grammar = GrammarReader::new().limits(limits).lark(grammar);
    let grammar = grammar.map_err(|error| error.diagnostics()[0].code.to_owned())?;
    let constraint = Constraint::builder().limits(limits).build(&grammar, vocabulary);
    constraint.map_err(|error| error.diagnostics()[0].code.to_owned())
}

/// Computes the mask before the first token, over words of eight letters.
fn first_mask(grammar: &str, limits: &Limits) -> Answer {
    let run = || -> Result<String, String> {
        let constraint = constraint(grammar, &words(8), limits)?;
        let mut mask = constraint.new_mask();
        constraint.matcher().fill_mask(&mut mask);
        let (tokens, undecided) = (mask.tokens().count(), constraint.undecided());
        Ok(format!("{tokens} tokens, {undecided} undecided"))
    };
    Answer { bytes: grammar.len(), word: run().unwrap_or_else(|code| code) }
}

/// Takes the text byte by byte, with the mask before each.
fn text(grammar: &str, text: &str, limits: &Limits) -> Answer {
    let run = || Ok(take(&constraint(grammar, &bytes(), limits)?, text));
    Answer { bytes: grammar.len() + text.len(), word: run().unwrap_or_else(|code: String| code) }
}

/// Takes an instance of a schema byte by byte, with keys in any order.
fn instance(schema: &str, text: &str, limits: &Limits) -> Answer {
    let run = || -> Result<String, String> {
        let mut options = SchemaOptions::default();
        options.order = KeyOrder::Any;
        let schema = GrammarReader::new().limits(limits).json_schema(schema, &options);
        let schema = schema.map_err(|error| format!("{:?}", error.kind()))?;
        let constraint = Constraint::builder().limits(limits).build(&schema.grammar(), &bytes());
        let constraint = constraint.map_err(|error| error.diagnostics()[0].code.to_owned())?;
        Ok(take(&constraint, text))
    };
    Answer { bytes: schema.len() + text.len(), word: run().unwrap_or_else(|code| code) }
}

/// Takes the text byte by byte, with the mask before each, and reports the result.
fn take(constraint: &Constraint, text: &str) -> String {
    let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
    for (at, byte) in text.bytes().enumerate() {
        matcher.fill_mask(&mut mask);
        if matcher.advance(u32::from(byte)).is_err() {
            return format!("refused at {at}, {} undecided", constraint.undecided());
        }
    }
    matcher.fill_mask(&mut mask);
    format!("{} undecided, {} dropped", constraint.undecided(), matcher.dropped_readings())
}

/// Takes random tokens of the mask; those that open, while `opens` is true for the depth.
fn random(grammar: &str, steps: usize, limits: &Limits, opens: fn(usize) -> bool) -> Answer {
    let run = || -> Result<String, String> {
        let constraint = constraint(grammar, &bytes(), limits)?;
        let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
        let (mut random, mut depth, mut refused) = (fastrand::Rng::with_seed(7), 0, false);
        for _ in 0..steps {
            matcher.fill_mask(&mut mask);
            let allowed: Vec<u32> = mask.tokens().map(lrmask::TokenId::get).collect();
            let mut wanted: Vec<u32> = allowed.clone();
            // An operator opens, `x` ends the innermost one, `z` continues it.
            let keep = |byte: u32| match byte {
                0x61 => opens(depth),
                0x78 => !opens(depth) || !allowed.contains(&0x61),
                _ => true,
            };
            wanted.retain(|&byte| keep(byte));
            let pool = if wanted.is_empty() { &allowed } else { &wanted };
            if pool.is_empty() {
                matcher.reset();
                depth = 0;
                continue;
            }
            let token = pool[random.usize(..pool.len())];
            depth = match token {
                0x61 => depth + 1,
                0x7a => depth.saturating_sub(1),
                _ => depth,
            };
            if matcher.advance(token).is_err() {
                refused = true;
                matcher.reset();
                depth = 0;
            }
        }
        let size = constraint.index_size();
        Ok(format!(
            "{} MB, {} scan states{}",
            size.bytes >> 20,
            size.scan_states,
            if refused { ", a sequence too deep" } else { "" }
        ))
    };
    Answer { bytes: grammar.len(), word: run().unwrap_or_else(|code| code) }
}
