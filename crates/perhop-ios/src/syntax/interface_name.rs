//! Names of interfaces, and the properties that the names imply.

use crate::ast::{Hardware, Interface, ServicePolicies};

/// The properties that an interface name implies.
pub(super) struct Name {
    /// The full name: `fa0/0` is `FastEthernet0/0`.
    pub(super) full: String,
    hardware: Hardware,
    /// Nominal line rate, kilobits per second.
    nominal: Option<u64>,
    /// Default `bandwidth` of an interface without a line rate, kilobits per second.
    default: Option<u64>,
}

/// A kind of interface: name, short names, hardware, and default bandwidth in kilobits per second. The
/// default bandwidth is the line rate if the kind implies a line rate.
struct Kind(&'static str, &'static [&'static str], Hardware, Option<u64>);

/// The kinds of interfaces. Default bandwidths are from `show interfaces`. Modems and bundles have no default
/// bandwidth; the default bandwidth of tunnels depends on the release. POS counts as OC-3.
const KINDS: &[Kind] = &[
    Kind("ATM", &["at"], Hardware::Atm, Some(149_760)),
    Kind("AppGigabitEthernet", &["ap"], Hardware::Ethernet, Some(1_000_000)),
    Kind("Async", &["as"], Hardware::Other, None),
    Kind("BDI", &["bd"], Hardware::Virtual, Some(1_000_000)),
    Kind("BRI", &["br"], Hardware::Other, Some(64)),
    Kind("BVI", &["bv"], Hardware::Virtual, Some(10_000)),
    Kind("Bluetooth", &["bl"], Hardware::Other, Some(1_000_000)),
    Kind("Bundle", &[], Hardware::Virtual, None),
    Kind("Bundle-Ether", &["be"], Hardware::Ethernet, None),
    Kind("CEM", &["ce"], Hardware::Other, None),
    Kind("Cellular", &[], Hardware::Other, None),
    Kind("Dialer", &["di"], Hardware::Virtual, Some(56)),
    Kind("Dot11Radio", &["do"], Hardware::Other, Some(54_000)),
    Kind("Embedded-Service-Engine", &["em"], Hardware::Ethernet, Some(10_000)),
    Kind("Ethernet", &["e", "et"], Hardware::Ethernet, Some(10_000)),
    Kind("Ethernet-Internal", &[], Hardware::Ethernet, Some(1_000_000)),
    Kind("FastEthernet", &["f", "fa"], Hardware::Ethernet, Some(100_000)),
    Kind("Fddi", &["fd"], Hardware::Other, Some(100_000)),
    Kind("FiftyGigE", &["fif"], Hardware::Ethernet, Some(50_000_000)),
    Kind("FiveGigabitEthernet", &["fi"], Hardware::Ethernet, Some(5_000_000)),
    Kind("FortyGigE", &[], Hardware::Ethernet, Some(40_000_000)),
    Kind("FortyGigabitEthernet", &["fo"], Hardware::Ethernet, Some(40_000_000)),
    Kind("FourHundredGigE", &["fou"], Hardware::Ethernet, Some(400_000_000)),
    Kind("GigabitEthernet", &["g", "gi"], Hardware::Ethernet, Some(1_000_000)),
    Kind("Group-Async", &[], Hardware::Other, None),
    Kind("Hssi", &["hs"], Hardware::Serial, Some(45_045)),
    Kind("HundredGigE", &["hu"], Hardware::Ethernet, Some(100_000_000)),
    Kind("HundredGigabitEthernet", &[], Hardware::Ethernet, Some(100_000_000)),
    Kind("Integrated-Service-Engine", &[], Hardware::Ethernet, Some(1_000_000)),
    Kind("LISP", &["li"], Hardware::Virtual, None),
    Kind("Loopback", &["l", "lo"], Hardware::Virtual, Some(8_000_000)),
    Kind("Management", &["ma"], Hardware::Ethernet, Some(1_000_000)),
    Kind("MFR", &[], Hardware::Virtual, None),
    Kind("MgmtEth", &["mg"], Hardware::Ethernet, Some(1_000_000)),
    Kind("mgmt", &[], Hardware::Ethernet, Some(1_000_000)),
    Kind("Multilink", &["mu"], Hardware::Virtual, None),
    Kind("NVI", &["nv"], Hardware::Virtual, Some(56)),
    Kind("Null", &["nu"], Hardware::Virtual, Some(10_000_000)),
    Kind("Overlay", &["ov"], Hardware::Virtual, None),
    Kind("POS", &[], Hardware::PacketOverSonet, Some(155_000)),
    Kind("Port-channel", &["po"], Hardware::Ethernet, None),
    Kind("ISM", &[], Hardware::Ethernet, Some(1_000_000)),
    Kind("SM", &[], Hardware::Ethernet, Some(1_000_000)),
    Kind("Serial", &["s", "se"], Hardware::Serial, Some(1544)),
    Kind("Service-Engine", &[], Hardware::Ethernet, Some(100_000)),
    Kind("TenGigE", &[], Hardware::Ethernet, Some(10_000_000)),
    Kind("TenGigabitEthernet", &["t", "te"], Hardware::Ethernet, Some(10_000_000)),
    Kind("TokenRing", &["to"], Hardware::Other, Some(16_000)),
    Kind("Tunnel", &["tu"], Hardware::Virtual, None),
    Kind("Tunnel-ip", &[], Hardware::Virtual, None),
    Kind("Tunnel-te", &[], Hardware::Virtual, None),
    Kind("TwentyFiveGigE", &["twe"], Hardware::Ethernet, Some(25_000_000)),
    Kind("TwentyFiveGigabitEthernet", &[], Hardware::Ethernet, Some(25_000_000)),
    Kind("TwoGigabitEthernet", &["tw"], Hardware::Ethernet, Some(2_500_000)),
    Kind("TwoHundredGigE", &[], Hardware::Ethernet, Some(200_000_000)),
    Kind("Virtual-Access", &["vi"], Hardware::Virtual, Some(100_000)),
    Kind("Virtual-PPP", &["vp"], Hardware::Virtual, Some(100_000)),
    Kind("Virtual-Template", &["vt"], Hardware::Virtual, Some(100_000)),
    Kind("VirtualPortGroup", &["vir"], Hardware::Virtual, Some(750_000)),
    Kind("Vlan", &["vl"], Hardware::Virtual, Some(1_000_000)),
    Kind("Wlan-GigabitEthernet", &["wl"], Hardware::Ethernet, Some(1_000_000)),
    Kind("nve", &[], Hardware::Virtual, None),
    Kind("pseudowire", &["ps"], Hardware::Virtual, Some(1_000_000)),
    Kind("ucse", &["uc"], Hardware::Ethernet, Some(1_000_000)),
    Kind("vasileft", &[], Hardware::Virtual, None),
    Kind("vasiright", &[], Hardware::Virtual, None),
    Kind("vmi", &["vm"], Hardware::Virtual, Some(10_000)),
    Kind("wlan-ap", &[], Hardware::Other, None),
];

/// Returns the kind with this name, short name or unique prefix.
fn kind(written: &str) -> Option<&'static Kind> {
    let exact = |kind: &&Kind| kind.0.eq_ignore_ascii_case(written);
    let short = |kind: &&Kind| kind.1.iter().any(|short| short.eq_ignore_ascii_case(written));
    KINDS.iter().find(exact).or_else(|| KINDS.iter().find(short)).or_else(|| {
        let begins = |kind: &&Kind| {
            let beginning = kind.0.get(..written.len());
            beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(written))
        };
        let mut beginning = KINDS.iter().filter(begins);
        let first = beginning.next().filter(|_| written.len() >= 2)?;
        let other = beginning.next();
        // A prefix of several names is accepted if these names have the same hardware and rate.
        other.is_none_or(|other| (other.2, other.3) == (first.2, first.3)).then_some(first)
    })
}

const RADIO: &str = "Dot11Radio";

/// Returns the full name of `written`, and its properties.
pub(super) fn full_name(written: &str) -> Name {
    let letters = written.find(|character: char| character.is_ascii_digit()).unwrap_or(written.len());
    let (letters, number) = match written.get(..RADIO.len()) {
        // The word of this interface name contains digits, so the first digit does not begin the number.
        Some(radio) if radio.eq_ignore_ascii_case(RADIO) => written.split_at(RADIO.len()),
        _ => written.split_at(letters),
    };
    match kind(letters) {
        Some(Kind(name, _, hardware, kilobits)) => {
            let (nominal, default) = match hardware {
                // Packets leave through another interface, so the rate is only a bandwidth for calculations.
                Hardware::Virtual | Hardware::Serial if *name != "Hssi" => (None, *kilobits),
                _ => (*kilobits, None),
            };
            Name { full: format!("{name}{number}"), hardware: *hardware, nominal, default }
        }
        None => Name { full: written.to_owned(), hardware: Hardware::Unknown, nominal: None, default: None },
    }
}

/// Creates an interface without any settings.
pub(super) fn new(name: &str, line: usize) -> Interface {
    let Name { full: name, hardware, nominal, default } = full_name(name);
    // The part after the last dot of a SONET channel is a path: `Serial1/0/0.1/1/1/1:0`.
    let sub = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let parent = name.rsplit_once('.').filter(|(_, number)| sub(number)).map(|(parent, _)| parent.to_owned());
    Interface {
        name,
        line,
        hardware,
        nominal_kilobits: nominal,
        default_kilobits: default,
        parent,
        description: None,
        bandwidth: None,
        max_reserved_bandwidth: None,
        clock_rate: None,
        speed: None,
        vrf: None,
        addresses: Vec::new(),
        addresses6: Vec::new(),
        encapsulation: None,
        second_vlan: None,
        native_vlan: None,
        bandwidth_reference: None,
        mtu: None,
        ip_mtu: None,
        adjust_mss: None,
        load_interval: None,
        tunnel: None,
        pre_classify: None,
        crypto_map: None,
        peer_policies: Vec::new(),
        nhrp_group: None,
        channel_group: None,
        multilink_group: None,
        multilink: None,
        pppoe: None,
        dialer_pool: None,
        service_instances: Vec::new(),
        filters: Vec::new(),
        rate_limits: Vec::new(),
        mls: crate::ast::PortQos::default(),
        routing: crate::ast::InterfaceRouting::default(),
        service_policies: ServicePolicies::default(),
        fair_queue: None,
        random_detect: None,
        hold_queue: None,
        tx_ring_limit: None,
        flow_control: None,
        private_vlan: None,
        shutdown: None,
        pvcs: Vec::new(),
    }
}
