//! The engines by name, and the processes that measure them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// An engine as a run knows it.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    home: Home,
}

/// What program measures it.
#[derive(Clone, Copy, Debug)]
enum Home {
    /// This one.
    Here,
    /// The package in `glrmask`.
    Glrmask,
    /// The script in `xgrammar`.
    Xgrammar,
}

/// All engines, in the order of tables. The versions are those that the manifests ask for.
pub const ALL: [Peer; 5] = [
    Peer { name: "lrmask", version: "this tree", home: Home::Here },
    Peer { name: "llguidance", version: "1.9.1", home: Home::Here },
    Peer { name: "glrmask", version: "0.5.0", home: Home::Glrmask },
    Peer { name: "xgrammar", version: "0.2.8", home: Home::Xgrammar },
    Peer { name: "outlines-core", version: "0.2.14", home: Home::Here },
];

/// The directory of this package.
pub fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Builds those of `peers` that are built apart from this program, which takes minutes.
///
/// # Errors
///
/// When cargo fails.
pub fn build(peers: &[Peer]) -> Result<(), String> {
    if !peers.iter().any(|peer| matches!(peer.home, Home::Glrmask)) {
        return Ok(());
    }
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(package().join("glrmask/Cargo.toml"))
        .arg("--target-dir")
        .arg(package().join("target"))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the build of glrmask failed: {status}")),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

impl Peer {
    /// The command that measures a case.
    ///
    /// # Errors
    ///
    /// When the program is not there.
    pub fn command(&self, case: &Path) -> Result<Command, String> {
        let mut command = match self.home {
            Home::Here => self.here("measure")?,
            Home::Glrmask => Command::new(there(package().join("target/release/peers-glrmask"))?),
            Home::Xgrammar => python("xgrammar/measure.py")?,
        };
        command.arg(case);
        Ok(command)
    }

    /// The command that measures a case of schemas.
    ///
    /// # Errors
    ///
    /// When the program is not there.
    pub fn schema_command(&self, case: &Path) -> Result<Command, String> {
        let mut command = match self.home {
            Home::Here => self.here("measure-schemas")?,
            Home::Glrmask => return Err("takes no schemas".to_owned()),
            Home::Xgrammar => python("xgrammar/schemas.py")?,
        };
        command.arg(case);
        Ok(command)
    }

    /// Whether the engine is run over schemas.
    pub fn takes_schemas(&self) -> bool {
        ["lrmask", "llguidance", "xgrammar"].contains(&self.name)
    }

    fn here(&self, what: &str) -> Result<Command, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args([what, self.name]);
        Ok(command)
    }
}

fn python(script: &str) -> Result<Command, String> {
    let mut command = Command::new(there(package().join(".venv/bin/python"))?);
    command.arg(package().join(script));
    Ok(command)
}

fn there(path: PathBuf) -> Result<PathBuf, String> {
    if path.exists() {
        Ok(path)
    } else {
        Err("not installed; benches/peers/README.md says how".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_manifests() {
        let read = |path: &str| std::fs::read_to_string(package().join(path)).unwrap_or_default();
        let manifests =
            ["Cargo.toml", "glrmask/Cargo.toml", "xgrammar/requirements.txt"].map(read).concat();
        for peer in ALL.iter().filter(|peer| peer.name != "lrmask") {
            let pinned = |line: &str| {
                line.starts_with(peer.name) && line.contains(&format!("={}", peer.version))
            };
            assert!(manifests.lines().any(pinned), "{} {}", peer.name, peer.version);
        }
    }
}
