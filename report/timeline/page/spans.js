// What has a begin and an end is kept so that what is in sight is found by halving.

// firstAbove is the index of the first number of a rising row that is above a limit.
function firstAbove(row, limit) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle] > limit) high = middle; else low = middle + 1;
  }
  return low;
}

// SpanSet is spans in the order of their begin. They may lie over each other: reach is
// the latest end so far, which rises.
class SpanSet {
  constructor(spans) {
    this.spans = [...spans].sort((a, b) => a.f - b.f);
    this.from = Float64Array.from(this.spans, (s) => s.f);
    this.to = Float64Array.from(this.spans, (s) => s.t);
    this.reach = Float64Array.from(this.to);
    for (let i = 1; i < this.reach.length; i++) this.reach[i] = Math.max(this.reach[i], this.reach[i - 1]);
  }

  // near calls visit with each span that touches a time.
  near(from, to, visit) {
    for (let i = firstAbove(this.reach, from - 1); i < this.from.length && this.from[i] <= to; i++) {
      if (this.to[i] >= from) visit(this.spans[i]);
    }
  }

  // seen calls visit(x, width, span) for what is in sight. Spans too narrow to be told
  // apart come as one, without a span: there are never more visits than pixels. What is
  // shorter than least pixels is made that wide.
  seen(view, least, admits, visit) {
    const narrow = Math.max(3, least);
    let begin = NaN, end = NaN, alone = null;
    const flush = () => { if (begin <= end) visit(begin, end - begin, alone); begin = end = NaN; };
    for (let i = firstAbove(this.reach, view.from - 1); i < this.from.length && this.from[i] <= view.to; i++) {
      if (this.to[i] < view.from || !admits(this.spans[i])) continue;
      const x = Math.max(-8, view.x(this.from[i])), right = Math.min(view.width + 8, view.x(this.to[i]));
      if (right - x >= narrow) { visit(x, right - x, this.spans[i]); continue; }
      const wide = Math.max(right, x + least);
      if (x <= end + 1) { end = Math.max(end, wide); alone = null; continue; }
      flush();
      [begin, end, alone] = [x, wide, this.spans[i]];
    }
    flush();
  }
}
