// Spans are sorted so that a binary search finds the visible ones.

// firstAbove returns the index of the first number above a limit in a sorted array.
function firstAbove(row, limit) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle] > limit) high = middle; else low = middle + 1;
  }
  return low;
}

// SpanSet is spans in the order in which they begin. They may overlap: reach is the latest end
// so far, which is sorted.
class SpanSet {
  constructor(spans) {
    this.spans = [...spans].sort((a, b) => a.f - b.f);
    this.from = Float64Array.from(this.spans, (s) => s.f);
    this.to = Float64Array.from(this.spans, (s) => s.t);
    this.reach = Float64Array.from(this.to);
    for (let i = 1; i < this.reach.length; i++) this.reach[i] = Math.max(this.reach[i], this.reach[i - 1]);
  }

  // near calls visit with each span that touches a time range.
  near(from, to, visit) {
    for (let i = firstAbove(this.reach, from - 1); i < this.from.length && this.from[i] <= to; i++) {
      if (this.to[i] >= from) visit(this.spans[i]);
    }
  }

  // seen calls visit(x, width, span, part) for the visible spans, at most as often as there are
  // pixels. Spans too narrow to be told apart are joined: span is missing, and part says in
  // thirds how much of the time they fill. A span is at least least pixels wide.
  seen(view, least, admits, visit) {
    const crowds = new Crowds(visit), narrow = Math.max(3, least);
    for (let i = firstAbove(this.reach, view.from - 1); i < this.from.length && this.from[i] <= view.to; i++) {
      if (this.to[i] < view.from || !admits(this.spans[i])) continue;
      const x = Math.max(-8, view.x(this.from[i])), right = Math.min(view.width + 8, view.x(this.to[i]));
      if (right - x >= narrow) visit(x, right - x, this.spans[i], 1); else crowds.add(x, right, least, this.spans[i]);
    }
    crowds.end();
  }
}

// Crowds joins narrow spans that touch on the screen: first within a few pixels, then with
// neighbours of the same density.
class Crowds {
  constructor(visit) { this.visit = visit; }

  add(x, right, least, span) {
    const few = this.few, end = Math.max(right, x + least);
    if (few && x <= few.end + 1 && x - few.x < 4) {
      few.filled += right - x;
      [few.end, few.span] = [Math.max(few.end, end), null];
      return;
    }
    this.join();
    this.few = { x, end, span, filled: right - x };
  }

  join() {
    const { few, crowd } = this;
    this.few = null;
    if (!few) return;
    const part = few.span ? 1 : Math.min(1, Math.ceil(few.filled / (few.end - few.x) * 3 - .1) / 3 || 1 / 3);
    if (crowd && (few.span || part === crowd.part) && few.x <= crowd.end + 1.5) { [crowd.end, crowd.span] = [few.end, null]; return; }
    this.flush();
    this.crowd = { ...few, part };
  }

  flush() {
    const { crowd } = this;
    this.crowd = null;
    if (crowd) this.visit(crowd.x, crowd.end - crowd.x, crowd.span, crowd.part);
  }

  end() {
    this.join();
    this.flush();
  }
}
