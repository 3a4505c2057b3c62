//! Schedulers, which select the next queue (RFC 3290 §7.1), and shapers, which determine when its packet may
//! leave (RFC 2475 §2.3.3.3).
//!
//! A [`Scheduler`] selects one of its *children*, numbered from 0. A child is a queue or another scheduler. A
//! [`SchedulerTree`] contains all schedulers and shapers of one port. Its callers refer only to queues. All
//! schedulers count IP bytes, or the bytes of the policy's [accounting](crate::accounting).

mod any_scheduler;
mod cbq;
mod config;
mod contract;
mod drr;
mod fifo;
mod guarantee_excess;
mod hfsc;
mod htb;
mod priority;
mod ranks;
mod rounds;
mod scfq;
mod shaper;
mod share;
mod three_parameter;
mod tournament;
mod tree;
mod virtual_time;
mod wf2q_plus;
mod wfq;
mod wrr;

pub use any_scheduler::AnyScheduler;
pub use cbq::Cbq;
pub use config::{
    CapConfig, Cells, Guideline, LinkLayerConfig, LinkSharingConfig, SchedulerConfig, ServiceCurveConfig,
    ShareConfig, Turns,
};
pub use contract::{Scheduler, Selection};
pub use drr::Drr;
pub use fifo::Fifo;
pub use guarantee_excess::GuaranteeExcess;
pub use hfsc::Hfsc;
pub use htb::{HTB_QUANTA, HTB_RATE_TO_QUANTUM, Htb, htb_quantum, htb_rate_quantum};
pub use priority::Priority;
pub use scfq::Scfq;
pub use shaper::{ShapeConfig, ShapeForm, Shaper};
pub use three_parameter::ThreeParameter;
pub use tree::SchedulerTree;
pub use wf2q_plus::Wf2qPlus;
pub use wfq::Wfq;
pub use wrr::Wrr;
