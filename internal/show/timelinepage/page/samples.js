// Values over time: dots, or lines.

// drawSamples draws a lane's values. If there are more than pixels, each column of pixels shows
// the range of its values.
function drawSamples({ stage, view, palette }, lane, y, height) {
  const brush = stage.lanes, at = (v) => y + lane.y(v, height);
  const first = Math.max(0, firstAbove(lane.sampleTimes, view.from) - 1);
  const end = Math.min(lane.samples.length, firstAbove(lane.sampleTimes, view.to) + 1);
  brush.rect(0, Math.round(at(0)), view.width, 1, palette.soft, .45);
  if (lane.line) return drawJoined(brush, view, palette, lane.samples.slice(first, end), at);
  const good = new Path2D(), bad = new Path2D();
  const points = columns(view, lane.samples.slice(first, end), false), r = points.length < view.width / 5 ? 2.4 : 1.1;
  for (const { x, least, most } of points) {
    brush.count++;
    good.roundRect(x - r, at(most) - r, 2 * r, at(least) - at(most) + 2 * r, r);
  }
  for (const { x, most } of columns(view, lane.samples.slice(first, end), true)) {
    brush.count++;
    signs.cross(bad, x, at(most), 3);
  }
  brush.fill(good, palette.series);
  brush.stroke(bad, palette.bad, 1.6);
}

// columns joins the values of each column of pixels, good or failed ones.
function columns(view, samples, bad) {
  const all = [];
  for (const s of samples) {
    if (!!s.b !== bad) continue;
    const x = Math.round(view.x(s.t)), last = all.at(-1);
    if (last && last.x === x) { last.least = Math.min(last.least, s.v); last.most = Math.max(last.most, s.v); last.end = s.v; }
    else all.push({ x, least: s.v, most: s.v, begin: s.v, end: s.v });
  }
  return all;
}

// drawJoined draws a line through the values, including the nearest invisible ones on both
// sides: a line may pass through without a visible value.
function drawJoined(brush, view, palette, samples, at) {
  const path = new Path2D();
  columns(view, samples.map((s) => ({ ...s, b: false })), false).forEach((column, i) => {
    brush.count++;
    if (i) path.lineTo(column.x, at(column.begin)); else path.moveTo(column.x, at(column.begin));
    if (column.least === column.most) return;
    path.lineTo(column.x, at(column.least));
    path.lineTo(column.x, at(column.most));
    path.lineTo(column.x, at(column.end));
  });
  if (samples.length) path.lineTo(Math.max(view.width, view.x(samples.at(-1).t)), at(samples.at(-1).v));
  brush.stroke(path, palette.series, 1.6);
}
