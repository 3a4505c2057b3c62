//! [`Model`]: the product, its chip, and the memory of its ports.

use perhop_device::EvidenceKind;
use perhop_qos::ConfigError;

use crate::ast::Configuration;
use crate::platform::product;
use crate::silicon_one::{has_silicon_one, product_in};

/// The command that shows the memory of a port.
pub(crate) const COMMAND: &str = "show platform hardware fed switch active qos queue config interface";
/// Size of a unit of memory, bytes.
pub(crate) const UNIT_BYTES: u64 = 256;

/// A generation of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chip {
    /// UADP 1: 3650 and 3850.
    Uadp1,
    /// UADP 2 mini: 9200.
    Uadp2Mini,
    /// UADP 2: 9300.
    Uadp2,
    /// UADP 2 XL: 9400, and 9500 models without `Y` and `C`.
    Uadp2Xl,
    /// UADP 3: 9500 high performance, 9600.
    Uadp3,
}

impl Chip {
    /// Returns the name of the chip for users.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Chip::Uadp1 => "UADP 1",
            Chip::Uadp2Mini => "UADP 2 mini",
            Chip::Uadp2 => "UADP 2",
            Chip::Uadp2Xl => "UADP 2 XL",
            Chip::Uadp3 => "UADP 3",
        }
    }

    /// Returns the number of units that the soft parts of all ports share, with the evidence. The number
    /// excludes the hard parts of the ports, so it differs between products. Sources: `GlobalSoftLimit` in
    /// the outputs of `qos queue stats` of a 9400 and of a switch with ports of 100 Gb/s in genieparser. A
    /// 9300 has as much memory per core as a 9400. The 6 MB of the other products are recalled, and the same
    /// fraction is assumed to be shared.
    pub(super) fn shared_units(self) -> (u64, EvidenceKind) {
        match self {
            Chip::Uadp2Xl => (41_608, EvidenceKind::Printed),
            Chip::Uadp3 => (36_400, EvidenceKind::Printed),
            Chip::Uadp2 => (41_608, EvidenceKind::Inferred),
            Chip::Uadp1 | Chip::Uadp2Mini => (41_608 * 6 / 16, EvidenceKind::Recalled),
        }
    }
}

/// The product of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    /// The name of the product in lower case, such as `c9300-24t`.
    pub(crate) name: String,
    /// The generation of the chip.
    pub(crate) chip: Chip,
    family: &'static str,
}

/// Products by the prefix of their name. A longer prefix comes first.
const PRODUCTS: &[(&str, Chip, &str)] = &[
    ("ws-c3650", Chip::Uadp1, "3650"),
    ("ws-c3850", Chip::Uadp1, "3850"),
    ("c3650", Chip::Uadp1, "3650"),
    ("c3850", Chip::Uadp1, "3850"),
    ("c9200", Chip::Uadp2Mini, "9200"),
    // Products with a different amount of memory than the 9300.
    ("c9300x", Chip::Uadp2, "9300X"),
    ("c9300", Chip::Uadp2, "9300"),
    ("c94", Chip::Uadp2Xl, "9400"),
    ("c9500-24q", Chip::Uadp2Xl, "9500"),
    ("c9500-12q", Chip::Uadp2Xl, "9500"),
    ("c9500-40x", Chip::Uadp2Xl, "9500"),
    ("c9500-16x", Chip::Uadp2Xl, "9500"),
    ("c9500", Chip::Uadp3, "9500"),
    ("c9600", Chip::Uadp3, "9600"),
];
/// The chassis of a Catalyst 9600, in which the supervisor determines the chip.
const CHASSIS: &str = "c9606r";
/// The families that the error suggests if the configuration does not name the product.
const OFFERED: &str = "c3650, c3850, c9200, c9300, c9400, c9500 or c9600";

/// Memory of a port, units, by family, prefix of the interface name, and rate in Mb/s. Sources: Cisco TAC
/// document 200594 (3650, 3850); outputs of a 9300 and a 9400 in genieparser, where the reserved memory of
/// queue 0 is 40 % of the memory of the port. The value of a 9300 at 1 Gb/s is recalled.
const PORT_UNITS: &[(&[&str], &str, u64, u64)] = &[
    (&["3650", "3850"], "", 1_000, 300),
    (&["3650", "3850"], "", 100, 300),
    (&["3850"], "TenGigabitEthernet", 10_000, 1800),
    (&["9300"], "GigabitEthernet", 1_000, 300),
    (&["9300"], "TwoGigabitEthernet", 2_500, 500),
    (&["9400"], "TenGigabitEthernet", 10_000, 560),
];

/// Whether `name` begins with the prefix of a product of these families.
pub(crate) fn is_product(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PRODUCTS.iter().any(|(start, _, _)| name.starts_with(start)) && !has_silicon_one(&name)
}

impl Model {
    /// Returns the product that the user names or, by default, the configuration.
    ///
    /// # Errors
    /// The product is not known, or perhop does not model its memory.
    pub(crate) fn find(configuration: &Configuration, chosen: Option<&str>) -> Result<Model, ConfigError> {
        let wrong = |message: String, help: &str| Err(ConfigError::new("model", message).help(help));
        let Some(name) = chosen.map(str::to_ascii_lowercase).or_else(|| written(configuration)) else {
            return wrong(
                "the configuration does not name the product of the switch".to_owned(),
                &format!("name the product: --model {OFFERED}, or the whole name, such as c9300-24t"),
            );
        };
        // A line that names a product with Silicon One takes precedence over the product that the user names.
        let other = Some(name.clone()).filter(|name| has_silicon_one(name));
        if let Some(other) = other.or_else(|| product_in(configuration)) {
            return wrong(
                format!("{other} has virtual output queues in external memory (Silicon One)"),
                "the memory of UADP chips differs: --model catalyst-silicon-one has the rules of this one",
            );
        }
        if name.starts_with(CHASSIS) {
            return wrong(
                format!("{name} does not name the supervisor of the switch, which determines the chip"),
                "name the product: --model c9600 (Supervisor 1, UADP 3) or c9600x (Supervisor 2, Silicon \
                 One)",
            );
        }
        match PRODUCTS.iter().find(|(start, _, _)| name.starts_with(start)) {
            Some((_, chip, family)) => Ok(Model { name, chip: *chip, family }),
            None => {
                wrong(format!("the memory of {name} is not known to perhop"), &format!("products: {OFFERED}"))
            }
        }
    }

    /// Returns the published memory of the product's ports as text.
    pub(crate) fn published_units(&self) -> String {
        let own = PORT_UNITS.iter().filter(|(families, ..)| families.contains(&self.family));
        let listed: Vec<String> =
            own.map(|(_, start, rate, units)| format!("{units} units at {rate} Mb/s ({start})")).collect();
        if listed.is_empty() { "not published".to_owned() } else { listed.join(", ") }
    }

    /// Returns the memory of a port of `megabits` per second, in units.
    ///
    /// # Errors
    /// The memory is not published.
    pub(crate) fn port_units(&self, interface: &str, megabits: u64) -> Result<u64, String> {
        PORT_UNITS
            .iter()
            .find(|(families, start, rate, _)| {
                families.contains(&self.family) && interface.starts_with(start) && *rate == megabits
            })
            .map(|(_, _, _, units)| *units)
            .ok_or_else(|| {
                format!(
                    "the memory of a port of {} at {megabits} Mb/s is not published: read Hardmax of queue 0 \
                     without a policy in `{COMMAND} {interface}`, and pass 2.5 times this number: --platform \
                     {},port-units=N",
                    self.name, self.name
                )
            })
    }
}

/// Returns the product that a line of the configuration names.
fn written(configuration: &Configuration) -> Option<String> {
    configuration
        .lines
        .iter()
        .find_map(|line| product(&line.text.trim().to_ascii_lowercase()).map(str::to_owned))
}
