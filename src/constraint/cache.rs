//! A cache of constraints, for repeated requests.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxHasher;

use super::build_error::BuildError;
use super::{Constraint, Source};
use crate::util::limits::Limits;
use crate::util::meter::LimitKind;
use crate::vocab::Vocabulary;

/// A bounded cache of constraints, shared by all threads of a server.
///
/// The key of a constraint is the text of its grammar with all options for reading it, the
/// fingerprint of its vocabulary, and its limits. A hit costs a look at that text: nothing is
/// parsed. If several threads ask for the same constraint, one builds it and the others wait.
/// Refusals are cached as well, so that a grammar that takes a second to refuse takes it once;
/// refusals of cancelled builds are not. If a build panics, nothing is cached, and the next request
/// builds anew.
///
/// The entries take no more than a given number of bytes, including their indexes at their current
/// size. Past that, the least recently requested constraint is dropped first; sequences that still
/// use it keep it until they end. A constraint that is [outgrown](Constraint::is_outgrown) is
/// rebuilt at the next request.
///
/// ```
/// use lrmask::{ConstraintCache, Limits, Source, Vocabulary};
///
/// let vocabulary = Vocabulary::from_tokens([b"a".to_vec(), b"b".to_vec()])?;
/// let cache = ConstraintCache::new(64 << 20);
/// let limits = Limits::strict();
/// for text in ["start: \"a\"+", "start: \"b\"+", "start: \"a\"+"] {
///     let constraint = cache.get_or_build(&Source::lark(text), &vocabulary, &limits)?;
///     assert!(constraint.matcher().allows(0) || constraint.matcher().allows(1));
/// }
/// assert_eq!(cache.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ConstraintCache {
    most: usize,
    kept: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    entries: HashMap<Key, Entry>,
    /// Number of requests so far.
    clock: u64,
}

/// The key of a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    source: Arc<Source>,
    vocabulary: u64,
    /// Without the cancellation flag: each request has its own.
    limits: Limits,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut hasher = FxHasher::default();
        self.source.hash(&mut hasher);
        state.write_u64(hasher.finish() ^ self.vocabulary);
    }
}

#[derive(Debug)]
struct Entry {
    /// Locked by the thread that builds.
    slot: Arc<Mutex<Option<Built>>>,
    used: u64,
}

type Built = Result<Constraint, BuildError>;

impl ConstraintCache {
    /// Creates a cache that keeps up to this many bytes.
    pub fn new(bytes: usize) -> Self {
        Self { most: bytes, kept: Mutex::default() }
    }

    /// Returns the constraint of the grammar of `source` for `vocabulary`, either cached or newly
    /// built.
    ///
    /// # Errors
    ///
    /// As [`ConstraintBuilder::read`](crate::ConstraintBuilder::read).
    pub fn get_or_build(
        &self,
        source: &Source,
        vocabulary: &Vocabulary,
        limits: &Limits,
    ) -> Result<Constraint, BuildError> {
        let limits_alone = Limits { cancel: None, ..limits.clone() };
        let key = Key {
            source: Arc::new(source.clone()),
            vocabulary: vocabulary.fingerprint(),
            limits: limits_alone,
        };
        let slot = {
            let mut kept = self.kept();
            kept.clock += 1;
            let used = kept.clock;
            let entry = kept
                .entries
                .entry(key.clone())
                .or_insert_with(|| Entry { slot: Arc::default(), used });
            entry.used = used;
            entry.slot.clone()
        };
        let mut built = slot.lock().unwrap_or_else(|poisoned| {
            // The thread that was building panicked: a value found here cannot be trusted.
            let mut built = poisoned.into_inner();
            *built = None;
            built
        });
        slot.clear_poison();
        if let Some(built) =
            built.as_ref().filter(|built| !built.as_ref().is_ok_and(Constraint::is_outgrown))
        {
            return built.clone();
        }
        let result = Constraint::builder().limits(limits).read(source, vocabulary);
        let is_cancelled = result
            .as_ref()
            .err()
            .and_then(BuildError::limit)
            .is_some_and(|limit| limit.kind() == LimitKind::Cancelled);
        if !is_cancelled {
            *built = Some(result.clone());
        }
        drop(built);
        let mut kept = self.kept();
        if is_cancelled {
            kept.entries.remove(&key);
        }
        kept.shrink(self.most);
        result
    }

    /// Returns the number of cached constraints and refusals, including those that are being built.
    pub fn len(&self) -> usize {
        self.kept().entries.len()
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes in the cache. Costs a look at each constraint.
    pub fn bytes(&self) -> usize {
        self.kept().entries.iter().map(|(key, entry)| bytes(key, entry)).sum()
    }

    /// Drops the least recently requested entries until the rest fits: indexes grow while they are
    /// used. [`ConstraintCache::get_or_build`] calls this after each build.
    pub fn shrink(&self) {
        self.kept().shrink(self.most);
    }

    fn kept(&self) -> MutexGuard<'_, Entries> {
        // No update is ever left half done under this lock.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn shrink(&mut self, most: usize) {
        let sizes = self.entries.iter().map(|(key, entry)| (entry.used, bytes(key, entry)));
        let mut sizes: Vec<(u64, usize)> = sizes.collect();
        let mut all: usize = sizes.iter().map(|(_, bytes)| bytes).sum();
        if all <= most {
            return;
        }
        sizes.sort_unstable();
        let mut least = 0;
        for (used, bytes) in sizes {
            if all <= most {
                break;
            }
            all -= bytes;
            least = used + 1;
        }
        self.entries.retain(|_, entry| entry.used >= least);
    }
}

/// Returns the size of an entry; for one that is being built, the size of its key.
fn bytes(key: &Key, entry: &Entry) -> usize {
    const OF_AN_ENTRY: usize = 1_000;
    let built = entry.slot.try_lock();
    let of_built = built.map_or(0, |built| match &*built {
        Some(Ok(constraint)) => constraint.bytes(),
        Some(Err(error)) => error.bytes(),
        None => 0,
    });
    OF_AN_ENTRY + key.source.bytes() + of_built
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::limits::Cancel;

    fn vocabulary() -> Vocabulary {
        Vocabulary::from_tokens((0..=255u8).map(|byte| vec![byte])).expect("bytes are a vocabulary")
    }

    fn grammar(text: &str) -> Source {
        Source::lark(text)
    }

    fn is_same(one: &Constraint, other: &Constraint) -> bool {
        Arc::ptr_eq(&one.index, &other.index)
    }

    #[test]
    fn what_was_used_last_stays() {
        let (vocabulary, limits) = (vocabulary(), Limits::default());
        let texts = ["start: \"a\"", "start: \"b\"", "start: \"c\""].map(grammar);
        let one = ConstraintCache::new(usize::MAX);
        one.get_or_build(&texts[0], &vocabulary, &limits).expect("built");
        let cache = ConstraintCache::new(one.bytes() * 5 / 2);
        let first = cache.get_or_build(&texts[0], &vocabulary, &limits).expect("built");
        cache.get_or_build(&texts[1], &vocabulary, &limits).expect("built");
        assert!(is_same(
            &first,
            &cache.get_or_build(&texts[0], &vocabulary, &limits).expect("kept")
        ));
        cache.get_or_build(&texts[2], &vocabulary, &limits).expect("built");
        assert_eq!(cache.len(), 2);
        assert!(is_same(
            &first,
            &cache.get_or_build(&texts[0], &vocabulary, &limits).expect("kept")
        ));
    }

    #[test]
    fn one_builds_for_all_that_ask() {
        let (vocabulary, limits, cache) =
            (vocabulary(), Limits::default(), ConstraintCache::new(1 << 30));
        let grammar = grammar("start: A+\nA: /\\w{60}x/");
        let built = std::thread::scope(|scope| {
            let ask = || cache.get_or_build(&grammar, &vocabulary, &limits).expect("built");
            let threads = [0; 4].map(|_| scope.spawn(ask));
            threads.map(|thread| thread.join().expect("no panic"))
        });
        assert!(built.iter().all(|other| is_same(&built[0], other)));
    }

    #[test]
    fn refusals_are_kept_and_cancelled_builds_are_not() {
        let (vocabulary, cache) = (vocabulary(), ConstraintCache::new(1 << 30));
        let refused = grammar("start: A\nA: /(a|b)*a(a|b){25}/");
        assert!(cache.get_or_build(&refused, &vocabulary, &Limits::strict()).is_err());
        assert_eq!(cache.len(), 1);
        let cancel = Cancel::default();
        cancel.stop();
        let limits = Limits { cancel: Some(cancel), ..Limits::default() };
        let sound = grammar("start: \"a\"");
        assert!(cache.get_or_build(&sound, &vocabulary, &limits).is_err());
        assert_eq!(cache.len(), 1);
        assert!(cache.get_or_build(&sound, &vocabulary, &Limits::default()).is_ok());
    }

    /// Each text leaves other longer matches pending.
    #[test]
    fn what_is_outgrown_is_built_anew() {
        let (vocabulary, cache) = (vocabulary(), ConstraintCache::new(1 << 30));
        let limits = Limits { index_bytes: 200_000, ..Limits::default() };
        let grammar =
            grammar("%lexer basic\nstart: (A | B | C)+\nA: /[ab]/\nB: /[ab]*a[ab]{12}c/\nC: \"c\"");
        let mut random = fastrand::Rng::with_seed(5);
        let first = cache.get_or_build(&grammar, &vocabulary, &limits).expect("built");
        assert!(is_same(
            &first,
            &cache.get_or_build(&grammar, &vocabulary, &limits).expect("kept")
        ));
        for _ in 0..2_000 {
            let text: Vec<u8> = (0..24).map(|_| b"ab"[random.usize(..2)]).collect();
            first.matcher().advance_bytes(&text).expect("letters may come in any order");
        }
        assert!(first.is_outgrown(), "{:?}", first.index_size());
        let second = cache.get_or_build(&grammar, &vocabulary, &limits).expect("built");
        assert!(!is_same(&first, &second) && !second.is_outgrown() && cache.len() == 1);
        assert!(first.matcher().advance_bytes(b"abc").is_ok());
    }

    #[test]
    fn what_a_panic_left_is_built_anew() {
        let (vocabulary, limits, cache) =
            (vocabulary(), Limits::default(), ConstraintCache::new(1 << 30));
        let grammar = grammar("start: \"a\"");
        cache.get_or_build(&grammar, &vocabulary, &limits).expect("built");
        let slot =
            cache.kept().entries.values().next().map(|entry| entry.slot.clone()).expect("kept");
        let panicked = std::thread::spawn(move || {
            let _built = slot.lock();
            std::panic::resume_unwind(Box::new("while building"));
        });
        assert!(panicked.join().is_err());
        assert!(cache.get_or_build(&grammar, &vocabulary, &limits).is_ok());
        assert_eq!(cache.len(), 1);
    }
}
