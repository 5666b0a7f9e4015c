//! The oracle against hand-written grammars and texts, and against its own brute force.

use crate::oracle;

use oracle::case::{Case, Fact};
use oracle::quoted::show;
use oracle::spec::Spec;
use oracle::viability::Oracle;

fn oracle(spec: &str, alphabet: &[u8]) -> Oracle {
    Oracle::new(Spec::read(spec), alphabet)
}

#[test]
fn a_lexeme_is_the_longest_match_and_the_lexer_backs_up_to_it() {
    let oracle = oracle(
        "lexer basic\nstart s\nterminal ELSE /else/\nterminal NUMBER /1(e[0-9]+)?/\nrule s -> NUMBER ELSE NUMBER\n",
        b"1els",
    );
    assert!(oracle.is_member(b"1else1"));
    assert!(oracle.is_member(b"1e1else1e1"));
    assert!(!oracle.is_member(b"1e1"));
    assert!(oracle.is_viable(b"1e"));
    assert!(oracle.is_viable(b"1el"));
    assert!(!oracle.is_viable(b"1ee"));
}

#[test]
fn munch_can_empty_a_language() {
    let oracle = oracle("start s\nterminal A /a+/\nrule s -> A A\n", b"a");
    assert!(!oracle.is_viable(b""));
    assert!(oracle.members(8).is_empty());
}

#[test]
fn reserved_words_are_never_identifiers() {
    let spec = |lexer: &str, reserved: &str| {
        format!(
            "lexer {lexer}\nstart s\nterminal IF /i/ {reserved}\nterminal NAME /[ij]+/\n\
             terminal WS / /ignored\nrule s -> IF NAME\n"
        )
    };
    for (lexer, reserved, is_member) in
        [("basic", "", false), ("contextual", "reserved NAME", false), ("contextual", "", true)]
    {
        let oracle = oracle(&spec(lexer, reserved), b"ij ");
        assert_eq!(oracle.is_member(b"i i"), is_member, "{lexer} {reserved}");
        assert!(oracle.is_viable(b"i i"), "{lexer} {reserved}");
        assert!(oracle.is_member(b"i ij"), "{lexer} {reserved}");
    }
}

#[test]
fn a_fallback_word_is_itself_first_and_a_soft_one_is_both() {
    let spec = |modifier: &str| {
        format!(
            "start s\nterminal M /m/ {modifier} NAME\nterminal NAME /[mn]+/\nterminal B /!/\n\
             rule s -> NAME\nrule s -> M B\nrule s -> NAME NAME\nterminal WS / /ignored\n"
        )
    };
    let fallback = oracle(&spec("fallback"), b"mn !");
    assert!(!fallback.is_member(b"m"));
    assert!(fallback.is_member(b"m!"));
    assert!(fallback.is_member(b"n m"));
    assert!(!fallback.is_viable(b"m n"));
    let soft = oracle(&spec("soft"), b"mn !");
    assert!(soft.is_member(b"m"));
    assert!(soft.is_member(b"m!"));
    assert!(soft.is_member(b"m n"));
}

#[test]
fn unproductive_rules_take_no_part() {
    let oracle = oracle(
        "start s\nterminal A /a/\nterminal B /b/\nrule s -> A\nrule s -> x\nrule x -> B x\n",
        b"ab",
    );
    assert!(oracle.is_member(b"a"));
    assert!(!oracle.is_viable(b"b"));
}

#[test]
fn nullable_rules_are_recognised_at_every_place() {
    let oracle = oracle(
        "start s\nterminal A /a/\nterminal B /b/\nrule s -> n n A n\nrule n ->\nrule n -> B\nrule n -> n n\n",
        b"ab",
    );
    let members = oracle.members(3);
    for text in ["a", "ba", "ab", "bba", "bab", "abb"] {
        assert!(members.contains(text.as_bytes()), "{text}");
    }
    assert_eq!(members.len(), 6);
}

#[test]
fn the_search_for_completions_agrees_with_plain_enumeration() {
    for name in oracle::case::names() {
        let case = Case::read(&name);
        for &lexer in &case.lexers {
            let oracle = case.oracle(lexer);
            let mut length = 0;
            while length < 10 && case.alphabet.len().pow(length as u32 + 1) < 3_000 {
                length += 1;
            }
            for member in oracle.members(length) {
                for end in 0..=member.len() {
                    assert!(oracle.is_viable(&member[..end]), "{name}: {}", show(&member[..end]));
                }
            }
        }
    }
}

#[test]
fn the_oracle_says_of_every_small_grammar_what_people_say() {
    let mut faults = Vec::new();
    for name in oracle::case::names() {
        let case = Case::read(&name);
        for &lexer in &case.lexers {
            let oracle = case.oracle(lexer);
            for e in case.expectations.iter().filter(|e| e.lexer == lexer) {
                let (found, expected) = match e.fact {
                    Fact::Member => (oracle.is_member(&e.text), true),
                    Fact::NotMember => (oracle.is_member(&e.text), false),
                    Fact::Viable => (oracle.is_viable(&e.text), true),
                    Fact::NotViable => (oracle.is_viable(&e.text), false),
                };
                if found != expected {
                    faults.push(format!(
                        "{name} ({}): {:?} {}",
                        lexer.name(),
                        e.fact,
                        show(&e.text)
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "the oracle disagrees:\n{}", faults.join("\n"));
}
