//! `fill_masks` and `fill_rows`: every row equals its matcher's mask, or an error is returned.

// Tests fail by panicking, but the lint recognizes only the test functions themselves.
#![allow(clippy::unwrap_used)]

use lrmask::{Constraint, Grammar, Matcher, RowError, Vocabulary, fill_masks, fill_rows};

fn constraint(lark: &str) -> Constraint {
    let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).unwrap();
    Constraint::new(&Grammar::from_lark(lark).unwrap(), &vocabulary).unwrap()
}

#[test]
fn rows_have_any_shape_that_holds_the_masks() {
    let vocabulary = Vocabulary::from_tokens([b"b".to_vec(), b"a".to_vec()]).unwrap();
    let constraint =
        Constraint::new(&Grammar::from_lark("start: \"a\"").unwrap(), &vocabulary).unwrap();
    let matcher = constraint.matcher();
    let batch = [Some(&matcher), None, Some(&matcher)];
    for (stride, rows, expected) in [
        (1, 4, &[2, u32::MAX, 2, u32::MAX][..]),
        (1, 3, &[2, u32::MAX, 2]),
        // The rest is not a whole row.
        (2, 7, &[2, 0, u32::MAX, u32::MAX, 2, 0, u32::MAX]),
    ] {
        let mut rows = vec![7; rows];
        fill_masks(&batch, &mut rows, stride, 2).unwrap();
        assert_eq!(rows, expected);
    }
    for (stride, rows, error) in [
        (0, 2, RowError::Short { words: 0, needed: 1 }),
        (1, 2, RowError::Missing { row: 2, rows: 2 }),
        (2, 5, RowError::Missing { row: 2, rows: 2 }),
    ] {
        let mut rows = vec![7; rows];
        assert_eq!(fill_masks(&batch, &mut rows, stride, 2), Err(error));
        assert!(rows.iter().all(|&word| word == 7), "nothing is written");
    }
    assert_eq!(fill_masks(&[None, None], &mut [], 0, 2), Ok(()));
}

#[test]
fn rows_are_filled_by_their_numbers() {
    let constraint = constraint("start: \"a\"");
    let matcher = constraint.matcher();
    let mut rows = vec![7; 4 * 8];
    fill_rows(&[(3, &matcher), (1, &matcher)], &mut rows, 8, 2).unwrap();
    for (row, words) in rows.chunks(8).enumerate() {
        let expected = if row % 2 == 1 { [0, 0, 0, 2, 0, 0, 0, 0] } else { [7; 8] };
        assert_eq!(words, expected, "row {row}");
    }
    let twice = fill_rows(&[(1, &matcher), (1, &matcher)], &mut rows, 8, 2);
    assert_eq!(twice, Err(RowError::Twice { row: 1 }));
    let short = fill_rows(&[(1, &matcher)], &mut rows, 7, 2);
    assert_eq!(short, Err(RowError::Short { words: 7, needed: 8 }));
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
    fill_masks(&batch, &mut rows, stride, 4).unwrap();
    for (row, matcher) in rows.chunks(stride).zip(&batch) {
        let mut expected = vec![u32::MAX; stride];
        if let Some(matcher) = matcher {
            matcher.fill_mask_into(&mut expected).unwrap();
        }
        assert_eq!(row, expected);
    }
}
