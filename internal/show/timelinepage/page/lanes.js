// The rows from top to bottom: a head for each group, and the lanes of the open groups.

// The height of a lane depends on their number.
const heights = [[24, 26], [60, 20], [Infinity, 13]];
const headHeight = 24, sampledHeight = 46, faultRows = 5;

// Lane prepares a lane of the model for drawing.
class Lane {
  constructor(lane, number) {
    this.number = number; // in the model; -1: of faults
    this.group = lane.group;
    this.name = lane.name;
    this.marks = [...(lane.marks || [])].sort((a, b) => a.t - b.t);
    this.markTimes = Float64Array.from(this.marks, (m) => m.t);
    this.samples = [...(lane.samples || [])].sort((a, b) => a.t - b.t);
    this.sampleTimes = Float64Array.from(this.samples, (s) => s.t);
    this.line = !!lane.line;
    this.unit = lane.unit || "";
    this.sets = this.sorted(lane.spans || []);
    this.shades = new SpanSet([]);
    [this.least, this.most] = this.bounds();
  }

  // sorted groups the spans by state.
  sorted(spans) {
    const byState = {};
    for (const s of spans) (byState[s.s] ||= []).push(s);
    return states.filter((state) => byState[state]).map((state) => [state, new SpanSet(byState[state])]);
  }

  bounds() {
    let least = 0, most = 0;
    for (const { v } of this.samples) [least, most] = [Math.min(least, v), Math.max(most, v)];
    return least === most ? [least, least + 1] : [least, most];
  }

  // y returns the height of a value, from the top of the lane.
  y(v, height) { return height - 6 - (v - this.least) / (this.most - this.least) * (height - 12); }

  // spans returns all spans, in the order in which they begin.
  get spans() {
    return this.inOrder ||= this.sets.flatMap(([, set]) => set.spans).sort((a, b) => a.f - b.f || a.t - b.t);
  }
}

// faultLanes returns lanes with the faults as bars, as few as possible.
function faultLanes(shades) {
  const rows = [];
  shades.forEach((shade, number) => {
    let row = rows.find((r) => r.end <= shade.f);
    if (!row && rows.length < faultRows) rows.push(row = { spans: [] });
    row ||= rows.reduce((a, b) => (a.end <= b.end ? a : b));
    row.end = Math.max(row.end || 0, shade.t);
    row.spans.push({ f: shade.f, t: shade.t, o: shade.o, s: "fault", g: -1, x: shade.x, fault: number });
  });
  return rows.map((row, i) => new Lane({ group: "faults", name: i ? "" : "faults", spans: row.spans }, -1));
}

class Lanes {
  constructor(model) {
    const shades = model.shades || [];
    const own = (model.lanes || []).map((lane, i) => new Lane(lane, i));
    this.all = [...faultLanes(shades), ...own];
    this.own = own;
    this.everywhere = new SpanSet(shades.filter((s) => !s.l || !s.l.length));
    own.forEach((lane, i) => { lane.shades = new SpanSet(shades.filter((s) => s.l && s.l.includes(i))); });
    this.groups = [...new Set(this.all.map((lane) => lane.group))];
    this.closed = new Set();
    this.layOut();
  }

  layOut() {
    const shown = this.all.filter((lane) => !this.closed.has(lane.group));
    const height = heights.find(([most]) => shown.length <= most)[1];
    this.rows = [];
    this.height = 0;
    const add = (row) => { this.rows.push({ ...row, y: this.height }); this.height += row.height; };
    for (const group of this.groups) {
      if (group !== "faults") add({ group, height: headHeight });
      for (const lane of shown) {
        if (lane.group === group) add({ group, lane, height: lane.samples.length ? sampledHeight : height });
      }
    }
    this.tops = Float64Array.from(this.rows, (row) => row.y);
  }

  toggle(group) {
    if (!this.closed.delete(group)) this.closed.add(group);
    this.layOut();
  }

  rowAt(y) { return y < this.height ? this.rows[firstAbove(this.tops, y) - 1] : undefined; }
  rowOf(lane) { return this.rows.find((row) => row.lane === lane); }
  within(top, bottom) { return this.rows.filter((row) => row.y < bottom && row.y + row.height > top); }
}
