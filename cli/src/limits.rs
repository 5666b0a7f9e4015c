//! What building and running may cost.

use lrmask::Limits;

/// The limits, and single ones that are to be others.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LimitArguments {
    /// What a grammar may cost: `default` for files of your own, `strict` for those of strangers
    /// (about a second, 256 MB, 256 KB of grammar).
    #[arg(long, value_enum, default_value_t = Named::Default)]
    pub(crate) limits: Named,
    /// Bytes that a grammar may have.
    #[arg(long, value_name = "BYTES")]
    grammar_bytes: Option<usize>,
    /// Steps of reading and compiling a grammar, of about ten nanoseconds each.
    #[arg(long, value_name = "STEPS")]
    build_steps: Option<u64>,
    /// Bytes that may be held at once meanwhile.
    #[arg(long, value_name = "BYTES")]
    build_bytes: Option<u64>,
    /// Steps of one decision whether a text can be completed.
    #[arg(long, value_name = "STEPS")]
    decision_steps: Option<usize>,
    /// Steps of all decisions of one mask.
    #[arg(long, value_name = "STEPS")]
    mask_steps: Option<usize>,
    /// Steps of following all readings of one text.
    #[arg(long, value_name = "STEPS")]
    reading_steps: Option<usize>,
    /// Bytes that masks and token classes may take.
    #[arg(long, value_name = "BYTES")]
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
    /// The limits that are meant.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = match self.limits {
            Named::Default => Limits::default(),
            Named::Strict => Limits::strict(),
        };
        limits.grammar_bytes = self.grammar_bytes.unwrap_or(limits.grammar_bytes);
        limits.build_steps = self.build_steps.unwrap_or(limits.build_steps);
        limits.build_bytes = self.build_bytes.unwrap_or(limits.build_bytes);
        limits.decision_steps = self.decision_steps.unwrap_or(limits.decision_steps);
        limits.mask_steps = self.mask_steps.unwrap_or(limits.mask_steps);
        limits.reading_steps = self.reading_steps.unwrap_or(limits.reading_steps);
        limits.index_bytes = self.index_bytes.unwrap_or(limits.index_bytes);
        limits
    }
}
