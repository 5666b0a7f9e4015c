//! Tests of the Yacc reader: the resulting tree, each kind of refusal, and that no file makes it
//! panic.

use proptest::prelude::*;

use super::*;
use crate::syntax::ast::Word;

const CALCULATOR: &str = r#"
%{
#include <stdio.h>   /* "%%" in code is no matter */
%}
%union { double value; char *name; }
%define api.pure full
%expect 0
%token <value> NUMBER 258
%token <name> NAME
%token EQ "==" END 0 "end of file"
%type <value> expr
                   // levels
%nonassoc EQ
%left '+' /* over
             lines */ '-'
      "mod"
%right UMINUS
%start program
%%
program: /* nothing */ | program expr ';' { printf("}%d\n", '}'); /* } */ }
       | %empty;
expr[sum]: expr[left] '+' expr { $$ = $1 + $3; }
    | expr { $<value>$ = 1; } '-' expr
    | expr "mod" expr | expr "==" expr
    | '-' expr %prec UMINUS { $$ = -$2; }
    | '\'' NAME '\'' | "\"\\\x41\n" | NUMBER
    ;
program: Other;
Other: '(' expr ')';
%%
int main() { return yyparse(); %% ' "
"#;

const TERMINALS: &str = "NUMBER: /[0-9]+/\nNAME: /[a-z]+/\nEQ: \"==\"\n%ignore \" \"\n%import \
    common.WS\n%lexer basic\n";

fn yacc(text: &str) -> File {
    parse_yacc(text, "").unwrap_or_else(|error| panic!("{text:?}: {error}")).grammar
}

#[test]
fn a_calculator_keeps_its_language_and_loses_its_code() {
    let files = parse_yacc(CALCULATOR, TERMINALS).expect("a sound grammar");
    let expected = r#"%start program
%nonassoc EQ
%left "+" "-" "mod"
%right UMINUS
program:
    | program expr ";"
    |
    | Other
expr: expr "+" expr
    | expr "-" expr
    | expr "mod" expr
    | expr EQ expr
    | "-" expr %prec UMINUS
    | "'" NAME "'"
    | "\"\\A\n"
    | NUMBER
Other: "(" expr ")"
"#;
    assert_eq!(files.grammar.to_string(), expected);
    assert_eq!(files.terminals.items.len(), 6);
}

#[test]
fn code_of_go_is_passed_over() {
    let file =
        yacc("%token NUM\n%%\ntop: NUM { x[`a } \\`] } | '+' { r := '\"'; s := `\"{` } // it's\n;");
    assert_eq!(file.to_string(), "%start top\ntop: NUM\n    | \"+\"\n");
}

#[test]
fn what_bison_and_others_write_is_read() {
    let text = r#"
%define parse.error custom
%param {int x} {int y};
%token <a> NUM "number";
%precedence LOW
%left '+' TIMES
%code requires { int f(void); }
%%
%type <a> sum;
sum: sum '+' sum %dprec 1 | sum TIMES sum %merge <join> | NUM %prec LOW | error ';' { yyerrok; }
list: %empty
    | list "number" ';' /* no semicolon */
%nterm <b> last;
last[name]: list %expect 1 sum
%%
what follows
"#;
    let expected = r#"%start sum
%right LOW
%left "+" TIMES
%declare error
sum: sum "+" sum
    | sum TIMES sum
    | NUM %prec LOW
    | error ";"
list:
    | list NUM ";"
last: list sum
"#;
    assert_eq!(yacc(text).to_string(), expected);
}

#[test]
fn rules_alone_have_tokens_that_are_their_names() {
    let file = parse_yacc_rules("%token num\n%% a: num '+' Num2 | num;\n%token Num2")
        .expect("sound")
        .to_string();
    let expected = "%start a\na: num \"+\" Num2\n    | num\nnum: \"num\"\nNum2: \"Num2\"\n%ignore \
        /[ \\t\\n]+/\n";
    assert_eq!(file, expected);
    let quoted = parse_yacc_rules("%% a: '+' ' ';").expect("sound").to_string();
    assert!(!quoted.contains("%ignore"), "{quoted}");
}

#[test]
fn spans_are_the_files_own() {
    let text = "/* ä */ %token NUM\n%left '+' MINUS\n%%\nexpr: expr '+' NUM {ö} | NUM;\n";
    let file = yacc(text);
    let Some(Statement::Directive(Spanned { node: Directive::Precedence { words, .. }, span })) =
        file.items.get(1)
    else {
        panic!("no precedence line in {file}")
    };
    assert_eq!(&text[span.clone()], "+' MINUS");
    assert!(matches!(&words[0], Word::Literal { span, .. } if &text[span.clone()] == "'+'"));
    let Some(Statement::Rule(rule)) = file.items.get(2) else { panic!("no rule in {file}") };
    assert_eq!(&text[rule.name.span.clone()], "expr");
    let items = &rule.body.alternatives[0].items;
    assert_eq!(
        items.iter().map(|item| &text[item.span.clone()]).collect::<Vec<_>>(),
        ["expr", "'+'", "NUM"]
    );
    assert!(matches!(&items[2].node, ExprKind::Terminal(name) if name == "NUM"));
}

#[test]
fn every_refusal_names_the_place() {
    use SyntaxErrorKind::*;
    let cases: &[(&str, SyntaxErrorKind, &str)] = &[
        ("", Yacc, ""),
        ("%token A", Yacc, ""),
        ("%%", Yacc, "%%"),
        ("A %%", Yacc, "A"),
        ("%% a: b;", Yacc, "b"),
        ("%start b\n%% a: 'x';", Yacc, "b"),
        ("%left '+'\n%left '-' '+'\n%% a: 'x';", Yacc, "+"),
        ("%% a: 'x' %prec HIGH;", Yacc, "HIGH"),
        ("%% a: 'x' %empty;", Yacc, "%empty"),
        ("%left '+'\n%% a: 'x' %prec;", Yacc, ";"),
        ("%% : 'x';", Yacc, ":"),
        ("%% 'x';", Yacc, "x"),
        ("%% a: 'x' %unheard 2;", UnknownDirective, "%unheard"),
        ("%% a: 'x'*;", Yacc, "*"),
        ("%token a\n%% a: 'x';", Yacc, "a"),
        ("%% a: %?{x} 'x';", UnknownDirective, "%"),
        ("%token num\n%% a: num;", BadName, "num"),
        ("%% a: 'x' { '}' ;", UnclosedBracket, "{"),
        ("%{ a: 'x';", UnclosedBracket, "%{"),
        ("%% a: 'x'; /* b", UnclosedBracket, "/*"),
        ("%% a: 'x;\n", UnterminatedString, "'x;"),
        ("%% a: '';", EmptyLiteral, "''"),
        ("%% a: '\u{1}';", UnexpectedCharacter, "\u{1}"),
        (r"%% a: '\q';", BadEscape, r"\q"),
        (r"%% a: '\xg';", BadEscape, r"\x"),
        (r"%% a: '\377';", BadEscape, r"\377"),
    ];
    for (text, kind, fault) in cases {
        let error = parse_yacc(text, "")
            .map(|files| panic!("{text:?} is {}", files.grammar))
            .expect_err("refused");
        assert_eq!(error.kind(), *kind, "{text:?}: {error}");
        assert_eq!(&text[error.span()], *fault, "{text:?}: {error}");
        assert_eq!(error.source_text(), SourceText::Grammar);
    }
    let long = format!("%% {}: 'x';", "a".repeat(2000));
    assert_eq!(parse_yacc(&long, "").expect_err("too long").kind(), BadName);
    assert_eq!(parse_yacc(&" ".repeat(MAX_BYTES + 1), "").expect_err("too large").kind(), TooLarge);
}

#[test]
fn only_terminals_stand_beside_the_rules() {
    for (terminals, kind) in [
        ("A: \"a\"\nb: A", SyntaxErrorKind::Misplaced),
        ("%start b", SyntaxErrorKind::Misplaced),
        ("%left A", SyntaxErrorKind::Misplaced),
        ("A = \"a\"", SyntaxErrorKind::UnexpectedCharacter),
    ] {
        let error = parse_yacc("%% a: 'x';", terminals).expect_err("not only terminals");
        assert_eq!((error.kind(), error.source_text()), (kind, SourceText::Terminals), "{error}");
    }
}

#[test]
fn a_hundred_thousand_alternatives_are_read() {
    let text = format!("%% a: 'x'{};", "\n  | a 'x' { y }".repeat(100_000));
    let file = yacc(&text);
    assert!(
        matches!(&file.items[1], Statement::Rule(rule) if rule.body.alternatives.len() == 100_001)
    );
    // Linear, though each bracket might be the beginning of something.
    assert!(parse_yacc(&format!("%% a: {}", "[".repeat(MAX_BYTES - 10)), "").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_read_or_refused_at_a_place_within_it(text in any::<String>(), rules in any::<bool>()) {
        let text = if rules { format!("%token A\n%%{text}") } else { text };
        if let Err(error) = parse_yacc(&text, "") {
            prop_assert!(text.get(error.span()).is_some(), "{:?}: {}", text, error);
        }
    }

    #[test]
    fn any_words_are_read_or_refused_at_a_place_within_them(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "a", "B", "b.c", ".", "'x'", "'é'", "\"y\"", "'\\''", "'\\\\'", "\"\\\"\"", "'",
                "\"", "\\", ":", ":", "|",
                "|", ";", ";", "%%", "%%", "%prec", "%empty", "%token", "%left", "%right",
                "%nonassoc", "%start", "%type",
                "%define", "%grmtools", "%", "%{", "%}", "{", "}", "{x}", "<t>", "[n]", "<", "[",
                "258", "//", "/*", "*/", "/", "\n",
                "é", "\u{1}", "\r", " ", "error", "%epp", "%avoid_insert",
            ]),
            0..24,
        ),
        separator in prop_oneof![Just(""), Just(" ")],
        rules in any::<bool>(),
    ) {
        let text = format!("{}{}", if rules { "%token A B\n%left '+'\n\
                                               %%" } else { "" }, words.join(separator));
        if let Err(error) = parse_yacc(&text, "") {
            prop_assert!(text.get(error.span()).is_some(), "{:?}: {}", text, error);
        }
    }
}
