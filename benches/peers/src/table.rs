//! The results as a page of Markdown tables.

use std::fmt::Write;

use crate::results::{Cell, Figures, Results, Vocabulary, Workload};

/// The engine that ratios are about.
const OURS: &str = "lrmask";

/// The page: how it came about, then for each vocabulary the figures, ratios and notes.
pub fn page(results: &Results) -> String {
    let about = &results.about;
    let mut page = String::from("# Engines side by side\n\n");
    let engines: Vec<String> =
        about.engines.iter().map(|(name, version)| format!("{name} ({version})")).collect();
    let samples = if about.samples {
        "The project's own documents and samples that lay beside it."
    } else {
        "The project's own documents only; no samples lay beside it."
    };
    put(
        &mut page,
        format_args!(
            "Written by `peers run` on {}: {}, {} cores. {}. Medians over {} processes for each \
             figure, one where it took \
             over half a minute. The system's load average was {:.1}. {samples} [The package's \
             page](../README.md) says what is measured.\n",
            about.date,
            about.processor,
            about.cores,
            engines.join(", "),
            about.repetitions,
            about.load
        ),
    );
    for vocabulary in results.vocabularies.iter().rev() {
        let (copy, clock) = (vocabulary.floor.copy, vocabulary.floor.clock);
        put(
            &mut page,
            format_args!(
                "\n## {} ({} ids)\n\nCopying a mask takes {} (p99 {}); every time includes {} of \
                 the clock's own.\n",
                vocabulary.name,
                vocabulary.width,
                time(copy.p50),
                time(copy.p99),
                time(clock.p50)
            ),
        );
        figures(&mut page, results, vocabulary);
        ratios(&mut page, results, vocabulary);
        notes(&mut page, results, vocabulary);
    }
    page
}

/// The cells of a workload with a vocabulary, in the order of the engines.
fn cells<'r>(
    results: &'r Results,
    workload: &'r Workload,
    vocabulary: &'r Vocabulary,
) -> impl Iterator<Item = &'r Cell> {
    let engines = results.about.engines.iter();
    engines.filter_map(|(engine, _)| results.cell(engine, &workload.name, &vocabulary.name))
}

fn figures(page: &mut String, results: &Results, vocabulary: &Vocabulary) {
    page.push_str(
        "\n| workload | engine | vocabulary | compile | first mask | cold mean | p50 | p90 | p99 \
         | max | warm mean | p50 | p90 | \
         p99 | max | advance | memory | peak |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for workload in &results.workloads {
        let mut title = workload.title.as_str();
        for cell in cells(results, workload, vocabulary) {
            if let Some(figures) = &cell.figures {
                let mark = if cell.notes.is_empty() { "" } else { "\\*" };
                put(page, format_args!("| {title} | {}{mark} | {} |\n", cell.engine, row(figures)));
                title = "";
            }
        }
    }
}

fn row(figures: &Figures) -> String {
    let (cold, warm) = (figures.cold.mask, figures.warm.mask);
    let times = [
        figures.prepare,
        figures.compile,
        figures.first_mask,
        cold.mean,
        cold.p50,
        cold.p90,
        cold.p99,
        cold.max,
        warm.mean,
        warm.p50,
        warm.p90,
        warm.p99,
        warm.max,
        figures.warm.advance.mean,
    ];
    let memory = [figures.memory.used, figures.memory.peak];
    times.into_iter().map(time).chain(memory.into_iter().map(bytes)).collect::<Vec<_>>().join(" | ")
}

/// Figures of ours over those of the others: below one is better.
fn ratios(page: &mut String, results: &Results, vocabulary: &Vocabulary) {
    page.push_str(
        "\nRatios: what lrmask takes over what the other takes. *Best* is the quickest other \
         engine that has times.\n\n\
         | workload | warm p50 / copy | warm p99 / copy | warm p50 / best | cold mean / \
         llguidance | cold p99 / llguidance | \
         compile and first mask / llguidance | advance / llguidance | cold max |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let copy = vocabulary.floor.copy.p50;
    for workload in &results.workloads {
        let figures = |engine: &str| {
            results
                .cell(engine, &workload.name, &vocabulary.name)
                .and_then(|cell| cell.figures.as_ref())
        };
        let Some(ours) = figures(OURS) else { continue };
        let others = || cells(results, workload, vocabulary).filter(|cell| cell.engine != OURS);
        let best = others()
            .filter_map(|cell| Some((cell.figures.as_ref()?.warm.mask.p50, &cell.engine)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let against = |get: fn(&Figures) -> f64| {
            figures("llguidance")
                .map_or_else(|| "–".to_owned(), |other| ratio(get(ours) / get(other)))
        };
        let columns = [
            ratio(ours.warm.mask.p50 / copy),
            ratio(ours.warm.mask.p99 / copy),
            best.map_or_else(
                || "–".to_owned(),
                |(p50, engine)| format!("{} ({engine})", ratio(ours.warm.mask.p50 / p50)),
            ),
            against(|m| m.cold.mask.mean),
            against(|m| m.cold.mask.p99),
            against(|m| m.compile + m.first_mask),
            against(|m| m.warm.advance.mean),
            time(ours.cold.mask.max),
        ];
        put(page, format_args!("| {} | {} |\n", workload.title, columns.join(" | ")));
    }
}

fn notes(page: &mut String, results: &Results, vocabulary: &Vocabulary) {
    page.push_str("\nNotes:\n\n");
    for workload in &results.workloads {
        for cell in cells(results, workload, vocabulary).filter(|cell| !cell.notes.is_empty()) {
            let untimed = if cell.figures.is_none() { ", no figures" } else { "" };
            put(
                page,
                format_args!(
                    "* {}, {}{untimed}: {}.\n",
                    workload.title,
                    cell.engine,
                    cell.notes.join("; ")
                ),
            );
        }
    }
}

/// The largest vocabulary's figures in short, for a page that has little room.
pub fn summary(results: &Results) -> String {
    let Some(vocabulary) = results.vocabularies.last() else { return String::new() };
    let copy = time(vocabulary.floor.copy.p50);
    let mut page = format!(
        "Masks with `{}` ({} ids; copying one takes {copy}): the mean of the first pass over the \
         documents, then the median of the \
         second.\n\n",
        vocabulary.name, vocabulary.width
    );
    across(&mut page, results, vocabulary, |figures| {
        format!("{}, {}", time(figures.cold.mask.mean), time(figures.warm.mask.p50))
    });
    page.push_str("\nFrom the grammar's text to the first mask, and the memory in the end:\n\n");
    across(&mut page, results, vocabulary, |figures| {
        format!("{}, {}", time(figures.compile + figures.first_mask), bytes(figures.memory.used))
    });
    page
}

/// A row for each workload, a column for each engine.
fn across(
    page: &mut String,
    results: &Results,
    vocabulary: &Vocabulary,
    show: impl Fn(&Figures) -> String,
) {
    let engines: Vec<&str> = results.about.engines.iter().map(|(name, _)| name.as_str()).collect();
    put(
        page,
        format_args!("| | {} |\n|---|{}\n", engines.join(" | "), "---|".repeat(engines.len())),
    );
    for workload in &results.workloads {
        let columns: Vec<String> = engines
            .iter()
            .map(|engine| match results.cell(engine, &workload.name, &vocabulary.name) {
                Some(Cell { figures: Some(figures), notes, .. }) => {
                    show(figures) + if notes.is_empty() { "" } else { "\\*" }
                }
                _ => "–".to_owned(),
            })
            .collect();
        put(page, format_args!("| {} | {} |\n", workload.title, columns.join(" | ")));
    }
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a string takes everything");
}

/// Nanoseconds for people: two or three digits and a unit.
pub fn time(nanoseconds: f64) -> String {
    scaled(nanoseconds, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")])
}

/// Bytes for people.
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")])
}

fn scaled(number: f64, units: &[(f64, &str)]) -> String {
    let fits = |(unit, _): &&(f64, &str)| number >= *unit;
    match units.iter().find(fits) {
        None => "0".to_owned(),
        Some((unit, name)) => format!("{} {name}", digits(number / unit)),
    }
}

/// A ratio for people.
pub fn ratio(ratio: f64) -> String {
    if ratio.is_finite() { digits(ratio) } else { "–".to_owned() }
}

/// Two or three digits that count.
fn digits(number: f64) -> String {
    match number {
        n if n >= 99.5 => format!("{n:.0}"),
        n if n >= 9.95 => format!("{n:.0}"),
        n if n >= 0.995 => format!("{n:.1}"),
        n if n >= 0.0995 => format!("{n:.2}"),
        n => format!("{n:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(time(512.0), "512 ns");
        assert_eq!(time(1_234.0), "1.2 µs");
        assert_eq!(time(12_600_000.0), "13 ms");
        assert_eq!(time(0.0), "0");
        assert_eq!(bytes(2_500_000.0), "2.5 MB");
        assert_eq!(ratio(0.034), "0.034");
        assert_eq!(ratio(f64::INFINITY), "–");
    }
}
