// A curve: shares with their intervals over one number, and the formula if there is one.

import type { Share } from "./api";
import { draw, make } from "./dom";

// ChartPoint is a point of a curve. share is missing before its first run.
export interface ChartPoint {
  x: number;
  predicted?: number;
  share?: Share;
  open?: { seed: bigint; run: () => void }; // the first run that violates the property
}

const size = { width: 760, height: 320, left: 72, right: 16, top: 14, bottom: 46 };

// Chart draws a curve, again and again as runs come in.
export class Chart {
  readonly element = make("figure", { class: "chart" });
  private table = make("tbody");
  private caption = make("figcaption");
  private svg = draw("svg", { viewBox: `0 0 ${size.width} ${size.height}`, role: "img" });

  // at is the value that the reader has asked for; it is marked.
  constructor(private axis: string, private what: string, private at?: number) {
    const head = make("thead", {}, make("tr", {}, ...[axis, "violated", "95 % interval", "formula", "a run that violates it"].map((text) => make("th", { scope: "col" }, text))));
    this.element.append(this.svg, this.caption, make("details", {}, make("summary", {}, "as a table"), make("div", { class: "scroll" }, make("table", {}, head, this.table))));
  }

  show(points: ChartPoint[], runs: number) {
    const xs = points.map((p) => p.x), low = Math.min(...xs), high = Math.max(...xs), most = topOf(points);
    const x = (v: number) => size.left + (v - low) / (high - low || 1) * (size.width - size.left - size.right);
    const y = (v: number) => size.height - size.bottom - v / most * (size.height - size.top - size.bottom);
    this.svg.replaceChildren(
      draw("title", {}, `${this.what}, by ${this.axis}`), ...grid(low, high, most, x, y),
      draw("text", { x: size.width - size.right, y: size.height - 6, "text-anchor": "end" }, this.axis),
      ...(this.at === undefined ? [] : [draw("line", { class: "asked", x1: x(this.at), x2: x(this.at), y1: size.top, y2: size.height - size.bottom }), draw("text", { class: "asked", x: x(this.at), y: size.height - size.bottom + 34, "text-anchor": "middle" }, number(this.at))]),
      ...formula(points, x, y), ...points.flatMap((p) => mark(p, x, y)));
    const predicted = points.some((p) => p.predicted !== undefined);
    this.caption.textContent = `${this.what}: the share of ${runs} runs at each point, with its 95 % interval${predicted ? "; the line is the formula" : ""}.`;
    this.table.replaceChildren(...points.map((p) => make("tr", {}, ...[number(p.x), p.share ? `${p.share.count} of ${p.share.of}` : "–", p.share ? interval(p.share) : "–", p.predicted === undefined ? "–" : percent(p.predicted)].map((text) => make("td", { class: "number" }, text)), make("td", {}, ...(p.open ? [make("button", { type: "button", click: p.open.run }, `open seed ${p.open.seed}`)] : [])))));
  }
}

const number = (v: number) => String(Number(v.toPrecision(6)));
const percent = (v: number) => `${Number((100 * v).toPrecision(3))} %`;
const interval = (s: Share) => `${percent(s.low)} to ${percent(s.high)}`;

// topOf is the upper end of the axis.
function topOf(points: ChartPoint[]): number {
  const most = Math.max(0, ...points.map((p) => Math.max(p.predicted ?? 0, p.share && p.share.of > 0 ? p.share.value * 1.15 : 0)));
  return [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1].find((top) => top >= most) ?? 1;
}

function grid(low: number, high: number, most: number, x: (v: number) => number, y: (v: number) => number): SVGElement[] {
  const list: SVGElement[] = [];
  for (let n = 0; n <= 4; n++) {
    const share = most * n / 4, at = low + (high - low) * n / 4;
    list.push(draw("line", { x1: size.left, x2: size.width - size.right, y1: y(share), y2: y(share), class: "grid" }), draw("text", { x: size.left - 8, y: y(share) + 4, "text-anchor": "end" }, percent(share)));
    list.push(draw("text", { x: x(at), y: size.height - size.bottom + 18, "text-anchor": "middle" }, number(at)));
  }
  return list;
}

function formula(points: ChartPoint[], x: (v: number) => number, y: (v: number) => number): SVGElement[] {
  const known = points.filter((p) => p.predicted !== undefined);
  return known.length ? [draw("polyline", { class: "formula", points: known.map((p) => `${x(p.x)},${y(p.predicted!)}`).join(" ") })] : [];
}

function mark({ x: at, share, open }: ChartPoint, x: (v: number) => number, y: (v: number) => number): SVGElement[] {
  if (!share || share.of === 0) return [];
  const top = Math.max(size.top, y(share.high));
  const dot = draw("circle", { class: "measured" + (open ? " opens" : ""), cx: x(at), cy: Math.max(size.top, y(share.value)), r: 4.5 }, draw("title", {}, `${number(at)}: ${share.count} of ${share.of}, ${share.text}`));
  if (open) dot.addEventListener("click", open.run); // the table has buttons for the same
  return [
    draw("line", { class: "interval", x1: x(at), x2: x(at), y1: y(share.low), y2: top }),
    dot,
  ];
}

// answer says in words what a curve shows: at the value that was asked for, and from which value on nothing
// is violated any more.
export function answer(points: ChartPoint[], axis: string, code: string, at?: number): string {
  const measured = points.filter((p) => p.share && p.share.of > 0), asked = measured.find((p) => at !== undefined && Math.abs(p.x - at) < 1e-9);
  const texts: string[] = [];
  if (asked?.share) {
    texts.push(`At ${number(asked.x)}, ${asked.share.count ? `${asked.share.count} of ${asked.share.of} runs violate ${code}: ${asked.share.text}` : `none of ${asked.share.of} runs violates ${code}`}${asked.predicted === undefined ? "" : `; the formula says ${percent(asked.predicted)}`}.`);
  }
  const safe = measured.slice(measured.findLastIndex((p) => p.share!.count > 0) + 1)[0];
  if (safe && safe !== measured[0]) texts.push(`From ${number(safe.x)} on no run violates ${code}.`);
  else if (safe) texts.push(`No run violates ${code}.`);
  if (!safe && measured.length && measured[0]!.share!.count === 0) texts.push(`Up to ${number(measured[measured.findIndex((p) => p.share!.count > 0) - 1]!.x)} no run violates ${code}.`);
  return texts.length ? `${texts.join(" ")} (${axis})` : "";
}
