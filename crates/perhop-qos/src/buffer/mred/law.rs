//! [`Law`]: the variant of random early detection in one implementation.
//!
//! A law sets all options, and also details for which there is no option. `law_rules.rs` contains the rules
//! of each law.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::Averages;
use crate::ConfigError;

/// A complete implementation of random early detection. A law determines when averages change and are idle,
/// which packets are spared, the spacing of drops, and when the limit is tested. If a law permits several
/// values of an option ("Open"), the default is that of the implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Law {
    /// Figure 2 of Floyd & Jacobson 1993: the idle clock runs until a packet is accepted.
    #[serde(rename = "floyd-1993")]
    Floyd1993,
    /// `queue/red.cc` of ns-2 before 13 May 1999: like `ns-2.35`, but a forced drop does not end the count,
    /// and gentle RED does not exist. Open: `drop-spacing` (`wait`, or `counted-first` for `wait_ false`) and
    /// `probability` (`per-packet`, or `per-byte` for `bytes_ true`).
    #[serde(rename = "ns-2-1999")]
    Ns21999,
    /// `queue/red.cc` of ns-2.35 with the defaults of its `ns-default.tcl`. Open: `above-max` (`gentle`, or
    /// `drop` for `gentle_ false`), `drop-spacing` (`wait`, or `counted-first` for `wait_ false`) and
    /// `probability` (`per-byte`, or `per-packet` for `bytes_ false`).
    #[serde(rename = "ns-2.35")]
    Ns235,
    /// `diffserv/dsredq.cc` of ns-2.35: RIO-C (`averages: coupled`), RIO-D (`decoupled`) and WRED (`single`),
    /// including two defects. The computed drop probability can be negative or infinite. Under WRED the idle
    /// clock starts when the last packet of any precedence leaves. Thresholds are in packets.
    #[serde(rename = "ns-2.35-dsred")]
    Ns235DsRed,
    /// `queue/rio.cc` of ns-2.35: two precedences, in and out, including a defect: the arrival of an out
    /// packet changes no average. Open: the options of `ns-2.35`, with other defaults: `above-max` is `drop`
    /// and `probability` is `per-packet`.
    #[serde(rename = "ns-2.35-rio")]
    Ns235Rio,
    /// `sch_red.c` of Linux since 3.3, as the queue of a device. Thresholds are in bytes. `mean-packet-size`
    /// is the `avpkt` of tc, and `idle-rate` its `bandwidth` (10 Mb/s by default, as in tc).
    #[serde(rename = "linux-red")]
    LinuxRed,
    /// `linux-red` below a shaping class (htb, tbf). The class polls the queue only while the queue contains
    /// packets, so the queue never becomes idle.
    #[serde(rename = "linux-red-in-class")]
    LinuxRedInClass,
    /// `sch_gred.c` of Linux since 3.3, with several virtual queues. The virtual queues have `grio` and equal
    /// `prio` (`averages: single`), `grio` and different `prio` (`coupled-sampled`), or no `grio`
    /// (`decoupled`). Thresholds are in bytes. `mean-packet-size` is the `avpkt` of tc, and `idle-rate` its
    /// `bandwidth` (10 Mb/s by default, as in tc).
    #[serde(rename = "linux-gred")]
    LinuxGred,
    /// The published rules of `random-detect` of Cisco IOS: `exponent: 9`, and every packet is dropped from
    /// `max` on. The drop spacing is not published. Open: `drop-spacing` (`geometric` by default).
    #[serde(rename = "cisco")]
    Cisco,
}

impl Law {
    /// The name of the law in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Law::Floyd1993 => "floyd-1993",
            Law::Ns21999 => "ns-2-1999",
            Law::Ns235 => "ns-2.35",
            Law::Ns235DsRed => "ns-2.35-dsred",
            Law::Ns235Rio => "ns-2.35-rio",
            Law::LinuxRed => "linux-red",
            Law::LinuxRedInClass => "linux-red-in-class",
            Law::LinuxGred => "linux-gred",
            Law::Cisco => "cisco",
        }
    }
    /// The averages that the implementation supports.
    pub(super) fn averages(self) -> &'static [Averages] {
        use Averages::{Coupled, CoupledSampled, Decoupled, Single};
        match self {
            Law::Floyd1993 | Law::Ns21999 | Law::Ns235 => &[Single, Coupled, CoupledSampled, Decoupled],
            Law::Ns235DsRed => &[Single, Coupled, Decoupled],
            Law::Ns235Rio => &[Coupled],
            Law::LinuxGred => &[Single, CoupledSampled, Decoupled],
            Law::LinuxRed | Law::LinuxRedInClass | Law::Cisco => &[Single],
        }
    }
    pub(super) fn is_linux(self) -> bool {
        matches!(self, Law::LinuxRed | Law::LinuxRedInClass | Law::LinuxGred)
    }
    /// The error for an option whose value contradicts this law.
    pub(super) fn contradicted(self, field: &str) -> ConfigError {
        ConfigError::new(field, format!("the law {} has a different `{field}`", self.name()))
            .help(format!("leave `{field}` out, or leave `law` out and write every option"))
    }
    /// Returns the `written` value of an option if this law permits it, or the first permitted value if no
    /// value is written.
    pub(super) fn choose<T: Copy + PartialEq>(
        self,
        field: &str,
        written: Option<T>,
        allowed: &[T],
    ) -> Result<T, ConfigError> {
        match written {
            None => Ok(allowed[0]),
            Some(value) if allowed.contains(&value) => Ok(value),
            Some(_) => Err(self.contradicted(field)),
        }
    }
}
