//! The command: `peers run` measures and writes the report, `peers report` writes it again, `peers
//! expect` writes what masks must be, `peers schemas` measures schemas and writes their page;
//! `peers measure ENGINE CASE` and `peers measure-schemas ENGINE CASE` are what a run starts for
//! each measurement.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use lrmask_peers::case::Case;
use lrmask_peers::child::Limits;
use lrmask_peers::engines::{llguidance::Llguidance, lrmask::Lrmask, outlines::Outlines};
use lrmask_peers::measure::measure;
use lrmask_peers::results::Results;
use lrmask_peers::run::{self, Plan};
use lrmask_peers::schemas::{self, figures::SchemaResults};
use lrmask_peers::{peers, plot, table};

const USAGE: &str = "\
    usage: peers run [OPTION VALUE]...
       peers schemas [OPTION VALUE]...
       peers report [--out DIRECTORY]
       peers expect [OPTION VALUE]...

  --engines A,B         only these engines
  --workloads A,B       only these workloads
  --vocabularies A,B    only these vocabularies
  --repetitions N       processes for each measurement (5)
  --tokens N            tokens of a workload's documents, at most (20000)
  --patience SECONDS    for one pass over the documents, or over a schema's instances (10)
  --limit SECONDS       for one process (600)
  --memory GIB          for one process (14)
  --data DIRECTORY      the samples (../shared/data beside the project)
  --out DIRECTORY       where results go (benches/peers/results)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["measure", engine, case] => measure_one(engine, Path::new(case)),
        ["measure-schemas", engine, case] => measure_schemas(engine, Path::new(case)),
        ["schemas", options @ ..] => {
            Options::read(options).and_then(|options| run_schemas(&options))
        }
        ["run", options @ ..] => Options::read(options).and_then(|options| run_all(&options)),
        ["report", options @ ..] => Options::read(options).and_then(|options| report(&options.out)),
        ["expect", options @ ..] => Options::read(options)
            .and_then(|options| run::expect(&options.plan, &|what| eprintln!("{what}"))),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure_one(engine: &str, path: &Path) -> Result<(), String> {
    let case = Case::read(path).map_err(|error| error.to_string())?;
    let measured = match engine {
        "lrmask" => measure::<Lrmask>(&case),
        "llguidance" => measure::<Llguidance>(&case),
        "outlines-core" => measure::<Outlines>(&case),
        _ => return Err(format!("no engine here is called {engine}")),
    };
    let measured = measured.map_err(|error| error.to_string())?;
    serde_json::to_writer(std::io::stdout().lock(), &measured).map_err(|error| error.to_string())
}

fn measure_schemas(engine: &str, path: &Path) -> Result<(), String> {
    let measured = match engine {
        "lrmask" => schemas::measure::measure::<Lrmask>(path),
        "llguidance" => schemas::measure::measure::<Llguidance>(path),
        _ => return Err(format!("no engine here takes schemas and is called {engine}")),
    }?;
    serde_json::to_writer(std::io::stdout().lock(), &measured).map_err(|error| error.to_string())
}

fn run_schemas(options: &Options) -> Result<(), String> {
    let results = schemas::run::run(&options.plan, &|what| eprintln!("{what}"))?;
    let text = serde_json::to_string_pretty(&results).map_err(|error| error.to_string())?;
    write(&options.out, "schemas.json", &text)?;
    report_schemas(&options.out)
}

/// Writes the page of schemas, where there has been such a run.
fn report_schemas(out: &Path) -> Result<(), String> {
    let Ok(text) = fs::read(out.join("schemas.json")) else { return Ok(()) };
    let results: SchemaResults =
        serde_json::from_slice(&text).map_err(|error| format!("schemas.json: {error}"))?;
    write(out, "schemas.md", &schemas::page::page(&results))
}

fn run_all(options: &Options) -> Result<(), String> {
    peers::build(&options.plan.peers())?;
    let results = run::run(&options.plan, &|what| eprintln!("{what}"))?;
    let text = serde_json::to_string_pretty(&results).map_err(|error| error.to_string())?;
    write(&options.out, "results.json", &text)?;
    report(&options.out)
}

fn report(out: &Path) -> Result<(), String> {
    let path = out.join("results.json");
    let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let results: Results =
        serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    write(out, "README.md", &table::page(&results))?;
    for (name, drawing) in plot::all(&results) {
        write(out, &name, &drawing)?;
    }
    report_schemas(out)?;
    // The project's page shows the committed results, and no others.
    if out == results_directory() { update_page(&table::summary(&results)) } else { Ok(()) }
}

/// Puts the summary between its marks in the project's page of figures.
fn update_page(summary: &str) -> Result<(), String> {
    const MARKS: [&str; 2] = ["<!-- peers report: begin -->\n", "<!-- peers report: end -->"];
    let docs = peers::package().join("../../docs");
    let path = docs.join("measured.md");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let [begin, end] = MARKS.map(|mark| text.find(mark));
    let (Some(begin), Some(end)) = (begin.map(|at| at + MARKS[0].len()), end) else {
        return Err(format!("{}: no marks for the summary", path.display()));
    };
    let text = format!("{}{summary}{}", &text[..begin], &text[end..]);
    write(&docs, "measured.md", &text)
}

fn results_directory() -> PathBuf {
    peers::package().join("results")
}

fn write(directory: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = directory.join(name);
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}

struct Options {
    plan: Plan,
    out: PathBuf,
}

impl Options {
    fn read(words: &[&str]) -> Result<Self, String> {
        let package = peers::package();
        let mut options = Self {
            plan: Plan {
                engines: Vec::new(),
                workloads: Vec::new(),
                vocabularies: Vec::new(),
                repetitions: 5,
                tokens: 20_000,
                patience: 10.0,
                data: package.join("../../../shared/data"),
                limits: Limits { time: Duration::from_secs(600), memory: 14 << 30 },
            },
            out: results_directory(),
        };
        let plan = &mut options.plan;
        for pair in words.chunks(2) {
            let &[name, value] = pair else { return Err(USAGE.to_owned()) };
            let list = || value.split(',').map(str::to_owned).collect();
            let bad = || format!("{name} {value}: not a number that would do");
            let number = || value.parse::<u32>().map_err(|_| bad());
            match name {
                "--engines" => plan.engines = list(),
                "--workloads" => plan.workloads = list(),
                "--vocabularies" => plan.vocabularies = list(),
                "--repetitions" => plan.repetitions = number()? as usize,
                "--tokens" => plan.tokens = number()? as usize,
                "--patience" => plan.patience = f64::from(number()?),
                "--limit" => plan.limits.time = Duration::from_secs(number()?.into()),
                "--memory" => plan.limits.memory = u64::from(number()?) << 30,
                "--data" => plan.data = value.into(),
                "--out" => options.out = value.into(),
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(options)
    }
}
