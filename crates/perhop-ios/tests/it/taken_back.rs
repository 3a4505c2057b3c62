//! A `no` line removes the line that it negates: the configuration is the same as without both lines.

use perhop_ios::{Configuration, LineState, parse};

/// Blocks and lines. The `no` form of each line must remove the whole line.
const LINES: &[(&str, &str)] = &[
    ("", "access-list 10 permit any"),
    ("", "access-list rate-limit 5 3"),
    ("", "access-list rate-limit 5 mask 42"),
    ("", "ip access-list extended LIST"),
    ("", "ipv6 access-list LIST"),
    ("", "class-map match-all CLASS"),
    ("", "policy-map POLICY"),
    ("", "table-map TABLE"),
    ("", "object-group network GROUP"),
    ("", "crypto ipsec transform-set SET esp-aes esp-sha-hmac"),
    ("", "crypto ipsec profile PROFILE"),
    ("ip access-list extended LIST", "permit tcp any any eq 80"),
    ("ip access-list extended LIST", "permit udp any host 192.0.2.1"),
    ("ipv6 access-list LIST", "permit tcp 2001:db8::/32 any"),
    ("object-group network GROUP", "host 192.0.2.1"),
    ("object-group network GROUP", "192.0.2.0 255.255.255.0"),
    ("object-group v6-network GROUP", "2001:db8::/32"),
    ("object-group v6-network GROUP", "host 2001:db8::1"),
    ("object-group service GROUP", "tcp eq 80"),
    ("class-map match-any CLASS", "match dscp ef"),
    ("class-map match-any CLASS", "match access-group 10"),
    ("class-map match-any CLASS", "match discard-class 2"),
    ("table-map TABLE", "map from 46 to 5"),
    ("table-map TABLE", "map from critical to 5"),
    ("policy-map POLICY\n class class-default", "fair-queue"),
    ("policy-map POLICY\n class class-default", "shape average 1000000"),
    ("policy-map POLICY\n class C", "priority 100"),
    ("policy-map POLICY\n class C", "bandwidth percent 10"),
    ("policy-map POLICY\n class C", "queue-limit 10"),
    ("policy-map POLICY\n class C", "police 8000 conform-action transmit exceed-action drop"),
    ("policy-map POLICY\n class C", "set dscp ef"),
    ("policy-map POLICY\n class C", "set precedence 3"),
    ("policy-map POLICY\n class C", "set qos-group 3"),
    ("policy-map POLICY\n class C", "set discard-class 3"),
    ("policy-map POLICY\n class C", "set cos 3"),
    ("policy-map POLICY\n class C", "service-policy INNER"),
    ("policy-map POLICY\n class C\n  police cir 8000", "conform-action set-dscp-transmit ef"),
    ("policy-map POLICY\n class C\n  police rate 100 pps", "violate-action drop"),
    ("interface Serial0/0", "bandwidth 128"),
    ("interface Serial0/0", "clock rate 64000"),
    ("interface Serial0/0", "encapsulation ppp"),
    ("interface Serial0/0", "max-reserved-bandwidth 90"),
    ("interface Serial0/0", "tx-ring-limit 2"),
    ("interface Serial0/0", "service-policy output POLICY"),
    ("interface Serial0/0", "ip address 192.0.2.1 255.255.255.0"),
    ("interface Serial0/0", "ipv6 address 2001:db8::1/64"),
    ("interface GigabitEthernet0/0.5", "encapsulation dot1Q 5"),
    ("interface GigabitEthernet0/0", "service instance 7 ethernet"),
    ("interface Tunnel0", "nhrp map group SPOKES service-policy output POLICY"),
    ("interface Dialer1", "pppoe-client dial-pool-number 1"),
    ("interface ATM0/0", "pvc 1/100"),
    ("interface ATM0/0\n pvc 1/100", "vbr-nrt 512 256"),
    ("interface ATM0/0\n pvc 1/100", "cbr 512"),
    ("interface ATM0/0\n pvc 1/100", "pppoe-client dial-pool-number 1"),
    ("interface ATM0/0\n pvc 1/100", "encapsulation aal5snap"),
    ("controller T1 0/0/0", "channel-group 0 timeslots 1-4"),
];

#[test]
fn a_negated_line_leaves_no_effect() {
    let mut wrong = Vec::new();
    for (block, line) in LINES {
        let depth = if block.is_empty() { 0 } else { block.lines().count() };
        let indent = " ".repeat(depth);
        let parsed =
            |lines: [&str; 2]| parse(&format!("{block}\n{indent}{}\n{indent}{}\n", lines[0], lines[1]));
        let (never, once) = (parsed(["!", "!"]), parsed([line, "!"]));
        let back = parsed([line, &format!("no {line}")]);
        if content(&once) == content(&never) {
            wrong.push(format!("{block} / {line}: says nothing"));
        }
        if content(&back) != content(&never) {
            wrong.push(format!("{block} / {line}: a part remains"));
        }
        let last = back.lines.iter().rfind(|line| line.text.contains("no ")).expect("the line");
        if !matches!(last.state, LineState::Modelled | LineState::NotModelled) {
            wrong.push(format!("{block} / no {line}: {:?} {:?}", last.state, last.note));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the configuration as JSON, without lines and diagnostics.
fn content(configuration: &Configuration) -> serde_json::Value {
    let mut content = serde_json::to_value(configuration).unwrap();
    for apart in ["lines", "diagnostics"] {
        content.as_object_mut().unwrap().remove(apart);
    }
    content
}
