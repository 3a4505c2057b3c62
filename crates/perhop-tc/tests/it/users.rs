//! Typical files of users: scripts of SQM and wondershaper, saved output of `show`, and common mistakes.
//!
//! The reactions of tc and the kernel were verified with iproute2 6.1 on Linux 6.1 (htb, tbf, pfifo, ingress,
//! u32).

use perhop_device::Router;
use perhop_lint::LineState;
use perhop_tc::{Configuration, convert, is_configuration, parse};
use serde_json::{Value, json};

fn read(text: &str) -> (Configuration, Router) {
    let mut configuration = parse(text);
    let router = convert(&mut configuration);
    (configuration, router)
}

fn output(router: &Router, port: usize) -> Value {
    serde_json::to_value(&router.ports[port].output).expect("serializable")
}

/// The message of the only finding of a text.
fn refused(text: &str) -> String {
    let (configuration, _) = read(text);
    let errors: Vec<_> = configuration
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.rule.id == "tc-command-refused")
        .collect();
    assert_eq!(errors.len(), 1, "{text}: {:?}", configuration.diagnostics);
    errors[0].message.clone()
}

const HTB: &str = "tc qdisc add dev eth0 root handle 1: htb default 12\n\
                   tc class add dev eth0 parent 1: classid 1:12 htb rate 10mbit\n";

#[test]
fn commands_that_tc_refuses_are_refused() {
    let cases = [
        // tc answers: Error: Qdisc not classful.
        (
            "tc qdisc add dev eth0 parent 1:12 handle 12: pfifo\n\
          tc filter add dev eth0 parent 12: protocol ip u32 match ip dport 22 0xffff flowid 1:12",
            "accepts no filters",
        ),
        // tc answers: Illegal "dst_port"
        ("tc filter add dev eth0 parent 1: protocol ip flower dst_port 22 classid 1:12", "ip_proto tcp"),
        ("tc filter add dev eth0 parent 1: flower ip_proto tcp classid 1:12", "protocol ip"),
        // tc answers: Error: duplicate "satellite": "internet" is the second value.
        ("tc qdisc add dev eth1 root cake internet satellite", "one of `internet` and `satellite`"),
        // tc answers: Illegal "overhead", valid range is -64 to 256
        ("tc qdisc add dev eth1 root cake overhead 257", "-64 to 256"),
        ("tc qdisc add dev eth1 root cake mpu 257", "0 to 256"),
        // tc answers: Double "rate" spec
        ("tc class add dev eth0 parent 1: classid 1:13 htb rate 10mbit rate 5mbit", "twice"),
        ("tc qdisc add dev eth1 root tbf rate 10mbit burst 5k burst 6k limit 30k", "twice"),
        ("tc qdisc add dev eth1 root fq_codel target 5 ms", "write `5ms` in one word"),
        ("tc filter add dev eth0 parent 1: protocol arp u32 match u32 0 0 flow 1:12", "`flow`"),
    ];
    for (command, wanted) in cases {
        let message = refused(&format!("{HTB}{command}\n"));
        assert!(message.contains(wanted), "{command}: {message}");
    }
    let hfsc = "tc qdisc add dev eth0 root handle 1: hfsc default 1\n\
                tc class add dev eth0 parent 1: classid 1:1 hfsc ";
    assert!(refused(&format!("{hfsc}\n")).contains("must have"));
    assert!(refused(&format!("{hfsc}ul rate 1mbit\n")).contains("`ul` of hfsc needs"));
    let police = "tc qdisc add dev eth0 ingress\ntc filter add dev eth0 ingress matchall action police rate 1mbit \
                  burst 10k";
    assert!(refused(&format!("{police} rate 1mbit drop\n")).contains("twice"));
    assert!(refused(&format!("{police} pkts_rate 5 pkts_burst 5 drop\n")).contains("pkts_rate"));
}

#[test]
fn commands_that_tc_accepts_are_accepted() {
    for command in [
        "tc qdisc add dev eth1 root cake overhead -64 mpu 256",
        "tc qdisc add dev eth1 root cake rtt 5ms internet",
        "tc filter add dev eth0 parent 1: protocol ip flower ip_proto tcp dst_port 22 classid 1:12",
        "tc filter add dev eth0 parent 1:0 protocol arp prio 7 handle 1 fw classid 1:12",
        "tc filter add dev eth0 parent 1: protocol ip pref 4 u32 ht 801: match ip dport 22 0xffff flowid 1:12",
    ] {
        let (configuration, _) = read(&format!("{HTB}{command}\n"));
        assert_eq!(configuration.differing().next(), None, "{command}: {:?}", configuration.diagnostics);
    }
}

#[test]
fn the_later_of_two_keywords_applies_and_is_reported() {
    for (command, message) in [
        ("cake diffserv4 besteffort", "`besteffort` overrides `diffserv4`"),
        ("fq_codel limit 5 limit 6", "`limit` of fq_codel is written twice"),
    ] {
        let (configuration, router) = read(&format!("tc qdisc add dev eth0 root {command}\n"));
        let found = &configuration.diagnostics[0];
        assert_eq!((found.rule.id, found.message.as_str()), ("tc-option-overridden", message));
        let buffer = &output(&router, 0)["queueing"]["classes"][0]["buffer"];
        assert!(
            buffer["cake"]["tins"] == "besteffort" || buffer["fq-codel"]["limit"] == "6 packets",
            "{buffer}"
        );
    }
}

#[test]
fn filters_that_choose_a_queue_are_reported() {
    for kind in ["fq_codel", "sfq", "dualpi2", "cake"] {
        let text = format!(
            "tc qdisc add dev eth0 root handle 5: {kind}\n\
             tc filter add dev eth0 parent 5: protocol ip pref 1 u32 match ip dport 22 0xffff flowid 5:1\n"
        );
        let (configuration, _) = read(&text);
        assert_eq!(configuration.lines[1].state, LineState::NotModelled, "{kind}");
    }
}

#[test]
fn output_of_one_device_has_no_name() {
    // `tc -s -d qdisc show dev v0; tc class show dev v0; tc -s filter show dev v0` of Linux 6.1.
    let shown = "qdisc htb 1: root refcnt 3 r2q 10 default 0x12 direct_packets_stat 0 ver 3.17 direct_qlen 1000\n \
                 linklayer ethernet overhead 8 \n Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0) \n \
                 backlog 0b 0p requeues 0\n\
                 qdisc pfifo 12: parent 1:12 limit 5p\n\
                 qdisc ingress ffff: parent ffff:fff1 ---------------- \n\
                 class htb 1:12 root leaf 12: prio 0 quantum 125000 rate 10Mbit ceil 10Mbit linklayer ethernet burst \
                 1600b/1 mpu 0b cburst 1600b/1 mpu 0b level 0 \n lended: 0 borrowed: 0 giants: 0\n tokens: 20000 \
                 ctokens: 20000\n\
                 filter parent 1: protocol ip pref 1 u32 chain 0 \n\
                 filter parent 1: protocol ip pref 1 u32 chain 0 fh 801: ht divisor 1 \n\
                 filter parent 1: protocol ip pref 1 u32 chain 0 fh 801::800 order 2048 key ht 801 bkt 0 *flowid 1:12 \
                 not_in_hw  (rule hit 3 success 3)\n  match 00000016/0000ffff at 20 (success 3 )\n\
                 filter ingress protocol all pref 10 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 terminal \
                 flowid not_in_hw \n  match 00000000/00000000 at 0\n\
                 \taction order 1: mirred (Egress Redirect to device ifb0) stolen\n\tindex 1 ref 1 bind 1\n";
    assert!(is_configuration(shown));
    let (configuration, router) = read(shown);
    assert_eq!(router.ports.len(), 1);
    assert_eq!(router.ports[0].name, "device");
    assert!(configuration.lines[0].note.as_ref().is_some_and(|note| note.contains("tc qdisc show dev NAME")));
    let differing: Vec<&str> = configuration.differing().map(|line| line.text.trim()).collect();
    assert_eq!(differing.len(), 1, "{:?}", configuration.diagnostics);
    assert!(differing[0].starts_with("action order 1: mirred"));
    let note = configuration.differing().find_map(|line| line.note.as_deref());
    assert!(note.is_some_and(|note| note.contains("queue of ifb0")), "{note:?}");
    let found = output(&router, 0);
    // 14 bytes of Ethernet and 8 of the size table.
    assert_eq!(found["overhead"], 22);
    let class = &found["queueing"]["classes"][0];
    assert_eq!(class["share"]["rate"], "10Mb/s");
    assert_eq!(class["buffer"], json!({"tail-drop": {"limit": "5 packets"}}));
    // A command or a comment above names the device.
    for above in ["$ tc -s -d qdisc show dev wan\n", "# tc -s -d qdisc show dev wan\n"] {
        let (_, router) = read(&format!("{above}{shown}"));
        assert_eq!(router.ports[0].name, "wan");
    }
}

#[test]
fn classes_alone_are_read() {
    let shown = "class hfsc 1: root \n Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\n\n\
                 class hfsc 1:1 parent 1: ls m1 0bit d 0us m2 2Mbit ul m1 0bit d 0us m2 2Mbit \n period 0 level 1\n\n\
                 class hfsc 1:10 parent 1:1 leaf 10: sc m1 1Mbit d 10ms m2 500Kbit \n";
    assert!(is_configuration(shown));
    let (configuration, _) = read(shown);
    assert!(configuration.diagnostics.iter().all(|diagnostic| diagnostic.rule.id != "tc-command-refused"));
    let note = configuration.lines.iter().filter_map(|line| line.note.as_deref()).collect::<String>();
    assert!(note.contains("does not show hfsc 1:"), "{note}");
}

#[test]
fn the_hits_of_wondershaper_are_numbers() {
    let text = "UPLINK=900\ntc qdisc add dev eth0 root handle 1: htb default 20\n\
                tc class add dev eth0 parent 1: classid 1:20 htb rate $[9*$UPLINK/10]kbit burst 6k prio 2\n";
    let (configuration, router) = read(text);
    assert_eq!(configuration.differing().next(), None);
    assert_eq!(output(&router, 0)["queueing"]["classes"][0]["share"]["rate"], "810kb/s");
}

#[test]
fn an_ingress_queue_is_reported_as_not_modeled() {
    let text = "ip link add name ifb4eth0 type ifb\ntc qdisc add dev eth0 handle ffff: ingress\n\
                tc filter add dev eth0 parent ffff: protocol all prio 10 u32 match u32 0 0 flowid 1:1 action mirred \
                egress redirect dev ifb4eth0\n\
                tc qdisc replace dev ifb4eth0 root cake bandwidth 85mbit besteffort wash ingress\n";
    let (configuration, router) = read(text);
    assert_eq!(configuration.lines[2].state, LineState::NotModelled);
    let note = configuration.lines[2].note.as_ref().expect("a note");
    assert!(note.contains("put a router with the queue of ifb4eth0 before this interface"), "{note}");
    // perhop reads the queue of `ifb` as the queue of a separate device.
    let ifb = router.ports.iter().position(|port| port.name == "ifb4eth0").expect("the device");
    assert_eq!(output(&router, ifb)["queueing"]["classes"][0]["buffer"]["cake"]["bandwidth"], "85Mb/s");
}

#[test]
fn an_invalid_policy_is_reported_once_with_a_valid_form() {
    let text = "tc qdisc add dev eth0 root handle 1: hfsc default 1\n\
                tc class add dev eth0 parent 1: classid 1:1 hfsc ls m2 0\n";
    let (configuration, _) = read(text);
    assert_eq!(configuration.lines[0].state, LineState::NotModelled);
    let note = configuration.lines[0].note.as_ref().expect("a note");
    assert!(
        note.ends_with("a service curve without slope serves nothing (for example {m2: 1Mb/s})"),
        "{note}"
    );
}

#[test]
fn queues_of_sfq_are_shown_with_their_limit() {
    let shown = "qdisc sfq 8009: dev e5 root refcnt 2 limit 127p quantum 1514b depth 127 flows 128/1024 divisor 1024 \n";
    let (configuration, _) = read(shown);
    assert_eq!(configuration.differing().next(), None, "{:?}", configuration.diagnostics);
}
