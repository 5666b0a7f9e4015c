//! Options for the limits on the cost of building and running.

use lrmask::Limits;

/// Heading of these options in the help.
const HEADING: &str = "Limits";

/// A set of limits, and changes of single ones.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LimitArguments {
    /// Limits on the cost of a grammar: `default` for your own files, `strict` for untrusted ones
    /// (about a second, 256 MB, 256 KB of grammar).
    #[arg(help_heading = HEADING, long, value_enum, default_value_t = Named::Default)]
    pub(crate) limits: Named,
    /// Maximum size of a grammar in bytes.
    #[arg(help_heading = HEADING, long, value_name = "BYTES")]
    grammar_bytes: Option<usize>,
    /// Maximum number of steps to read and compile a grammar, about ten nanoseconds each.
    #[arg(help_heading = HEADING, long, value_name = "STEPS")]
    build_steps: Option<u64>,
    /// Maximum number of bytes held at once while a grammar is read and compiled.
    #[arg(help_heading = HEADING, long, value_name = "BYTES")]
    build_bytes: Option<u64>,
    /// Maximum number of states of the automaton of one terminal.
    #[arg(help_heading = HEADING, long, value_name = "STATES")]
    terminal_states: Option<usize>,
    /// Maximum number of states of all terminals together.
    #[arg(help_heading = HEADING, long, value_name = "STATES")]
    scan_states: Option<usize>,
    /// Maximum number of steps to read one JSON schema.
    #[arg(help_heading = HEADING, long, value_name = "STEPS")]
    schema_steps: Option<usize>,
    /// Maximum number of steps to decide whether a text can be completed.
    #[arg(help_heading = HEADING, long, value_name = "STEPS")]
    decision_steps: Option<usize>,
    /// Maximum number of steps of all decisions of one mask.
    #[arg(help_heading = HEADING, long, value_name = "STEPS")]
    mask_steps: Option<usize>,
    /// Maximum number of steps to follow and decide all readings of one text.
    #[arg(help_heading = HEADING, long, value_name = "STEPS")]
    reading_steps: Option<usize>,
    /// Maximum number of bytes of masks and token classes.
    #[arg(help_heading = HEADING, long, value_name = "BYTES")]
    index_bytes: Option<usize>,
}

/// Limits by their names.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Named {
    /// For your own files.
    #[default]
    Default,
    /// For untrusted files.
    Strict,
}

impl LimitArguments {
    /// Returns the limits with the given changes.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = match self.limits {
            Named::Default => Limits::default(),
            Named::Strict => Limits::strict(),
        };
        set(&mut limits, self.grammar_bytes, Limits::grammar_bytes);
        set(&mut limits, self.build_steps, Limits::build_steps);
        set(&mut limits, self.build_bytes, Limits::build_bytes);
        set(&mut limits, self.terminal_states, Limits::terminal_states);
        set(&mut limits, self.scan_states, Limits::scan_states);
        set(&mut limits, self.schema_steps, Limits::schema_steps);
        set(&mut limits, self.decision_steps, Limits::decision_steps);
        set(&mut limits, self.mask_steps, Limits::mask_steps);
        set(&mut limits, self.reading_steps, Limits::reading_steps);
        set(&mut limits, self.index_bytes, Limits::index_bytes);
        limits
    }
}

/// Sets one limit, if it was given.
fn set<T>(limits: &mut Limits, value: Option<T>, setter: impl Fn(Limits, T) -> Limits) {
    if let Some(value) = value {
        *limits = setter(limits.clone(), value);
    }
}
