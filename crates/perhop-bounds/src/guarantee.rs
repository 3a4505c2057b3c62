//! [`Guarantee`]: what a scheduler guarantees to one of its classes.

use crate::arrival::Arrival;
use crate::deviation;
use crate::lengths::{Lengths, Measure};
use crate::rule::Rule;
use crate::service::Service;
use crate::turns::Turns;

/// What is guaranteed to one class of a port.
#[derive(Clone, Debug)]
pub struct Guarantee {
    /// What its amounts are counted in.
    pub measure: Measure,
    /// What holds for a packet and all that it finds waiting, whatever has been sent before.
    pub strict: Result<Service, String>,
    /// What holds for a packet and all that came since the class last had nothing to send.
    pub plain: Result<Plain, String>,
    /// How it was derived, from the wire inwards.
    pub rules: Vec<Rule>,
}

/// What holds since a class last had nothing to send.
#[derive(Clone, Debug)]
pub enum Plain {
    /// A service curve.
    Line(Service),
    /// A stair of turns.
    Turns(Turns),
    /// A service curve for this class and what comes to others of its queue's kind: first come, first served.
    Together(Service, Arrival),
}

impl Plain {
    /// By how much sending is behind coming at most, in seconds; `grain` is what each packet counts where all
    /// count the same.
    pub fn delay(&self, arrival: &Arrival, grain: Option<f64>) -> Option<f64> {
        match self {
            Plain::Line(service) => line_delay(arrival, service, grain),
            Plain::Turns(turns) => turns.delay(arrival).or_else(|| line_delay(arrival, &turns.line(), grain)),
            Plain::Together(service, others) => deviation::delay(&arrival.plus(others), service),
        }
    }
    /// The service curve of the class alone.
    pub fn line(&self) -> Service {
        match self {
            Plain::Line(service) => service.clone(),
            Plain::Turns(turns) => turns.line(),
            Plain::Together(service, others) => service.less(others),
        }
    }
}

/// The delay where `service` is a curve.
pub fn line_delay(arrival: &Arrival, service: &Service, grain: Option<f64>) -> Option<f64> {
    match grain {
        Some(grain) => deviation::delay_of_grains(arrival, service, grain),
        None => deviation::delay(arrival, service),
    }
}

impl Guarantee {
    /// Nothing is guaranteed, because of `reason`.
    pub fn none(measure: Measure, reason: &str) -> Guarantee {
        let reason = reason.to_owned();
        Guarantee { measure, strict: Err(reason.clone()), plain: Err(reason), rules: Vec::new() }
    }
    /// This guarantee, counted in `measure` for packets of these `lengths`.
    pub fn counted(self, measure: Measure, lengths: &Lengths) -> Guarantee {
        let factor = self.measure.per(measure, lengths);
        let line = |service: Service| service.shared(factor, 0.0);
        let plain = self.plain.map(|plain| Plain::Line(line(plain.line())));
        Guarantee { measure, strict: self.strict.map(line), plain, rules: self.rules }
    }
}
