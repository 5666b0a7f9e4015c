//! A small language model that writes under lrmask's masks, and tables of what comes out.

mod clock;
mod drafts;
mod gguf;
mod jobs;
mod llama;
mod matrix;
mod prompts;
mod tasks;
mod tokenizer;
mod traces;
mod writer;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;

use crate::gguf::Header;
use crate::llama::Model;
use crate::tokenizer::Tokenizer;
use crate::writer::Writer;

/// Lets a model write under masks, and prints a table for each job.
#[derive(Parser)]
struct Arguments {
    /// A Llama model with a byte-level BPE, in GGUF.
    model: PathBuf,
    /// The jobs; all of them if none is named.
    jobs: Vec<String>,
    /// Number of prompts of each task.
    #[arg(long, default_value_t = prompts::COUNT)]
    prompts: usize,
    /// Write what the model writes to this file, for tests, and run no jobs.
    #[arg(long)]
    record: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let file = std::fs::read(&arguments.model)
        .with_context(|| format!("{} cannot be read", arguments.model.display()))?;
    let header = Header::parse(&file)?;
    let (model, tokenizer) = (Model::read(&header, &file)?, Tokenizer::read(&header, &file)?);
    let writer = Writer { model, tokenizer };
    let count = arguments.prompts.min(prompts::COUNT);
    if let Some(path) = &arguments.record {
        return traces::record(&writer, count, path);
    }
    for &(name, job) in jobs::ALL {
        if arguments.jobs.is_empty() || arguments.jobs.iter().any(|wanted| wanted == name) {
            println!("## {name}\n");
            job(&writer, count)?;
            println!();
        }
    }
    Ok(())
}
