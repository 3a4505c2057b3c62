//! Where a packet goes behind an action.

use crate::kernel::Kernel;
use crate::model::Control;
use crate::units;
use crate::words::Words;

/// What the word `text` says, with the words that belong to it; `None` where it says nothing of it.
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

/// Whether a word says where a packet goes.
pub(super) fn control_word(word: &str) -> bool {
    matches!(word, "pass" | "ok" | "drop" | "shot" | "continue" | "pipe" | "reclassify")
}
