//! [`Model`]: the product, its chip, and the memory of the chip.

use perhop_device::EvidenceKind;
use perhop_qos::ConfigError;

use crate::ast::Configuration;

/// The assumed rate of a port without `speed`, kilobits per second. The name of a port of NX-OS does not
/// imply the rate.
pub(crate) const ASSUMED_KILOBITS: u64 = 10_000_000;
/// The largest number of `queue-limit dynamic`.
pub(crate) const LARGEST_FACTOR: u64 = 10;

/// The factors of `queue-limit dynamic 0` to `10`, in units of 1/1024.
type Factors = [u32; 11];

/// Factors of the Broadcom chips: 1/128 to 8, each twice the previous one. Recalled from Cisco's guides.
const OF_BROADCOM: Factors = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
/// Factors of the Cloud Scale chips: 1/8, 1/4, 1/2, 3/4, 1 1/8, 1 3/4, 3, 5, 8, 14, 18. Recalled from Cisco's
/// guides. Their percentages apply to a queue while all other queues are empty: 11, 20, 33, 43, 53, 64, 75,
/// 83, 89, 93, 95.
const OF_CLOUD_SCALE: Factors = [128, 256, 512, 768, 1152, 1792, 3072, 5120, 8192, 14_336, 18_432];

/// The size of a memory bank of a Cloud Scale chip, units.
const BANK: u64 = 4096;
/// The number of banks of a slice of a 9300-FX2, which has two slices.
const BANKS_OF_SLICE: u64 = 12;
/// The number of banks that a slice does not share in the mode `hardware qos dynamic-buffer-sharing`.
const OWN_BANKS: u64 = 6;
/// The number of banks that the two slices share in the mode `hardware qos dynamic-buffer-sharing`.
const SHARED_BANKS: u64 = 12;
/// The memory of a Nexus 3064, units.
const UNITS_OF_3064: u64 = 46_080;
/// The bytes of the memory of a Nexus 3064 that ports do not share.
const STATIC_BYTES_OF_3064: u64 = 1_700_000;

/// A family of chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chip {
    /// Trident+: Nexus 3064.
    TridentPlus,
    /// Trident 2 with a second chip for the uplinks: Nexus 9300 of the first generation.
    Trident2,
    /// Cloud Scale, as in the 9300-FX2.
    CloudScaleFx2,
    /// Other Cloud Scale chips: 9300-EX, -FX, -FX3 and -GX.
    CloudScale,
    /// Nexus 9000v: no chip.
    Virtual,
}

impl Chip {
    /// Returns the name of the chip for users.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Chip::TridentPlus => "Trident+",
            Chip::Trident2 => "Trident 2",
            Chip::CloudScaleFx2 => "Cloud Scale FX2",
            Chip::CloudScale => "Cloud Scale",
            Chip::Virtual => "none (virtual switch)",
        }
    }

    /// Returns the size of a unit of memory, bytes, with the evidence.
    pub(crate) fn unit_bytes(self) -> (u64, EvidenceKind) {
        match self {
            // people.ucsc.edu/~warner/Bufs; Cisco's guide of QoS 7.x for the first generation of 9300.
            Chip::TridentPlus | Chip::Trident2 | Chip::Virtual => (208, EvidenceKind::Documented),
            Chip::CloudScaleFx2 => (416, EvidenceKind::Documented),
            Chip::CloudScale => (416, EvidenceKind::Recalled),
        }
    }

    /// Returns the factors of `queue-limit dynamic`.
    pub(crate) fn factors(self) -> Factors {
        match self {
            Chip::TridentPlus | Chip::Trident2 | Chip::Virtual => OF_BROADCOM,
            Chip::CloudScaleFx2 | Chip::CloudScale => OF_CLOUD_SCALE,
        }
    }

    /// Returns the default number of `queue-limit dynamic`, with the evidence; `None` if it is not known. One
    /// congested port of a Nexus 3064 uses 5.3 MB of 7.9 MB, which is a factor of 2.
    pub(crate) fn default_factor(self) -> Option<(u8, EvidenceKind)> {
        match self {
            Chip::TridentPlus => Some((8, EvidenceKind::Inferred)),
            Chip::CloudScaleFx2 | Chip::CloudScale => Some((9, EvidenceKind::Recalled)),
            Chip::Trident2 | Chip::Virtual => None,
        }
    }

    /// Returns the number of queues of a port.
    pub(crate) fn queues(self) -> u8 {
        match self {
            Chip::CloudScaleFx2 | Chip::CloudScale => 8,
            Chip::TridentPlus | Chip::Trident2 | Chip::Virtual => 4,
        }
    }

    /// Returns the number of units that the queues of a port share with the queues of other ports, with the
    /// evidence; `None` if the number is not published.
    pub(crate) fn shared_units(self, has_dynamic_sharing: bool) -> Option<(u64, EvidenceKind)> {
        match self {
            Chip::TridentPlus => {
                let bytes = UNITS_OF_3064 * self.unit_bytes().0 - STATIC_BYTES_OF_3064;
                Some((bytes / self.unit_bytes().0, EvidenceKind::Documented))
            }
            Chip::CloudScaleFx2 => {
                let banks = if has_dynamic_sharing { OWN_BANKS + SHARED_BANKS } else { BANKS_OF_SLICE };
                Some((banks * BANK, EvidenceKind::Inferred))
            }
            Chip::Trident2 | Chip::CloudScale | Chip::Virtual => None,
        }
    }
}

/// The product of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    /// The name of the product in lower case, such as `n9k-c93180yc-fx`.
    pub(crate) name: String,
    /// The family of the chip.
    pub(crate) chip: Chip,
}

/// The products that the error suggests if the configuration does not name the product.
const OFFERED: &str = "the whole name, such as n9k-c93180yc-fx, n9k-c93240yc-fx2 or n3k-c3064pq";
/// Products of the first generation of Nexus 9300. Their names have no suffix.
const FIRST_GENERATION: [&str; 9] =
    ["c9332pq", "c9372px", "c9372tx", "c9396px", "c9396tx", "c93120tx", "c93128tx", "c9336pq", "c93128px"];

/// Whether `name` has the form of a product name of Nexus 3000 or 9000.
pub(crate) fn is_product(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("n9k-") || name.starts_with("n3k-")
}

/// Returns the product that a line of an inventory names (`PID: N9K-C93180YC-FX`) or a line of `show version`
/// (`cisco Nexus9000 C93180YC-FX chassis`).
pub(crate) fn product_in(line: &str) -> Option<String> {
    let lower = line.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_ascii_whitespace().collect();
    let found = match words.as_slice() {
        ["pid:", product, ..] => (*product).to_owned(),
        ["cisco", "nexus9000", product, rest @ ..] if rest.iter().any(|word| word.starts_with("chassis")) => {
            format!("n9k-{product}")
        }
        ["cisco", "nexus", product, rest @ ..] if rest.iter().any(|word| word.starts_with("chassis")) => {
            let family = product.chars().next().filter(char::is_ascii_digit)?;
            format!("n{family}k-c{product}")
        }
        _ => return None,
    };
    ["n9k-", "n3k-", "n5k-", "n6k-", "n7k-", "n77-"]
        .iter()
        .any(|begin| found.starts_with(begin))
        .then_some(found)
}

impl Model {
    /// Returns the product that the user names or, by default, the configuration.
    ///
    /// # Errors
    /// The product is not known, or perhop does not model its queues.
    pub(crate) fn find(configuration: &Configuration, chosen: Option<&str>) -> Result<Model, ConfigError> {
        let wrong = |message: String, help: &str| Err(ConfigError::new("model", message).help(help));
        let written = || configuration.lines.iter().find_map(|line| product_in(line.text.trim()));
        let Some(name) = chosen.map(str::to_ascii_lowercase).or_else(written) else {
            return wrong(
                "the configuration does not name the product of the switch".to_owned(),
                &format!("name the product: --model with {OFFERED}"),
            );
        };
        let name = name.trim_end_matches(',').to_owned();
        let Some((family, product)) = name.split_once('-') else {
            return wrong(format!("{name} is not a Nexus switch that perhop knows"), OFFERED);
        };
        let product = product.strip_prefix('c').map_or_else(|| product.to_owned(), |rest| format!("c{rest}"));
        let chip = match family {
            "n3k" if product.starts_with("c3064") => Chip::TridentPlus,
            "n9k" if product == "9000v" || product.starts_with("c9300v") || product.starts_with("c9500v") => {
                Chip::Virtual
            }
            "n9k" if FIRST_GENERATION.iter().any(|begin| product.starts_with(begin)) => Chip::Trident2,
            "n9k" if product.ends_with("-fx2") => Chip::CloudScaleFx2,
            "n9k" if is_cloud_scale(&product) => Chip::CloudScale,
            "n9k" | "n3k" => {
                return wrong(format!("the chip of {name} is not known to perhop"), OFFERED);
            }
            _ => {
                return wrong(
                    format!("{name} queues by other rules than a Nexus 9300 or 3064"),
                    "perhop models the queues of Nexus 9300 and 3064; for other switches, it only checks the \
                     lines",
                );
            }
        };
        Ok(Model { name, chip })
    }
}

/// Whether a product of Nexus 9000 has a Cloud Scale chip: `-EX`, `-FX`, `-FX3`, `-GX`, `-HX` at the end of
/// its name. Modules of a 9500 with `-R` have virtual output queues.
fn is_cloud_scale(product: &str) -> bool {
    let suffixes =
        ["-ex", "-fx", "-fxp", "-fx3", "-fx3s", "-fx3h", "-fx3p", "-gx", "-gx2a", "-gx2b", "-h1", "-h2r"];
    suffixes.iter().any(|suffix| product.ends_with(suffix)) || product == "c9364c" || product == "c9332c"
}
