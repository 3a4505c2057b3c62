//! [`reference`]: the tables of the documentation page on `tc`.

use std::fmt::Write;

use crate::options::{Effect, Opt};
use crate::syntax::{self, Model};

/// Returns the tables of `docs/tc.md` in Markdown: every queueing discipline with its options.
pub fn reference() -> String {
    let mut text = String::new();
    for kind in syntax::kinds() {
        let (state, what) = match kind.model {
            Model::Modelled(what) => ("modelled", what),
            Model::NotModelled(what) => ("not modelled", what),
            Model::Irrelevant(what) => ("irrelevant", what),
        };
        let _ = writeln!(text, "### {}\n\n{state}: {what}.\n", kind.name);
        table(&mut text, "option", kind.options);
        table(&mut text, "option of a class", kind.class.unwrap_or_default());
    }
    text.trim_end().to_owned() + "\n"
}

fn table(text: &mut String, head: &str, options: &[Opt]) {
    let listed: Vec<&Opt> = options.iter().filter(|opt| !opt.shown).collect();
    if listed.is_empty() {
        return;
    }
    let _ = writeln!(text, "| {head} | default | treatment |\n|---|---|---|");
    for opt in listed {
        let effect = match opt.effect {
            Effect::Modelled => "modelled".to_owned(),
            Effect::Irrelevant(why) => format!("irrelevant: {why}"),
            Effect::NotModelled(why) => format!("not modelled: {why}"),
            Effect::NotModelledBut(usual, why) => format!("`{}` alone: {why}", usual[0]),
        };
        let _ = writeln!(text, "| `{}` | {} | {effect} |", opt.names.join("`, `"), opt.default);
    }
    text.push('\n');
}
