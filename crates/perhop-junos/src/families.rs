//! Families of devices: the queueing rules of each as data, with certainty and source.

mod chips;
mod rows;
mod values;

pub(crate) use chips::{Chip, Pools};
pub(crate) use values::{ExcessOrder, Levels, MissingRate, Rules, Weights};

use values::{
    ACX, EX, IQE, J, M, M120, MX, PTX, QFX5100, QFX5110, QFX5120, QFX5130, QFX5200, QFX5210, QFX5220,
    QFX5230, QFX5240, SRX, T,
};

/// A family of devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    #[default]
    Mx,
    Srx,
    Ptx,
    Acx,
    Ex,
    Qfx,
    MSeries,
    M120,
    TSeries,
    Iqe,
    JSeries,
    Qfx5100,
    Qfx5110,
    Qfx5120,
    Qfx5130,
    Qfx5200,
    Qfx5210,
    Qfx5220,
    Qfx5230,
    Qfx5240,
}

impl Family {
    pub(crate) const ALL: [Family; 20] = [
        Family::Mx,
        Family::Srx,
        Family::Ptx,
        Family::Acx,
        Family::Ex,
        Family::Qfx,
        Family::MSeries,
        Family::M120,
        Family::TSeries,
        Family::Iqe,
        Family::JSeries,
        Family::Qfx5100,
        Family::Qfx5110,
        Family::Qfx5120,
        Family::Qfx5130,
        Family::Qfx5200,
        Family::Qfx5210,
        Family::Qfx5220,
        Family::Qfx5230,
        Family::Qfx5240,
    ];

    pub(crate) const NAMES: [&str; 20] = [
        "junos-mx",
        "junos-srx",
        "junos-ptx",
        "junos-acx",
        "junos-ex",
        "junos-qfx",
        "junos-m",
        "junos-m120",
        "junos-t",
        "junos-iqe",
        "junos-j",
        "junos-qfx5100",
        "junos-qfx5110",
        "junos-qfx5120",
        "junos-qfx5130",
        "junos-qfx5200",
        "junos-qfx5210",
        "junos-qfx5220",
        "junos-qfx5230",
        "junos-qfx5240",
    ];

    pub(crate) fn name(self) -> &'static str {
        Family::NAMES[self as usize]
    }

    pub(crate) fn named(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }

    /// Returns the name of the devices for messages.
    pub(crate) fn devices(self) -> &'static str {
        match self {
            Family::Mx => "Junos on the MX series",
            Family::Srx => "Junos on the SRX series",
            Family::Ptx => "Junos on the PTX series",
            Family::Acx => "Junos on the ACX7000 series",
            Family::Ex => "Junos on EX2200 to EX4500",
            Family::Qfx => "Junos on the QFX series",
            Family::MSeries => "Junos on M5 to M40e",
            Family::M120 => "Junos on the M120",
            Family::TSeries => "Junos on the T series and M320",
            Family::Iqe => "Junos on IQE PICs of the M and T series",
            Family::JSeries => "Junos on the J series",
            Family::Qfx5100 => "Junos on QFX5100 and EX4600",
            Family::Qfx5110 => "Junos on QFX5110",
            Family::Qfx5120 => "Junos on QFX5120",
            Family::Qfx5130 => "Junos on QFX5130-32CD",
            Family::Qfx5200 => "Junos on QFX5200",
            Family::Qfx5210 => "Junos on QFX5210",
            Family::Qfx5220 => "Junos on QFX5220",
            Family::Qfx5230 => "Junos on QFX5230",
            Family::Qfx5240 => "Junos on QFX5240",
        }
    }

    /// Whether perhop models the queueing of the family.
    pub(crate) fn is_modeled(self) -> bool {
        self != Family::Qfx
    }

    /// Returns the parts of a family that perhop does not model.
    pub(crate) fn lacks(self) -> &'static str {
        match self {
            Family::Qfx => "QFX without the name of its chip, which divides the packet memory",
            _ => "",
        }
    }

    /// Returns the families that the user can choose instead, if perhop does not model this family.
    pub(crate) fn chips(self) -> Vec<Family> {
        let is_meant = |family: &Family| self == Family::Qfx && family.rules().chip.is_some();
        Family::ALL.into_iter().filter(|family| *family != Family::Qfx).filter(is_meant).collect()
    }

    pub(crate) fn rules(self) -> &'static Rules {
        match self {
            Family::Mx => &MX,
            Family::Srx => &SRX,
            Family::Ptx => &PTX,
            Family::Acx => &ACX,
            Family::Ex => &EX,
            Family::MSeries => &M,
            Family::M120 => &M120,
            Family::TSeries => &T,
            Family::Iqe => &IQE,
            Family::JSeries => &J,
            Family::Qfx | Family::Qfx5100 => &QFX5100,
            Family::Qfx5110 => &QFX5110,
            Family::Qfx5120 => &QFX5120,
            Family::Qfx5130 => &QFX5130,
            Family::Qfx5200 => &QFX5200,
            Family::Qfx5210 => &QFX5210,
            Family::Qfx5220 => &QFX5220,
            Family::Qfx5230 => &QFX5230,
            Family::Qfx5240 => &QFX5240,
        }
    }

    /// Whether the device is a switch: its default classifiers have two classes.
    pub(crate) fn is_switch(self) -> bool {
        self == Family::Ex || self.is_qfx()
    }

    /// Whether units with MPLS use the built-in EXP tables to classify and mark.
    pub(crate) fn has_default_exp(self) -> bool {
        matches!(self, Family::Mx | Family::MSeries | Family::M120 | Family::TSeries | Family::Iqe)
    }

    /// Returns the minimum rate, bits per second, and the minimum burst, bytes, of a policer, if documented
    /// (the topic policer-summary-traffic-limits).
    pub(crate) fn least_policer(self) -> Option<(u64, u64)> {
        match self {
            Family::Mx | Family::MSeries | Family::M120 | Family::TSeries | Family::Iqe => Some((8000, 1500)),
            Family::Acx => Some((22_000, 125)),
            _ => None,
        }
    }

    /// Whether the device is a QFX.
    pub(crate) fn is_qfx(self) -> bool {
        self == Family::Qfx || self.rules().chip.is_some()
    }
}
