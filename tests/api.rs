//! The public interface from a caller's point of view: errors, limits and row shapes.

use lrmask::{
    AdvanceErrorKind, BuildError, Cancel, CompiledGrammar, Constraint, ConstraintBuilder,
    ConstraintCache, Draft, Grammar, GrammarErrorKind, GrammarReader, JsonSchema, KeyOrder,
    LimitKind, Limits, Matcher, RowError, SchemaErrorKind, SchemaOptions, Source, StructuralTags,
    TokenMask, Vocabulary, VocabularyErrorKind, VocabularyReader,
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
    // The spelling of a named token is not text.
    for byte in 0..=255 {
        assert_eq!(matcher.clone().advance_bytes(&[byte]).is_ok(), byte == b'b', "{byte}");
    }
    assert!(matcher.advance_bytes(b"b").is_ok() && !matcher.is_accepting());
    assert!((0..=255).all(|byte: u8| matcher.advance_bytes(&[byte]).is_err()));
}

/// Types that are shared between threads or moved to them, checked at compile time.
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
    let error = builder.read(&Source::json_schema(schema, &SchemaOptions::default()), &vocabulary);
    let error = error.expect_err("too few");
    assert_eq!(error.limit().map(lrmask::LimitReached::kind), Some(LimitKind::Steps));
    let built = Constraint::new(&grammar, &vocabulary).expect("sound");
    let few = Constraint::builder().limits(&Limits::default().build_bytes(100));
    assert!(few.load(built.save(), &vocabulary).is_err());
    assert!(few.load_compiled(built.save()).is_err());
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

fn vocabulary(tokens: &[&str]) -> Vocabulary {
    Vocabulary::from_tokens(tokens).expect("sound")
}

fn allowed(matcher: &Matcher) -> Vec<u32> {
    let mut mask = TokenMask::default();
    matcher.fill_mask(&mut mask);
    mask.tokens().map(lrmask::TokenId::get).collect()
}

#[test]
fn a_refused_token_says_why() {
    let vocabulary = vocabulary(&["a", "b", "ab", "", "", ""])
        .with_special_tokens([(3, "<x>"), (4, "</s>")])
        .expect("free");
    let constraint = Constraint::new(&lark("start: \"a\" \"b\""), &vocabulary).expect("sound");
    let mut matcher = constraint.matcher();
    let refused = |matcher: &mut Matcher, token: u32| {
        let error = matcher.advance(token).expect_err("it is refused");
        assert_eq!(error.token().map(lrmask::TokenId::get), Some(token));
        (error.kind(), error.accepted_bytes())
    };
    assert_eq!(refused(&mut matcher, 1), (AdvanceErrorKind::Grammar, 0));
    assert_eq!(refused(&mut matcher, 3), (AdvanceErrorKind::NoText, 0));
    assert_eq!(refused(&mut matcher, 4), (AdvanceErrorKind::Incomplete, 0));
    assert_eq!(refused(&mut matcher, 5), (AdvanceErrorKind::NoText, 0));
    assert_eq!(refused(&mut matcher, 6), (AdvanceErrorKind::Width, 0));
    assert_eq!(refused(&mut matcher, u32::MAX), (AdvanceErrorKind::Width, 0));
    let error = matcher.advance_bytes(b"abb").expect_err("too long");
    assert_eq!((error.kind(), error.accepted_bytes()), (AdvanceErrorKind::Grammar, 2));
    assert_eq!((error.token(), matcher.steps()), (None, 0));
    matcher.advance(0u32).expect("allowed");
    assert_eq!(refused(&mut matcher, 2), (AdvanceErrorKind::Grammar, 0));
    matcher.advance(1u32).expect("allowed");
    matcher.advance(4u32).expect("the end");
    assert_eq!(refused(&mut matcher, 0), (AdvanceErrorKind::Finished, 0));
    let error = matcher.advance_bytes(b"a").expect_err("it has ended");
    assert_eq!(error.kind(), AdvanceErrorKind::Finished);
}

#[test]
fn masks_can_be_written_and_applied() {
    let mut mask = TokenMask::new(70);
    assert!(mask.is_empty() && mask.count() == 0 && !mask.contains(0));
    mask.words_mut()[2] = 0b10;
    mask.words_mut()[0] = u32::MAX;
    assert!(mask.contains(65) && !mask.contains(64) && !mask.contains(32) && !mask.contains(1_000));
    assert_eq!((mask.count(), mask.is_empty()), (33, false));
    for width in [0, 5, 40, 66, 70, 200] {
        let mut logits = vec![1.0; width];
        mask.apply(&mut logits);
        for (token, logit) in (0u32..).zip(logits) {
            assert_eq!(logit > 0.0, mask.contains(token), "{token}");
        }
    }
}

#[test]
fn a_full_mask_says_so_at_any_width() {
    for width in [1, 31, 32, 33, 64] {
        let tokens: Vec<String> = (0..width).map(|id| "a".repeat(id + 1)).collect();
        let vocabulary = Vocabulary::from_tokens(tokens).expect("sound");
        let constraint = Constraint::new(&lark("start: \"a\"+"), &vocabulary).expect("sound");
        let (matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
        let info = matcher.fill_mask(&mut mask);
        assert!(info.is_full() && info.is_exact(), "{width}");
        let wider = vocabulary.with_width(width + 1).expect("wider");
        let constraint = Constraint::new(&lark("start: \"a\"+"), &wider).expect("sound");
        assert!(!constraint.matcher().fill_mask(&mut mask).is_full(), "{width}");
    }
}

/// Compares with a clone that takes the drafts.
#[test]
fn rows_of_drafts_are_those_of_clones() {
    let vocabulary = vocabulary(&["(", ")", "()", "((", "a", ""]).with_stop_tokens([5]);
    let vocabulary = vocabulary.expect("below the width");
    let grammar = lark("start: \"(\" start* \")\" | \"a\"");
    let constraint = Constraint::new(&grammar, &vocabulary).expect("sound");
    let mut random = fastrand::Rng::with_seed(7);
    let (mut refused, mut taken) = (0, 0);
    for round in 0..2_000 {
        let mut matcher = constraint.matcher();
        for _ in 0..random.usize(..4) {
            let _ = matcher.advance(random.u32(..5));
        }
        let count = random.usize(..7);
        let drafts: Vec<Draft> = (0..count)
            .map(|place| Draft {
                token: random.u32(..7).into(),
                parent: match round % 2 {
                    0 => place.checked_sub(1),
                    _ => random.usize(..=place).checked_sub(1),
                },
            })
            .collect();
        let before = (allowed(&matcher), matcher.steps());
        let (stride, old) = (3, 0xABCD);
        let mut rows = vec![old; (count + 2) * stride];
        let found = matcher.fill_draft_masks(&drafts, &mut rows, stride).expect("room for all");
        assert_eq!((allowed(&matcher), matcher.steps()), before, "it is as it was");
        let mut clones = vec![Some(matcher)];
        for (place, draft) in drafts.iter().enumerate() {
            let mut clone = clones[draft.parent.map_or(0, |parent| parent + 1)].clone();
            let is_taken = clone.as_mut().is_some_and(|clone| clone.advance(draft.token).is_ok());
            assert_eq!(is_taken, found[place]);
            clones.push(clone.filter(|_| is_taken));
            *(if is_taken { &mut taken } else { &mut refused }) += 1;
        }
        for (row, clone) in rows.chunks(stride).zip(clones.iter().chain([&None])) {
            let mut expected = vec![old; stride];
            if let Some(clone) = clone {
                clone.fill_mask_into(&mut expected).expect("wide enough");
            }
            assert_eq!(row, expected);
        }
    }
    assert!(refused > 1_000 && taken > 1_000, "{refused} {taken}");
    let matcher = constraint.matcher();
    let chain = Draft::chain([0u32, 1]);
    assert_eq!(
        matcher.fill_draft_masks(&chain, &mut [0; 2], 1),
        Err(RowError::Missing { row: 2, rows: 2 })
    );
    let short = matcher.fill_draft_masks(&chain, &mut [0; 3], 0);
    assert_eq!(short, Err(RowError::Short { words: 0, needed: 1 }));
    let late = [Draft { token: 0.into(), parent: Some(0) }];
    let late = matcher.fill_draft_masks(&late, &mut [0; 3], 1);
    assert_eq!(late, Err(RowError::Parent { draft: 0 }));
}

#[test]
fn forced_tokens_leave_out_what_a_longer_token_could_replace() {
    let tokens = ["n", "u", "l", "ll", "null", ",", "nul", "x", "l,"];
    for (grammar, cut, expected) in [
        // Nothing can follow, so all tokens are certain.
        ("start: \"null\"", vec![0, 1, 3], vec![0, 1, 3]),
        ("start: \"null\"", vec![6, 2], vec![6, 2]),
        // After "nul" the token "l" could be "l,".
        ("start: \"null\" (\",\" | \"x\")", vec![6, 2], vec![6]),
        // After "nu" the token "ll" could not be longer, but "l," could begin within it.
        ("start: \"null\" (\",\" | \"x\")", vec![0, 1, 3], vec![0, 1]),
        ("start: \"null\" (\"x\" | \"u\")", vec![0, 1, 3], vec![0, 1, 3]),
        // It may be longer in the vocabulary, but not here.
        ("start: \"null\" (\"x\" | \"u\")", vec![6, 2], vec![6, 2]),
        // A token that does not spell the text ends the list.
        ("start: \"null\"", vec![0, 7, 3], vec![0]),
        ("start: \"null\" | \"x\"", vec![4], vec![]),
    ] {
        let constraint = Constraint::new(&lark(grammar), &vocabulary(&tokens)).expect("sound");
        let found = constraint.matcher().forced_tokens(|_| cut.clone());
        let found: Vec<u32> = found.iter().map(|token| token.get()).collect();
        assert_eq!(found, expected, "{grammar} {cut:?}");
    }
}

#[test]
fn what_can_go_on_says_so() {
    let vocabulary = vocabulary(&["a", "b", ""]).with_special(2, "</s>").expect("free");
    let constraint = Constraint::new(&lark("start: \"a\" \"b\"?"), &vocabulary).expect("sound");
    let mut matcher = constraint.matcher();
    assert_eq!(matcher.vocabulary().width(), 3);
    for token in [0u32, 1] {
        assert!(matcher.can_continue());
        matcher.advance(token).expect("allowed");
    }
    assert!(matcher.is_accepting() && !matcher.can_continue());
    matcher.advance(2u32).expect("the end");
    assert!(!matcher.can_continue());
    // A named token is a continuation as well.
    let named = Constraint::new(&lark("start: \"a\" [</s>]"), &vocabulary).expect("sound");
    let mut matcher = named.matcher();
    matcher.advance(0u32).expect("allowed");
    assert!(matcher.can_continue());
}

#[test]
fn sequences_have_stop_tokens_of_their_own() {
    let vocabulary = vocabulary(&["a", "b", "", "", "ab"]).with_stop_tokens([1, 2]);
    let vocabulary = vocabulary.expect("below the width");
    let constraint = Constraint::new(&lark("start: (\"a\" \"b\")*"), &vocabulary).expect("sound");
    for own in [vec![], vec![3], vec![0, 3], vec![2], vec![1, 2, 4], vec![4]] {
        // The same as a vocabulary with these stop tokens.
        let other = vocabulary.clone().with_stop_tokens(own.clone()).expect("below the width");
        let other = Constraint::new(&lark("start: (\"a\" \"b\")*"), &other).expect("sound");
        let mut pairs = vec![(
            constraint.matcher_with_stops(own.clone()).expect("below the width"),
            other.matcher(),
        )];
        for _ in 0..4 {
            let mut next = Vec::new();
            for (matcher, other) in pairs {
                assert_eq!(allowed(&matcher), allowed(&other), "{own:?}");
                assert_eq!(matcher.is_finished(), other.is_finished());
                for token in 0..6u32 {
                    let (mut one, mut two) = (matcher.clone(), other.clone());
                    let taken = one.advance(token);
                    assert_eq!(taken, two.advance(token), "{own:?} {token}");
                    next.extend(taken.is_ok().then_some((one, two)));
                }
            }
            pairs = next;
        }
    }
    let error = constraint.matcher_with_stops([5]).expect_err("past the width");
    assert_eq!(error.kind(), VocabularyErrorKind::Argument);
}

#[test]
fn logits_narrower_than_the_vocabulary_cut_it() {
    let whole = vocabulary(&["a", "b", "ab", "abab", "x"])
        .with_special_tokens([(5, "<x>"), (6, "</s>")])
        .expect("free");
    let grammar = lark("start: (\"a\" \"b\")*");
    for width in 1..=7 {
        let cut = whole.clone().with_width(width).expect("some tokens are left");
        assert_eq!((cut.width(), cut.len()), (width, width));
        let constraint = Constraint::new(&grammar, &cut).expect("sound");
        let wide = Constraint::new(&grammar, &whole).expect("sound");
        let expected = allowed(&wide.matcher());
        let expected: Vec<u32> =
            expected.into_iter().filter(|&token| (token as usize) < width).collect();
        assert_eq!(allowed(&constraint.matcher()), expected);
        assert_eq!(constraint.new_mask().words().len(), 1);
    }
    assert!(whole.with_width(0).is_err());
}

#[test]
fn a_constraint_is_shown_in_a_few_lines() {
    let constraint = Constraint::new(&lark("start: \"a\""), &Vocabulary::single_bytes());
    let shown = format!("{constraint:?}");
    assert!(shown.len() < 500, "{shown}");
}

#[test]
fn a_cache_finds_what_was_built_by_text_notation_and_options() {
    let (vocabulary, limits) = (Vocabulary::single_bytes(), Limits::default());
    let cache = ConstraintCache::new(1 << 30);
    let (mut any, mut tags) = (SchemaOptions::default(), StructuralTags::new(["<"]));
    any.order = KeyOrder::Any;
    tags.add_tag("<a>", "{}", "</a>");
    let sources = [
        Source::lark("start: \"a\"\nb: \"b\""),
        Source::lark("start: \"a\"\nb: \"b\"").start("b"),
        Source::lark("%import .o.A\nstart: A").file("o.lark", "A: \"a\""),
        Source::lark("%import .o.A\nstart: A").file("o.lark", "A: \"b\""),
        Source::gbnf("root ::= \"a\""),
        Source::yacc("%token A\n%%\ns: A;", "A: \"a\""),
        Source::regex("a"),
        Source::choices(["a"]),
        Source::json_schema("{}", &SchemaOptions::default()),
        Source::json_schema("{}", &any),
        Source::structural_tags(&tags, &any),
    ];
    for _ in 0..2 {
        for source in &sources {
            if let Err(error) = cache.get_or_build(source, &vocabulary, &limits) {
                panic!("{source:?}: {error}");
            }
        }
        assert_eq!(cache.len(), sources.len());
    }
    let refused = Source::json_schema(r#"{"required": [1]}"#, &any);
    for _ in 0..2 {
        let error = cache.get_or_build(&refused, &vocabulary, &limits);
        let Err(BuildError::Schema(error)) = error else { panic!("it is no schema") };
        assert_eq!(error.pointer(), "/required/0");
    }
    assert_eq!(cache.len(), sources.len() + 1);
    assert!(cache.bytes() > 1_000);
}
