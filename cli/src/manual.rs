//! `lrmask completions` and `lrmask man`: shell completions and the manual page.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::output::Output;
use crate::{Answer, Cli};

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script of a shell.
pub(crate) fn completions(arguments: &Completions, out: &mut Output) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "lrmask", &mut script);
    out.bytes(&script)?;
    Ok(Answer::Yes)
}

/// Prints the manual page, followed by that of each command.
pub(crate) fn page(out: &mut Output) -> Result<Answer, Failure> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("lrmask-{}", command.get_name());
        clap_mangen::Man::new(command.clone()).title(name).render(&mut page)?;
    }
    out.bytes(&page)?;
    Ok(Answer::Yes)
}
