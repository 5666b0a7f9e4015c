//! `fill_masks`: any shape is defined, and every row is what its matcher says.

// A test fails by panicking; the lint only knows that of the test functions themselves.
#![allow(clippy::unwrap_used)]

use lrmask::{Constraint, Grammar, Matcher, Vocabulary, fill_masks};

fn constraint(lark: &str) -> Constraint {
    let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).unwrap();
    Constraint::new(&Grammar::from_lark(lark).unwrap(), &vocabulary).unwrap()
}

#[test]
fn any_shape_is_defined() {
    let vocabulary = Vocabulary::from_tokens([b"b".to_vec(), b"a".to_vec()]).unwrap();
    let constraint =
        Constraint::new(&Grammar::from_lark("start: \"a\"").unwrap(), &vocabulary).unwrap();
    let matcher = constraint.matcher();
    for (stride, rows, expected) in [
        (0, 2, &[7, 7][..]),
        (1, 4, &[2, u32::MAX, 2, u32::MAX]),
        (1, 2, &[2, u32::MAX]),
        // The last row has a part only.
        (2, 5, &[2, 0, u32::MAX, u32::MAX, 2]),
    ] {
        let mut rows = vec![7; rows];
        fill_masks(&[Some(&matcher), None, Some(&matcher)], &mut rows, stride);
        assert_eq!(rows, expected);
    }
}

#[test]
fn rows_of_many_threads_are_those_of_one() {
    let lists = constraint(
        r#"start: "[" [NUMBER ("," NUMBER)*] "]"  NUMBER: /[0-9]+/"#.replace("  ", "\n").as_str(),
    );
    let words = constraint("start: WORD (\" \" WORD)*\nWORD: /[a-z]{1,8}/");
    let along = |constraint: &Constraint, text: &str| -> Vec<Matcher> {
        (0..=text.len())
            .map(|end| {
                let mut matcher = constraint.matcher();
                matcher.advance_bytes(&text.as_bytes()[..end]).unwrap();
                matcher
            })
            .collect()
    };
    let mut all = along(&lists, "[1,22,333,4444,55555,666666,7777777]");
    all.extend(along(&words, "some words after one another"));
    let batch: Vec<Option<&Matcher>> = all
        .iter()
        .enumerate()
        .map(|(index, matcher)| (index % 5 != 3).then_some(matcher))
        .collect();
    let stride = 10;
    let mut rows = vec![7; batch.len() * stride];
    fill_masks(&batch, &mut rows, stride);
    for (row, matcher) in rows.chunks(stride).zip(&batch) {
        let mut expected = vec![u32::MAX; stride];
        if let Some(matcher) = matcher {
            matcher.fill_mask_into(&mut expected);
        }
        assert_eq!(row, expected);
    }
}
