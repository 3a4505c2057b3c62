//! Compares the resolved policies with numbers that routers printed or that were measured. Each test names
//! its source; `docs/ios.md` lists the rules.

use perhop_device::{AttachedClass, AttachedPolicy, CountedBytes, Limit, Port, Unit};
use perhop_ios::{Configuration, Platform, Profile, convert, parse};
use perhop_lint::Severity;

fn output_of(text: &str, profile: Profile) -> (Configuration, Option<AttachedPolicy>) {
    let mut configuration = parse(text);
    let router = convert(&mut configuration, &Platform::for_profile(profile));
    let policy = router.ports.iter().find_map(Port::output_policy).cloned();
    (configuration, policy)
}

fn resolved(text: &str, profile: Profile) -> AttachedPolicy {
    let (configuration, policy) = output_of(text, profile);
    policy.unwrap_or_else(|| panic!("no policy is attached: {:?}", configuration.diagnostics))
}

fn class<'a>(policy: &'a AttachedPolicy, name: &str) -> &'a AttachedClass {
    let found = policy.classes.iter().find(|class| class.name == name);
    found.unwrap_or_else(|| panic!("no class {name}"))
}

fn inner(policy: &AttachedPolicy) -> &AttachedPolicy {
    class(policy, "class-default").policy.as_ref().expect("a policy inside class-default")
}

/// Class-maps `a` to `g`, by codepoints.
const CLASSES: &str = "class-map a\n match dscp ef\nclass-map b\n match dscp af41\nclass-map c\n match dscp af31\n\
     class-map d\n match dscp af21\nclass-map e\n match dscp af11\nclass-map f\n match dscp cs6\n\
     class-map g\n match dscp cs1\n";

fn on(interface: &str, policies: &str) -> String {
    format!("{CLASSES}{policies}interface {interface}\n service-policy output top\n")
}

fn packets(value: u64) -> Limit {
    Limit { unit: Unit::Packets, value, bytes: None }
}

/// I. Pepelnjak, "First HQF impressions", blog.ipspace.net 2009: the router shows 400 and 600 kb/s, and
/// class-default gets the remaining half.
#[test]
fn with_hqf_class_default_gets_the_unreserved_rate() {
    let text = on(
        "Serial0/1/0\n bandwidth 2000",
        "policy-map top\n class a\n  bandwidth percent 20\n  fair-queue\n class b\n  bandwidth percent 30\n\
         \x20class class-default\n  fair-queue\n",
    );
    let policy = resolved(&text, Profile::Hqf);
    let shown: Vec<_> =
        policy.classes.iter().map(|class| class.bandwidth.map(|bandwidth| bandwidth.rate_bps)).collect();
    assert_eq!(shown, [Some(400_000), Some(600_000), None]);
    let fair = class(&policy, "class-default").fair_queue.unwrap();
    assert_eq!((fair.flow_limit_packets, fair.by_precedence), (16, false));
}

/// Pepelnjak, ibid., about refusals: a policy with 20, 30 and 49 % can be attached with HQF, but not before
/// HQF.
#[test]
fn guarantees_are_at_most_99_percent_with_hqf_and_75_before() {
    let policies = |last: u32| {
        on(
            "Serial0/0\n bandwidth 2000",
            &format!(
                "policy-map top\n class a\n  priority percent 20\n class b\n  bandwidth percent 30\n class c\n  \
                 bandwidth percent {last}\n"
            ),
        )
    };
    let is_attached = |last: u32, profile| output_of(&policies(last), profile).1.is_some();
    assert!(is_attached(25, Profile::PreHqf) && !is_attached(26, Profile::PreHqf));
    assert!(is_attached(49, Profile::Hqf) && !is_attached(50, Profile::Hqf));
}

/// Cisco, "Percentage-Based Policing and Shaping": 30 % below a shaper of 512 kb/s are 153 600 b/s. Without a
/// shaper, percentages refer to the policer of the parent (output of an ISR: 50 % of 1 Mb/s). They never
/// refer to the `bandwidth` of the parent.
#[test]
fn a_nested_percentage_of_a_policer_is_one_of_the_rate_above() {
    let police = "policy-map child\n class a\n  police rate percent 50\n";
    for profile in [Profile::PreHqf, Profile::Vip7500, Profile::Hqf, Profile::IosXe] {
        let shaped = format!(
            "{police}policy-map top\n class class-default\n  shape average 512000\n  service-policy child\n"
        );
        let policy = resolved(&on("GigabitEthernet0/0", &shaped), profile);
        let found = class(inner(&policy), "a").police.clone().unwrap();
        assert_eq!((found.cir_bps, found.bc_bytes), (256_000, 8_000), "{profile:?}");
        let policed = format!(
            "{police}policy-map top\n class class-default\n  police rate 1000000\n  service-policy child\n"
        );
        let policy = resolved(&on("GigabitEthernet0/0", &policed), profile);
        assert_eq!(class(&policy, "class-default").police.as_ref().unwrap().bc_bytes, 31_250);
        let found = class(inner(&policy), "a").police.clone().unwrap();
        assert_eq!((found.cir_bps, found.bc_bytes), (500_000, 15_625), "{profile:?}");
        let marked =
            format!("{police}policy-map top\n class class-default\n  set dscp cs6\n  service-policy child\n");
        let policy = resolved(&on("GigabitEthernet0/0", &marked), profile);
        let found = class(inner(&policy), "a").police.clone().unwrap();
        assert_eq!((found.cir_bps, found.bc_bytes), (500_000_000, 15_625_000), "{profile:?}");
    }
}

/// Outputs of routers with HQF and IOS-XE: bursts of 2000 bits at 500 kb/s, 16 000 at 4 Mb/s, 8 000 000 at 2
/// Gb/s.
#[test]
fn a_current_shaper_sends_every_four_milliseconds() {
    for (rate, bits) in [(80_000, 320), (500_000, 2_000), (4_000_000, 16_000), (2_000_000_000, 8_000_000)] {
        let text = on(
            "TenGigabitEthernet0/0",
            &format!("policy-map top\n class class-default\n  shape average {rate}\n"),
        );
        for profile in [Profile::Hqf, Profile::IosXe] {
            let shape = class(&resolved(&text, profile), "class-default").shape.unwrap();
            assert_eq!((shape.bc_bits, shape.be_bits), (bits, bits), "{rate} b/s, {profile:?}");
        }
    }
}

/// Two classes with only a shaper, and class-default, get equal shares of the rate without guarantees.
#[test]
fn classes_with_only_a_shaper_share_equally() {
    let text = on(
        "Ethernet0/0",
        "policy-map top\n class a\n  shape average 6000000\n class b\n  shape average 6000000\n",
    );
    for profile in [Profile::Hqf, Profile::IosXe] {
        let mut configuration = parse(&text);
        let router = convert(&mut configuration, &Platform::for_profile(profile));
        let queueing = router.ports[0].output.queueing.clone().unwrap();
        let shares: Vec<_> = queueing
            .classes
            .iter()
            .map(|class| (class.share.bandwidth, class.share.weight.map(|weight| weight as u32)))
            .collect();
        assert!(shares.iter().all(|share| *share == shares[0]), "{profile:?}: {shares:?}");
    }
}

/// Limits of an ASR 1000 at 10 Gb/s: 41 666 packets for every class, 512 for the priority queue. Below a
/// shaper of 500 kb/s: 64 packets.
#[test]
fn queues_of_the_qfp_have_50_ms_of_the_parent_rate() {
    let text = on(
        "TenGigabitEthernet0/0/0",
        "policy-map top\n class a\n  priority\n class b\n  bandwidth remaining percent 5\n class c\n  bandwidth \
         remaining percent 25\n class class-default\n  bandwidth remaining percent 25\n",
    );
    let policy = resolved(&text, Profile::IosXe);
    assert_eq!(class(&policy, "b").queue_limit, Some(packets(41_666)));
    assert_eq!(class(&policy, "class-default").queue_limit, Some(packets(41_666)));
    assert_eq!(policy.priority_limits[0].limit.value, 512);
    let shaped = on("GigabitEthernet0/1/1", "policy-map top\n class class-default\n  shape average 500000\n");
    assert_eq!(class(&resolved(&shaped, Profile::IosXe), "class-default").queue_limit, Some(packets(64)));
}

/// Output of a 7200 with HQF and a limit of 250 packets: minimum thresholds 20 to 34, maximum 40, mark
/// probability 1/10, exponent 9.
#[test]
fn thresholds_of_wred_with_hqf_rise_by_two() {
    let text = on("GigabitEthernet0/0", "policy-map top\n class class-default\n  random-detect\n");
    let minima = |profile| {
        let detect = class(&resolved(&text, profile), "class-default").random_detect.clone().unwrap();
        assert_eq!((detect.exponent, detect.rows[0].mark_denominator), (9, 10));
        detect.rows.iter().map(|row| row.min).collect::<Vec<_>>()
    };
    assert_eq!(minima(Profile::Hqf), [20, 22, 24, 26, 28, 30, 32, 34]);
    assert_eq!(minima(Profile::PreHqf), [20, 22, 24, 26, 28, 31, 33, 35]);
}

/// A packet belongs to the class that it matched on arrival, regardless of the marks of that class.
#[test]
fn a_class_that_rewrites_the_codepoint_keeps_its_queue() {
    let text = on(
        "GigabitEthernet0/0",
        "policy-map top\n class a\n  priority percent 10\n class b\n  bandwidth percent 30\n  set dscp af11\n\
         \x20class e\n  bandwidth percent 20\n",
    );
    let mut configuration = parse(&text);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
    let found = &configuration.diagnostics;
    assert!(found.iter().all(|diagnostic| diagnostic.severity == Severity::Note), "{found:?}");
    let output = &router.ports[0].output;
    let others = output.queueing.as_ref().unwrap().classes[1].queueing.as_ref().unwrap();
    let label = others.classes[0].matches.as_ref().unwrap().label.clone().unwrap();
    let stage = output.conditioners.iter().find(|stage| stage.name.as_deref() == Some("b")).unwrap();
    assert!(format!("{:?}", stage.actions).contains(&format!("Label({})", label.0[0])));
}

/// Policies that current routers refuse, with the refused command.
#[test]
fn current_releases_refuse() {
    let gigabit = "GigabitEthernet0/0";
    for (interface, policies, profile, part) in [
        (
            gigabit,
            "policy-map top\n class a\n  bandwidth 1000\n class b\n  bandwidth percent 10\n",
            Profile::Hqf,
            "mixes units of bandwidth",
        ),
        (
            "GigabitEthernet0/0.10\n encapsulation dot1q 10",
            "policy-map top\n class a\n  bandwidth percent 10\n",
            Profile::Hqf,
            "without a shaper around it",
        ),
        (
            gigabit,
            "policy-map top\n class a\n  random-detect\n",
            Profile::IosXe,
            "without bandwidth, shape or fair-queue",
        ),
        (
            gigabit,
            "policy-map top\n class a\n  queue-limit 100\n",
            Profile::IosXe,
            "queue-limit in a class without",
        ),
        (
            gigabit,
            "policy-map child\n class a\n  bandwidth percent 10\npolicy-map top\n class b\n  bandwidth percent 50\n  \
             service-policy child\n",
            Profile::IosXe,
            "but the policy inside it queues",
        ),
    ] {
        let (configuration, policy) = output_of(&on(interface, policies), profile);
        assert!(policy.is_none(), "{policies}");
        let found = configuration.diagnostics.iter().any(|found| found.message.contains(part));
        assert!(found, "{part}: {:?}", configuration.diagnostics);
    }
}

/// A 7200 with HQF as the hub of a DMVPN: limits are 500 ms of 250-byte packets, bursts are 200 ms, and the
/// limit of the priority queue is the sum over its classes. A 100-byte ping counts 128 bytes in its class
/// (GRE with key) and 142 in the queue (Ethernet).
#[test]
fn a_policy_for_the_peers_of_a_tunnel() {
    let policies = "policy-map child\n class a\n  priority percent 10\n class b\n  bandwidth percent 15\n  random-detect \
         dscp-based\n class c\n  priority percent 23\n class d\n  bandwidth percent 19\n class g\n  bandwidth percent 5\n \
         class f\n  bandwidth percent 3\n class class-default\n  bandwidth percent 25\n  random-detect\n\
         policy-map low\n class class-default\n  shape average 4000000\n  service-policy child\n";
    let text = format!(
        "{CLASSES}{policies}interface GigabitEthernet0/0\n ip address 192.0.2.1 255.255.255.0\n\
         interface Tunnel501\n ip nhrp map group LOW service-policy output low\n tunnel source GigabitEthernet0/0\n \
         tunnel mode gre multipoint\n tunnel key 501\n"
    );
    let mut configuration = parse(&text);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
    let port = router.ports.iter().find(|port| port.name == "Tunnel501").unwrap();
    assert_eq!(port.counted_bytes, Some(CountedBytes { classes: 28, queues: 42 }));
    let policy = port.output_policy().unwrap_or_else(|| panic!("{:?}", configuration.diagnostics));
    let child = inner(policy);
    assert_eq!(class(policy, "class-default").queue_limit, Some(packets(1000)));
    let limits =
        ["b", "d", "g", "f", "class-default"].map(|name| class(child, name).queue_limit.unwrap().value);
    assert_eq!(limits, [150, 190, 50, 30, 250]);
    assert_eq!(child.priority_limits[0].limit.value, 330);
    let priority = ["a", "c"].map(|name| class(child, name).priority.unwrap());
    assert_eq!(priority.map(|entry| entry.rate_bps), [Some(400_000), Some(920_000)]);
    assert_eq!(priority.map(|entry| entry.burst_bytes), [Some(10_000), Some(23_000)]);
}

/// Cisco's example of `random-detect` in bytes: the limits are 500 ms of 1 Mb/s, and 500 ms of the other 9
/// Mb/s of an Ethernet. The maximum threshold is half of the limit. The minimum thresholds are 8/16 to 15/16
/// of the maximum.
#[test]
fn thresholds_in_bytes_are_parts_of_the_limit() {
    let text = on(
        "Ethernet0/0",
        "policy-map top\n class a\n  bandwidth 1000\n  random-detect\n  random-detect precedence 2 100 bytes 200 bytes 10\n \
         class class-default\n  random-detect\n  random-detect precedence 4 150 bytes 300 bytes 15\n",
    );
    let policy = resolved(&text, Profile::Hqf);
    let rows = |name: &str| class(&policy, name).random_detect.clone().unwrap().rows;
    assert_eq!(class(&policy, "a").queue_limit.unwrap().bytes, Some(62_500));
    let first: Vec<_> = rows("a").iter().map(|row| (row.min, row.max)).collect();
    assert_eq!(first[0], (15_625, 31_250));
    assert_eq!((first[1].0, first[2], first[3].0, first[7].0), (17_578, (100, 200), 21_484, 29_296));
    assert_eq!(class(&policy, "class-default").queue_limit.unwrap().bytes, Some(562_500));
    let second: Vec<_> = rows("class-default").iter().map(|row| (row.min, row.max)).collect();
    assert_eq!((second[0], second[7].0), ((140_625, 281_250), 263_671));
}

/// An output of a DMVPN hub (IOU, 15.7): percentages refer to the line below the tunnel if the shaper is
/// faster than the line.
#[test]
fn percentages_on_a_tunnel_refer_to_the_slower_of_shaper_and_line() {
    let rate_at = |shape: &str, source: &str| {
        let text = format!(
            "{CLASSES}policy-map inner\n class a\n  priority percent 20\npolicy-map top\n class class-default\n  \
             shape average {shape}\n  service-policy inner\ninterface Tunnel1\n{source} \
             service-policy output top\ninterface Ethernet0/0\n ip address 192.0.2.1 255.255.255.0\n\
             interface Dialer1\n ip address negotiated\n"
        );
        class(inner(&resolved(&text, Profile::Hqf)), "a").priority.unwrap().rate_bps
    };
    let by_ethernet = " tunnel source Ethernet0/0\n";
    assert_eq!(rate_at("30000000", by_ethernet), Some(2_000_000));
    assert_eq!(rate_at("5000000", by_ethernet), Some(1_000_000));
    // The default bandwidth of a Dialer is not a line rate. Without a tunnel source, the line is unknown.
    assert_eq!(rate_at("30000000", " tunnel source Dialer1\n"), Some(6_000_000));
    assert_eq!(rate_at("30000000", ""), Some(6_000_000));
}

/// genieparser, `ShowPolicyMapInterface`, output 8 (IOS-XE): level 1 with 10 % of 1 Gb/s has 49152 bytes in
/// 3932 us, level 2 with 20 % in 1966 us, a class with `bandwidth remaining` in 393 us.
#[test]
fn limits_in_time_refer_to_the_rate_of_the_class() {
    let text = on(
        "GigabitEthernet0/0/1",
        "policy-map top\n class a\n  priority level 1 percent 10\n  queue-limit 3932 us\n class b\n\
         \x20 priority level 2 percent 20\n  queue-limit 1966 us\n class c\n  bandwidth remaining percent 70\n\
         \x20 queue-limit 393 us\n",
    );
    let policy = resolved(&text, Profile::IosXe);
    let bytes = |name: &str| class(&policy, name).queue_limit.and_then(|limit| limit.bytes);
    // The output has whole microseconds: 49152 bytes are 3932.16.
    assert_eq!([bytes("a"), bytes("b"), bytes("c")], [Some(49_150), Some(49_150), Some(49_125)]);
}

/// The rate of a class with a guarantee and a shaper is the guarantee. The rate of a class with only a shaper
/// is the rate of the shaper.
#[test]
fn limits_in_time_refer_to_the_guarantee_and_not_to_the_shaper() {
    let policies = "policy-map top\n class a\n  bandwidth 1000\n  shape average 8000000\n  queue-limit 100 ms\n\
                    \x20class b\n  shape average 8000000\n  queue-limit 100 ms\n\
                    \x20class c\n  bandwidth 2000\n  queue-limit 100 ms\n";
    for profile in [Profile::IosXe, Profile::Hqf] {
        let policy = resolved(&on("GigabitEthernet0/1", policies), profile);
        let bytes = |name: &str| class(&policy, name).queue_limit.and_then(|limit| limit.bytes);
        assert_eq!([bytes("a"), bytes("b"), bytes("c")], [Some(12_500), Some(100_000), Some(25_000)]);
    }
}

/// Returns the bytes of the cells for a packet of `ip` bytes in a circuit with these commands.
fn in_cells(commands: &str, ip: u64) -> u64 {
    let text = format!("interface ATM0/0\n pvc 8/35\n{commands}");
    let mut configuration = parse(&text);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
    let wire = router.ports[0].wire;
    wire.framing.unwrap().wire_bytes(wire.headers.bytes(ip))
}

/// RFC 2516 in bridged frames of RFC 2684 §5.2: 60 bytes of IP, 2 of PPP, 6 of PPPoE, 14 of Ethernet, 2 of
/// padding, 8 of LLC/SNAP and the trailer of 8 are 100 bytes, which take three cells.
#[test]
fn sessions_of_pppoe_travel_in_bridged_frames() {
    let client = "  pppoe-client dial-pool-number 1\n";
    assert_eq!(in_cells(client, 60), 159);
    // One more cell if 144 bytes do not suffice: 104 bytes of IP still fit.
    assert_eq!([in_cells(client, 104), in_cells(client, 105)], [159, 212]);
    assert_eq!(in_cells("", 60), 106, "routed: 76 bytes");
    // Without LLC/SNAP, packets have 8 bytes less.
    assert_eq!(in_cells(&format!("  encapsulation aal5mux ip\n{client}"), 112), 159);
}

/// RFC 2364: 2 bytes of PPP and the trailer of 8 bytes; a packet of 38 bytes fits into one cell.
#[test]
fn ppp_over_aal5_has_two_bytes_of_its_own() {
    let ppp = "  encapsulation aal5mux ppp dialer\n";
    assert_eq!([in_cells(ppp, 38), in_cells(ppp, 39)], [53, 106]);
    assert_eq!(in_cells("  encapsulation aal5mux ip\n", 39), 53);
}

/// Returns the bytes that the queues and classes of a tunnel count in addition to IP, for a mode and a
/// transform.
fn counted_in_tunnel(mode: &str, transform: &str) -> CountedBytes {
    let text = format!(
        "version 15.7\ncrypto ipsec transform-set T {transform}\n mode transport\ncrypto ipsec profile P\n \
         set transform-set T\ninterface GigabitEthernet0/0\n ip address 192.0.2.1 255.255.255.0\n\
         interface Tunnel1\n tunnel source GigabitEthernet0/0\n tunnel destination 198.51.100.1\n \
         tunnel mode {mode}\n tunnel key 7\n tunnel protection ipsec profile P\n"
    );
    let mut configuration = parse(&text);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
    let port = router.ports.iter().find(|port| port.name == "Tunnel1").unwrap();
    port.counted_bytes.unwrap()
}

/// The queues of a hub with IOS 15.7 count ESP, and its classes do not. Bytes by RFC 4303: 8 of ESP, 16 of
/// initialization vector, 2 of trailer, 0 to 15 of padding, 12 of SHA-1. GRE with a key has 28 bytes,
/// Ethernet 14.
#[test]
fn queues_of_a_tunnel_count_encryption() {
    let counted = counted_in_tunnel("gre multipoint", "esp-aes esp-sha-hmac");
    assert_eq!(counted, CountedBytes { classes: 28, queues: 28 + 14 + 8 + 16 + 2 + 7 + 12 });
    // RFC 4106: vector 8, check value 16, padding to four bytes.
    let counted = counted_in_tunnel("gre ip", "esp-gcm 256");
    assert_eq!(counted, CountedBytes { classes: 28, queues: 28 + 14 + 8 + 8 + 2 + 1 + 16 });
}

/// An ESP tunnel has one outer IP header, which belongs to ESP.
#[test]
fn queues_of_a_tunnel_interface_of_ipsec_count_one_outer_header() {
    let counted = counted_in_tunnel("ipsec ipv4", "esp-gcm 256");
    assert_eq!(counted.queues, 20 + 8 + 8 + 2 + 1 + 16 + 14);
}
