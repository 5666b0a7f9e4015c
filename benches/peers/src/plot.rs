//! The results as drawings: for each vocabulary, times of masks and times to begin, one panel a
//! workload, on logarithmic axes.

use std::fmt::Write;

use crate::results::{Figures, Results, Vocabulary};
use crate::table::time;

/// An engine's colour; of Okabe and Ito's palette, which colour-blind readers can tell apart.
const COLOURS: [(&str, &str); 5] = [
    ("lrmask", "#0072b2"),
    ("llguidance", "#d55e00"),
    ("glrmask", "#009e73"),
    ("xgrammar", "#cc79a7"),
    ("outlines-core", "#e69f00"),
];

const WIDTH: f64 = 860.0;
/// Where the axis begins and ends.
const LEFT: f64 = 130.0;
const RIGHT: f64 = WIDTH - 24.0;
const ROW: f64 = 18.0;
const TITLE: f64 = 26.0;

/// All drawings, with the names of their files.
pub fn all(results: &Results) -> Vec<(String, String)> {
    let mut drawings = Vec::new();
    for vocabulary in &results.vocabularies {
        let name = &vocabulary.name;
        drawings.push((format!("masks-{name}.svg"), masks(results, vocabulary)));
        drawings.push((format!("begin-{name}.svg"), beginnings(results, vocabulary)));
    }
    drawings
}

/// The times of masks: cold from p50 to max, warm p50 and p99.
fn masks(results: &Results, vocabulary: &Vocabulary) -> String {
    let axis = Axis { low: 1e2, high: 1e9 };
    let caption = format!(
        "Time of a mask, {} ({} ids). Filled: first pass, from the median over the 99th \
         percentile (bar) to the longest \
         (tick). Hollow: second pass, the median. Dashed: copying a mask.",
        vocabulary.name, vocabulary.width
    );
    draw(
        results,
        vocabulary,
        &axis,
        &caption,
        Some(vocabulary.floor.copy.p50),
        |out, y, colour, figures| {
            let cold = figures.cold.mask;
            let [p50, p99, max, warm] =
                [cold.p50, cold.p99, cold.max, figures.warm.mask.p50].map(|t| axis.at(t));
            line(out, [p50, max], [y, y], colour, 1.5);
            line(out, [p99, p99], [y - 5.0, y + 5.0], colour, 3.0);
            line(out, [max, max], [y - 3.0, y + 3.0], colour, 1.5);
            put(out, format_args!("<circle cx='{p50:.1}' cy='{y:.1}' r='4' fill='{colour}'/>\n"));
            put(
                out,
                format_args!(
                    "<circle cx='{warm:.1}' cy='{y:.1}' r='3.5' fill='#fff' stroke='{colour}' \
                     stroke-width='1.5'/>\n"
                ),
            );
        },
    )
}

/// What passes before the first mask is there.
fn beginnings(results: &Results, vocabulary: &Vocabulary) -> String {
    let axis = Axis { low: 1e4, high: 1e12 };
    let caption = format!(
        "From the grammar's text to the first mask, {} ({} ids).",
        vocabulary.name, vocabulary.width
    );
    draw(results, vocabulary, &axis, &caption, None, |out, y, colour, figures| {
        let total = figures.compile + figures.first_mask;
        let (x, width) = (LEFT, axis.at(total) - LEFT);
        put(
            out,
            format_args!(
                "<rect x='{x:.1}' y='{:.1}' width='{width:.1}' height='9' fill='{colour}'/>\n\
                 <text x='{:.1}' y='{:.1}'>{}</text>\n",
                y - 4.5,
                x + width + 6.0,
                y + 4.0,
                time(total)
            ),
        );
    })
}

/// A logarithmic axis in nanoseconds.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// Where a time stands; what is beyond an end stands at the end.
    fn at(&self, nanoseconds: f64) -> f64 {
        let part = (nanoseconds / self.low).log10() / (self.high / self.low).log10();
        LEFT + part.clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    /// The powers of ten on it.
    fn decades(&self) -> impl Iterator<Item = f64> {
        let (first, last) = (self.low.log10().round() as i32, self.high.log10().round() as i32);
        (first..=last).map(|power| 10f64.powi(power))
    }
}

/// A panel a workload, a row an engine; `mark` draws one engine's figures at a height.
fn draw(
    results: &Results,
    vocabulary: &Vocabulary,
    axis: &Axis,
    caption: &str,
    floor: Option<f64>,
    mark: impl Fn(&mut String, f64, &str, &Figures),
) -> String {
    let mut body = String::new();
    let mut y = 64.0;
    for workload in &results.workloads {
        let rows: Vec<_> = (COLOURS.iter())
            .filter_map(|(engine, colour)| {
                let cell = results.cell(engine, &workload.name, &vocabulary.name)?;
                Some((*engine, *colour, cell.figures.as_ref()))
            })
            .collect();
        let height = TITLE + rows.len() as f64 * ROW;
        put(
            &mut body,
            format_args!(
                "<text class='title' x='12' y='{:.1}'>{}</text>\n",
                y + 16.0,
                escape(&workload.title)
            ),
        );
        for decade in axis.decades() {
            let x = axis.at(decade);
            line(&mut body, [x, x], [y + TITLE - 4.0, y + height - 2.0], "#ddd", 1.0);
        }
        if let Some(floor) = floor {
            let x = axis.at(floor);
            put(
                &mut body,
                format_args!(
                    "<line x1='{x:.1}' x2='{x:.1}' y1='{:.1}' y2='{:.1}' stroke='#555' \
                     stroke-dasharray='3 2'/>\n",
                    y + TITLE - 4.0,
                    y + height - 2.0
                ),
            );
        }
        for (row, (engine, colour, figures)) in rows.into_iter().enumerate() {
            let middle = y + TITLE + (row as f64 + 0.5) * ROW - 4.0;
            put(
                &mut body,
                format_args!(
                    "<text x='24' y='{:.1}' fill='{colour}'>{engine}</text>\n",
                    middle + 4.0
                ),
            );
            match figures {
                Some(figures) => mark(&mut body, middle, colour, figures),
                None => put(
                    &mut body,
                    format_args!(
                        "<text class='none' x='{:.1}' y='{:.1}'>not measured: see the \
                         notes</text>\n",
                        LEFT + 6.0,
                        middle + 4.0
                    ),
                ),
            }
        }
        y += height + 8.0;
    }
    for decade in axis.decades() {
        put(
            &mut body,
            format_args!(
                "<text class='scale' x='{:.1}' y='{:.1}'>{}</text>\n",
                axis.at(decade),
                y + 10.0,
                time(decade).replace(".0", "")
            ),
        );
    }
    let height = y + 24.0;
    let mut caption_lines = String::new();
    for (number, words) in wrap(caption, 130).into_iter().enumerate() {
        put(
            &mut caption_lines,
            format_args!("<text x='12' y='{}'>{}</text>\n", 22 + 17 * number, escape(&words)),
        );
    }
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height:.0}' \
         width='{WIDTH}' height='{height:.0}'>\n\
         <style>text {{ font: 12px sans-serif }} .title {{ font-weight: bold }} .scale {{ \
         text-anchor: middle; fill: #555 }} \
         .none {{ fill: #888; font-style: italic }}</style>\n\
         <rect width='100%' height='100%' fill='#fff'/>\n{caption_lines}{body}</svg>\n"
    )
}

fn line(out: &mut String, x: [f64; 2], y: [f64; 2], colour: &str, width: f64) {
    put(
        out,
        format_args!(
            "<line x1='{:.1}' x2='{:.1}' y1='{:.1}' y2='{:.1}' stroke='{colour}' \
             stroke-width='{width}'/>\n",
            x[0], x[1], y[0], y[1]
        ),
    );
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes everything");
}

/// The text in lines of at most so many characters, cut between words.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + word.chars().count() + 1 > width
        {
            lines.push(word.to_owned());
        } else {
            let space = if lines[last].is_empty() { "" } else { " " };
            lines[last] += &format!("{space}{word}");
        }
    }
    lines
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_logarithmic_and_ends() {
        let axis = Axis { low: 1e2, high: 1e4 };
        assert_eq!([axis.at(1.0), axis.at(1e2), axis.at(1e9)], [LEFT, LEFT, RIGHT]);
        assert!((axis.at(1e3) - f64::midpoint(LEFT, RIGHT)).abs() < 1e-9);
        assert_eq!(axis.decades().count(), 3);
    }

    #[test]
    fn lines_are_cut_between_words() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
    }
}
