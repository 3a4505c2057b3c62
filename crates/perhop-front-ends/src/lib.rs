//! The list of front ends, and a loader of scenarios whose routers have configurations in the languages of
//! the front ends.
//!
//! A new vendor adds one element to [`FRONT_ENDS`].

use perhop_device::FrontEnds;
use perhop_ios::Ios;
use perhop_junos::Junos;
use perhop_network::Network;
use perhop_scenario::Loader;
use perhop_tc::Tc;

/// All languages that perhop reads. A text that no language recognizes is read as IOS. Excerpts of
/// configurations often have too few lines to recognize a vendor, and most are from Cisco.
pub static FRONT_ENDS: FrontEnds<'static> = FrontEnds::new(&Ios, &[&Tc, &Junos]);

static NETWORK: Network<'static> = Network(FRONT_ENDS);

/// Returns a loader of scenarios with configurations in every language that perhop reads.
pub fn loader() -> Loader<'static> {
    Loader::with(&NETWORK)
}
