//! Damaged text: nothing panics, every line has a state, and what remains can be built.

mod accounted;

use accounted::check as holds;
use perhop_tc::is_configuration;
use proptest::prelude::*;

/// Scripts and output that have a bit of everything.
const TEXTS: [&str; 3] = [
    include_str!("../../../vectors/tc/router.sh"),
    include_str!("../../../vectors/tc/shown.txt"),
    include_str!("../../../vectors/tc/batch.tc"),
];

#[test]
fn whole_texts_hold() {
    for text in TEXTS {
        assert!(is_configuration(text), "{text}");
        holds(text);
    }
}

proptest! {
    #[test]
    fn words_put_elsewhere_do_not_panic(
        which in 0..3_usize, moves in prop::collection::vec((any::<usize>(), any::<usize>()), 1..12)
    ) {
        let mut words: Vec<&str> = TEXTS[which].split_inclusive([' ', '\n']).collect();
        for (from, to) in moves {
            let count = words.len();
            words.swap(from % count, to % count);
        }
        holds(&words.concat());
    }

    #[test]
    fn letters_changed_do_not_panic(
        which in 0..3_usize, changes in prop::collection::vec((any::<usize>(), any::<char>()), 1..12)
    ) {
        let mut letters: Vec<char> = TEXTS[which].chars().collect();
        for (at, letter) in changes {
            let count = letters.len();
            letters[at % count] = letter;
        }
        holds(&letters.into_iter().collect::<String>());
    }

    #[test]
    fn any_text_is_read(text in "(?s).{0,400}") {
        holds(&text);
    }
}
