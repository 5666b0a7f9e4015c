//! Grammars and schemas that cost much more than their size suggests.

use lrmask::{
    CompiledGrammar, Constraint, Diagnostic, Grammar, GrammarReader, Limits, SchemaOptions,
};

use crate::{Answer, Attack, findings};

/// Returns the attacks, each with the fault or the report of another engine that it is based on, if
/// there is one.
pub(crate) fn attacks() -> Vec<Attack> {
    let attack = |name, sizes, run| Attack { name, sizes, run };
    vec![
        attack("terminals that are large together", [30, 100, 300], |n, limits| {
            many(n, limits, |i| format!("T{i}: /x{i}y\\w{{300}}/\n"))
        }),
        attack("terminals of long counted classes", [30, 100, 300], |n, limits| {
            many(n, limits, |i| format!("T{i}: /x{i}\\w{{700}}/\n"))
        }),
        attack("terminals whose union explodes", [8, 16, 24], |n, limits| {
            many(n, limits, |i| {
                format!("T{i}: /[a-z]*{}[a-z]{{{}}}/\n", char::from(b'a' + i as u8), i + 1)
            })
        }),
        attack("`%lookahead` chain", [50, 100, 200], |n, limits| {
            let words: String = (0..n).map(|i| format!("W{i}: \"w{i}\"\n")).collect();
            let chain: String = (0..n - 1)
                .map(|i| format!("%lookahead NAME W{i} before W{} NAME\n", i + 1))
                .collect();
            let uses: Vec<String> = (0..n).map(|i| format!("W{i}")).collect();
            lark(
                &format!(
                    "start: ({} | NAME)+\nNAME: /[a-z0-9]+/\n{words}{chain}%ignore \" \"\n",
                    uses.join(" | ")
                ),
                limits,
            )
        }),
        attack("options in a row", [250, 1_000, 4_000], |n, limits| {
            let options: String = (0..n).map(|i| format!(" \"k{i};\"?")).collect();
            lark(&format!("start:{options}\n"), limits)
        }),
        attack("nothing between nullable rules", [100, 300, 1_000], |n, limits| {
            let rules: String =
                (0..n).map(|i| format!("r{i}: \"a{i}\"? r{}?\n", (i * 7 + 1) % n)).collect();
            let all: String = (0..n).map(|i| format!(" r{i}?")).collect();
            lark(&format!("start:{all}\n{rules}"), limits)
        }),
        attack("rules", [5_000, 50_000, 500_000], |n, limits| {
            let rules: String = (0..n).map(|i| format!("r{i}: \"a\" r{}\n", (i + 1) % n)).collect();
            lark(
                &format!("start: r0\n{rules}e: \"e\"\n").replacen(
                    "r0: \"a\"",
                    "r0: \"e\" | \"a\"",
                    1,
                ),
                limits,
            )
        }),
        attack("operators without precedence", [100, 300, 700], |n, limits| {
            let operators: String = (0..n).map(|i| format!(" | e \"<{i}>\" e")).collect();
            lark(&format!("start: e\nN: /[0-9]+/\ne: N{operators}\n"), limits)
        }),
        attack("LR(0) states", [8, 12, 16], |n, limits| {
            // A position in the text determines, `n` symbols later, which end is correct.
            let rules: String =
                (0..n).map(|i| format!("s{}: (\"0\" | \"1\") s{i}\n", i + 1)).collect();
            lark(&format!("start: (\"0\" | \"1\") start | \"1\" s{n}\ns0: \"e\"\n{rules}"), limits)
        }),
        attack("alternatives", [1_000, 10_000, 100_000], |n, limits| {
            let words: Vec<String> = (0..n).map(|i| format!("\"k{i}\" x")).collect();
            lark(&format!("start: ({})+\nx: \"x\"\n", words.join(" | ")), limits)
        }),
        attack("templates in templates", [10, 20, 40], |n, limits| {
            let templates: String =
                (0..n).map(|i| format!("t{}{{x}}: t{i}{{x}} t{i}{{_two{{x}}}}\n", i + 1)).collect();
            lark(&format!("start: t{n}{{\"a\"}}\nt0{{x}}: x\n_two{{x}}: x x\n{templates}"), limits)
        }),
        attack("counted groups of rules", [100, 10_000, 1_000_000], |n, limits| {
            lark(&format!("start: (a \"b\")~0..{n}\na: \"a\"\n"), limits)
        }),
        attack(
            "a regex of many words (CVE-2026-55574)",
            [10_000, 100_000, 1_000_000],
            |n, limits| {
                let words: Vec<String> = (0..n).map(|i| format!("w{i}")).collect();
                lark(&format!("start: A\nA: /{}/\n", words.join("|")), limits)
            },
        ),
        attack("nested quantifiers (CVE-2026-55574)", [10, 100, 1_000], |n, limits| {
            lark(
                &format!(
                    "start: A\nA: /{}a{}b/\n",
                    "(".repeat(n.min(150)),
                    "+)*".repeat(n.min(150))
                ),
                limits,
            )
        }),
        attack("counts in counts (CVE-2026-55574)", [10, 100, 1_000], |n, limits| {
            lark(&format!("start: A\nA: /((\\w{{{n}}}x){{{n}}}y){{{n}}}/\n"), limits)
        }),
        attack("subset construction", [10, 16, 22], |n, limits| {
            lark(&format!("start: A\nA: /(a|b)*a(a|b){{{n}}}/\n"), limits)
        }),
        attack("Unicode classes, counted, any case", [10, 100, 1_000], |n, limits| {
            lark(&format!("start: A\nA: /[\\w\\d\\s]{{{n}}}[^\\W_]{{{n}}}z/i\n"), limits)
        }),
        attack("no regex at all (CVE-2025-48943)", [1, 1_000, 100_000], |n, limits| {
            lark(&format!("start: A\nA: /{}/\n", "(?P<a[".repeat(n)), limits)
        }),
        attack("look-ahead and look-behind", [5, 10, 20], |n, limits| {
            let looks: String = (0..n)
                .map(|i| format!("(?![a-z]{{0,{}}}{})", i + 1, char::from(b'a' + i as u8)))
                .collect();
            lark(
                &format!(
                    "start: (A | B)+\nA: /{looks}[a-z]+{looks}/\nB: /[A-Z]+(?=[a-z]{{{n}}}x)/\n"
                ),
                limits,
            )
        }),
        attack("intersections, llguidance", [4, 8, 16], |n, limits| {
            let parts: Vec<String> = (0..n)
                .map(|i| format!("/([a-z]{{{}}})*{}?/", 2 * i + 3, char::from(b'a' + i as u8)))
                .collect();
            lark(&format!("%llguidance {{}}\nstart: A\nA: {}\n", parts.join(" & ")), limits)
        }),
        attack("complements, llguidance", [8, 14, 20], |n, limits| {
            lark(
                &format!(
                    "%llguidance {{}}\nstart: A\n\
                     A: ~/(a|b)*a(a|b){{{n}}}/ & ~/(a|b)*b(a|b){{{n}}}c/\n"
                ),
                limits,
            )
        }),
        attack("substrings, llguidance", [1_000, 30_000, 1_000_000], |n, limits| {
            let text: String = (0..n).map(|i| char::from(b'a' + (i * i / 7 % 26) as u8)).collect();
            lark(
                &format!(
                    "%llguidance {{}}\nstart: A\nA: %regex {{ \"substring_chars\": \"{text}\" }}\n"
                ),
                limits,
            )
        }),
        attack("groups in groups (CVE-2026-25048)", [1_000, 30_000, 1_000_000], |n, limits| {
            lark(&format!("start: {}\"a\"{}\n", "(".repeat(n), ")".repeat(n)), limits)
        }),
        attack(
            "groups in groups, GBNF (CVE-2026-25048)",
            [1_000, 30_000, 1_000_000],
            |n, limits| {
                gbnf(&format!("root ::= {}\"a\"{}\n", "(".repeat(n), ")".repeat(n)), limits)
            },
        ),
        attack("left recursion, GBNF (CVE-2025-57809)", [1, 100, 10_000], |n, limits| {
            let rules: String = (0..n)
                .map(|i| format!("r{i} ::= r{} \"x\" | \"\" | r{i} r{i}\n", (i + 1) % n))
                .collect();
            gbnf(&format!("root ::= r0 \"y\"\n{rules}"), limits)
        }),
        attack("stars of what may be empty, GBNF (CVE-2025-57809)", [1, 10, 100], |n, limits| {
            gbnf(&format!("root ::= {}[a-z]*{} \"=\"\n", "(".repeat(n), ")*".repeat(n)), limits)
        }),
        attack("counts, GBNF", [1_000, 30_000, 1_000_000], |n, limits| {
            gbnf(
                &format!("root ::= ([a-z]{{1,{n}}} [0-9] | [a-f]{{2,{n}}} \"x\"){{0,{n}}}\n"),
                limits,
            )
        }),
        attack("classes and nesting, GBNF", [20, 200, 2_000], |n, limits| {
            let rules: String = (0..n)
                .map(|i| {
                    format!(
                        "r{i} ::= [^{}] r{} | \"(\" r{} \")\" [a-z]* | \"\"\n",
                        char::from(b'a' + (i % 26) as u8),
                        (i + 1) % n,
                        (i * 5) % n
                    )
                })
                .collect();
            gbnf(&format!("root ::= r0 r1\n{rules}"), limits)
        }),
        attack("a huge `enum`, GBNF (CVE-2025-58446)", [1_000, 30_000, 300_000], |n, limits| {
            let words: Vec<String> = (0..n).map(|i| format!("\"{:x} {i}\"", i * 7919)).collect();
            gbnf(&format!("root ::= {}\n", words.join(" | ")), limits)
        }),
        attack(
            "a huge `enum` in a schema (CVE-2025-58446)",
            [1_000, 30_000, 300_000],
            |n, limits| {
                let words: Vec<String> =
                    (0..n).map(|i| format!("\"{:x} {i}\"", i * 7919)).collect();
                schema(&format!("{{\"enum\": [{}]}}", words.join(",")), limits)
            },
        ),
        attack("keys in any order", [10, 100, 1_000], |n, limits| {
            let keys: Vec<String> =
                (0..n).map(|i| format!("\"k{i}\": {{\"type\": \"integer\"}}")).collect();
            let required: Vec<String> = (0..n).step_by(2).map(|i| format!("\"k{i}\"")).collect();
            schema(
                &format!(
                    "{{\"properties\": {{{}}}, \"required\": [{}]}}",
                    keys.join(","),
                    required.join(",")
                ),
                limits,
            )
        }),
        attack("`allOf` of `oneOf`s", [4, 12, 40], |n, limits| {
            let parts: Vec<String> = (0..n)
                .map(|i| {
                    format!(
                        "{{\"oneOf\": [{{\"properties\": {{\"a{i}\": {{\"const\": \
                    {i}}}}}}}, {{\"minProperties\": {i}}}, {{\"required\": [\"b{i}\"]}}]}}"
                    )
                })
                .collect();
            schema(&format!("{{\"allOf\": [{}]}}", parts.join(",")), limits)
        }),
        attack("schemas in schemas (CVE-2025-57809)", [100, 10_000, 1_000_000], |n, limits| {
            schema(&format!("{}{{}}{}", "{\"items\":".repeat(n), "}".repeat(n)), limits)
        }),
        attack("`$ref`s that double", [10, 100, 1_000], |n, limits| {
            let defs: Vec<String> = (0..n)
                .map(|i| {
                    format!(
                        "\"d{i}\": {{\"allOf\": [{{\"properties\": {{\"a\": {{\"$ref\": \
                    \"#/$defs/d{}\"}}}}}}, {{\"properties\": {{\"a\": {{\"$ref\": \
                    \"#/$defs/d{}\"}}}}}}]}}",
                        (i + 1) % n,
                        (i + 3) % n
                    )
                })
                .collect();
            schema(
                &format!("{{\"$ref\": \"#/$defs/d0\", \"$defs\": {{{}}}}}", defs.join(",")),
                limits,
            )
        }),
        attack("patterns in a schema", [10, 16, 22], |n, limits| {
            schema(
                &format!(
                    "{{\"allOf\": [{{\"pattern\": \"a.{{{n}}}$\"}}, {{\"pattern\": \
                     \"b.{{{n}}}c\"}}, {{\"not\": {{\"pattern\": \"^(a|bb)*c\"}}}}]}}"
                ),
                limits,
            )
        }),
        attack("bounds of numbers and counts", [10, 1_000, 100_000], |n, limits| {
            schema(
                &format!(
                    "{{\"allOf\": [{{\"multipleOf\": {n}}}, {{\"multipleOf\": 7}}, {{\"minimum\": \
                     {n}.5}}], \"minLength\": {n}, \"minItems\": {n}, \"maxItems\": {}, \
                     \"minProperties\": {n}}}",
                    2 * n
                ),
                limits,
            )
        }),
    ]
}

/// Returns a choice of `count` terminals, compiled.
fn many(count: usize, limits: &Limits, terminal: impl Fn(usize) -> String) -> Answer {
    let names: Vec<String> = (0..count).map(|i| format!("T{i}")).collect();
    let terminals: String = (0..count).map(terminal).collect();
    lark(&format!("start: ({})+\n{terminals}", names.join(" | ")), limits)
}

fn lark(text: &str, limits: &Limits) -> Answer {
    let grammar = GrammarReader::new().limits(limits).lark(text);
    Answer::of(
        text,
        grammar
            .map_err(|error| error.diagnostics().to_vec())
            .and_then(|grammar| compile(&grammar, limits)),
    )
}

fn gbnf(text: &str, limits: &Limits) -> Answer {
    let grammar = GrammarReader::new().limits(limits).gbnf(text);
    Answer::of(
        text,
        grammar
            .map_err(|error| error.diagnostics().to_vec())
            .and_then(|grammar| compile(&grammar, limits)),
    )
}

fn schema(text: &str, limits: &Limits) -> Answer {
    let schema = GrammarReader::new().limits(limits).json_schema(text, &SchemaOptions::default());
    Answer::of(
        text,
        schema
            .map_err(|error| vec![error.diagnostic()])
            .and_then(|schema| compile(&schema.grammar(), limits)),
    )
}

fn compile(grammar: &Grammar, limits: &Limits) -> Result<CompiledGrammar, Vec<Diagnostic>> {
    Constraint::builder().limits(limits).compile(grammar).map_err(|error| findings(&error))
}
