//! The control of actions: the next step of a packet.

use crate::kernel::Kernel;
use crate::model::Control;
use crate::units;
use crate::words::Words;

/// Parses the control `text`, with its arguments; `None` for another word.
pub(super) fn control(kernel: &mut Kernel, number: usize, text: &str, words: &mut Words) -> Option<Control> {
    Some(match text {
        "pass" | "ok" => Control::Pass,
        "drop" | "shot" => Control::Drop,
        "continue" => Control::Continue,
        "pipe" => Control::Pipe,
        "reclassify" => Control::Reclassify,
        "goto" => {
            words.take("chain");
            let chain = words.next().and_then(|word| units::integer(word, 0));
            let Some(chain) = chain else {
                kernel.refuse(number, "`goto`: write goto chain NUMBER");
                return None;
            };
            Control::Goto(chain as u32)
        }
        _ => return None,
    })
}

/// Whether a word is a control.
pub(super) fn control_word(word: &str) -> bool {
    matches!(word, "pass" | "ok" | "drop" | "shot" | "continue" | "pipe" | "reclassify")
}
