//! Saved counts, in the manner of saved constraints. `docs/saved.md` describes the format.

use std::fmt;
use std::sync::RwLock;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Speculator;
use super::counts::{Counts, FOLLOWERS, Followers};
use crate::constraint::Constraint;
use crate::util::fingerprint::Fingerprint;
use crate::util::id::TokenId;

/// Version of the format that is written. Versions up to this one can be read.
const FORM: u32 = 1;

/// The bytes at the start of all saved counts.
const MAGIC: &[u8] = b"{\"lrmask_counts\":";

/// The saved format.
#[derive(Serialize, Deserialize)]
struct Saved<'b> {
    /// Version of the format.
    lrmask_counts: u32,
    /// Fingerprint of `counts`, to detect damage.
    fingerprint: u64,
    /// Fingerprint of the constraint.
    constraint: u64,
    #[serde(borrow)]
    counts: &'b RawValue,
}

#[derive(Serialize, Deserialize)]
struct SavedCounts {
    capacity: usize,
    /// By ascending key.
    contexts: Vec<SavedContext>,
}

/// A key, how often it was met, and the tokens that followed with their counts.
type SavedContext = (u64, u32, Vec<(u32, u32)>);

impl Speculator {
    /// Returns the counts as bytes, with the fingerprint of their constraint. Later versions of the
    /// crate can read them. If a later version numbers the states of a grammar differently, old
    /// counts are of no use: they are not met, and proposals stay within the mask.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Speculator, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a", "b"])?;
    /// let constraint = Constraint::new(&Grammar::from_lark("start: \"a\" \"b\"*")?, &vocabulary)?;
    /// let speculator = Speculator::new(&constraint);
    /// speculator.observe([0u32, 1]);
    /// let loaded = Speculator::load(speculator.save(), &constraint)?;
    /// assert_eq!(loaded.propose(&constraint.matcher(), None, 8, 0.5).len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self) -> Vec<u8> {
        let counts = self.read(|counts| SavedCounts {
            capacity: counts.capacity(),
            contexts: counts.sorted().into_iter().map(row).collect(),
        });
        let saved = serde_json::value::to_raw_value(&counts).and_then(|counts| {
            serde_json::to_vec(&Saved {
                lrmask_counts: FORM,
                fingerprint: checksum(counts.get()),
                constraint: self.constraint.fingerprint(),
                counts: &counts,
            })
        });
        debug_assert!(saved.is_ok(), "writes to memory succeed, and every key is a string");
        saved.unwrap_or_default()
    }

    /// Loads counts saved by [`Speculator::save`], for the constraint they were learnt with.
    ///
    /// # Errors
    ///
    /// If the bytes are in another format or of a later version, if they are damaged, or if the
    /// counts were learnt with another grammar or vocabulary. Untrusted bytes are safe to load: the
    /// memory is proportional to their number.
    pub fn load(saved: impl AsRef<[u8]>, constraint: &Constraint) -> Result<Self, CountsError> {
        /// The version alone, which every version of the format has.
        #[derive(Deserialize)]
        struct Form {
            lrmask_counts: u32,
        }
        let bytes = saved.as_ref();
        if !bytes.starts_with(MAGIC) {
            return Err(CountsError::NotSaved);
        }
        let form: Form = serde_json::from_slice(bytes).map_err(|_| CountsError::Damaged)?;
        if form.lrmask_counts == 0 {
            return Err(CountsError::Damaged);
        }
        if form.lrmask_counts > FORM {
            return Err(CountsError::Version);
        }
        let saved: Saved<'_> = serde_json::from_slice(bytes).map_err(|_| CountsError::Damaged)?;
        if saved.fingerprint != checksum(saved.counts.get()) {
            return Err(CountsError::Damaged);
        }
        if saved.constraint != constraint.fingerprint() {
            return Err(CountsError::OtherConstraint);
        }
        let counts: SavedCounts =
            serde_json::from_str(saved.counts.get()).map_err(|_| CountsError::Damaged)?;
        if counts.contexts.len() > counts.capacity {
            return Err(CountsError::Damaged);
        }
        let mut loaded = Counts::new(counts.capacity);
        for (context, met, tokens) in counts.contexts {
            let followers = followers(met, &tokens).ok_or(CountsError::Damaged)?;
            loaded.set(context, followers);
        }
        Ok(Self { constraint: constraint.clone(), counts: RwLock::new(loaded) })
    }
}

fn row((context, of): (u64, Followers)) -> SavedContext {
    (context, of.met, of.tokens.iter().map(|&(token, count)| (token.0, count)).collect())
}

/// Returns the counts of a context; `None` if nothing could have been counted like this.
fn followers(met: u32, tokens: &[(u32, u32)]) -> Option<Followers> {
    let sum: u64 = tokens.iter().map(|&(_, count)| u64::from(count)).sum();
    let is_sound = tokens.len() <= FOLLOWERS && sum <= u64::from(met) && met <= u32::MAX / 2;
    let tokens = tokens.iter().map(|&(token, count)| (TokenId(token), count)).collect();
    is_sound.then_some(Followers { met, tokens })
}

fn checksum(json: &str) -> u64 {
    let mut fingerprint = Fingerprint::default();
    fingerprint.bytes(json.as_bytes());
    fingerprint.value()
}

/// The reason why saved counts were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CountsError {
    /// The bytes are in another format.
    NotSaved,
    /// They were saved by a later version of this crate.
    Version,
    /// They are cut off, or a byte has changed since they were saved.
    Damaged,
    /// They were learnt with another grammar or vocabulary.
    OtherConstraint,
}

impl fmt::Display for CountsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSaved => "these are not saved counts",
            Self::Version => {
                "a later version of lrmask saved these counts; load them with that version"
            }
            Self::Damaged => "the saved counts are truncated or damaged; learn them again",
            Self::OtherConstraint => {
                "the counts were learnt with a different grammar or vocabulary; load them with \
                 that constraint, or learn them again"
            }
        })
    }
}

impl std::error::Error for CountsError {}
