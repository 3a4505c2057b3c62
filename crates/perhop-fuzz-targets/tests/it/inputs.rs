//! Inputs of a target: its seeds, damaged seeds, and random bytes.

use std::fs;
use std::path::{Path, PathBuf};

use perhop_qos::packet::Protocol;
use perhop_qos::random::{Stream, Streams};

use crate::frames;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the files that match `pattern`, a path from the root of the repository with one `*` in its last
/// part.
fn matching(pattern: &str) -> Vec<PathBuf> {
    let (folder, name) = pattern.rsplit_once('/').expect("a folder");
    let (prefix, suffix) = name.split_once('*').expect("an asterisk");
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let is_match = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_file() && name.starts_with(prefix) && name.ends_with(suffix)
    };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(is_match).collect();
    assert!(!files.is_empty(), "no file matches {pattern}");
    files.sort();
    files
}

/// Returns the seeds of `target`, with which fuzzing begins (`FUZZ_SEEDS_*` in the Makefile). The target
/// `frame` has no seed files and uses generated frames.
pub(crate) fn seeds(target: &str) -> Vec<Vec<u8>> {
    if target == "frame" {
        let udp = frames::packet("10.0.0.1", "10.0.0.2", Protocol::UDP, 100);
        let tcp = frames::packet("2001:db8::1", "2001:db8::2", Protocol::TCP, 80);
        return [udp, tcp]
            .iter()
            .map(frames::ethernet)
            .flat_map(|frame| [frame[14..].to_vec(), frame])
            .collect();
    }
    let makefile = fs::read_to_string(root().join("Makefile")).expect("the Makefile");
    let begin = format!("FUZZ_SEEDS_{target} := $(sort $(wildcard ");
    let patterns = makefile.lines().find_map(|line| line.strip_prefix(&begin)?.strip_suffix("))"));
    let files = patterns.unwrap_or_default().split_whitespace().flat_map(matching);
    files.map(|path| fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).collect()
}

/// Random inputs. Equal seeds of the generator result in equal inputs.
pub(crate) struct Inputs<'seeds> {
    seeds: &'seeds [Vec<u8>],
    random: Stream,
}

impl<'seeds> Inputs<'seeds> {
    pub(crate) fn new(target: &str, seed: u64, seeds: &'seeds [Vec<u8>]) -> Inputs<'seeds> {
        Inputs { seeds, random: Streams::new(seed, 0).child(target).stream() }
    }

    /// Returns the next input. If the target has seeds, seven of eight inputs are damaged seeds.
    pub(crate) fn draw(&mut self) -> Vec<u8> {
        if self.seeds.is_empty() || self.below(8) == 0 {
            let most = 16 << self.below(9);
            let length = self.below(most);
            return self.bytes(length);
        }
        let mut input = self.seeds[self.below(self.seeds.len())].clone();
        for _ in 0..=self.below(6) {
            self.damage(&mut input);
        }
        input
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.random.uniform() * limit as f64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }

    /// Changes some bytes of `input`.
    fn damage(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let limit = 1 << self.below(7);
        let length = self.below(limit).min(input.len() - at);
        match self.below(8) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..at + length)),
            2 => {
                let copy = input[at..at + length].to_vec();
                let to = self.below(input.len() + 1);
                input.splice(to..to, copy);
            }
            3 => {
                let bytes = self.bytes(length);
                input.splice(at..at, bytes);
            }
            4 => self.renumber(input, at),
            5 => {
                let other = &self.seeds[self.below(self.seeds.len())];
                let from = self.below(other.len() + 1);
                input.splice(at.., other[from..].iter().copied());
            }
            6 if at < input.len() => input[at] = self.below(256) as u8,
            _ if at < input.len() => input[at] ^= 1 << self.below(8),
            _ => {}
        }
    }

    /// Replaces the first decimal number at or after `at`.
    fn renumber(&mut self, input: &mut Vec<u8>, at: usize) {
        const NUMBERS: [&str; 8] =
            ["0", "1", "-1", "255", "65536", "4294967295", "18446744073709551615", "1e400"];
        let Some(from) = input[at..].iter().position(u8::is_ascii_digit).map(|digits| at + digits) else {
            return;
        };
        let digits = input[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = NUMBERS[self.below(NUMBERS.len())];
        input.splice(from..from + digits, number.bytes());
    }
}
