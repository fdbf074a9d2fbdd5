// Times are nanoseconds since the run began. Texts are in seconds.

const lengths = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// duration prints a duration in a fitting unit: "105.7 ms".
function duration(ns) {
  const [size, unit] = lengths.find(([size]) => Math.abs(ns) >= size) || lengths[0];
  return Number((ns / size).toPrecision(4)) + " " + unit;
}

// instant prints an instant: "1.204318 s". A step sets the precision; without one it prints all
// digits.
function instant(ns, step) {
  const text = (ns / 1e9).toFixed(step ? Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9))) : 9);
  return (step ? text : text.replace(/\.?0+$/, "")) + " s";
}

// value prints a sample: "3 tries", "1.204 ms".
function value(v, unit) {
  return unit === "ns" ? duration(v) : Number(v.toPrecision(6)) + (unit ? " " + unit : "");
}

// values prints a range: "-18.9 to 60.8 ms".
function values(least, most, unit) {
  const [size, name] = unit === "ns" ? lengths.find(([size]) => Math.max(-least, most) >= size) || lengths[3] : [1, unit];
  return `${Number((least / size).toPrecision(3))} to ${Number((most / size).toPrecision(3))} ${name}`;
}

// niceStep returns the least of 1, 2, 5, 10, 20… that is not below a size.
function niceStep(size) {
  const power = 10 ** Math.floor(Math.log10(Math.max(size, 1)));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= size * (1 - 1e-9));
}

// ticks returns the labelled instants of an axis, at most so many.
function ticks(from, to, most) {
  const step = niceStep((to - from) / Math.max(1, most));
  const at = [];
  for (let n = Math.ceil(from / step); n * step <= to; n++) at.push(n * step);
  return { step, at };
}
