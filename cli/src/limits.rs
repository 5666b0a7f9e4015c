//! Options for the limits on the cost of building and running.

use lrmask::Limits;

/// Heading of these options in the help.
const HEADING: &str = "Limits";

/// The limits, and single ones that are to be others.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LimitArguments {
    /// What a grammar may cost: `default` for files of your own, `strict` for those of strangers
    /// (about a second, 256 MB, 256 KB of grammar).
    #[arg(help_heading = HEADING, long, value_enum, default_value_t = Named::Default)]
    pub(crate) limits: Named,
    /// Bytes that a grammar may have.
    #[arg(help_heading = HEADING, long, value_name = "BYTES")]
    grammar_bytes: Option<usize>,
    /// Steps of reading and compiling a grammar, of about ten nanoseconds each.
    #[arg(help_heading = HEADING, long, value_name = "STEPS")]
    build_steps: Option<u64>,
    /// Bytes that may be held at once meanwhile.
    #[arg(help_heading = HEADING, long, value_name = "BYTES")]
    build_bytes: Option<u64>,
    /// States of the automaton of one terminal.
    #[arg(help_heading = HEADING, long, value_name = "STATES")]
    terminal_states: Option<usize>,
    /// States of all terminals together.
    #[arg(help_heading = HEADING, long, value_name = "STATES")]
    scan_states: Option<usize>,
    /// Steps of reading one JSON schema.
    #[arg(help_heading = HEADING, long, value_name = "STEPS")]
    schema_steps: Option<usize>,
    /// Steps of one decision whether a text can be completed.
    #[arg(help_heading = HEADING, long, value_name = "STEPS")]
    decision_steps: Option<usize>,
    /// Steps of all decisions of one mask.
    #[arg(help_heading = HEADING, long, value_name = "STEPS")]
    mask_steps: Option<usize>,
    /// Steps of following and deciding all readings of one text.
    #[arg(help_heading = HEADING, long, value_name = "STEPS")]
    reading_steps: Option<usize>,
    /// Bytes that masks and token classes may take.
    #[arg(help_heading = HEADING, long, value_name = "BYTES")]
    index_bytes: Option<usize>,
}

/// Limits by their names.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Named {
    /// For files of the user's own.
    #[default]
    Default,
    /// For those of strangers.
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
