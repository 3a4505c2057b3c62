//! Benchmark of reading and converting a configuration of a megabyte.
//!
//! `cargo bench -p perhop-ios --bench parse` reports the best of ten runs, because machines are shared.

use std::time::Instant;

use perhop_ios::{Platform, Profile, convert, parse};

#[allow(clippy::disallowed_methods)] // a benchmark is about wall time
fn main() {
    let text = configuration();
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..10 {
        let start = Instant::now();
        let mut configuration = parse(&text);
        let read = start.elapsed().as_secs_f64();
        convert(&mut configuration, &Platform::for_profile(Profile::PreHqf));
        best = (best.0.min(read), best.1.min(start.elapsed().as_secs_f64() - read));
    }
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "{megabytes:.2} MB, {} lines: read in {:.3} s, converted in {:.3} s",
        text.lines().count(),
        best.0,
        best.1
    );
}

/// A router with two thousand branches.
fn configuration() -> String {
    let block = |n: usize| {
        format!(
            "class-map match-any class-{n}\n match access-group name list-{n}\n match ip dscp ef\n!\n\
             policy-map policy-{n}\n class class-{n}\n  bandwidth 100\n  random-detect dscp-based\n\
             \x20class class-default\n  fair-queue\n!\n\
             interface Serial{n}/0\n description line {n}\n bandwidth 1544\n\
             \x20ip address 10.{}.{}.1 255.255.255.252\n encapsulation ppp\n service-policy output policy-{n}\n\
             \x20no ip directed-broadcast\n!\n\
             ip access-list extended list-{n}\n permit tcp any host 10.1.1.1 eq {}\n deny ip any any\n!\n\
             snmp-server host 10.0.0.{}\n",
            n / 256 % 256,
            n % 256,
            n % 65535 + 1,
            n % 256,
        )
    };
    (0..2_000).map(block).collect()
}
