//! The words of a notation, in the form in which generated parsers take them from lexers.

/// Returns the words that `next` takes from `lexer`, up to the end or the first fault.
pub(in crate::syntax) fn until_fault<Lexer, Word, Fault>(
    mut lexer: Lexer,
    next: impl Fn(&mut Lexer) -> Result<Option<Word>, Fault>,
) -> impl Iterator<Item = Result<Word, Fault>> {
    let mut failed = false;
    std::iter::from_fn(move || {
        if failed {
            return None;
        }
        let word = next(&mut lexer);
        failed = word.is_err();
        word.transpose()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_comes_behind_a_fault() {
        let next = |left: &mut Vec<Result<Option<u8>, ()>>| left.pop().unwrap_or(Ok(None));
        let words = until_fault(vec![Ok(Some(3)), Err(()), Ok(Some(1))], next);
        assert_eq!(words.collect::<Vec<_>>(), [Ok(1), Err(())]);
    }
}
