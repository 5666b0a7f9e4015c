//! The public interface: errors, limits and shapes, as callers meet them.

use lrmask::{
    BuildError, Cancel, CompiledGrammar, Constraint, ConstraintBuilder, ConstraintCache, Grammar,
    GrammarErrorKind, GrammarReader, JsonSchema, LimitKind, Limits, Matcher, SchemaErrorKind,
    SchemaOptions, StructuralTags, TokenMask, Vocabulary, VocabularyErrorKind, VocabularyReader,
};

fn lark(text: &str) -> Grammar {
    Grammar::from_lark(text).expect("a sound grammar")
}

#[test]
fn a_token_that_the_vocabulary_lacks_is_an_error_of_constraint() {
    let compiled = CompiledGrammar::new(&lark("start: \"a\" <|sytem|>")).expect("sound");
    let vocabulary = Vocabulary::single_bytes().with_special(256, "<|system|>").expect("free");
    let error = compiled.constraint(&vocabulary).expect_err("it is unknown");
    assert_eq!(error.kind(), GrammarErrorKind::Grammar);
    assert_eq!(error.diagnostics()[0].code, "unknown-token");
    let help = error.diagnostics()[0].help.as_deref().unwrap_or_default();
    assert!(help.contains("<|system|>"), "{help}");
    let same = Constraint::new(&lark("start: \"a\" <|sytem|>"), &vocabulary);
    assert_eq!(same.expect_err("it is unknown"), error);
    assert!(compiled.constraint(&vocabulary.with_special(257, "<|sytem|>").expect("free")).is_ok());
}

#[test]
fn texts_are_followed_without_a_vocabulary() {
    let compiled = CompiledGrammar::new(&lark("start: \"a\" [\"b\" <|end|>]")).expect("sound");
    let mut matcher = compiled.matcher();
    assert!(matcher.advance_bytes(b"a").is_ok() && matcher.is_accepting());
    // The spelling of a named token is no text.
    for byte in 0..=255 {
        assert_eq!(matcher.clone().advance_bytes(&[byte]).is_ok(), byte == b'b', "{byte}");
    }
    assert!(matcher.advance_bytes(b"b").is_ok() && !matcher.is_accepting());
    assert!((0..=255).all(|byte: u8| matcher.advance_bytes(&[byte]).is_err()));
}

/// What threads share or hand on, checked when this is compiled.
#[test]
fn what_threads_use_is_send_and_sync() {
    fn assert_shared<T: Send + Sync>() {}
    assert_shared::<Constraint>();
    assert_shared::<CompiledGrammar>();
    assert_shared::<ConstraintBuilder>();
    assert_shared::<ConstraintCache>();
    assert_shared::<Grammar>();
    assert_shared::<JsonSchema>();
    assert_shared::<StructuralTags>();
    assert_shared::<Vocabulary>();
    assert_shared::<VocabularyReader>();
    assert_shared::<Matcher>();
    assert_shared::<TokenMask>();
    assert_shared::<Limits>();
    assert_shared::<Cancel>();
    assert_shared::<BuildError>();
}

#[test]
fn one_builder_has_the_limits_of_all_that_is_built() {
    let limits = Limits::default().build_steps(100);
    let builder = Constraint::builder().limits(&limits);
    let vocabulary = Vocabulary::single_bytes();
    let grammar = lark("start: A+\nA: /a(b|c){1,9}/");
    let steps = |error: GrammarErrorKind| assert_eq!(error, GrammarErrorKind::Limit);
    steps(builder.compile(&grammar).expect_err("too few").kind());
    steps(builder.build(&grammar, &vocabulary).expect_err("too few").kind());
    let schema = r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#;
    let error = builder.schema(schema, &SchemaOptions::default(), &vocabulary);
    let error = error.expect_err("too few");
    assert_eq!(error.limit().map(|limit| limit.kind()), Some(LimitKind::Steps));
    let built = Constraint::new(&grammar, &vocabulary).expect("sound");
    let few = Constraint::builder().limits(&Limits::default().build_bytes(100));
    assert!(few.load(built.save(), &vocabulary).is_err());
    assert!(few.load_compiled(&built.save()).is_err());
    assert!(Constraint::builder().load(built.save(), &vocabulary).is_ok());
}

#[test]
fn a_refused_schema_keeps_its_kind_and_pointer() {
    let (options, vocabulary) = (SchemaOptions::default(), Vocabulary::single_bytes());
    for (text, kind, pointer) in [
        ("{", SchemaErrorKind::InvalidJson, ""),
        (r##"{"items": {"$ref": "#/no"}}"##, SchemaErrorKind::UnresolvedReference, "/items/$ref"),
        (r#"{"required": [1]}"#, SchemaErrorKind::InvalidSchema, "/required/0"),
        (r#"{"type": "integer", "enum": ["a"]}"#, SchemaErrorKind::Unsatisfiable, ""),
    ] {
        let refused = Constraint::from_schema(text, &options, &vocabulary);
        let Err(BuildError::Schema(error)) = refused else { panic!("{text}: {refused:?}") };
        assert_eq!((error.kind(), error.pointer()), (kind, pointer), "{text}: {error}");
        assert_eq!(BuildError::Schema(error.clone()).diagnostics(), [error.diagnostic()]);
    }
    let reader = GrammarReader::new().limits(&Limits::default().schema_productions(3));
    let error = reader.json_schema(r#"{"enum": [{"a": [1]}, {"b": [[2]]}]}"#, &options);
    assert_eq!(error.expect_err("too many").kind(), SchemaErrorKind::TooLarge);
}

#[test]
fn vocabularies_are_read_within_limits_from_anything_that_holds_bytes() {
    let of_bytes = Vocabulary::from_tokens([&b"a"[..], b"", b"bc"]).expect("sound");
    let of_text = Vocabulary::from_tokens(["a", "", "bc"]).expect("sound");
    let of_vectors = Vocabulary::from_tokens(vec![vec![b'a'], vec![], vec![b'b', b'c']]);
    assert_eq!(of_bytes.fingerprint(), of_text.fingerprint());
    assert_eq!(of_bytes.fingerprint(), of_vectors.expect("sound").fingerprint());
    let list = br#"["a", "bc"]"#;
    for limits in [
        Limits::default().token_ids(1),
        Limits::default().token_bytes(2),
        Limits::default().vocabulary_bytes(5),
    ] {
        let error = VocabularyReader::new().limits(&limits).file_bytes(list);
        assert_eq!(error.expect_err("too much").kind(), VocabularyErrorKind::Limit, "{limits:?}");
    }
    assert!(VocabularyReader::new().limits(&Limits::strict()).file_bytes(list).is_ok());
}
