//! Blocks that affect packets only if another line names them.

use perhop_ios::{LineState, parse};

/// Returns the lines of `text` that are not modeled.
fn open(text: &str) -> Vec<String> {
    let lines = parse(text).lines;
    let open = lines.into_iter().filter(|line| line.state == LineState::NotModelled);
    open.map(|line| line.text.trim().to_owned()).collect()
}

#[test]
fn the_lines_of_a_block_that_another_line_applies_are_not_modeled() {
    for (block, uses) in [
        (
            "route-map X permit 10\n set ip precedence 5\n",
            "interface FastEthernet0/0\n ip policy route-map X\n",
        ),
        ("route-map X permit 10\n match ip address 102\n", "ip local policy route-map X\n"),
        ("template X\n service-policy input IN\n", "interface GigabitEthernet1/0/1\n source template X\n"),
        (
            "time-range X\n periodic weekdays 8:00 to 18:00\n",
            "ip access-list extended L\n permit tcp any any eq 80 time-range X\n",
        ),
    ] {
        let lines: Vec<&str> = block.lines().map(str::trim).collect();
        for text in [format!("{block}{uses}"), format!("{uses}{block}")] {
            let found = open(&text);
            assert!(lines.iter().all(|line| found.iter().any(|other| other == line)), "{found:?}\n{text}");
        }
        // No line applies the block, or a line applies another name.
        assert_eq!(open(block), Vec::<String>::new());
        let found = open(&format!("{block}{}", uses.replace('X', "Y")));
        assert!(lines.iter().all(|line| !found.iter().any(|other| other == line)), "{found:?}");
    }
}

#[test]
fn marks_of_calls_are_not_modeled() {
    let text = "dial-peer voice 1 voip\n destination-pattern 1...\n ip qos dscp af31 signaling\n";
    assert_eq!(open(text), ["ip qos dscp af31 signaling"]);
}

#[test]
fn commands_that_change_rates_ports_or_ways_are_not_modeled() {
    let global = [
        "platform hardware throughput level 300000",
        "ip nbar port-map http tcp 80 8080",
        "ip nbar custom app destination tcp 9000",
        "ip nat pool P 192.0.2.9 192.0.2.10 netmask 255.255.255.252",
        "ip wccp web-cache redirect-list 101",
    ];
    for line in global {
        assert_eq!(open(&format!("{line}\n")), [line]);
    }
    let own = [
        "service-module t1 timeslots 1-12",
        "service-module 56k clock rate 38.4",
        "dsu bandwidth 34000",
        "ip wccp web-cache redirect in",
        "ip vrf select source",
    ];
    for line in own {
        assert_eq!(open(&format!("interface Serial0/0\n {line}\n")), [line]);
    }
    for line in ["service-module t1 clock source line", "dsu mode 1"] {
        assert_eq!(open(&format!("interface Serial0/0\n {line}\n")), Vec::<String>::new());
    }
}
