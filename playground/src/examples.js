// The examples that the page offers.
import edge from "../../examples/edge.conf";
import router from "../../examples/router.cfg";
import uplink from "../../examples/uplink.tc";
import starter from "../../python/perhop/templates/voice.perhop.yaml";
import tcp from "../../examples/tcp.perhop.yaml";
import wfq from "../../examples/weighted-fair.perhop.yaml";
import wred from "../../examples/wred.perhop.yaml";
import rio from "../../examples/rio.perhop.yaml";
import shaping from "../../examples/shaping.perhop.yaml";
import policing from "../../examples/marking-and-policing.perhop.yaml";
import ring from "../../examples/transmit-ring.perhop.yaml";
import nested from "../../examples/nested-classes.perhop.yaml";
import fair from "../../examples/fair-queueing.perhop.yaml";

export const EXAMPLES = [
  ["Voice and bulk data", starter],
  ["A router's configuration", router],
  ["A Junos configuration", edge],
  ["A script of tc", uplink],
  ["TCP and UDP", tcp],
  ["Weighted fair queueing", wfq],
  ["Weighted RED", wred],
  ["RIO", rio],
  ["Marking and policing", policing],
  ["Shaping", shaping],
  ["Transmit ring", ring],
  ["Nested classes", nested],
  ["Fair queueing of flows", fair],
];
