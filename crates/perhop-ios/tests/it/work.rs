//! Tests that the work of the parser grows linearly. They count comparisons with the tables of commands
//! instead of time, so the results do not depend on the machine.

use perhop_ios::{Platform, Profile, convert, parse};

/// A configuration of `blocks` blocks, with commands of all kinds.
fn configuration(blocks: usize) -> String {
    let block = |n: usize| {
        format!(
            "class-map match-any class-{n}\n match access-group name list-{n}\n match ip dscp ef\n!\n\
             policy-map policy-{n}\n class class-{n}\n  bandwidth 100\n  random-detect dscp-based\n class class-default\n  fair-queue\n!\n\
             interface Serial{n}/0\n description line {n}\n bandwidth 1544\n ip address 10.{}.{}.1 255.255.255.252\n\
             \x20encapsulation ppp\n service-policy output policy-{n}\n no ip directed-broadcast\n frobnicate {n}\n!\n\
             ip access-list extended list-{n}\n permit tcp any host 10.1.1.1 eq {}\n deny ip any any\n!\n\
             snmp-server host 10.0.0.{}\n",
            n / 256 % 256,
            n % 256,
            n % 65535 + 1,
            n % 256,
        )
    };
    "version 12.4\nip cef\n".to_owned() + &(0..blocks).map(block).collect::<String>()
}

#[test]
fn ten_times_the_text_is_ten_times_the_work() {
    let (short, long) = (parse(&configuration(100)), parse(&configuration(1000)));
    let (few, many) = (short.comparisons, long.comparisons);
    assert!(many <= 10 * few, "{few} comparisons, then {many}");
    // On average, the parser compares a line with fewer commands than the text has blocks.
    assert!(
        many < 1000 * long.lines.len() as u64,
        "{} comparisons for each line",
        many / long.lines.len() as u64
    );
}

#[test]
fn a_megabyte_is_read_and_converted() {
    let text = configuration(2_000);
    assert!(text.len() > 1_000_000, "{}", text.len());
    let mut configuration = parse(&text);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::PreHqf));
    assert_eq!(router.ports.len(), 2_000);
    assert!(configuration.diagnostics.is_empty(), "{}", configuration.diagnostics[0]);
}

/// An access list of `entries` hosts, in a block or line by line.
fn access_list(entries: usize, opening: &str, before_each: &str) -> String {
    let entry = |n: usize| {
        let host = format!("10.{}.{}.{}", n / 65536, n / 256 % 256, n % 256);
        format!("{before_each}permit tcp host {host} any eq {}\n", n % 60_000 + 1)
    };
    opening.to_owned() + &(0..entries).map(entry).collect::<String>()
}

#[test]
fn ten_times_the_entries_of_a_list_are_ten_times_the_work() {
    for (opening, before_each) in [("ip access-list extended L\n", " "), ("", "access-list 100 ")] {
        let compared = |entries| {
            let mut configuration = parse(&access_list(entries, opening, before_each));
            convert(&mut configuration, &Platform::for_profile(Profile::PreHqf));
            assert!(configuration.diagnostics.is_empty(), "{}", configuration.diagnostics[0]);
            configuration.set_comparisons
        };
        // For each entry, one packet proves that the entry is reached, so no sets are compared.
        assert_eq!((compared(200), compared(2_000)), (0, 0));
    }
}

/// Every second entry repeats the previous entry. The search compares values, so it does not compare each
/// pair.
#[test]
fn hidden_entries_are_found_without_comparing_each_pair() {
    let twice = |n: usize| format!(" permit udp any host 10.0.{}.{}\n", n / 512, n / 2 % 256);
    let text = "ip access-list extended L\n".to_owned() + &(0..1_000).map(twice).collect::<String>();
    let mut configuration = parse(&text);
    convert(&mut configuration, &Platform::for_profile(Profile::PreHqf));
    let hidden =
        configuration.diagnostics.iter().filter(|diagnostic| diagnostic.rule.id == "access-entry-shadowed");
    let lines: Vec<usize> = hidden.clone().map(|diagnostic| diagnostic.line).collect();
    assert_eq!(lines, (1..=500).map(|n| 2 * n + 1).collect::<Vec<_>>());
    assert!(hidden.clone().all(|diagnostic| {
        diagnostic.message.ends_with(&format!("matches line {} first", diagnostic.line - 1))
    }));
    assert!(configuration.set_comparisons < 10 * 1_000, "{}", configuration.set_comparisons);
}

/// Three groups of 1,000 members add 3,000 parts to a condition, not the product of their sizes.
#[test]
fn object_groups_are_not_expanded_into_products() {
    let address = |n: usize| format!(" host 10.0.{}.{}\n", n / 256, n % 256);
    let group =
        |name: &str| format!("object-group network {name}\n{}", (0..1_000).map(address).collect::<String>());
    let service = |n: usize| format!(" tcp eq {}\n", n + 1);
    let services = (0..1_000).map(service).collect::<String>();
    let text = format!(
        "{}{}object-group service S\n{services}ip access-list extended L\n permit object-group S object-group A \
         object-group B\nclass-map c\n match access-group name L\npolicy-map p\n class c\n  bandwidth 100\n\
         interface Serial0/0\n bandwidth 1544\n service-policy output p\n",
        group("A"),
        group("B"),
    );
    let router = convert(&mut parse(&text), &Platform::for_profile(Profile::PreHqf));
    let written = serde_json::to_string(&router.ports[0].output).unwrap();
    assert!(written.contains("10.0.3.231") && written.contains("1000"), "the groups are present");
    assert!(written.len() < 300_000, "{} bytes", written.len());
}

/// Each group of a chain contains the next group. Only the last group contains an address.
#[test]
fn nested_groups_have_a_limit() {
    for (levels, refused) in [(64, 0), (65, 1), (20_000, 1)] {
        let group = |n: usize| format!("object-group network G{n}\n group-object G{}\n", n + 1);
        let chain: String = (1..levels).map(group).collect();
        let text = format!(
            "{chain}object-group network G{levels}\n host 10.0.0.1\n\
             ip access-list extended L\n permit ip object-group G1 any\n"
        );
        let configuration = parse(&text);
        let words = "nested more than 64 levels deep";
        let found = configuration.diagnostics.iter().filter(|diagnostic| diagnostic.message.contains(words));
        assert_eq!(found.count(), refused, "{levels} levels: {:?}", configuration.diagnostics.first());
    }
}

/// The search for overlaps compares pairs of classes.
#[test]
fn classes_of_a_policy_are_compared_up_to_a_limit() {
    for (count, refused) in [(2_000, 0), (2_001, 1)] {
        let class = |n: usize| format!(" class c{n}\n  set dscp af11\n");
        let text = format!("policy-map p\n{}", (0..count).map(class).collect::<String>());
        let mut configuration = parse(&text);
        convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
        let too_complex = configuration
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.rule.id == "conditions-too-complex");
        assert_eq!(too_complex.count(), refused, "{count} classes");
        assert!(configuration.set_comparisons <= 2_000_000, "{}", configuration.set_comparisons);
    }
}
