//! The programs that `benchmarks/live.py` runs, each until `SIGTERM` unless it ends by itself.
//!
//! ```text
//! wire forward CONFIG.json
//! wire copy DEVICE DEVICE
//! wire generate DEVICE LENGTH RATE|max FRAMES|endless CODEPOINT...
//! wire listen DEVICE
//! ```

use std::error::Error;

use perhop_live::process;
use perhop_live::socket::yardstick::{self, Load};
use perhop_live::socket::{Bell, StopSignals};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let stop = StopSignals::catch(&Bell::new()?);
    let tally = match words.as_slice() {
        ["forward", path] => {
            drop(stop); // the process catches signals itself
            process::run(&serde_json::from_str(&std::fs::read_to_string(path)?)?)?;
            return Ok(());
        }
        ["copy", first, second] => yardstick::copy([first, second], &stop)?,
        ["generate", device, length, rate, frames, codepoints @ ..] => {
            let load = Load {
                frames: (*frames != "endless").then(|| frames.parse()).transpose()?,
                rate: (*rate != "max").then(|| rate.parse()).transpose()?,
                length: length.parse()?,
                codepoints: codepoints.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            };
            yardstick::generate(device, &load, &stop)?
        }
        ["listen", device] => yardstick::listen(device, &stop)?,
        // `cargo bench` and `cargo test --benches` run it without arguments: there is nothing to do without devices.
        [] => return Ok(()),
        _ => {
            return Err(
                "usage: wire forward|copy|generate|listen ... (see the head of benches/wire.rs)".into()
            );
        }
    };
    println!("{}", serde_json::to_string(&tally)?);
    Ok(())
}
