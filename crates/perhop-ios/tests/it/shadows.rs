//! Classes without packets. Findings are exact. They occur only if perhop determines the exact sets of
//! packets that the earlier classes match.

use perhop_device::{FrontEnd, HiddenParts, ParseOptions};
use perhop_ios::{Ios, Platform, Profile, convert, parse};

/// Returns the warnings about hidden classes in a policy `p` with `classes`, in order.
fn hidden(class_maps: &str, classes: &[&str]) -> Vec<String> {
    let classes: Vec<String> =
        classes.iter().map(|class| format!(" class {class}\n  set dscp cs1\n")).collect();
    let classes = classes.concat();
    let text =
        format!("{class_maps}policy-map p\n{classes}interface GigabitEthernet0/0\n service-policy input p\n");
    let mut configuration = parse(&text);
    convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
    let found =
        configuration.diagnostics.iter().filter(|found| found.message.starts_with("no packet reaches class"));
    found.map(|found| found.message.clone()).collect()
}

const MAPS: &str = "\
class-map match-any voice
 match dscp ef
 match ip precedence 5
class-map match-all ef
 match dscp ef
class-map match-any either
 match dscp ef af41
class-map match-any video
 match dscp af41
class-map match-all web
 match access-group name WEB
class-map match-all server
 match access-group name SERVER
class-map match-any never
 match access-group name NONE
ip access-list extended WEB
 deny tcp any host 10.0.0.9 eq 80
 permit tcp any any range 80 443
ip access-list extended SERVER
 permit tcp any host 10.0.0.7 eq 443
ip access-list extended NONE
 deny ip any any
";

#[test]
fn the_class_that_hides_another_is_named_with_a_packet() {
    let ef = "no packet reaches class ef of policy-map p: the earlier class voice matches all packets that \
              class ef matches, for example udp 192.0.2.1:50000 > 198.51.100.1:9 dscp ef len 500 in \
              GigabitEthernet0/0";
    assert_eq!(hidden(MAPS, &["voice", "ef"]), [ef]);
    let either = "no packet reaches class either of policy-map p: the earlier classes ef, video together \
                  match all packets that class either matches, for example udp 192.0.2.1:50000 > \
                  198.51.100.1:9 dscp af41 len 500 in GigabitEthernet0/0";
    assert_eq!(hidden(MAPS, &["ef", "video", "either"]), [either]);
    let server = "no packet reaches class server of policy-map p: the earlier class web matches all packets \
                  that class server matches, for example tcp 192.0.2.1:50000 > 10.0.0.7:443 dscp default len \
                  500 in GigabitEthernet0/0";
    assert_eq!(hidden(MAPS, &["web", "server"]), [server]);
}

#[test]
fn a_class_that_keeps_a_packet_is_not_hidden() {
    for classes in
        [&["ef", "voice"][..], &["ef", "either", "video"][..1], &["server", "web"], &["never", "ef"]]
    {
        assert_eq!(hidden(MAPS, classes), [""; 0], "{classes:?}");
    }
    // The server that the access list of the class `web` denies is not hidden.
    let maps = MAPS.replace("host 10.0.0.7 eq 443", "host 10.0.0.9 eq 80");
    assert_eq!(hidden(&maps, &["web", "server"]), [""; 0]);
}

#[test]
fn unmodeled_criteria_hide_no_class() {
    for (first, statement) in [
        ("by content", " match protocol http\n"),
        ("an unmodeled criterion, negated", " match not protocol attribute business-relevance irrelevant\n"),
        ("tags of an interface", " match not vlan 7\n"),
        ("a list that denies by a field that perhop ignores", " match access-group name ESTABLISHED\n"),
    ] {
        let maps = format!(
            "{MAPS}ip access-list extended ESTABLISHED\n deny tcp any any established\n permit tcp any any\n\
             class-map match-any first\n{statement}"
        );
        assert_eq!(hidden(&maps, &["first", "server"]), [""; 0], "{first}");
    }
}

#[test]
fn a_question_without_findings_skips_the_search() {
    let policy = "policy-map p\n class either\n  set dscp cs1\n class ef\n  set dscp cs2\n";
    let text = format!("{MAPS}{policy}interface GigabitEthernet0/0\n service-policy input p\n");
    let models = [HiddenParts::Report, HiddenParts::Skip].map(|hidden_parts| {
        let options = ParseOptions { hidden_parts, ..ParseOptions::default() };
        Ios.parse(&text, &options).expect("the options are valid")
    });
    let counts = models.each_ref().map(|model| {
        let found = model.diagnostics.iter().map(|concern| &concern.diagnostic.message);
        found.filter(|message| message.starts_with("no packet reaches class")).count()
    });
    assert_eq!(counts, [1, 0]);
    assert_eq!(models[0].router.ports, models[1].router.ports);
}
