//! Reading of configurations: states of lines, both notations, families.

use perhop_device::{DeviceModel, FrontEnd, ParseOptions};
use perhop_junos::Junos;
use perhop_lint::LineState;

pub(crate) const MX: &str = include_str!("../configurations/mx.conf");

pub(crate) fn parse(text: &str, platform: Option<&str>) -> DeviceModel {
    let options = ParseOptions { platform: platform.map(str::to_owned), ..ParseOptions::default() };
    Junos.parse(text, &options).unwrap()
}

pub(crate) fn show(model: &DeviceModel) -> String {
    let lines = model.lines.iter().filter(|line| line.state.differs());
    let lines = lines.map(|line| format!("{} {:?} {} {:?}\n", line.number, line.state, line.text, line.note));
    let found = model.diagnostics.iter().map(|one| format!("{}\n", one.diagnostic));
    lines.chain(found).collect()
}

#[test]
fn every_statement_of_an_edge_router_is_modeled() {
    let model = parse(MX, None);
    assert_eq!(model.platform.name, "junos-mx");
    assert_eq!(show(&model), "");
    assert!(model.lines.iter().filter(|line| line.state == LineState::Modelled).count() > 90);
    let names: Vec<&str> = model.router.ports.iter().map(|port| port.name.as_str()).collect();
    assert_eq!(names, ["ge-0/0/0.0", "ge-0/0/1.0"]);
    assert_eq!(model.router.hostname.as_deref(), Some("edge-mx"));
}
