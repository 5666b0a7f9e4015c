//! Calls of tools in the forms of model families: the examples of the page, how many calls there
//! may be, and calls that the prompt has begun.

use lrmask::{Calls, Constraint, Matcher, SchemaOptions, ToolCalls, ToolForm, Vocabulary};

const PAGE: &str = include_str!("../docs/generation.md");

const WEATHER: &str = r#"{"type": "object", "properties": {"city": {"type": "string"},
    "now": {"type": "boolean"}}, "required": ["city"], "additionalProperties": false}"#;
const SUM: &str = r##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"enum": ["x", "y"]},
    "c": {"type": "null"}}, "$defs": {"n": {"type": "integer"}}, "additionalProperties": false}"##;

const FORMS: [(&str, ToolForm); 8] = [
    ("Hermes", ToolForm::Hermes),
    ("Llama3", ToolForm::Llama3),
    ("Python", ToolForm::Python),
    ("Mistral", ToolForm::Mistral),
    ("DeepSeek", ToolForm::DeepSeek),
    ("Kimi", ToolForm::Kimi),
    ("Glm", ToolForm::Glm),
    ("Harmony", ToolForm::Harmony),
];

/// Special tokens of harmony, from id 256 on.
const SPECIAL: [&str; 7] = [
    "<|channel|>",
    "<|constrain|>",
    "<|message|>",
    "<|end|>",
    "<|start|>",
    "<|call|>",
    "<|return|>",
];

fn vocabulary(form: ToolForm) -> Vocabulary {
    match form {
        ToolForm::Harmony => {
            let special = (256u32..).zip(SPECIAL);
            Vocabulary::single_bytes().with_special_tokens(special).unwrap()
        }
        _ => Vocabulary::single_bytes(),
    }
}

fn matcher(form: ToolForm, calls: Calls) -> Matcher {
    let mut tools = ToolCalls::new(form, calls);
    tools.add_tool("weather", WEATHER);
    tools.add_tool("sum", SUM);
    let grammar = tools.tags().unwrap().grammar(&SchemaOptions::default()).unwrap();
    Constraint::new(&grammar, &vocabulary(form)).unwrap().matcher()
}

/// Takes a text, in which the names of special tokens are these tokens.
fn takes(matcher: &mut Matcher, text: &str) -> bool {
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let special = matcher.vocabulary().special_tokens();
        let special =
            special.filter(|(_, name)| rest.starts_with(name)).map(|(id, name)| (id, name.len()));
        let found = special.collect::<Vec<_>>().first().copied();
        let (is_taken, length) = match found {
            Some((id, length)) => (matcher.advance(id).is_ok(), length),
            None => {
                (matcher.advance_bytes(letter.to_string().as_bytes()).is_ok(), letter.len_utf8())
            }
        };
        if !is_taken {
            return false;
        }
        rest = &rest[length..];
    }
    true
}

fn is_sentence(form: ToolForm, calls: Calls, text: &str) -> bool {
    let mut matcher = matcher(form, calls);
    takes(&mut matcher, text) && matcher.is_accepting()
}

/// Returns the example of a form on the page.
fn example(form: &str) -> String {
    let row = PAGE.lines().find(|line| line.starts_with(&format!("| `{form}` |"))).unwrap();
    let cell = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
    cell.trim_matches('`').replace("\\n", "\n").replace("\\|", "|")
}

#[test]
fn the_page_shows_a_call_of_each_form() {
    for (name, form) in FORMS {
        let text = example(name);
        for calls in [Calls::One, Calls::AtLeastOne, Calls::AtMostOne, Calls::Any] {
            assert!(is_sentence(form, calls, &text), "{name} {calls:?}: {text}");
        }
        assert!(!is_sentence(form, Calls::None, &text), "{name}: {text}");
        // Each beginning of a call may be in the prompt.
        for (end, _) in text.char_indices() {
            let mut matcher = matcher(form, Calls::One);
            // A special token is taken whole.
            let is_inside = |name: &&str| {
                let mut found = text.match_indices(*name).map(|(start, _)| start);
                found.any(|start| start < end && end < start + name.len())
            };
            if form == ToolForm::Harmony && SPECIAL.iter().any(is_inside) {
                continue;
            }
            assert!(takes(&mut matcher, &text[..end]) && !matcher.is_accepting(), "{name} {end}");
            assert!(takes(&mut matcher, &text[end..]) && matcher.is_accepting(), "{name} {end}");
        }
        let wrong = text.replace("Paris", "Paris\u{1}").replace("true", "1").replace("True", "1");
        assert!(!is_sentence(form, Calls::One, &wrong), "{name}: {wrong}");
        let other = text.replace("weather", "whether");
        assert!(!is_sentence(form, Calls::Any, &other), "{name}: {other}");
    }
}

#[test]
fn calls_are_counted() {
    for (name, form) in &FORMS[..7] {
        let call = example(name);
        let (before, after) = (format!("Let me see. {call}"), format!("{call} That is it."));
        let two = format!("{call} and {call}");
        for (calls, none, one, before_one, after_one, several) in [
            (Calls::Any, true, true, true, true, true),
            (Calls::None, true, false, false, false, false),
            (Calls::AtMostOne, true, true, true, false, false),
            (Calls::AtLeastOne, false, true, false, true, true),
            (Calls::One, false, true, false, false, false),
        ] {
            for (text, expected) in [
                ("Nothing to do.", none),
                (&call, one),
                (&before, before_one),
                (&after, after_one),
                (&two, several),
            ] {
                assert_eq!(is_sentence(*form, calls, text), expected, "{name} {calls:?}: {text}");
            }
        }
    }
}

#[test]
fn harmony_thinks_and_then_calls_or_answers() {
    let thought = "<|channel|>analysis<|message|>Which city?<|end|><|start|>assistant";
    let (call, answer) = (example("Harmony"), "<|channel|>final<|message|>It is warm.");
    for (calls, may_call, may_answer) in
        [(Calls::Any, true, true), (Calls::None, false, true), (Calls::One, true, false)]
    {
        for thoughts in ["", thought, &thought.repeat(2)] {
            let form = ToolForm::Harmony;
            assert_eq!(is_sentence(form, calls, &format!("{thoughts}{call}")), may_call);
            assert_eq!(is_sentence(form, calls, &format!("{thoughts}{answer}")), may_answer);
        }
    }
}

#[test]
fn arguments_are_those_of_the_schema() {
    for (form, text, expected) in [
        (ToolForm::Python, "[sum()]", true),
        (ToolForm::Python, "[sum(a=12, b=\"y\", c=None)]", true),
        (ToolForm::Python, "[sum(b=\"x\", c=None), sum(a=1)]", true),
        (ToolForm::Python, "[sum(c=None, a=1)]", false),
        (ToolForm::Python, "[sum(a=1.5)]", false),
        (ToolForm::Python, "[sum(b=\"z\")]", false),
        (ToolForm::Python, "[weather(now=True)]", false),
        (ToolForm::Python, "[weather(city=\"P\", now=False)]", true),
        (ToolForm::Python, "[weather(city=\"P\", now=false)]", false),
        (ToolForm::Glm, "<tool_call>sum\n</tool_call>", true),
        (
            ToolForm::Glm,
            "<tool_call>sum\n<arg_key>b</arg_key>\n<arg_value>\"x\"</arg_value>\n</tool_call>",
            true,
        ),
        (
            ToolForm::Glm,
            "<tool_call>sum\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n</tool_call>",
            false,
        ),
        (ToolForm::Glm, "<tool_call>weather\n</tool_call>", false),
        (
            ToolForm::Mistral,
            "[TOOL_CALLS][{\"name\": \"sum\", \"arguments\": {}}, {\"name\": \"sum\", \"arguments\": {\"a\":3}}]",
            true,
        ),
        (ToolForm::Mistral, "[TOOL_CALLS][]", false),
    ] {
        assert_eq!(is_sentence(form, Calls::AtLeastOne, text), expected, "{text}");
    }
    let mut tools = ToolCalls::new(ToolForm::Hermes, Calls::Any);
    assert!(tools.tags().is_err());
    // A schema is one value, and nothing more.
    for wrong in ["{", "{}, 1", "{}}", ""] {
        tools.add_tool("f", wrong);
        assert!(tools.tags().is_err(), "{wrong}");
        tools = ToolCalls::new(ToolForm::Hermes, Calls::Any);
    }
}
