//! The programs of `benchmarks/live.py`. Each program runs until `SIGTERM` or until its work is done.
//!
//! ```text
//! wire forward CONFIG.json
//! wire copy DEVICE DEVICE
//! wire generate DEVICE LENGTH RATE|max FRAMES|endless CODEPOINT...
//! wire listen DEVICE
//! ```

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use perhop_live::process;
    use perhop_live::socket::yardstick::{self, Load};
    use perhop_live::socket::{Bell, StopSignals};

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
        // `cargo bench` and `cargo test --benches` pass no arguments. Without devices, the program does
        // nothing.
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

/// Packet sockets exist on Linux only.
#[cfg(not(target_os = "linux"))]
fn main() {}
