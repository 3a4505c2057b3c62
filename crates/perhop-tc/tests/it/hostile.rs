//! Damaged text: no panic, every line has a state, and the result can be built.

use crate::accounted::check as holds;
use perhop_tc::is_configuration;
use proptest::prelude::*;

/// Scripts and output with all kinds of content.
const TEXTS: [&str; 5] = [
    include_str!("../../../../vectors/tc/router.sh"),
    include_str!("../../../../vectors/tc/shown.txt"),
    include_str!("../../../../vectors/tc/batch.tc"),
    include_str!("../../../../vectors/tc/shown.json"),
    include_str!("../../../../vectors/tc/shown-in-lines.json"),
];

#[test]
fn valid_texts_are_accounted_for() {
    for text in TEXTS {
        assert!(is_configuration(text), "{text}");
        holds(text);
    }
}

proptest! {
    #[test]
    fn moved_words_do_not_panic(
        which in 0..5_usize, moves in prop::collection::vec((any::<usize>(), any::<usize>()), 1..12)
    ) {
        let mut words: Vec<&str> = TEXTS[which].split_inclusive([' ', '\n']).collect();
        for (from, to) in moves {
            let count = words.len();
            words.swap(from % count, to % count);
        }
        holds(&words.concat());
    }

    #[test]
    fn changed_letters_do_not_panic(
        which in 0..5_usize, changes in prop::collection::vec((any::<usize>(), any::<char>()), 1..12)
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

/// Valid and invalid words of commands.
fn word() -> impl Strategy<Value = String> {
    let kinds = "pfifo codel fq_codel pie red sfq tbf prio drr htb hfsc cake ingress clsact netem u32 flower fw matchall";
    let options = "limit target interval rate burst ceil quantum default bands overhead mpu linklayer ecn latency \
                   match ip dport police action mirred egress redirect flowid classid protocol pref rt ls m2";
    let values = "10 0x1f -3 5ms 10mbit 10mbps 15k 50% 1:10 1: abc eth0 drop ifb0 0xffff $X 18446744073709551616 1e300";
    let all: Vec<String> =
        [kinds, options, values].iter().flat_map(|list| list.split(' ')).map(String::from).collect();
    prop::sample::select(all)
}

proptest! {
    #[test]
    fn every_command_is_accounted_for(
        commands in prop::collection::vec(
            (
                prop::sample::select(vec!["qdisc", "class", "filter"]),
                prop::sample::select(vec!["add", "change", "replace", "del"]),
                prop::sample::select(vec!["root handle 1:", "parent 1: classid 1:10", "parent 1:10 handle 10:", "ingress"]),
                prop::collection::vec(word(), 0..10),
            ),
            1..12,
        )
    ) {
        let line = |(object, verb, place, words): &(&str, &str, &str, Vec<String>)| {
            format!("tc {object} {verb} dev eth0 {place} {}\n", words.join(" "))
        };
        let text: String = commands.iter().map(line).collect();
        holds(&text);
        // An unknown word is never ignored: the line is no longer fully read.
        for (index, (_, verb, ..)) in commands.iter().enumerate().filter(|(_, command)| command.1 == "add") {
            let strange = format!("tc {} {verb} dev eth1 {} frobnicate", commands[index].0, commands[index].2);
            let configuration = perhop_tc::parse(&strange);
            prop_assert!(configuration.differing().next().is_some(), "{strange}");
        }
    }
}
