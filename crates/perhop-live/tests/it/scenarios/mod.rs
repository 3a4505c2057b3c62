//! Scenarios of features that the examples do not use.

use serde_json::{Value, json};

/// Features that the examples do not use: IPv6 and IPv4, congestion marks, wires that lose packets, links
/// between hosts, hosts with two interfaces, and policies at both ends of a trunk that count more than IP
/// bytes.
pub(crate) fn everything_else() -> Value {
    let ramp = json!({"min": "5 packets", "max": "25 packets", "max-probability": 0.2});
    json!({
        "perhop": 1, "name": "everything else", "duration": "5s",
        "hosts": {"alice": {"address": "2001:db8::a"}, "bob": {"address": "2001:db8:1::b"}, "carol": {}, "dave": {}},
        "routers": {"east": {}, "north": {}, "west": {}},
        "links": [
            {"between": ["alice", "west"], "rate": "9.7Mb/s", "delay": "170us", "framing": "ethernet-wire"},
            {"between": ["carol", "west"], "rate": "11.3Mb/s", "interfaces": {"west": {"input": "profile"}}},
            {"between": ["west", "north"], "rate": "1.9Mb/s", "delay": "13ms", "loss": 0.02,
             "interfaces": {"west": {"output": "classes"}, "north": {"input": "profile", "output": "classes"}}},
            {"between": ["north", "east"], "rate": "2.3Mb/s", "delay": "7ms", "framing": "aal5-snap",
             "interfaces": {"north": {"output": "shaped", "ring": {"particles": {"count": 4, "size": "576B"}}}}},
            {"between": ["east", "bob"], "rate": "10Mb/s", "interfaces": {"bob": {"input": "profile"}}},
            {"between": ["east", "dave"], "rate": "3Mb/s"},
            {"between": ["carol", "dave"], "rate": "1.1Mb/s", "delay": "1ms", "loss": 0.1, "cost": 50},
        ],
        "policies": {
            "profile": {"overhead": 18, "conditioners": [
                {"name": "police", "match": {"dscp": "ef"}, "meter": {"token-bucket": {"rate": "200kb/s", "burst": "3kB"}}, "red": ["drop"]},
                {"name": "mark", "match": {"protocol": "udp"}, "meter": {"two-rate-tcm": {"cir": "300kb/s", "cbs": "5kB", "pir": "600kb/s", "pbs": "5kB"}},
                 "green": [{"mark": "af11"}], "yellow": [{"mark": "af12"}], "red": [{"mark": "af13"}]},
            ]},
            "classes": {"overhead": -20, "queueing": {"scheduler": "scfq", "classes": [
                {"name": "assured", "match": {"dscp": ["af11", "af12", "af13"]}, "share": {"weight": 1},
                 "buffer": {"rio-c": {"precedences": [ramp, ramp, ramp], "averaging": {"weight": 0.02}, "mean-packet-size": "700B", "limit": "40 packets"}}},
                {"name": "rest", "share": {"weight": 3},
                 "buffer": {"red": {"precedences": [ramp], "averaging": {"weight": 0.02}, "mean-packet-size": "1000B", "limit": "40 packets", "ecn": "mark"}}},
            ]}},
            "shaped": {"overhead": 14, "queueing": {"scheduler": "htb", "classes": [
                {"name": "assured", "match": {"dscp": ["af11", "af12", "af13"]}, "share": {"rate": "300kb/s", "ceil": "1Mb/s"}},
                {"name": "all", "share": {"rate": "1.6Mb/s", "level": 1}, "shape": {"rate": "1.7Mb/s", "burst": "4kB"}},
            ]}},
        },
        "traffic": [
            {"name": "v6", "from": "alice", "to": "bob", "count": 2, "start-within": "100ms",
             "source": {"poisson": {"rate": "450kb/s", "packet": {"ip": "600B"}}}},
            {"name": "voice", "from": "carol", "to": "dave", "dscp": "ef", "start": "7ms",
             "source": {"cbr": {"rate": "240kb/s", "packet": {"ip": "200B"}, "jitter": 0.3}}},
            {"name": "back", "from": "dave", "to": "carol", "start": "3ms",
             "source": {"poisson": {"rate": "900kb/s", "packet": {"ip": "1000B"}}}},
            {"name": "tcp", "from": "alice", "to": "bob", "count": 3, "start-within": "200ms",
             "source": {"bulk": {"tcp": {"profile": "linux-modern", "ecn": true}}}},
        ],
    })
}

/// Four routers between hosts. The second and third link have labels, and the third and fourth link have a
/// tag. Marks are set, matched, copied, kept and lost on the path.
pub(crate) fn tags_and_labels() -> Value {
    let classes = json!([
        {"name": "five", "match": {"mpls-exp": [5, 6]}, "share": {"weight": 3}},
        {"name": "three", "match": {"cos": 3}, "share": {"weight": 2}},
        {"name": "rest", "share": {"weight": 1}},
    ]);
    json!({
        "perhop": 1, "name": "tags and labels", "duration": "3s",
        "hosts": {"a": {}, "b": {"address": "10.9.0.1"}, "c": {"address": "2001:db8::c"}, "d": {"address": "2001:db8::d"}},
        "routers": {"r": {}, "s": {}, "t": {}, "u": {}},
        "links": [
            {"between": ["a", "r"], "rate": "10Mb/s", "framing": "ethernet-wire", "headers": [{"vlan": {"id": 9}}],
             "interfaces": {"a": {"output": "of-host"}, "r": {"input": "by-cos"}}},
            {"between": ["c", "r"], "rate": "10Mb/s"},
            {"between": ["r", "s"], "rate": "2.1Mb/s", "delay": "3ms", "framing": "ethernet-wire",
             "headers": [{"mpls": {"labels": 2}}],
             "interfaces": {"r": {"output": "imposing"}, "s": {"input": "by-exp"}}},
            {"between": ["s", "t"], "rate": "2.0Mb/s", "framing": "ethernet-wire",
             "headers": ["mpls", {"vlan": {"id": 20}}, {"vlan": {"id": 100}}],
             "interfaces": {"s": {"output": "swapping"}, "t": {"input": "by-exp"}}},
            {"between": ["t", "u"], "rate": "1.9Mb/s", "framing": "ethernet-wire", "headers": ["gre", "vlan"],
             "interfaces": {"t": {"output": "leaving"}, "u": {"input": "by-cos"}}},
            {"between": ["u", "b"], "rate": "10Mb/s", "headers": ["mpls"], "interfaces": {"u": {"output": "leaving"}}},
            {"between": ["u", "d"], "rate": "10Mb/s"},
        ],
        "policies": {
            "of-host": {"conditioners": [{"match": {"dscp": "ef"}, "actions": [{"mark-cos": 5}]}]},
            "by-cos": {"conditioners": [
                {"match": {"cos": 5}, "actions": [{"mark-exp": 6}]},
                {"match": {"cos": 3}, "actions": [{"mark": "af21"}]},
            ]},
            "imposing": {"queueing": {"scheduler": "scfq", "classes": classes}},
            "by-exp": {"conditioners": [{"actions": [
                {"copy": {"from": "mpls-exp", "to": "label"}},
                {"copy": {"from": "mpls-exp", "to": "cos", "map": {"6": 3}, "default": "copy"}}]}]},
            "swapping": {"conditioners": [{"match": {"dscp": "af11"}, "actions": [{"mark-exp": 5}, "continue"]}],
                         "queueing": {"scheduler": "scfq", "classes": classes}},
            "leaving": {"queueing": {"scheduler": "scfq", "classes": classes}},
        },
        "traffic": [
            {"name": "voice", "from": "a", "to": "b", "dscp": "ef", "source": {"poisson": {"rate": "600kb/s", "packet": {"ip": "300B"}}}},
            {"name": "data", "from": "a", "to": "b", "dscp": "af11", "source": {"poisson": {"rate": "800kb/s", "packet": {"ip": "1000B"}}}},
            {"name": "six", "from": "c", "to": "d", "dscp": "af31", "source": {"poisson": {"rate": "900kb/s", "packet": {"ip": "900B"}}}},
            {"name": "back", "from": "b", "to": "a", "source": {"poisson": {"rate": "900kb/s", "packet": {"ip": "700B"}}}},
        ],
    })
}
