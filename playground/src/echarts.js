// The parts of ECharts that the charts of this page use. They are half of the script in reports.
import { LineChart } from "echarts/charts";
import { GridComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { LegacyGridContainLabel } from "echarts/features";
import { CanvasRenderer } from "echarts/renderers";

use([LineChart, GridComponent, MarkLineComponent, TooltipComponent, CanvasRenderer, LegacyGridContainLabel]);
globalThis.echarts = { init };
