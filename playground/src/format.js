// Numbers as text, with a suitable unit.

const RATES = [[1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"], [1, "b/s"]];
const TIMES = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

const digits = (value, count = 3) => Number(value.toPrecision(count)).toString();
const scaled = (value, units) => {
  const [size, unit] = units.find(([size]) => Math.abs(value) >= size * 0.9995) ?? units.at(-1);
  return `${digits(value / size)} ${unit}`;
};

export const rate = (value) => (Number.isFinite(value) ? scaled(value, RATES) : "–");
export const time = (value) => (Number.isFinite(value) ? (value === 0 ? "0 s" : scaled(value, TIMES)) : "–");
export const percent = (value) => `${value !== 0 && value < 0.01 ? "< 0.01" : digits(value)} %`;
export const count = (value) => Math.round(value).toLocaleString("en-US");
// The time on the clock next to the scrubber, with as many decimals as a step at this speed needs.
export const clock = (value, decimals) => `${value.toFixed(decimals)} s`;
export { digits };
