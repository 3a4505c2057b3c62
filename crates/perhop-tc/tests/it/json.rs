//! Compares the output of `tc -j` with the text output: the same policies, states and notes.
//!
//! Pairs marked (r) are real output of iproute2 6.1 on kernel 6.1. The other pairs follow the `print_opt`
//! functions of iproute2 7.1.

use std::collections::BTreeSet;

use perhop_lint::LineState;
use perhop_tc::{convert, parse};

/// Output of tc with `-j` and without it.
const PAIRS: &[(&str, &str)] = &[
    // (r)
    (
        r#"[{"kind":"pfifo","handle":"8175:","root":true,"refcnt":3,"options":{"limit":50},"bytes":0,"packets":0,"drops":0,"overlimits":0,"requeues":0,"backlog":0,"qlen":0}]"#,
        "qdisc pfifo 8175: root refcnt 3 limit 50p",
    ),
    // (r)
    (
        r#"[{"kind":"bfifo","handle":"8176:","dev":"eth0","root":true,"refcnt":3,"options":{"limit":51200}}]"#,
        "qdisc bfifo 8176: dev eth0 root refcnt 3 limit 50Kb",
    ),
    // (r)
    (
        r#"[{"kind":"pfifo_fast","handle":"8177:","dev":"eth0","root":true,"refcnt":3,"options":{"bands":3,"priomap":[1,2,2,2,1,2,0,0,1,1,1,1,1,1,1,1],"multiqueue":false}}]"#,
        "qdisc pfifo_fast 8177: dev eth0 root refcnt 3 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
    ),
    // (r)
    (
        r#"[{"kind":"tbf","handle":"8178:","dev":"eth0","root":true,"refcnt":3,"options":{"rate":1250000,"burst":15360,"lat":50000}}]"#,
        "qdisc tbf 8178: dev eth0 root refcnt 3 rate 10Mbit burst 15Kb lat 50ms",
    ),
    // (r)
    (
        r#"[{"kind":"htb","handle":"1:","dev":"eth0","root":true,"refcnt":3,"options":{"r2q":5,"default":"0x20","direct_packets_stat":0,"ver":"3.17","direct_qlen":1000}}]
[{"class":"htb","handle":"1:1","root":true,"rate":1250000,"ceil":1250000,"linklayer":"ethernet","burst":1600,"burst_cell":1,"mpu_rate":0,"cburst":1600,"cburst_cell":1,"mpu_ceil":0,"level":7,"stats":{"lended":0}},
{"class":"htb","handle":"1:20","parent":"1:1","leaf":"0x20","prio":1,"quantum":3000,"rate":1000000,"overhead":24,"ceil":1000000,"linklayer":"atm","burst":1600,"burst_cell":1,"mpu_rate":60,"cburst":1600,"cburst_cell":1,"mpu_ceil":60,"level":0}]"#,
        "qdisc htb 1: dev eth0 root refcnt 3 r2q 5 default 0x20 direct_packets_stat 0 ver 3.17 direct_qlen 1000\n\
         class htb 1:1 root rate 10Mbit ceil 10Mbit linklayer ethernet burst 1600b/1 mpu 0b cburst 1600b/1 mpu 0b level 7\n\
         class htb 1:20 parent 1:1 leaf 20: prio 1 quantum 3000 rate 8Mbit overhead 24 ceil 8Mbit linklayer atm \
         burst 1600b/1 mpu 60b cburst 1600b/1 mpu 60b level 0",
    ),
    (
        r#"[{"kind":"codel","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":1000,"target":5000,"ce_threshold":3000,"interval":100000,"ecn":true},"count":0}]"#,
        "qdisc codel 1: dev eth0 root refcnt 2 limit 1000p target 5ms ce_threshold 3ms interval 100ms ecn",
    ),
    (
        r#"[{"kind":"fq_codel","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":10240,"flows":1024,"quantum":1514,"target":5000,"ce_threshold":3000,"ce_threshold_selector":1,"ce_threshold_mask":3,"interval":100000,"memory_limit":33554432,"ecn":true,"drop_batch":64},"maxpacket":0,"new_flow_count":3}]"#,
        "qdisc fq_codel 1: dev eth0 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms ce_threshold 3ms \
         ce_threshold_selector 0x1/0x3 interval 100ms memory_limit 32Mb ecn drop_batch 64",
    ),
    (
        r#"[{"kind":"pie","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":1000,"target":15000,"tupdate":16000,"alpha":2,"beta":20,"ecn":true,"bytemode":true}}]"#,
        "qdisc pie 1: dev eth0 root refcnt 2 limit 1000p target 15ms tupdate 16ms alpha 2 beta 20 ecn bytemode",
    ),
    (
        r#"[{"kind":"fq_pie","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":10240,"flows":1024,"target":15000,"tupdate":16000,"alpha":2,"beta":20,"quantum":1514,"memory_limit":33554432,"ecn_prob":10}}]"#,
        "qdisc fq_pie 1: dev eth0 root refcnt 2 limit 10240p flows 1024 target 15ms tupdate 16ms alpha 2 beta 20 \
         quantum 1514b memory_limit 32Mb ecn_prob 10",
    ),
    (
        r#"[{"kind":"dualpi2","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":10000,"target":15000,"tupdate":16000,"alpha":0.160156,"beta":3.195312,"step-thresh-us":1000,"min-qlen-step":0,"coupling":2,"drop-overload":"drop","drop-early":"drop-dequeue","c-protection":10,"ecn-mask":"l4s-ect","split-gso":null}}]"#,
        "qdisc dualpi2 1: dev eth0 root refcnt 2 limit 10000p target 15ms tupdate 16ms alpha 0.160156 beta 3.195312 \
         step_thresh 1ms min_qlen_step 0p coupling_factor 2 drop_on_overload drop_dequeue classic_protection 10% \
         l4s_ect split_gso",
    ),
    (
        r#"[{"kind":"red","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":102400,"min":20480,"max":61440,"ecn":true,"harddrop":true,"adaptive":false,"nodrop":false,"ewma":5,"probability":0.1,"Scell_log":9}}]"#,
        "qdisc red 1: dev eth0 root refcnt 2 limit 100Kb min 20Kb max 60Kb ecn harddrop ewma 5 probability 0.1 \
         Scell_log 9",
    ),
    (
        r#"[{"kind":"sfq","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":100,"quantum":1514,"depth":127,"flows":128,"divisor":1024,"perturb":10}}]"#,
        "qdisc sfq 1: dev eth0 root refcnt 2 limit 100p quantum 1514b depth 127 flows 128/1024 divisor 1024 \
         perturb 10sec",
    ),
    (
        r#"[{"kind":"ets","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"bands":4,"strict":2,"quanta":[3000,1500],"priomap":[0,1,2,3,3,3,3,3,3,3,3,3,3,3,3,3]}}]"#,
        "qdisc ets 1: dev eth0 root refcnt 2 bands 4 strict 2 quanta 3000 1500 priomap 0 1 2 3 3 3 3 3 3 3 3 3 3 3 3 3",
    ),
    (
        r#"[{"kind":"cake","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"bandwidth":2500000,"diffserv":"diffserv4","flowmode":"dual-srchost","nat":true,"wash":false,"ingress":false,"ack-filter":"enabled","split_gso":true,"rtt":50000,"raw":false,"atm":"noatm","overhead":38,"mpu":84,"fwmark":"0"},"memory_used":0,"tins":[{"threshold_rate":156250}]}]"#,
        "qdisc cake 1: dev eth0 root refcnt 2 bandwidth 20Mbit diffserv4 dual-srchost nat nowash ack-filter split-gso \
         rtt 50ms noatm overhead 38 mpu 84",
    ),
    (
        r#"[{"kind":"cake","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"bandwidth":"unlimited","diffserv":"besteffort","flowmode":"flows","nat":false,"wash":true,"ingress":true,"ack-filter":"disabled","split_gso":false,"rtt":100000,"raw":true,"overhead":0,"fwmark":"0xf"}}]"#,
        "qdisc cake 1: dev eth0 root refcnt 2 bandwidth unlimited besteffort flows nonat wash ingress no-ack-filter \
         no-split-gso rtt 100ms raw overhead 0 fwmark 0xf",
    ),
    (
        r#"[{"kind":"gred","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"dp_cnt":3,"dp_default":0,"grio":true,"limit":614400,"ecn":false,"vqs":[{"vq":1,"prio":2,"limit":61440,"min":15360,"max":46080,"ewma":5,"probability":0.1,"Scell_log":9}]}}]"#,
        "qdisc gred 1: dev eth0 root refcnt 2 vqs 3 default 0 grio limit 600Kb\n \
         vq 1 prio 2 limit 60Kb min 15Kb max 45Kb ewma 5 probability 0.1 Scell_log 9",
    ),
    (
        r#"[{"kind":"fq_codel","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"limit":10240},"stab":{"linklayer":"ethernet","overhead":24,"mtu":2047,"tsize":512}}]"#,
        "qdisc fq_codel 1: dev eth0 root refcnt 2 limit 10240p\n linklayer ethernet overhead 24 mtu 2047 tsize 512",
    ),
    (
        r#"[{"kind":"prio","handle":"1:","dev":"eth0","root":true,"refcnt":2,"options":{"bands":3,"priomap":[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2],"multiqueue":false}}]
[{"dev":"eth0","parent":"1:","protocol":"ip","pref":1,"kind":"u32","chain":0},
{"dev":"eth0","parent":"1:","protocol":"ip","pref":1,"kind":"u32","chain":0,"options":{"fh":"800:","ht_divisor":1}},
{"dev":"eth0","parent":"1:","protocol":"ip","pref":1,"kind":"u32","chain":0,"options":{"fh":"800::800","order":2048,"key_ht":"800","bkt":"0","flowid":"1:1","not_in_hw":true,"match":{"value":"b80000","mask":"fc0000","offmask":"","off":0},"match":{"value":"110000","mask":"ff0000","offmask":"","off":8}}},
{"dev":"eth0","parent":"1:","protocol":"ip","pref":2,"kind":"flower","chain":0,"options":{"handle":1,"classid":"1:2","keys":{"eth_type":"ipv4","ip_proto":"tcp","dst_ip":"10.1.0.0/16","dst_port":{"start":80,"end":90}},"not_in_hw":true}},
{"dev":"eth0","parent":"1:","protocol":"all","pref":3,"kind":"fw","chain":0,"options":{"fw":{"mark":"0x6","mask":"0xffffffff"},"classid":"1:2"}}]"#,
        "qdisc prio 1: dev eth0 root refcnt 2 bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n\
         filter dev eth0 parent 1: protocol ip pref 1 u32 chain 0\n\
         filter dev eth0 parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1\n\
         filter dev eth0 parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:1 not_in_hw\n  \
         match 00b80000/00fc0000 at 0\n  match 00110000/00ff0000 at 8\n\
         filter dev eth0 parent 1: protocol ip pref 2 flower chain 0 handle 0x1 classid 1:2\n  eth_type ipv4\n  ip_proto tcp\n  \
         dst_ip 10.1.0.0/16\n  dst_port 80-90\n  not_in_hw\n\
         filter dev eth0 parent 1: protocol all pref 3 fw chain 0 handle 0x6 classid 1:2",
    ),
    (
        r#"[{"kind":"clsact","handle":"ffff:","dev":"eth0","parent":"ffff:fff1","options":{}}]
[{"dev":"eth0","ingress":true,"protocol":"all","pref":5,"kind":"matchall","chain":0,"options":{"handle":1,"not_in_hw":true,"actions":[{"order":1,"kind":"gact","control_action":{"type":"drop"},"index":1,"ref":1,"bind":1}]}}]"#,
        "qdisc clsact ffff: dev eth0 parent ffff:fff1\n\
         filter dev eth0 ingress protocol all pref 5 matchall chain 0 handle 0x1\n  not_in_hw\n\taction order 1: gact action drop",
    ),
];

#[test]
fn json_and_text_output_agree() {
    for (json, text) in PAIRS {
        let (mut one, mut other) = (parse(json), parse(text));
        // The serialized form of a port has no lines. Lines differ between the two outputs.
        let ports = convert(&mut one).ports;
        assert_eq!(
            serde_json::to_value(&ports).unwrap(),
            serde_json::to_value(renamed(convert(&mut other).ports, &ports)).unwrap(),
            "{json}"
        );
        // An item is one line of JSON and several lines of text. The combined notes of both are the same.
        let states = |found: &perhop_tc::Configuration| {
            let notes = found.lines.iter().filter_map(|line| line.note.as_deref());
            let notes: BTreeSet<String> =
                notes.flat_map(|note| note.split("; ")).map(str::to_owned).collect();
            (notes, found.lines.iter().any(|line| line.state.differs()))
        };
        assert_eq!(states(&one), states(&other), "{json}");
        let findings = |found: &perhop_tc::Configuration| {
            found
                .diagnostics
                .iter()
                .map(|diagnostic| (diagnostic.rule, diagnostic.message.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(findings(&one), findings(&other), "{json}");
        assert!(perhop_tc::is_configuration(json), "{json}");
    }
}

/// Replaces the lines in `ports` by those of `others`, because only these may differ.
fn renamed(mut ports: Vec<perhop_device::Port>, others: &[perhop_device::Port]) -> Vec<perhop_device::Port> {
    for (port, other) in ports.iter_mut().zip(others) {
        port.line = other.line;
        for (stage, same) in port.input.conditioners.iter_mut().zip(&other.input.conditioners) {
            stage.name.clone_from(&same.name);
        }
    }
    ports
}

#[test]
fn an_unknown_option_is_refused_in_json_too() {
    let found =
        parse(r#"[{"kind":"fq_codel","handle":"1:","dev":"eth0","root":true,"options":{"limits":9}}]"#);
    assert_eq!(found.diagnostics.len(), 1);
    assert!(
        found.diagnostics[0].message.contains("`limits` is not an option of fq_codel: did you mean `limit`?")
    );
}

#[test]
fn items_of_one_line_have_separate_numbers() {
    let text = r#"[{"kind":"pfifo","handle":"1:","dev":"a","root":true,"options":{"limit":5}},{"kind":"netem","handle":"2:","dev":"b","root":true,"options":{"limit":9}}]"#;
    let found = parse(text);
    let states: Vec<_> = found.lines.iter().map(|line| (line.number, line.state)).collect();
    assert_eq!(states, [(1, LineState::Modelled), (2, LineState::NotModelled)]);
    assert_eq!(found.lines[1].text, "qdisc netem 2: dev b root limit 9");
    assert_eq!([1, 2].map(|line| found.device_of(line)), [Some("a"), Some("b")]);
}

#[test]
fn items_on_separate_lines_have_the_numbers_of_their_lines() {
    let text = "[ {\n \"kind\": \"pfifo\",\n \"handle\": \"1:\", \"dev\": \"a\", \"root\": true,\n \"options\": {\"limit\": 5}\n },{\n \
                \"kind\": \"netem\", \"handle\": \"2:\", \"dev\": \"b\",\n \"options\": {} } ]\n";
    let found = parse(text);
    let states: Vec<_> = found.lines.iter().map(|line| line.state).collect();
    assert_eq!(&states[..4], [LineState::Modelled; 4]);
    assert_eq!(&states[4..], [LineState::NotModelled; 3]);
}

#[test]
fn text_among_json_is_read_as_text() {
    // (r) iproute2 6.1 prints classes as text, with or without `-j`.
    let text = "[{\"kind\":\"htb\",\"handle\":\"1:\",\"dev\":\"eth0\",\"root\":true,\"options\":{\"r2q\":10,\"default\":\"0x10\"}}]\n\
                class htb 1:10 root prio 0 rate 2Mbit ceil 2Mbit burst 1600b cburst 1600b \n";
    let mut found = parse(text);
    assert!(found.lines.iter().all(|line| line.state == LineState::Modelled), "{:?}", found.lines);
    let router = convert(&mut found);
    let queueing = router.ports[0].output.queueing.as_ref().unwrap();
    assert_eq!(queueing.queue_names(), ["1:10"]);
}

#[test]
fn parts_that_json_lacks_are_reported() {
    let lacks = [
        (
            r#"[{"kind":"tbf","handle":"1:","dev":"a","root":true,"options":{"rate":125000,"burst":2000,"minburst":1600,"lat":5000}}]"#,
            "the peakrate of tbf",
        ),
        (r#"[{"class":"drr","handle":"1:1","root":true}]"#, "the quantum of classes of drr"),
        (
            r#"[{"kind":"clsact","handle":"ffff:","dev":"a","parent":"ffff:fff1"}]
[{"dev":"a","ingress":true,"protocol":"ip","pref":1,"kind":"matchall","chain":0,"options":{"actions":[{"order":1,"kind":"police","index":1,"control_action":{"type":"drop"}}]}}]"#,
            "rate and burst of policers",
        ),
    ];
    for (text, what) in lacks {
        let found = parse(text);
        let note = format!("the JSON of tc does not contain {what}: save the output without -j");
        let has_note = |line: &perhop_lint::Line| {
            line.state == LineState::NotModelled
                && line.note.as_ref().is_some_and(|text| text.contains(&note))
        };
        assert!(found.lines.iter().any(has_note), "{:?}", found.lines);
    }
    // (r) hfsc prints text between the brackets.
    let found =
        parse("[{\"class\":\"hfsc\",\"handle\":\"1:1\",\"parent\":\"1:\"sc m1 0bit d 0us m2 1Mbit }]\n");
    assert_eq!(found.lines[0].state, LineState::NotRecognized);
    assert!(found.lines[0].note.as_ref().unwrap().contains("not JSON"));
}

#[test]
fn other_json_is_not_a_configuration() {
    for text in ["[]", "[1]", "[{}]", "[{\"kind\":\"Deployment\",\"handle\":1}]", "[", "[{\"kind\":", "{}"] {
        assert!(!perhop_tc::is_configuration(text), "{text}");
        parse(text);
    }
}
