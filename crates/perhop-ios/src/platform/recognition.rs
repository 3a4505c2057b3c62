//! [`Recognition`]: detection of the router that wrote a configuration.

use serde::Serialize;

use super::profile::Profile;
use super::signs::{self, Evidence, Sign};
use crate::ast::Configuration;
use crate::grammar::Grammar;

/// The operating system that wrote a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Cisco IOS.
    Ios,
    /// Cisco IOS-XE on a router.
    IosXe,
    /// A Catalyst switch with `mls qos` and shaped round robin: 2960, 3560, 3750, IE 2000 and 3000.
    CatalystMls,
    /// A Catalyst 4500.
    Catalyst4500,
    /// A Catalyst 6500, or another switch with weighted round robin by port.
    Catalyst6500,
    /// A Catalyst switch with UADP hardware: 3650, 3850, 9000.
    CatalystUadp,
    /// A Catalyst switch with Silicon One hardware: 9350, 9500X, 9600X, 9610.
    CatalystSiliconOne,
    /// A switch that only `switchport` reveals.
    Catalyst,
    /// An ASR 920, which queues in forwarding hardware.
    Asr920,
    /// An ASR 900, which queues in other forwarding hardware.
    CarrierEthernet,
    /// Cisco IOS XR.
    IosXr,
    /// Cisco IOS XR on a Cisco 8000, which has different queueing hardware.
    Cisco8000,
    /// Cisco NX-OS.
    NxOs,
}

impl Dialect {
    /// Whether perhop models the queues of devices with this system.
    pub fn is_supported(self) -> bool {
        let is_modeled = |own| {
            matches!(
                own,
                Dialect::Asr920
                    | Dialect::CatalystMls
                    | Dialect::CatalystUadp
                    | Dialect::CatalystSiliconOne
                    | Dialect::NxOs
            )
        };
        self.is_of_router() || is_modeled(self)
    }

    /// Whether the system runs on routers that forward packets with processors.
    pub fn is_of_router(self) -> bool {
        matches!(self, Dialect::Ios | Dialect::IosXe | Dialect::IosXr)
    }
}

/// The detected router of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recognition {
    /// The profile.
    pub profile: Profile,
    /// The operating system.
    pub dialect: Dialect,
    /// Whether the profile is certain.
    pub certain: bool,
    /// The lines that reveal the profile, strongest evidence first; empty if the profile is assumed.
    pub because: Vec<Evidence>,
}

impl Recognition {
    /// Detects the router of `configuration`. If no line reveals a property, for example in a part of a
    /// configuration, the profile of the hierarchical queueing framework is used.
    pub fn from_configuration(configuration: &Configuration) -> Recognition {
        let signs = signs::find(configuration);
        let first = |kinds: &[Sign]| {
            let found = kinds.iter().find_map(|kind| signs.iter().find(|(sign, _)| sign == kind));
            found.map(|(_, evidence)| evidence.clone())
        };
        if let Some(found) = of_ios_xr(configuration, &first) {
            return found;
        }
        for (kinds, dialect, profile) in DIALECTS {
            if let Some(evidence) = first(kinds) {
                let because = vec![evidence];
                return Recognition { profile: *profile, dialect: *dialect, certain: true, because };
            }
        }
        for rule in RULES {
            let Some(evidence) = first(rule.signs) else { continue };
            let second_evidence = match rule.second_signs {
                [] => None,
                kinds => match first(kinds) {
                    Some(other) => Some(other),
                    None => continue,
                },
            };
            let dialect = if rule.profile == Profile::IosXe { Dialect::IosXe } else { Dialect::Ios };
            let because = std::iter::once(evidence).chain(second_evidence).collect();
            return Recognition { profile: rule.profile, dialect, certain: rule.certain, because };
        }
        Recognition { profile: Profile::Hqf, dialect: Dialect::Ios, certain: false, because: Vec::new() }
    }
}

/// Detects the hardware of a router with IOS XR from inventory lines and from modes that only one kind of
/// hardware has. Without such lines, the ASR 9000 is assumed.
fn of_ios_xr(
    configuration: &Configuration,
    first: &impl Fn(&[Sign]) -> Option<Evidence>,
) -> Option<Recognition> {
    if configuration.grammar != Grammar::IosXr {
        return None;
    }
    let system = first(&[Sign::IosXr]).or_else(|| {
        first(&[Sign::XrCisco8000, Sign::XrNcsProduct, Sign::XrAsrProduct, Sign::XrHardwareMode])
    });
    let because = system.or_else(|| signs::line_of_ios_xr(configuration))?;
    for (signs, dialect, profile, certain) in [
        (&[Sign::XrCisco8000][..], Dialect::Cisco8000, Profile::Ncs5500, true),
        (&[Sign::XrNcsProduct, Sign::XrHardwareMode], Dialect::IosXr, Profile::Ncs5500, true),
        (&[Sign::XrAsrProduct], Dialect::IosXr, Profile::Asr9000, true),
        (&[Sign::XrTrafficClass], Dialect::IosXr, Profile::Ncs5500, false),
    ] {
        if let Some(evidence) = first(signs) {
            return Some(Recognition { profile, dialect, certain, because: vec![evidence] });
        }
    }
    let (profile, dialect) = (Profile::Asr9000, Dialect::IosXr);
    Some(Recognition { profile, dialect, certain: false, because: vec![because] })
}

/// Switches and other systems that have their own hardware, with their profile. If perhop does not model the
/// queueing of a system, its profile is the profile with the most similar policers and classifiers.
const DIALECTS: &[(&[Sign], Dialect, Profile)] = &[
    (&[Sign::NxOs], Dialect::NxOs, Profile::Nexus9000),
    (&[Sign::SiliconOne], Dialect::CatalystSiliconOne, Profile::CatalystSiliconOne),
    (&[Sign::Uadp], Dialect::CatalystUadp, Profile::CatalystUadp),
    (&[Sign::Srr], Dialect::CatalystMls, Profile::CatalystMls),
    (&[Sign::Catalyst4500], Dialect::Catalyst4500, Profile::IosXe),
    (&[Sign::Catalyst6500], Dialect::Catalyst6500, Profile::Hqf),
    (&[Sign::Mls], Dialect::CatalystMls, Profile::CatalystMls),
    (&[Sign::Asr920], Dialect::Asr920, Profile::Asr920),
    (&[Sign::CarrierEthernet], Dialect::CarrierEthernet, Profile::IosXe),
    (&[Sign::Switching], Dialect::Catalyst, Profile::Hqf),
];

/// A rule of the detection: the profile, two lists of signs, and whether the result is certain. The rule
/// applies if one sign of each list occurs.
struct Rule {
    profile: Profile,
    signs: &'static [Sign],
    second_signs: &'static [Sign],
    certain: bool,
}

const fn rule(
    profile: Profile,
    signs: &'static [Sign],
    second_signs: &'static [Sign],
    certain: bool,
) -> Rule {
    Rule { profile, signs, second_signs, certain }
}

/// The rules in order. The first rule that applies decides. Products and images are the most certain signs.
/// Version 15 is not sufficient, because IOS and IOS-XE 3.x both print it; version 12.4 is not, because
/// trains with and without HQF print it.
const RULES: &[Rule] = &[
    rule(Profile::IosXe, &[Sign::XeProduct, Sign::XeImage], &[], true),
    rule(Profile::Iosv, &[Sign::VirtualProduct], &[], true),
    rule(Profile::Hqf, &[Sign::IosProduct, Sign::HqfImage], &[], true),
    rule(Profile::Vip7500, &[Sign::VipImage], &[], true),
    rule(Profile::PreHqf, &[Sign::OldImage], &[], true),
    // IOL prints version 17.x but queues in software, so the profile is not the profile of IOS-XE routers.
    rule(Profile::Hqf, &[Sign::Version16, Sign::Version15], &[Sign::IolInterface], true),
    rule(Profile::IosXe, &[Sign::Version16], &[], true),
    rule(Profile::IosXe, &[Sign::Version15], &[Sign::XePlatform], true),
    rule(Profile::IosXe, &[Sign::Version15], &[Sign::XeInterface], false),
    rule(Profile::Iosv, &[Sign::VirtualCommand], &[], false),
    rule(Profile::Hqf, &[Sign::Version15], &[], true),
    rule(Profile::Hqf, &[Sign::Version12_4], &[Sign::HqfFeature], false),
    rule(Profile::Vip7500, &[Sign::Version12_4, Sign::VersionOld], &[Sign::VipInterface], false),
    rule(Profile::PreHqf, &[Sign::Version12_4], &[], false),
    rule(Profile::PreHqf, &[Sign::VersionOld], &[], true),
    rule(Profile::IosXe, &[Sign::XePlatform], &[], true),
    rule(Profile::IosXe, &[Sign::XeInterface], &[], false),
    rule(Profile::PreHqf, &[Sign::OldFeature], &[], false),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn profile(text: &str) -> (&'static str, Dialect, bool) {
        let recognition = Recognition::from_configuration(&parse(text));
        (recognition.profile.name(), recognition.dialect, recognition.certain)
    }

    #[test]
    fn the_platform_is_recognized_by_its_configuration() {
        use Dialect::{Asr920, CarrierEthernet, Catalyst, CatalystUadp, Ios, IosXe, NxOs};
        for (text, expected) in [
            ("version 12.2\nhostname a\n", ("pre-hqf", Ios, true)),
            ("version 12.4\nhostname a\n", ("pre-hqf", Ios, false)),
            (
                "version 12.4\nboot system flash c2800nm-adventerprisek9-mz.124-24.T4.bin\n",
                ("hqf", Ios, true),
            ),
            (
                "version 12.4\nboot system flash c2800nm-adventerprisek9-mz.124-25b.bin\n",
                ("pre-hqf", Ios, true),
            ),
            ("version 12.4\npolicy-map p\n class c\n  bandwidth 100\n  fair-queue\n", ("hqf", Ios, false)),
            ("version 15.1\nhostname a\n", ("hqf", Ios, true)),
            ("version 15.5\nplatform console virtual\n", ("ios-xe", IosXe, true)),
            ("version 15.4\ninterface GigabitEthernet0/0/0\n", ("ios-xe", IosXe, false)),
            ("version 17.3\nhostname a\n", ("ios-xe", IosXe, true)),
            ("version 17.15\ninterface Ethernet0/1\n", ("hqf", Ios, true)),
            ("version 15.2\nlicense udi pid CISCO2901/K9 sn X\n", ("hqf", Ios, true)),
            ("version 16.9\nlicense udi pid CSR1000V sn X\n", ("ios-xe", IosXe, true)),
            ("version 12.0\ninterface Serial4/0/0\n", ("7500-vip", Ios, false)),
            ("version 16.12\nswitch 1 provision c9300-24t\n", ("catalyst-uadp", CatalystUadp, true)),
            ("!Command: show running-config\nversion 9.2(3)\n", ("nexus-9000", NxOs, true)),
            ("version 16.9\nlicense udi pid ASR-920-12CZ-A sn X\n", ("asr-920", Asr920, true)),
            (
                "version 16.9\nboot system bootflash:asr903rsp2-universalk9.bin\n",
                ("ios-xe", CarrierEthernet, true),
            ),
            (
                "version 17.3\npolicy-map p\n class c\n  queue-buffers ratio 10\n",
                ("catalyst-uadp", CatalystUadp, true),
            ),
            ("feature interface-vlan\ninterface Ethernet1/1\n", ("nexus-9000", NxOs, true)),
            ("class-map type qos match-any c\n match dscp 46\n", ("nexus-9000", NxOs, true)),
            (
                "version 15.2\ninterface GigabitEthernet0/1\n switchport mode access\ninterface Vlan1\n \
                 ip address 192.0.2.1 255.255.255.0\n",
                ("hqf", Catalyst, true),
            ),
            (
                "version 15.2\ninterface GigabitEthernet1/0/1\n no switchport\n ip address 192.0.2.1 \
                 255.255.255.0\n",
                ("hqf", Catalyst, true),
            ),
            // A router that has switching ports.
            (
                "version 15.2\ninterface FastEthernet0\n switchport access vlan 2\ninterface FastEthernet4\n \
                 ip address 192.0.2.1 255.255.255.0\n",
                ("hqf", Ios, true),
            ),
            (
                "version 15.2\ninterface FastEthernet0\n switchport access vlan 2\ninterface FastEthernet4\n \
                 pppoe-client dial-pool-number 1\n",
                ("hqf", Ios, true),
            ),
            ("policy-map p\n class class-default\n  shape average 1000000\n", ("hqf", Ios, false)),
        ] {
            assert_eq!(profile(text), expected, "{text}");
        }
    }

    #[test]
    fn catalysts_with_silicon_one_are_recognized_by_their_product() {
        for (text, expected) in [
            (
                "version 17.12\nlicense udi pid C9500X-28C8D sn X\n",
                ("catalyst-silicon-one", Dialect::CatalystSiliconOne, true),
            ),
            (
                "version 17.18\npolicy-map p\n class c\n  queue-buffers ratio 10\nswitch 1 provision c9350-48t\n",
                ("catalyst-silicon-one", Dialect::CatalystSiliconOne, true),
            ),
        ] {
            assert_eq!(profile(text), expected, "{text}");
        }
    }

    #[test]
    fn older_switches_are_recognized_by_their_queues() {
        use Dialect::{Catalyst4500, Catalyst6500, CatalystMls};
        for (text, expected) in [
            (
                "version 15.0\nswitch 1 provision ws-c3750x-24p\nmls qos\n",
                ("catalyst-mls", CatalystMls, true),
            ),
            ("version 15.0\nmls qos\ninterface GigabitEthernet0/1\n", ("catalyst-mls", CatalystMls, true)),
            (
                "version 12.2\ninterface FastEthernet0/1\n srr-queue bandwidth limit 80\n",
                ("catalyst-mls", CatalystMls, true),
            ),
            ("version 12.2\nmls qos\ninterface GigabitEthernet3/1\n", ("hqf", Catalyst6500, true)),
            (
                "version 12.2\nmls qos\ninterface GigabitEthernet1/1\n wrr-queue bandwidth 20 80\n",
                ("hqf", Catalyst6500, true),
            ),
            ("version 15.1\npolicy-map type lan-queuing p\n", ("hqf", Catalyst6500, true)),
            ("version 15.0\npolicy-map p\n class c\n  dbl\n", ("ios-xe", Catalyst4500, true)),
            (
                "version 12.2\nqos\ninterface GigabitEthernet3/1\n tx-queue 3\n",
                ("ios-xe", Catalyst4500, true),
            ),
        ] {
            assert_eq!(profile(text), expected, "{text}");
        }
    }

    #[test]
    fn a_pair_of_switches_with_numbers_of_four_parts_is_no_router_with_ios_xr() {
        let text = "version 16.12\npolicy-map p\n class c\n  queue-buffers ratio 10\ninterface \
                    TenGigabitEthernet1/1/0/1\n";
        assert_eq!(profile(text), ("catalyst-uadp", Dialect::CatalystUadp, true));
    }

    #[test]
    fn the_hardware_under_ios_xr_is_recognized_or_assumed() {
        use Dialect::{Cisco8000, IosXr};
        for (text, expected) in [
            ("!! IOS XR Configuration 6.6.2\ninterface TenGigE0/0/0/1\n", ("asr-9000", IosXr, false)),
            ("!! IOS XR\nhw-module profile qos hqos-enable\n", ("ncs-5500", IosXr, true)),
            ("class-map c\n match traffic-class 1\n end-class-map\n", ("ncs-5500", IosXr, false)),
            ("!! IOS XR\nhostname a\n", ("asr-9000", IosXr, false)),
            ("interface Bundle-Ether1\n mtu 9000\n", ("asr-9000", IosXr, false)),
            ("policy-map p\n class c\n  police rate 10 mbps\n  !\n", ("asr-9000", IosXr, false)),
            (
                "RP/0/RSP0/CPU0:a#show inventory\nPID: ASR-9006-AC, VID: V01, SN: X\n",
                ("asr-9000", IosXr, true),
            ),
            ("interface HundredGigE0/0/0/1\nPID: 8201-SYS, VID: V01, SN: X\n", ("ncs-5500", Cisco8000, true)),
        ] {
            assert_eq!(profile(text), expected, "{text}");
        }
    }

    #[test]
    fn the_deciding_line_is_named() {
        let recognition = Recognition::from_configuration(&parse("hostname a\nversion 15.1\n"));
        let evidence = &recognition.because[0];
        assert_eq!((evidence.line, evidence.text.as_str()), (2, "version 15.1"));
    }

    #[test]
    fn a_virtual_ios_is_recognized_by_its_product_or_its_commands() {
        use Dialect::Ios;
        for (text, expected) in [
            ("version 15.9\nlicense udi pid IOSv sn X\n", ("iosv", Ios, true)),
            ("version 15.9\nboot system flash0:vios-adventerprisek9-m\n", ("iosv", Ios, true)),
            ("version 15.6\nmmi polling-interval 60\ninterface GigabitEthernet0/0\n", ("iosv", Ios, false)),
            ("version 15.2\nmmi polling-interval 60\ninterface GigabitEthernet0/0\n", ("hqf", Ios, true)),
            ("version 15.6\nmmi polling-interval 60\ninterface Ethernet0/0\n", ("hqf", Ios, true)),
        ] {
            assert_eq!(profile(text), expected, "{text}");
        }
    }
}
