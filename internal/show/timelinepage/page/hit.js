// The item at a place of the canvas.

const reach = 5; // pixels beside an item that still hit it

// itemAt returns the mark, the sample or the topmost span at a place.
function itemAt(tl, x, y) {
  const row = tl.lanes.rowAt(y + tl.stage.top);
  if (!row || !row.lane || x < 0 || x > tl.view.width) return null;
  const { lane } = row, within = (y + tl.stage.top - row.y) / row.height;
  const mark = nearest(tl.view, lane.marks, lane.markTimes, x);
  if (mark && (mark.b || Math.abs(within - .5) < .3)) return { lane, mark };
  const span = spanAt(tl.view, lane, x, within);
  if (span) return { lane, span };
  const sample = nearest(tl.view, lane.samples, lane.sampleTimes, x);
  return sample ? { lane, sample } : null;
}

// nearest returns the nearest mark or sample within reach.
function nearest(view, things, times, x) {
  const end = view.t(x + reach);
  let best = null, least = reach;
  for (let i = firstAbove(times, view.t(x - reach)); i < times.length && times[i] <= end; i++) {
    const away = Math.abs(view.x(times[i]) - x);
    if (away < least || (away === least && things[i].b)) [best, least] = [things[i], away];
  }
  return best;
}

// spanAt prefers spans below the pointer to those beside it, then the topmost, then the shorter.
function spanAt(view, lane, x, within) {
  const t = view.t(x), slack = reach / view.width * view.size;
  let best = null, least = Infinity;
  lane.sets.forEach(([state, set], depth) => {
    const { top, bottom } = lookIn(lane, state), off = within >= top - .04 && within <= bottom + .04 ? 0 : 1000;
    set.near(t - slack, t + slack, (span) => {
      const beside = Math.max(span.f - t, t - span.t, 0) / slack * 100;
      const score = off + beside - depth + (span.t - span.f) / (view.end + 1) * .5;
      if (score < least) [best, least] = [span, score];
    });
  });
  return best;
}
