//! The commands in `docs/ios.md`, `docs/ios-xr.md` and `docs/nx-os.md` agree with the parser's tables.
//! `BLESS=1` writes them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use perhop_ios::{CommandReference, LineState, commands, commands_of_ios_xr, commands_of_nx_os};

const BEGIN: &str = "<!-- commands: kept true by a test of perhop-ios (BLESS=1 writes them) -->\n";
const END: &str = "<!-- end of commands -->";

#[test]
fn the_page_lists_the_commands() {
    hold_page("ios.md", BEGIN, END, &listing(&commands()));
    hold_page("ios-xr.md", BEGIN, END, &listing(&commands_of_ios_xr()));
    // `docs/nx-os.md` uses the spelling of docs/style.md. The other pages are older than this rule.
    let of_nx_os = listing(&commands_of_nx_os()).replace("odelled", "odeled");
    hold_page("nx-os.md", BEGIN, END, &of_nx_os);
}

/// Compares the part of a page from `begin` to `end` with `right`, or writes `right` if `BLESS` is set.
pub(crate) fn hold_page(name: &str, begin: &str, end: &str, right: &str) {
    // Other tests write the same file.
    static PAGE: Mutex<()> = Mutex::new(());
    let _alone = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(begin).expect("the part begins");
    let (_, after) = rest.split_once(end).expect("the part ends");
    let right = format!("{before}{begin}{right}{end}{after}");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, right).unwrap();
    } else {
        assert!(page == right, "docs/{name} differs from the tables: BLESS=1 writes it");
    }
}

#[test]
fn no_command_appears_twice() {
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for command in commands() {
        *places.entry((command.block, command.words)).or_default() += 1;
    }
    for command in commands_of_ios_xr() {
        *places.entry((command.block, command.words)).or_default() += 10;
    }
    for command in commands_of_nx_os() {
        *places.entry((command.block, command.words)).or_default() += 100;
    }
    let is_twice = |count: usize| [count % 10, count / 10 % 10, count / 100].iter().any(|times| *times > 1);
    let twice: Vec<_> = places.iter().filter(|(_, count)| is_twice(**count)).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

fn listing(commands: &[CommandReference]) -> String {
    let mut text = String::new();
    for of_block in commands.chunk_by(|a, b| a.block == b.block) {
        writeln!(text, "\n### {}", title(of_block[0].block)).unwrap();
        for (state, word) in [(LineState::Modelled, "Modelled"), (LineState::Irrelevant, "Irrelevant")] {
            let words: Vec<String> = of_block
                .iter()
                .filter(|command| command.state == state)
                .map(|command| format!("`{}`", command.words))
                .collect();
            if !words.is_empty() {
                writeln!(text, "\n{word}: {}.", words.join(", ")).unwrap();
            }
        }
        let others: Vec<_> = of_block.iter().filter(|command| command.effect.is_some()).collect();
        if !others.is_empty() {
            writeln!(text, "\n| not modelled | what it would change |\n|---|---|").unwrap();
        }
        for command in others {
            writeln!(text, "| `{}` | {} |", command.words, command.effect.unwrap_or_default()).unwrap();
        }
    }
    text.push('\n');
    text
}

fn title(block: &str) -> String {
    match block {
        "global" => "Outside of all blocks".to_owned(),
        "class in a policy-map" => "Under `class` in a `policy-map`".to_owned(),
        block => format!("Under `{block}`"),
    }
}
