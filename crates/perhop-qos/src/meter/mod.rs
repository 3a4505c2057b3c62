//! Meters. They measure whether packets conform to a profile, and assign a color to each packet (RFC 3290
//! §5).
//!
//! All meters start with full buckets. All meters except [`PacketRateMeter`] count bytes: IP bytes including
//! the IP header and without the link layer, or the bytes of the policy's [accounting](crate::accounting).

mod any_meter;
pub(crate) mod bucket;
mod contract;
mod early_tcm;
mod hierarchical;
mod packet_rate;
mod per_flow;
mod rate_based;
mod single_rate_tcm;
mod token_bucket;
mod token_bucket_with_debt;
mod tsw;
mod two_buckets;
mod two_rate_tcm;
mod two_rate_tcm_rfc4115;

pub use any_meter::{AnyMeter, MeterConfig, MeterScope};
pub use contract::{ColorMode, Meter};
pub use early_tcm::{EarlyTcm, EarlyTcmConfig};
pub use hierarchical::{Hierarchical, HierarchicalConfig};
pub use packet_rate::{PacketRateConfig, PacketRateMeter};
pub use per_flow::FlowMeters;
pub use rate_based::{MarkerBucketConfig, RateBasedMarker, RateBasedMarkerConfig};
pub use single_rate_tcm::{SingleRateTcm, SingleRateTcmConfig};
pub use token_bucket::{TokenBucket, TokenBucketConfig};
pub use token_bucket_with_debt::{TokenBucketWithDebt, TokenBucketWithDebtConfig};
pub use tsw::{Tsw2cm, Tsw2cmConfig, Tsw3cm, Tsw3cmConfig};
pub use two_rate_tcm::{TwoRateTcm, TwoRateTcmConfig};
pub use two_rate_tcm_rfc4115::{TwoRateTcmRfc4115, TwoRateTcmRfc4115Config};
