// Numbers as fade-query writes them on a terminal: daemon/base/human.cpp and cli/table/table.cpp, in JavaScript.
const TIMES = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].map((name, i) => [2 ** (10 * i), name]);

// toFixed rounds ties up; C++ rounds them to even.
function fixed(x, digits) {
  const tied = Number.isInteger(x * 2 ** (digits + 1)) && Math.abs(x * 2 * 10 ** digits) % 2 === 1;
  if (!tied) return x.toFixed(digits);
  const below = Math.floor(Math.abs(x) * 10 ** digits);
  return ((Math.sign(x) * (below % 2 === 0 ? below : below + 1)) / 10 ** digits).toFixed(digits);
}

function threeDigits(x) {
  const a = Math.abs(x);
  return fixed(x, a < 9.995 ? 2 : a < 99.95 ? 1 : 0);
}

function scaled(x, scales, stepUp) {
  let i = 0;
  while (i + 1 < scales.length && Math.abs(x) >= scales[i + 1][0] * stepUp) ++i;
  return i === 0 ? `${fixed(x, 0)} ${scales[0][1]}` : `${threeDigits(x / scales[i][0])} ${scales[i][1]}`;
}

function minutes(ns) {
  const s = Math.floor((Math.abs(ns) + 5e8) / 1e9), sign = ns < 0 ? "-" : "", two = (n) => String(n).padStart(2, "0");
  if (s < 7200) return `${sign}${Math.floor(s / 60)} min ${two(s % 60)} s`;
  return `${sign}${Math.floor((s + 30) / 3600)} h ${two(Math.floor((s + 30) / 60) % 60)} min`;
}

const duration = (ns) => (Math.abs(ns) < 119.95e9 ? scaled(ns, TIMES, 0.9995) : minutes(ns));
const bytes = (n) => scaled(n, SIZES, 0.9765625);
const count = (n) => String(Math.trunc(n)).replace(/\B(?=(\d{3})+$)/g, ",");
const moment = (ns) => `${(ns * 1e-9).toFixed(6)} s`;
const plural = (n, one, several) => `${count(n)} ${n === 1 ? one : several || one + "s"}`;

const NUMBERS = {
  count,
  duration,
  bytes,
  time: moment,
  net: (n) => (n === 0 ? "~0" : duration(n)),
  percent: (x) => fixed(x, 1),
  yesno: (n) => (n ? "yes" : "no"),
  number: count,
  ratio: (x) => (Math.abs(x) < 999.5 ? threeDigits(x) : count(Math.round(x)))
};

// A cell as text. Texts are printable already: the program that wrote this page escaped control characters.
function cellText(kind, value) {
  if (value === null || value === undefined) return "";
  return typeof value === "number" && NUMBERS[kind] ? NUMBERS[kind](value) : String(value);
}
const isNumeric = (kind) => !["text", "trend", "yesno", "json", "command", "hex"].includes(kind);
