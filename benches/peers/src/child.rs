//! A process with a limit of time and of memory.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::memory;

/// What a process may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Its time.
    pub time: Duration,
    /// Its resident bytes.
    pub memory: u64,
}

/// Runs a command and gives what it wrote to its standard output.
///
/// # Errors
///
/// Why there is nothing: a limit, or the end of what it wrote to its standard error.
pub fn run(mut command: Command, limits: Limits) -> Result<Vec<u8>, String> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| error.to_string())?;
    let output = drain(child.stdout.take());
    let errors = drain(child.stderr.take());
    let ended = wait(&mut child, limits);
    let output = output.join().unwrap_or_default();
    let errors = errors.join().unwrap_or_default();
    match ended {
        Err(limit) => Err(limit),
        Ok(true) => Ok(output),
        Ok(false) => {
            let errors = String::from_utf8_lossy(&errors);
            let said =
                errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            Err(format!("the process failed: {}", said.chars().take(200).collect::<String>()))
        }
    }
}

/// Whether it ended well.
fn wait(child: &mut Child, limits: Limits) -> Result<bool, String> {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) => {}
            Err(error) => return Err(error.to_string()),
        }
        let limit = if begin.elapsed() > limits.time {
            Some(format!("stopped after {} s", limits.time.as_secs()))
        } else if memory::resident_of(child.id()) > limits.memory {
            Some(format!("stopped at {} GiB", limits.memory >> 30))
        } else {
            None
        };
        if let Some(limit) = limit {
            // It may have ended by itself in the meantime.
            let _ = child.kill();
            let _ = child.wait();
            return Err(limit);
        }
        // Rare enough to leave the measured process its core.
        thread::sleep(Duration::from_millis(50));
    }
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error still tells something.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Vec<u8>, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, Limits { time: Duration::from_millis(500), memory: 1 << 30 })
    }

    #[test]
    fn output_failure_and_time() {
        assert_eq!(shell("echo yes").as_deref(), Ok(&b"yes\n"[..]));
        assert!(shell("echo no >&2; false").is_err_and(|fault| fault.contains("no")));
        assert!(shell("exec sleep 5").is_err_and(|fault| fault.contains("stopped")));
    }
}
