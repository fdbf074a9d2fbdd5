// A curve: shares with their intervals over one number, and the formula if there is one.

import type { Share } from "./api";
import { draw, make } from "./dom";

// ChartPoint is a point of a curve. share is missing before its first run.
export interface ChartPoint {
  x: number;
  predicted?: number;
  share?: Share;
}

const size = { width: 760, height: 320, left: 56, right: 16, top: 14, bottom: 46 };

// Chart draws a curve, again and again as runs come in.
export class Chart {
  readonly element = make("figure", { class: "chart" });
  private table = make("tbody");
  private caption = make("figcaption");
  private svg = draw("svg", { viewBox: `0 0 ${size.width} ${size.height}`, role: "img" });

  constructor(private axis: string, private what: string) {
    const head = make("thead", {}, make("tr", {}, ...[axis, "violated", "95 % interval", "formula"].map((text) => make("th", { scope: "col" }, text))));
    this.element.append(this.svg, this.caption, make("details", {}, make("summary", {}, "as a table"), make("div", { class: "scroll" }, make("table", {}, head, this.table))));
  }

  show(points: ChartPoint[], runs: number) {
    const xs = points.map((p) => p.x), low = Math.min(...xs), high = Math.max(...xs), most = topOf(points);
    const x = (v: number) => size.left + (v - low) / (high - low || 1) * (size.width - size.left - size.right);
    const y = (v: number) => size.height - size.bottom - v / most * (size.height - size.top - size.bottom);
    this.svg.replaceChildren(
      draw("title", {}, `${this.what}, by ${this.axis}`), ...grid(low, high, most, x, y),
      draw("text", { x: size.width - size.right, y: size.height - 6, "text-anchor": "end" }, this.axis),
      ...formula(points, x, y), ...points.flatMap((p) => mark(p, x, y)));
    const predicted = points.some((p) => p.predicted !== undefined);
    this.caption.textContent = `${this.what}: the share of ${runs} runs at each point, with its 95 % interval${predicted ? "; the line is the formula" : ""}.`;
    this.table.replaceChildren(...points.map((p) => make("tr", {}, ...[number(p.x), p.share ? `${p.share.count} of ${p.share.of}` : "–", p.share ? interval(p.share) : "–", p.predicted === undefined ? "–" : percent(p.predicted)].map((text) => make("td", { class: "number" }, text)))));
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

function mark({ x: at, share }: ChartPoint, x: (v: number) => number, y: (v: number) => number): SVGElement[] {
  if (!share || share.of === 0) return [];
  const top = Math.max(size.top, y(share.high));
  return [
    draw("line", { class: "interval", x1: x(at), x2: x(at), y1: y(share.low), y2: top }),
    draw("circle", { class: "measured", cx: x(at), cy: Math.max(size.top, y(share.value)), r: 3.5 }, draw("title", {}, `${number(at)}: ${share.count} of ${share.of}, ${share.text}`)),
  ];
}
