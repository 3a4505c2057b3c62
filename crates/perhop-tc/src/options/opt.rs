//! [`Opt`]: an option as a table has it.

/// What stands behind the name of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Nothing.
    None,
    /// A rate: `10mbit`.
    Rate,
    /// A rate, or a part of the device's speed: `10mbit`, `50%`.
    RateOrPercent,
    /// A size: `15k`.
    Size,
    /// A size, and how large the cells of its table are, which new kernels ignore: `5k/8`.
    SizeAndCell,
    /// A time: `5ms`.
    Time,
    /// A time, or packets: `1ms`, `5pkt`.
    TimeOrPackets,
    /// A whole number, in base 10 or as C has it.
    Integer,
    /// A whole number in base 10.
    Decimal,
    /// A whole number in hexadecimal: a class of HTB.
    Hexadecimal,
    /// A whole number that may be negative.
    Signed,
    /// A number with a fraction.
    Fraction,
    /// A part of a hundred: `10%`.
    Percent,
    /// A value and a mask: `0x1/0x3`.
    Masked,
    /// Any word.
    Word,
    /// Whole numbers up to the next option: a map of priorities.
    Integers,
    /// Words up to the next option.
    Rest,
    /// A service curve: `m1 4mbit d 10ms m2 1mbit`, `umax 1500b dmax 10ms rate 1mbit`.
    Curve,
}

/// What perhop does with an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It is part of the model.
    Modelled,
    /// It changes nothing of what packets experience; why.
    Irrelevant(&'static str),
    /// It would change what packets experience; why it is not modelled.
    NotModelled(&'static str),
    /// As `NotModelled`, except with one of these values.
    NotModelledBut(&'static [&'static str], &'static str),
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opt {
    /// Its name, and other names for it.
    pub(crate) names: &'static [&'static str],
    /// Whether it may be abbreviated.
    pub(crate) short: bool,
    /// What follows it.
    pub(crate) argument: Argument,
    /// What it has without being written, and where that is decided.
    pub(crate) default: &'static str,
    /// What becomes of it.
    pub(crate) effect: Effect,
    /// Whether only `show` says it.
    pub(crate) shown: bool,
    /// Whether tc refuses it a second time; of others the last counts.
    pub(crate) once: bool,
}

impl Opt {
    /// An option that is modelled.
    pub(crate) const fn new(
        names: &'static [&'static str],
        argument: Argument,
        default: &'static str,
    ) -> Opt {
        Opt { names, short: false, argument, default, effect: Effect::Modelled, shown: false, once: false }
    }
    /// This option, which tc takes abbreviated as well.
    pub(crate) const fn short(self) -> Opt {
        Opt { short: true, ..self }
    }
    /// This option with another effect.
    pub(crate) const fn effect(self, effect: Effect) -> Opt {
        Opt { effect, ..self }
    }
    /// This option as one that tc takes once in a command.
    pub(crate) const fn once(self) -> Opt {
        Opt { once: true, ..self }
    }
    /// This option as one that only `show` prints.
    pub(crate) const fn shown(self) -> Opt {
        Opt { shown: true, ..self }
    }
}
