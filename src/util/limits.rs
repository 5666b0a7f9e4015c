//! Limits on the cost of building and running.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bounds on everything that can grow with an input, while a grammar, a schema or a vocabulary is
/// read and compiled and while texts are read.
///
/// [`Limits::default`] is for the user's own files: some seconds, and less than a gigabyte.
/// [`Limits::strict`] is for a server that accepts untrusted grammars. Each limit can be read as a
/// field, and is set by the method of its name.
///
/// Reading a grammar and compiling it share one budget: the compiler continues where the reader
/// stopped.
///
/// ```
/// use lrmask::{Constraint, GrammarReader, Limits};
///
/// let limits = Limits::strict().build_bytes(64 << 20);
/// let text = "start: A+\nA: /a(b|c){1,9}/";
/// let grammar = GrammarReader::new().limits(&limits).lark(text)?;
/// let compiled = Constraint::builder().limits(&limits).compile(&grammar)?;
///
/// let few = Limits::strict().build_steps(100);
/// let error = Constraint::builder().limits(&few).compile(&grammar).unwrap_err();
/// assert_eq!(error.limit().map(|limit| limit.kind()), Some(lrmask::LimitKind::Steps));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of all files of a grammar together, or of a schema or a regex. Default 4 MB, strict
    /// 256 KB.
    pub grammar_bytes: usize,
    /// Steps of reading a grammar and compiling it, together. A step is about ten nanoseconds on a
    /// processor of 2020, within a factor of two. Default 400 million, strict 60 million.
    pub build_steps: u64,
    /// Bytes held at once while a grammar is read and compiled. Default 600 MB, strict 130 MB.
    pub build_bytes: u64,
    /// Steps of the analysis of one JSON Schema before it is refused as too large, each some thirty
    /// nanoseconds. Default and strict 20,000,000: about half a second. [`Limits::build_steps`] may
    /// end it sooner.
    pub schema_steps: usize,
    /// Steps of one attempt to read a JSON Schema, out of [`Limits::build_steps`]. If an attempt
    /// takes more, keys in the declared order, or fewer unique items, may be tried. Default and
    /// strict 150,000,000.
    pub schema_attempt_steps: u64,
    /// Productions of the grammar of one JSON Schema. Default and strict 200,000.
    pub schema_productions: usize,
    /// States of one terminal's DFA. Default 200,000, strict 50,000.
    pub terminal_states: usize,
    /// Scan states of all terminals together. Default 500,000, strict 100,000.
    pub scan_states: usize,
    /// Steps of the proof that every viable text can be completed. Anything that takes more is not
    /// proved but decided while texts are read, which costs time there. Default 20,000,000, strict
    /// 2,000,000.
    pub proof_steps: usize,
    /// Steps of one decision whether a text can be completed, if that is not proved. A decision
    /// that takes more counts as a no, and is counted by
    /// [`Constraint::undecided`](crate::Constraint::undecided). Default 1,000,000: about a second;
    /// it also bounds the memory that many decisions share. Strict 100,000. With some hundreds,
    /// masks may be so narrow that they are empty.
    pub decision_steps: usize,
    /// Steps of one mask: of all its decisions, and of the search for tokens around them. Anything
    /// undecided by then counts as a no, as above: a mask without any decision is empty. Following
    /// the readings of one token may take as many steps. After that a single reading is searched,
    /// which [`Matcher::dropped_readings`](crate::Matcher::dropped_readings) reports; if none is
    /// found, the token is refused. Default 16,000,000, strict 3,000,000.
    pub mask_steps: usize,
    /// Readings of one text that are kept from one token to the next. If there are more, the first
    /// ones are kept, and [`Matcher::dropped_readings`](crate::Matcher::dropped_readings) counts
    /// the others. Default 65,536, strict 4,096.
    pub readings: usize,
    /// Steps of following the readings of one text, from its beginning on, where its stacks fork:
    /// places that reductions come to on several ways, and stacks that are united. What the scanner
    /// meets meanwhile (see [`Constraint::is_outgrown`](crate::Constraint::is_outgrown)) counts a
    /// step for 64 bytes. Decisions whether the readings of a token can be completed count a step
    /// for 4 of theirs, beyond 2,000 of a token. Past them the reading with the fewest pending
    /// matches is kept at the end of each token, on one stack, and
    /// [`Matcher::dropped_readings`](crate::Matcher::dropped_readings) counts the others. A text
    /// that goes on to take as much as two masks may ([`Limits::mask_steps`]) is given up: it may
    /// end where it is a sentence, and no token may follow. Default 4,000,000: some seconds, which
    /// 500 letters take of the most ambiguous grammars. Strict 1,000,000. From 16,777,215 on there
    /// is no limit.
    pub reading_steps: usize,
    /// Bytes of masks and token classes, above which those not in use are dropped. When scan states
    /// and similar objects that texts create take as many, the constraint is
    /// [outgrown](crate::Constraint::is_outgrown). Default 256 MiB, strict 64 MiB.
    pub index_bytes: usize,
    /// Bytes of a tokenizer file. Default 128 MB, strict 48 MB.
    pub vocabulary_bytes: usize,
    /// Bytes of all tokens of a vocabulary together. Default 16 MB, strict 4 MB; the largest known
    /// vocabularies have 2 MB.
    pub token_bytes: usize,
    /// Token ids: the greatest width of the logits. Default 4,194,304, strict 1,048,576; the
    /// largest known vocabularies have 262,144.
    pub token_ids: usize,
    /// Stops building from another thread.
    pub cancel: Option<Cancel>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            grammar_bytes: 4_000_000,
            build_steps: 400_000_000,
            build_bytes: 600_000_000,
            schema_steps: 20_000_000,
            schema_attempt_steps: 150_000_000,
            schema_productions: 200_000,
            terminal_states: 200_000,
            scan_states: 500_000,
            proof_steps: 20_000_000,
            decision_steps: 1_000_000,
            mask_steps: 16_000_000,
            readings: 65_536,
            reading_steps: 4_000_000,
            index_bytes: 256 << 20,
            vocabulary_bytes: 128_000_000,
            token_bytes: 16_000_000,
            token_ids: 1 << 22,
            cancel: None,
        }
    }
}

impl Limits {
    /// Returns limits for untrusted input: about a second and 256 MB for building, 256 KB of
    /// grammar.
    pub fn strict() -> Self {
        Self {
            grammar_bytes: 256_000,
            build_steps: 60_000_000,
            build_bytes: 130_000_000,
            schema_steps: 20_000_000,
            schema_attempt_steps: 150_000_000,
            schema_productions: 200_000,
            terminal_states: 50_000,
            scan_states: 100_000,
            proof_steps: 2_000_000,
            decision_steps: 100_000,
            mask_steps: 3_000_000,
            readings: 4_096,
            reading_steps: 1_000_000,
            index_bytes: 64 << 20,
            vocabulary_bytes: 48_000_000,
            token_bytes: 4_000_000,
            token_ids: 1 << 20,
            cancel: None,
        }
    }

    /// Returns the same limits with another [`grammar_bytes`](#structfield.grammar_bytes).
    #[must_use]
    pub fn grammar_bytes(mut self, grammar_bytes: usize) -> Self {
        self.grammar_bytes = grammar_bytes;
        self
    }

    /// Returns the same limits with another [`build_steps`](#structfield.build_steps).
    #[must_use]
    pub fn build_steps(mut self, build_steps: u64) -> Self {
        self.build_steps = build_steps;
        self
    }

    /// Returns the same limits with another [`build_bytes`](#structfield.build_bytes).
    #[must_use]
    pub fn build_bytes(mut self, build_bytes: u64) -> Self {
        self.build_bytes = build_bytes;
        self
    }

    /// Returns the same limits with another [`schema_steps`](#structfield.schema_steps).
    #[must_use]
    pub fn schema_steps(mut self, schema_steps: usize) -> Self {
        self.schema_steps = schema_steps;
        self
    }

    /// Returns the same limits with another
    /// [`schema_attempt_steps`](#structfield.schema_attempt_steps).
    #[must_use]
    pub fn schema_attempt_steps(mut self, schema_attempt_steps: u64) -> Self {
        self.schema_attempt_steps = schema_attempt_steps;
        self
    }

    /// Returns the same limits with another
    /// [`schema_productions`](#structfield.schema_productions).
    #[must_use]
    pub fn schema_productions(mut self, schema_productions: usize) -> Self {
        self.schema_productions = schema_productions;
        self
    }

    /// Returns the same limits with another [`terminal_states`](#structfield.terminal_states).
    #[must_use]
    pub fn terminal_states(mut self, terminal_states: usize) -> Self {
        self.terminal_states = terminal_states;
        self
    }

    /// Returns the same limits with another [`scan_states`](#structfield.scan_states).
    #[must_use]
    pub fn scan_states(mut self, scan_states: usize) -> Self {
        self.scan_states = scan_states;
        self
    }

    /// Returns the same limits with another [`proof_steps`](#structfield.proof_steps).
    #[must_use]
    pub fn proof_steps(mut self, proof_steps: usize) -> Self {
        self.proof_steps = proof_steps;
        self
    }

    /// Returns the same limits with another [`decision_steps`](#structfield.decision_steps).
    #[must_use]
    pub fn decision_steps(mut self, decision_steps: usize) -> Self {
        self.decision_steps = decision_steps;
        self
    }

    /// Returns the same limits with another [`mask_steps`](#structfield.mask_steps).
    #[must_use]
    pub fn mask_steps(mut self, mask_steps: usize) -> Self {
        self.mask_steps = mask_steps;
        self
    }

    /// Returns the same limits with another [`readings`](#structfield.readings).
    #[must_use]
    pub fn readings(mut self, readings: usize) -> Self {
        self.readings = readings;
        self
    }

    /// Returns the same limits with another [`reading_steps`](#structfield.reading_steps).
    #[must_use]
    pub fn reading_steps(mut self, reading_steps: usize) -> Self {
        self.reading_steps = reading_steps;
        self
    }

    /// Returns the same limits with another [`index_bytes`](#structfield.index_bytes).
    #[must_use]
    pub fn index_bytes(mut self, index_bytes: usize) -> Self {
        self.index_bytes = index_bytes;
        self
    }

    /// Returns the same limits with another [`vocabulary_bytes`](#structfield.vocabulary_bytes).
    #[must_use]
    pub fn vocabulary_bytes(mut self, vocabulary_bytes: usize) -> Self {
        self.vocabulary_bytes = vocabulary_bytes;
        self
    }

    /// Returns the same limits with another [`token_bytes`](#structfield.token_bytes).
    #[must_use]
    pub fn token_bytes(mut self, token_bytes: usize) -> Self {
        self.token_bytes = token_bytes;
        self
    }

    /// Returns the same limits with another [`token_ids`](#structfield.token_ids).
    #[must_use]
    pub fn token_ids(mut self, token_ids: usize) -> Self {
        self.token_ids = token_ids;
        self
    }

    /// Returns the same limits with another [`cancel`](#structfield.cancel).
    #[must_use]
    pub fn cancel(mut self, cancel: impl Into<Option<Cancel>>) -> Self {
        self.cancel = cancel.into();
        self
    }
}

/// A handle that stops building from any thread. Clones stop the same builds.
///
/// ```
/// use lrmask::{Cancel, Constraint, Grammar, LimitKind, Limits};
///
/// let cancel = Cancel::default();
/// let limits = Limits::default().cancel(cancel.clone());
/// cancel.stop(); // from another thread, say
/// let grammar = Grammar::from_lark("start: \"a\"")?;
/// let error = Constraint::builder().limits(&limits).compile(&grammar).unwrap_err();
/// assert_eq!(error.limit().map(|limit| limit.kind()), Some(LimitKind::Cancelled));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Stops every build whose limits hold this or a clone of it, within milliseconds, and all
    /// builds that begin later.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether [`Cancel::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for Cancel {
    /// Returns whether both stop the same builds.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cancel {}
