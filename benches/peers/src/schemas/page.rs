//! The figures of a run over schemas as a page of Markdown.

use std::fmt::Write;

use super::figures::{EngineFigures, SchemaResults, Times};
use crate::table::{ratio, time};

/// The page.
pub fn page(results: &SchemaResults) -> String {
    let mut page = String::from("# JSON Schemas side by side\n\n");
    let about = &results.about;
    let engines: Vec<String> =
        about.engines.iter().map(|(name, version)| format!("{name} ({version})")).collect();
    let whose = if results.own { "the project's own" } else { "a sample of MaskBench" };
    put(
        &mut page,
        format_args!(
            "Written by `peers schemas` on {}: {}, {} cores, {}. {}. {} schemas ({whose}) with {} \
             valid and {} invalid \
             instances. Medians over {} processes for each schema and each mask; an engine that \
             takes minutes has one. The system's load average was {:.1}. [The \
             package's page](../README.md#schemas) says what is measured.\n\n\
             ## All schemas\n\n\
             Each engine over the schemas that it takes.\n\n\
             | engine | pass | refused | valid refused | invalid accepted | first mask p50 | p90 \
             | p99 | max | cold mean | p99 | \
             warm mean | p99 |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
            about.date,
            about.processor,
            about.cores,
            results.vocabulary,
            engines.join(", "),
            results.schemas,
            results.instances[0],
            results.instances[1],
            about.repetitions,
            about.load
        ),
    );
    for engine in &results.engines {
        let (name, verdicts) = (&engine.engine, engine.verdicts);
        match &engine.fault {
            Some(fault) => put(&mut page, format_args!("| {name} | {fault} |\n")),
            None => put(
                &mut page,
                format_args!(
                    "| {name} | {} | {} | {} | {} | {} |\n",
                    verdicts.passed,
                    verdicts.refused,
                    verdicts.valid_refused,
                    verdicts.invalid_accepted,
                    row(&engine.all)
                ),
            ),
        }
    }
    page.push_str(
        "\n## The same schemas\n\nEach other engine and lrmask over the schemas that both take \
         and judge right, and lrmask's \
         times over the other's: below one is better.\n\n\
         | engine | schemas | first mask p50 | p90 | p99 | max | cold mean | p99 | warm mean | \
         p99 |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for engine in results.engines.iter().filter(|engine| is_compared(engine)) {
        let (name, count) = (&engine.engine, engine.shared.schemas);
        put(&mut page, format_args!("| {name} | {count} | {} |\n", row(&engine.shared)));
        put(&mut page, format_args!("| lrmask | | {} |\n", row(&engine.shared_ours)));
        let ratios = times(&engine.shared_ours).into_iter().zip(times(&engine.shared));
        let ratios: Vec<String> = ratios.map(|(ours, theirs)| ratio(ours / theirs)).collect();
        put(&mut page, format_args!("| ratio | | {} |\n", ratios.join(" | ")));
    }
    page
}

fn is_compared(engine: &EngineFigures) -> bool {
    engine.engine != "lrmask" && engine.fault.is_none() && engine.shared.schemas > 0
}

fn times(times: &Times) -> [f64; 8] {
    let Times { first_mask: first, cold, warm, .. } = times;
    [first.p50, first.p90, first.p99, first.max, cold.mean, cold.p99, warm.mean, warm.p99]
}

fn row(shown: &Times) -> String {
    times(shown).map(time).join(" | ")
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a string takes everything");
}
