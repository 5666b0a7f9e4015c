//! `uniqueItems` for lists that are tracked: finite lists are compared with all their texts, and
//! unbounded lists with the oracle.

use crate::schema_oracle as oracle;

use std::collections::BTreeSet;

use lrmask::{
    Constraint, Grammar, JsonSchema, KeyOrder, Matcher, SchemaOptions, StructuralTags, TokenMask,
    Vocabulary, Whitespace,
};
use serde_json::{Value, json};

/// Tokens that span ends of items, one per line, in addition to single bytes.
const WORDS: &str = r#""a"
"b"
"a
"ab
a"
b"
","
",
,"
"a",
"",
,"a"
["a"
"]
["
a","b"
"a","a"
"a","b"
["a","a"
["a","b"]
1,
,1
1,2
1,1
,2]
1,2]
[1,2]
,"a"]
,1,
[1,
[1,1
12
11
2]
1]
true
,true
[true
true,
null,
{"id":"a"
"a"},{"id":"a"}
},{"id":"
{},{}
},{}
[],[]
],[
{"a":1}
{"a":1},
1},{"a":1
}}
"a":1}
,"a":1}
,"a":1},{"a":2
{"a":
[{"a":1},{"a"
"id":"a"
:"a
:"a"}
:["a",
["a",
"},{
 ,"a"
, "a"
 "a"
 "a" ,
 , "
", "a"
 ,1 ,
 : "a"
 :"a" }"#;

/// Returns single bytes, the words, and the stop token.
fn vocabulary() -> (Vec<Vec<u8>>, Vocabulary) {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.extend(WORDS.lines().map(|word| word.as_bytes().to_vec()));
    let end = tokens.len() as u32;
    tokens.push(Vec::new());
    let vocabulary = Vocabulary::from_tokens(tokens.clone())
        .and_then(|vocabulary| vocabulary.with_stop_tokens([end]));
    (tokens, vocabulary.expect("a vocabulary"))
}

/// Returns the constraint of a schema, fresh and loaded.
fn constraints(schema: &Value, whitespace: Whitespace, vocabulary: &Vocabulary) -> [Constraint; 2] {
    let mut options = SchemaOptions::default();
    (options.order, options.whitespace) = (KeyOrder::Any, whitespace);
    let schema = JsonSchema::parse(&schema.to_string(), &options).expect("a schema");
    let grammar = schema.grammar();
    let fresh = Constraint::new(&grammar, vocabulary).expect("a schema's grammar is sound");
    let loaded = Constraint::load(fresh.save(), vocabulary).expect("what was saved is loaded");
    [fresh, loaded]
}

/// Returns all arrays of distinct items from these values, as compact texts.
fn arrays(values: &[Value], lengths: std::ops::RangeInclusive<usize>) -> BTreeSet<Vec<u8>> {
    let mut all = BTreeSet::new();
    let mut pending = vec![Vec::<usize>::new()];
    while let Some(array) = pending.pop() {
        if lengths.contains(&array.len()) {
            let items: Vec<&Value> = array.iter().map(|&at| &values[at]).collect();
            all.insert(json!(items).to_string().into_bytes());
        }
        if array.len() < *lengths.end() {
            let others = (0..values.len()).filter(|at| !array.contains(at));
            pending.extend(others.map(|at| [&array[..], &[at]].concat()));
        }
    }
    all
}

/// Asserts that a token is allowed if and only if the text with its bytes is a prefix of one of the
/// texts, and the end only after a whole one; along random paths, some of them rolled back.
fn follow_all(schema: &Value, texts: &BTreeSet<Vec<u8>>) {
    let (tokens, vocabulary) = vocabulary();
    let [fresh, loaded] = constraints(schema, Whitespace::None, &vocabulary);
    let begins = |beginning: &[u8]| {
        let next = texts.range(beginning.to_vec()..).next();
        next.is_some_and(|text| text.starts_with(beginning))
    };
    let mut random = fastrand::Rng::with_seed(7);
    let (mut mask, mut other) = (TokenMask::default(), TokenMask::default());
    for _ in 0..60 {
        let [mut matcher, mut second] = [fresh.matcher(), loaded.matcher()];
        let mut text: Vec<u8> = Vec::new();
        let mut lengths = Vec::new();
        loop {
            matcher.fill_mask(&mut mask);
            second.clone().fill_mask(&mut other);
            assert_eq!(mask, other, "{schema}: {}", String::from_utf8_lossy(&text));
            for (id, token) in tokens.iter().enumerate() {
                let is_viable = match token.is_empty() {
                    true => texts.contains(&text),
                    false => begins(&[&text[..], token].concat()),
                };
                let shown = (String::from_utf8_lossy(&text), String::from_utf8_lossy(token));
                assert_eq!(mask.contains(id as u32), is_viable, "{schema}: {shown:?}");
                assert_eq!(matcher.allows(id as u32), is_viable, "{schema}: {shown:?}");
            }
            let completion = matcher.shortest_completion().expect("there is one");
            let whole = [&text[..], &completion].concat();
            assert!(texts.contains(&whole), "{schema}: {}", String::from_utf8_lossy(&whole));
            let allowed: Vec<_> = mask.tokens().collect();
            let token = allowed[random.usize(..allowed.len())];
            if tokens[token.index()].is_empty() {
                break;
            }
            matcher.advance(token).expect("the mask allows it");
            second.advance(token).expect("the mask allows it");
            lengths.push(text.len());
            text.extend_from_slice(&tokens[token.index()]);
            if random.u8(..5) == 0 {
                let back = random.usize(1..=lengths.len());
                assert_eq!((matcher.rollback(back), second.rollback(back)), (back, back));
                lengths.truncate(lengths.len() - back + 1);
                text.truncate(lengths.pop().unwrap_or(0));
            }
        }
    }
}

#[test]
fn lists_of_few_texts_against_all_of_them() {
    let words = ["a", "ab", "b", "ba"];
    let strings: Vec<Value> = words.iter().map(|&word| json!(word)).collect();
    let of_words = json!({"type": "string", "pattern": "^(a|b|ab|ba)$"});
    let list = |items: &Value| json!({"type": "array", "items": items, "uniqueItems": true});
    follow_all(&list(&of_words), &arrays(&strings, 0..=4));
    let mut some = list(&of_words);
    (some["minItems"], some["maxItems"]) = (json!(2), json!(3));
    follow_all(&some, &arrays(&strings, 2..=3));
    some["minItems"] = json!(4);
    some["maxItems"] = json!(9);
    follow_all(&some, &arrays(&strings, 4..=4));
    let counted = ["", "a", "b", "aa", "ab", "ba", "bb"].map(|word| json!(word));
    let of_counted = json!({"type": "string", "pattern": "^[ab]*$", "maxLength": 2});
    let mut all = list(&of_counted);
    all["maxItems"] = json!(3);
    follow_all(&all, &arrays(&counted, 0..=3));
    (all["minItems"], all["maxItems"]) = (json!(7), json!(8));
    follow_all(&all, &arrays(&counted, 7..=7));
    let numbers: Vec<Value> = [0, 1, 2, 11, 12].map(|number| json!(number)).to_vec();
    let of_numbers = json!({"type": "integer", "minimum": 0, "maximum": 12, "not": {"enum": [3, 4, 5, 6, 7, 8, 9, 10]}});
    follow_all(&list(&of_numbers), &arrays(&numbers, 0..=5));
    let mixed = [json!(true), json!(null), json!("a"), json!(1)];
    let of_mixed = json!({"anyOf": [{"const": true}, {"type": "null"}, {"enum": [1, "a"]}]});
    follow_all(&list(&of_mixed), &arrays(&mixed, 0..=4));
    follow_all(&list(&json!({"type": "string", "maxLength": 0})), &arrays(&[json!("")], 0..=1));
    let within = json!({"type": "object", "properties": {"id": list(&json!({"type": "string", "pattern": "^a$"}))}, "required": ["id"], "additionalProperties": false});
    let texts = [&b"{\"id\":[]}"[..], b"{\"id\":[\"a\"]}"].map(<[u8]>::to_vec);
    follow_all(&within, &texts.into_iter().collect());
}

/// Texts drawn from masks are valid; exactly the tokens of a mask are accepted; no limit is
/// reached.
#[test]
fn lists_without_end_against_the_oracle() {
    let strings = json!({"type": "array", "items": {"type": "string", "pattern": "^[^ ]*$"}, "uniqueItems": true});
    let object = |of: Value, more: Value| {
        let properties = json!({"id": of, "more": more});
        let items = json!({"type": "object", "properties": properties, "required": ["id"], "additionalProperties": false});
        json!({"type": "array", "items": items, "uniqueItems": true})
    };
    let short = json!({"type": "string", "pattern": "^[ab]*$"});
    let two = json!({"type": "object", "properties": {"i": short, "d": short, "id": {"type": "boolean"}}, "required": ["i", "d"], "additionalProperties": false});
    let pair = |i: Value, d: Value| {
        let properties = json!({"i": i, "d": d});
        json!({"type": "array", "items": {"type": "object", "properties": properties, "required": ["i", "d"], "additionalProperties": false}, "uniqueItems": true})
    };
    let schemas = [
        json!({"type": "array", "items": two, "uniqueItems": true, "minItems": 3}),
        pair(short.clone(), json!({"enum": ["a", "ab", "b"]})),
        pair(json!({"type": "boolean"}), short.clone()),
        json!({"type": "array", "items": short, "uniqueItems": true, "minItems": 3}),
        json!({"type": "array", "items": {"type": "string", "pattern": "^[ab]{0,3}$"}, "uniqueItems": true}),
        json!({"type": "array", "items": {"type": "number", "multipleOf": 0.25, "minimum": -9, "maximum": 9}, "uniqueItems": true}),
        json!({"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 2000}, "uniqueItems": true}),
        object(short.clone(), json!({"type": "boolean"})),
        object(short.clone(), json!({"type": "array", "items": short, "uniqueItems": true})),
        json!({"type": "array", "items": {"type": "array", "items": short, "uniqueItems": true}}),
        json!({"anyOf": [{"type": "boolean"}, {"type": "array", "items": short, "uniqueItems": true}]}),
        json!({"type": "array", "items": {"type": "object", "properties": {"a": {"enum": [1, 2]}}}, "uniqueItems": true, "minItems": 2}),
        json!({"type": "array", "items": {"type": "object", "properties": {"a": {"enum": [1, 2]}, "id": short}, "additionalProperties": false}, "uniqueItems": true, "minItems": 2}),
        json!({"type": "array", "items": {"type": "object", "additionalProperties": {"type": "array", "items": {"enum": [1]}}}, "uniqueItems": true, "minItems": 2}),
        json!({"type": "array", "items": {"type": "object", "properties": {"a": short, "b": {"enum": [1, 2]}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "additionalProperties": false}, "uniqueItems": true, "minItems": 2}),
        json!({"type": "array", "items": {"type": "array", "prefixItems": [{"const": 1}, false]}, "uniqueItems": true}),
        json!({"type": "array", "items": {"type": "array", "prefixItems": [{"enum": [1, 2]}], "items": {"const": "a"}}, "uniqueItems": true, "minItems": 2}),
        json!({"type": "array", "items": {"type": "array", "items": {"enum": [1, 2, "a"]}}, "uniqueItems": true, "minItems": 2}),
        json!({"type": "array", "items": {"anyOf": [short, {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "additionalProperties": {"type": "array", "items": short, "uniqueItems": true}}]}, "uniqueItems": true, "minItems": 3}),
        json!({"type": "object", "properties": {"a": strings, "b": {"type": "array", "items": short, "uniqueItems": true}}, "required": ["a", "b"], "additionalProperties": false}),
    ];
    let (tokens, vocabulary) = vocabulary();
    let end = tokens.len() as u32 - 1;
    for (number, schema) in schemas.iter().flat_map(|schema| [(0, schema), (1, schema)]) {
        let whitespace = if number == 0 { Whitespace::None } else { Whitespace::Any };
        let [fresh, loaded] = constraints(schema, whitespace, &vocabulary);
        let mut random = fastrand::Rng::with_seed(11);
        let (mut mask, mut other) = (TokenMask::default(), TokenMask::default());
        for _ in 0..40 {
            let [mut matcher, mut second] = [fresh.matcher(), loaded.matcher()];
            let mut text: Vec<u8> = Vec::new();
            for _ in 0..40 {
                matcher.fill_mask(&mut mask);
                second.fill_mask(&mut other);
                assert_eq!(mask, other, "{schema}: {}", String::from_utf8_lossy(&text));
                for id in 0..=end {
                    let shown = (String::from_utf8_lossy(&text), &tokens[id as usize]);
                    assert_eq!(
                        mask.contains(id),
                        matcher.clone().advance(id).is_ok(),
                        "{schema}: {shown:?}"
                    );
                }
                // Letters that occur in no other token show nothing new, so the words are drawn
                // often.
                let is_word =
                    |id: u32| tokens[id as usize].len() > 1 || random_ascii(&tokens[id as usize]);
                let words: Vec<u32> =
                    (0..=end).filter(|&id| mask.contains(id) && is_word(id)).collect();
                let Some(&token) = words.get(random.usize(..words.len().max(1))) else { break };
                if token == end {
                    break;
                }
                matcher.advance(token).expect("the mask allows it");
                second.advance(token).expect("the mask allows it");
                text.extend_from_slice(&tokens[token as usize]);
            }
            let completion = matcher.shortest_completion().expect("there is one");
            text.extend(completion);
            let text = String::from_utf8(text).expect("only ASCII was drawn");
            assert!(is_valid(schema, &text), "{schema}: {text}");
            let mut whole = fresh.matcher();
            assert!(whole.advance_bytes(text.as_bytes()).is_ok() && whole.is_accepting());
        }
    }
}

/// Whether the text is JSON of a value that satisfies a schema; the last member counts for a
/// repeated key.
fn is_valid(schema: &Value, text: &str) -> bool {
    let value: Value = serde_json::from_str(text).expect("JSON");
    oracle::is_valid_text(schema, &value.to_string()) == Some(true)
}

/// Asserts that arrays of up to three of some values are accepted exactly when no two are equal.
fn judge_all(items: &Value, values: &[Value]) {
    let schema = json!({"type": "array", "items": items, "uniqueItems": true});
    let (_, vocabulary) = vocabulary();
    let matchers =
        constraints(&schema, Whitespace::None, &vocabulary).map(|constraint| constraint.matcher());
    let repeated = values.iter().flat_map(|one| values.iter().map(move |other| vec![one, other]));
    let thirds = values
        .iter()
        .flat_map(|one| values.windows(2).map(move |pair| vec![&pair[0], one, &pair[1]]));
    for array in repeated.chain(thirds) {
        let text = json!(array).to_string();
        let expected = is_valid(&schema, &text);
        for matcher in &matchers {
            assert_eq!(takes(matcher, &text), expected, "{schema}: {text}");
        }
    }
}

/// Items that are arrays and objects are equal exactly when their values are.
#[test]
fn arrays_and_objects_are_told_apart_by_their_values() {
    let objects: Vec<Value> = [
        r#"{}"#,
        r#"{"a":1}"#,
        r#"{"a":1.0}"#,
        r#"{"a":2}"#,
        r#"{"a":"1"}"#,
        r#"{"b":1}"#,
        r#"{"a":1,"b":2}"#,
        r#"{"a":2,"b":1}"#,
        r#"{"a":{"b":1}}"#,
        r#"{"a":[1,2]}"#,
        r#"{"a":[2,1]}"#,
    ]
    .map(|text| serde_json::from_str(text).expect("JSON"))
    .to_vec();
    judge_all(&json!({"type": "object"}), &objects);
    judge_all(&json!({"type": "object", "minProperties": 0, "required": []}), &objects);
    let closed = json!({"type": "object", "properties": {"a": {}, "b": {"type": "integer"}}, "additionalProperties": false});
    judge_all(&closed, &objects);
    let needs = json!([{"required": ["a"]}, {"required": ["b"]}]);
    let closed = json!({"type": "object", "properties": {"a": {}, "b": {"type": "integer"}}, "anyOf": needs, "additionalProperties": false});
    judge_all(&closed, &objects);
    let either = json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "number"}}}, {"type": "object", "properties": {"b": {"type": "number"}}}]});
    judge_all(&either, &objects);
    let arrays = [json!([]), json!([[]]), json!([1]), json!([1, 2]), json!([2, 1]), json!([{}])];
    judge_all(&json!({"type": "array"}), &arrays);
    let scalars = [json!(null), json!(true), json!(1), json!("1"), json!("a"), json!("{}")];
    judge_all(&json!({}), &[&objects[..], &arrays, &scalars].concat());
    let strings =
        json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {}}}]});
    judge_all(&strings, &[&objects[..], &[json!("a"), json!("{}"), json!("}")]].concat());
}

/// A list of unique items can be negated for values of other types without approximation.
#[test]
fn unique_items_denied_of_other_types_are_told() {
    let unique =
        json!({"type": "array", "minItems": 1, "items": {"type": "string"}, "uniqueItems": true});
    let words = json!({"type": "array", "items": {"type": "string", "uniqueItems": true}});
    let schemas = [
        json!({"oneOf": [unique, {"type": "object"}]}),
        json!({"oneOf": [words, {"type": "string"}]}),
        json!({"if": unique, "then": true, "else": {"type": ["object", "string"]}}),
        json!({"type": ["object", "string"], "not": unique}),
    ];
    let texts = ["[]", "[\"a\"]", "[\"a\",\"b\"]", "[\"a\",\"a\"]", "[1]", "{}", "\"a\"", "1"];
    let (_, vocabulary) = vocabulary();
    for schema in schemas {
        let grammar =
            JsonSchema::parse(&schema.to_string(), &SchemaOptions::default()).expect("a schema");
        assert!(grammar.warnings().is_empty(), "{schema}: {:?}", grammar.warnings());
        let [fresh, loaded] = constraints(&schema, Whitespace::None, &vocabulary);
        for text in texts {
            for constraint in [&fresh, &loaded] {
                let is_taken = takes(&constraint.matcher(), text);
                assert_eq!(is_taken, is_valid(&schema, text), "{schema}: {text}");
            }
        }
    }
}

/// The order of members, repeated keys and spellings do not change a value.
#[test]
fn spellings_of_a_value_are_one_item() {
    let matcher = |items: Value, order: KeyOrder| {
        let schema = json!({"type": "array", "items": items, "uniqueItems": true});
        let mut options = SchemaOptions::default();
        options.order = order;
        let (_, vocabulary) = vocabulary();
        let constraint = Constraint::from_schema(&schema.to_string(), &options, &vocabulary);
        constraint.expect("a schema").matcher()
    };
    let open = matcher(json!({"type": "object"}), KeyOrder::Declared);
    assert!(!takes(&open, r#"[{"a":1,"b":2},{"b":2,"a":1}]"#));
    assert!(!takes(&open, r#"[{"a":"x"},{ "\u0061" : "\u0078" }]"#));
    assert!(!takes(&open, r#"[{"a":10},{"a":1e1}]"#));
    assert!(takes(&open, r#"[{"a":1,"b":2},{"b":2,"a":1,"c":0}]"#));
    assert!(
        !takes(&open, r#"[{"a":1},{"a":2,"a":1}]"#) && takes(&open, r#"[{"a":1},{"a":1,"a":2}]"#)
    );
    // A member may be repeated even if no other one can be added.
    let names = json!({"a": {"type": "string"}, "b": {"type": "boolean"}});
    let closed = json!({"type": "object", "properties": names, "required": ["b"], "additionalProperties": false});
    for order in [KeyOrder::Declared, KeyOrder::Any] {
        let closed = matcher(closed.clone(), order);
        assert!(takes(&closed, r#"[{"b":true},{"a":"","b":true},{"a":"x","b":true},{"b":false}]"#));
        assert!(!takes(&closed, r#"[{"a":"x","b":true},{"a":"x","b":true}]"#));
        assert!(takes(&closed, r#"[{"a":"x","b":true},{"a":"x","b":true,"a":"y"}]"#));
        assert!(!takes(&closed, r#"[{"b":true},{"b":true,"c":1}]"#));
    }
}

/// Bytes that are drawn as single tokens.
fn random_ascii(token: &[u8]) -> bool {
    matches!(
        token,
        [b'a' | b'b' | b'"' | b',' | b'[' | b']' | b'{' | b'}' | b'0'
            ..=b'3' | b'.' | b'-' | b':' | b'i' | b'd']
    )
}

fn takes(matcher: &Matcher, text: &str) -> bool {
    let mut matcher = matcher.clone();
    matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
}

/// The number of items has no bound, in structural tags either; lists are independent.
#[test]
fn a_thousand_items_are_followed() {
    let schema = r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": true}"#;
    let mut tags = StructuralTags::new(["<f"]);
    tags.add_tag("<f>", schema, "</f>");
    let (_, vocabulary) = vocabulary();
    let grammar = tags.grammar(&SchemaOptions::default()).expect("tags");
    let matcher = Constraint::new(&grammar, &vocabulary).expect("a grammar").matcher();
    let items: Vec<String> = (0..1000).map(|number| format!("item {number}")).collect();
    let list = json!(items).to_string();
    assert!(takes(&matcher, &format!("a <f>{list}</f> b <f>{list}</f>")));
    let again = list.replace(']', ",\"item 500\"]");
    assert!(!takes(&matcher, &format!("a <f>{again}</f>")));
    assert!(takes(&matcher, &format!("a <f>{}</f>", list.replace(']', ",\"item 1000\"]"))));
    // Deep items and deep lists are dropped without recursion.
    let long = "a".repeat(200_000);
    assert!(takes(&matcher, &format!("<f>[\"{long}\",\"{long}b\"]</f>")));
    assert!(!takes(&matcher, &format!("<f>[\"{long}\",\"{long}\"]</f>")));
}

/// Within a grammar items are tracked if the lexemes of their array cannot be anything else.
#[test]
fn schemas_within_a_grammar_are_followed_where_nothing_else_can_be_meant() {
    let strings = r#"%json {"type": "array", "items": {"type": "string"}, "uniqueItems": true}"#;
    let of = |grammar: &str| {
        let (_, vocabulary) = vocabulary();
        let grammar = Grammar::from_lark(grammar).expect("a grammar");
        Constraint::new(&grammar, &vocabulary).expect("a grammar").matcher()
    };
    let matcher = of(&format!(r#"start: "call " {strings} | "sum " %json {{"type": "array"}}"#));
    assert!(takes(&matcher, r#"call ["a","b","c","d"]"#) && takes(&matcher, "sum [1,1]"));
    assert!(!takes(&matcher, r#"call ["a","b","c","a"]"#));
    // Here the text may be an array of another kind until the first item.
    let integers = r#"%json {"type": "array", "items": {"type": "integer"}}"#;
    let matcher = of(&format!("start: {strings} | {integers}"));
    assert!(takes(&matcher, r#"["a","b"]"#) && takes(&matcher, "[1,1]"));
    assert!(!takes(&matcher, r#"["a","a"]"#) && !takes(&matcher, r#"["a",1]"#));
}
