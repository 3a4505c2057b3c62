//! [`Ablation`]: the properties of a device that depend on a line.
//!
//! To find the effect of a line, perhop parses the text again without this line. This works for every
//! language, and covers everything that the model contains.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::{DeviceModel, FrontEnd, HiddenParts, ParseOptions};
use serde_json::Value;

use crate::parts::{Device, Property, properties_of_device};

/// Limits on the bytes of text that are parsed again, and on the lines whose effect is determined.
const MOST_BYTES: usize = 8_000_000;
const MOST_LINES: usize = 200;

/// A text, its model, and the properties of that model.
pub(crate) struct Ablation<'a> {
    front_end: &'a dyn FrontEnd,
    options: ParseOptions,
    lines: Vec<&'a str>,
    bytes: usize,
    /// The line that opens the section of each line, if any.
    blocks: BTreeMap<usize, usize>,
    properties: BTreeMap<Property, Value>,
    /// Whether the lines of the model are the lines of the text. In a text in JSON, they are items.
    is_numbered: bool,
    read: usize,
}

impl<'a> Ablation<'a> {
    pub(crate) fn prepare(
        front_end: &'a dyn FrontEnd,
        options: &ParseOptions,
        text: &'a str,
        model: &'a DeviceModel,
    ) -> Ablation<'a> {
        let lines: Vec<&str> = text.lines().collect();
        let blocks = model.lines.iter().filter_map(|line| Some((line.number, line.block?))).collect();
        let is_numbered = lines.len() == model.lines.len();
        let properties = properties_of_device(&Device::from_model(model));
        let bytes = text.len();
        let options = ParseOptions { hidden_parts: HiddenParts::Skip, ..options.clone() };
        Ablation { front_end, options, lines, bytes, blocks, properties, is_numbered, read: 0 }
    }

    /// Returns the properties that change if the line `number` and its block are removed; `None` if the limit
    /// on the parsed text is reached.
    pub(crate) fn effect(&mut self, number: usize) -> Option<BTreeSet<Property>> {
        self.read += 1;
        if !self.is_numbered || self.read > MOST_LINES || self.read * self.bytes > MOST_BYTES {
            return None;
        }
        let without: Vec<&str> =
            self.lines.iter().copied().zip(1..).map(|line| self.line_outside_block(line, number)).collect();
        let model = self.front_end.parse(&without.join("\n"), &self.options).ok()?;
        let other = properties_of_device(&Device::from_model(&model));
        let keys = self.properties.keys().chain(other.keys());
        Some(keys.filter(|key| self.properties.get(*key) != other.get(*key)).cloned().collect())
    }

    /// Returns the text of a line, or an empty line for the line `number` and the lines of its block.
    fn line_outside_block(&self, (text, own): (&'a str, usize), number: usize) -> &'a str {
        let mut at = Some(own);
        while let Some(line) = at.filter(|line| *line > number) {
            at = self.blocks.get(&line).copied().filter(|opener| *opener < line);
        }
        if at == Some(number) { "" } else { text }
    }
}
