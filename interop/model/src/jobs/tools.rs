//! Calls of tools, in the form of Hermes and Qwen.

use anyhow::Result;
use lrmask::{Calls, Constraint, SchemaOptions, ToolCalls, ToolForm};

use super::{common_columns, for_each, print_head, texts, write_after};
use crate::prompts;
use crate::writer::{Mode, Place, Writer};

/// Number of tokens after which a text is cut.
const LIMIT: usize = 100;

/// The beginning of a call, which the prompt may have written.
const BEGIN: &str = "<tool_call>\n";

/// Prints one row for each mode.
pub fn run(writer: &Writer, count: usize) -> Result<()> {
    print_head("prompt | calls allowed | texts with a call | right tool | COMMON");
    for is_open in [false, true] {
        let prompt = |index| prompts::tool(index) + if is_open { BEGIN } else { "" };
        let places: Vec<Place> =
            for_each(count, |index| Ok(writer.read(&writer.tokenizer.encode(&prompt(index)))))?;
        let asked = if is_open { "has opened a call" } else { "has no example" };
        for (name, calls) in [
            ("free", None),
            ("any number", Some(Calls::Any)),
            ("at least one", Some(Calls::AtLeastOne)),
            ("exactly one", Some(Calls::One)),
        ] {
            let constraint = calls.map(|calls| constraint(writer, calls)).transpose()?;
            let mode = Mode { constraint: constraint.as_ref(), ..Mode::default() };
            let begun = if is_open { BEGIN } else { "" };
            let written = write_after(writer, &places, begun.as_bytes(), &mode, LIMIT)?;
            let texts = texts(writer, &written);
            let called: Vec<_> = texts.iter().map(|text| called(text, is_open)).collect();
            let right = called.iter().enumerate().filter(|(index, name)| {
                name.as_deref() == Some(prompts::TOOLS[index % prompts::TOOLS.len()].0)
            });
            println!(
                "| {asked} | {name} | {} of {count} | {} | {} |",
                called.iter().flatten().count(),
                right.count(),
                common_columns(&written)
            );
        }
    }
    Ok(())
}

fn constraint(writer: &Writer, calls: Calls) -> Result<Constraint> {
    let mut tools = ToolCalls::new(ToolForm::Hermes, calls);
    for (name, arguments) in prompts::TOOLS {
        tools.add_tool(name, arguments);
    }
    let grammar = tools.tags()?.grammar(&SchemaOptions::default())?;
    Ok(Constraint::new(&grammar, &writer.tokenizer.vocabulary)?)
}

/// Returns the name of the first tool that a text calls, if the call is whole and has an object.
fn called(text: &[u8], is_open: bool) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let rest = if is_open { text } else { text.split_once(BEGIN.trim_end())?.1 };
    let call: serde_json::Value =
        serde_json::from_str(rest.split_once("</tool_call>")?.0.trim()).ok()?;
    call["arguments"].as_object()?;
    call["name"].as_str().map(str::to_owned)
}
