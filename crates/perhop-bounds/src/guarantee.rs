//! [`Guarantee`]: the guarantee of a scheduler to one of its classes.

use crate::arrival::Arrival;
use crate::deviation;
use crate::lengths::{Lengths, Measure};
use crate::rule::Rule;
use crate::service::Service;
use crate::turns::Turns;

/// The guarantee to one class of a port.
#[derive(Clone, Debug)]
pub struct Guarantee {
    /// The unit of the amounts.
    pub measure: Measure,
    /// The service for a packet and for all packets that wait when it arrives. It is valid regardless of
    /// earlier service.
    pub strict: Result<Service, String>,
    /// The service for all packets that arrived since the class was last empty.
    pub plain: Result<Plain, String>,
    /// The rules from which the guarantee is derived, in order from the wire to the class.
    pub rules: Vec<Rule>,
}

/// The service that a class has received since it was last empty.
#[derive(Clone, Debug)]
pub enum Plain {
    /// A service curve.
    Line(Service),
    /// The service in turns, a staircase.
    Turns(Turns),
    /// A service curve of this class and other classes together, and the arrivals of these other classes. All
    /// of them are served first come, first served.
    Together(Service, Arrival),
}

impl Plain {
    /// Returns the largest delay from arrival to departure, seconds. `grain` is the amount of one packet if
    /// all packets have the same amount.
    pub fn delay(&self, arrival: &Arrival, grain: Option<f64>) -> Option<f64> {
        match self {
            Plain::Line(service) => line_delay(arrival, service, grain),
            Plain::Turns(turns) => turns.delay(arrival).or_else(|| line_delay(arrival, &turns.line(), grain)),
            Plain::Together(service, others) => deviation::delay(&arrival.plus(others), service),
        }
    }
    /// Returns the service curve of this class alone.
    pub fn line(&self) -> Service {
        match self {
            Plain::Line(service) => service.clone(),
            Plain::Turns(turns) => turns.line(),
            Plain::Together(service, others) => service.less(others),
        }
    }
}

/// Returns the largest delay with `service`, seconds.
pub fn line_delay(arrival: &Arrival, service: &Service, grain: Option<f64>) -> Option<f64> {
    match grain {
        Some(grain) => deviation::delay_of_grains(arrival, service, grain),
        None => deviation::delay(arrival, service),
    }
}

impl Guarantee {
    /// Creates an absent guarantee, with its `reason`.
    pub fn none(measure: Measure, reason: &str) -> Guarantee {
        let reason = reason.to_owned();
        Guarantee { measure, strict: Err(reason.clone()), plain: Err(reason), rules: Vec::new() }
    }
    /// Converts the guarantee to `measure`, for packets of these `lengths`.
    pub fn counted(self, measure: Measure, lengths: &Lengths) -> Guarantee {
        let factor = self.measure.per(measure, lengths);
        let line = |service: Service| service.shared(factor, 0.0);
        let plain = self.plain.map(|plain| Plain::Line(line(plain.line())));
        Guarantee { measure, strict: self.strict.map(line), plain, rules: self.rules }
    }
}
