//! [`prove`]: whether two configurations treat all packets equally.
//!
//! ```text
//! texts → models → pairs of ports → treatments of all packets → equal, a packet, or not decided
//!                → lines and properties that are not in the treatments → not decided
//! ```

mod answer;
mod chosen;
pub(crate) mod devices;
pub(crate) mod ports;
mod question;

use perhop_device::{FrontEnds, HiddenParts, ParseOptions};
use perhop_qos::ConfigError;

pub use answer::{Proof, Verdict};
pub use question::ProofQuestion;
use question::Side;

/// Returns whether two configurations treat all packets equally: at a port or with a policy of each if the
/// question names them, otherwise at all ports.
///
/// # Errors
/// An option is invalid, perhop does not simulate a system, or the port or policy does not exist.
pub fn prove<'a>(front_ends: FrontEnds<'a>, question: &ProofQuestion<'a>) -> Result<Proof, ConfigError> {
    let mut sides = Vec::new();
    for side in [0, 1] {
        let (text, name) = (question.texts[side], question.names[side]);
        let options = ParseOptions { hidden_parts: HiddenParts::Skip, ..question.options[side].clone() };
        let front_end = front_ends.choose(text, options.platform.as_deref())?;
        let model = front_end.parse(text, &options)?;
        if let Some(refusal) = model.refusal() {
            let message = format!("{name}: {}", refusal.message);
            return Err(ConfigError::new("", message).help(refusal.router.clone()));
        }
        sides.push(Side { name, text, front_end, options, model });
    }
    let sides: [Side; 2] = sides.try_into().map_err(|_| ConfigError::new("", "two sides".to_owned()))?;
    let is_chosen = question.at.iter().chain(&question.policy).any(Option::is_some);
    if is_chosen || chosen::has_single_ports(&sides) {
        return chosen::prove_ports(sides, question);
    }
    Ok(devices::prove([&sides[0].model, &sides[1].model], question.names, &mut |_, _| true))
}
