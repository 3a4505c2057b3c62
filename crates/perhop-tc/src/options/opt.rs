//! [`Opt`]: an option in a table.

/// The argument of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// No argument.
    None,
    /// A rate: `10mbit`.
    Rate,
    /// A rate, or a fraction of the device's speed: `10mbit`, `50%`.
    RateOrPercent,
    /// A size: `15k`.
    Size,
    /// A size, and the cell size of its table, which current kernels ignore: `5k/8`.
    SizeAndCell,
    /// A time: `5ms`.
    Time,
    /// A time or a number of packets: `1ms`, `5pkt`.
    TimeOrPackets,
    /// A whole number in C notation.
    Integer,
    /// A whole number in base 10.
    Decimal,
    /// A whole number in hexadecimal: a class of HTB.
    Hexadecimal,
    /// A whole number that may be negative.
    Signed,
    /// A number with a fraction.
    Fraction,
    /// A percentage: `10%`.
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

/// The effect of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Part of the model.
    Modelled,
    /// Without effect on packets, with the reason.
    Irrelevant(&'static str),
    /// Affects packets but is not modeled, with the reason.
    NotModelled(&'static str),
    /// Modeled only with one of these values; the reason applies to other values.
    NotModelledBut(&'static [&'static str], &'static str),
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opt {
    /// The name, and alternative names.
    pub(crate) names: &'static [&'static str],
    /// Whether it may be abbreviated.
    pub(crate) short: bool,
    /// The argument.
    pub(crate) argument: Argument,
    /// The default, and its source.
    pub(crate) default: &'static str,
    /// The effect.
    pub(crate) effect: Effect,
    /// Whether only the output of `tc … show` has the option.
    pub(crate) shown: bool,
    /// Whether tc refuses to read the option twice. Otherwise the last value applies.
    pub(crate) once: bool,
}

impl Opt {
    /// Creates a modeled option.
    pub(crate) const fn new(
        names: &'static [&'static str],
        argument: Argument,
        default: &'static str,
    ) -> Opt {
        Opt { names, short: false, argument, default, effect: Effect::Modelled, shown: false, once: false }
    }
    /// Allows abbreviations.
    pub(crate) const fn short(self) -> Opt {
        Opt { short: true, ..self }
    }
    /// Sets the effect.
    pub(crate) const fn effect(self, effect: Effect) -> Opt {
        Opt { effect, ..self }
    }
    /// Refuses repetitions.
    pub(crate) const fn once(self) -> Opt {
        Opt { once: true, ..self }
    }
    /// Declares that only `show` has the option.
    pub(crate) const fn shown(self) -> Opt {
        Opt { shown: true, ..self }
    }
}
