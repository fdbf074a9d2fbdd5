// The lanes.

const bandEdge = 6; // a fault narrower than this has no edges of its own

// drawLanes draws the visible rows at the visible time.
function drawLanes(tl) {
  const { stage, view, lanes, palette } = tl, brush = stage.lanes;
  const rows = lanes.within(stage.top, stage.top + stage.height);
  brush.clear(view.width, stage.height, palette.scale);
  drawGround(tl, rows);
  drawShades(tl, lanes.everywhere, 0, stage.height);
  drawFinds(tl, false);
  for (const row of rows) {
    const y = row.y - stage.top;
    if (row.lane) drawLane(tl, row, y); else drawHead(tl, row, y);
  }
  drawFinds(tl, true);
}

// drawGround draws the background: lines of the time, and the heads.
function drawGround({ stage, view, palette }, rows) {
  const brush = stage.lanes, lines = new Path2D();
  for (const row of rows) {
    const y = row.y - stage.top;
    if (!row.lane) brush.rect(0, y, view.width, row.height, palette.panel);
    brush.count++;
    lines.rect(0, y + row.height - 1, view.width, 1);
  }
  for (const t of ticks(view.from, view.to, view.width / 110).at) {
    brush.count++;
    lines.rect(Math.round(view.x(t)), 0, 1, stage.height);
  }
  brush.fill(lines, palette.line, .5);
}

// drawShades draws the faults behind the lanes.
function drawShades({ stage, view, palette }, shades, y, height) {
  const brush = stage.lanes, bands = new Path2D(), edges = new Path2D();
  shades.seen(view, 1, () => true, (x, width) => {
    brush.count++;
    bands.rect(x, y, width, height);
    if (width < bandEdge) return;
    brush.count += 2;
    edges.rect(x, y, 1, height);
    edges.rect(x + width - 1, y, 1, height);
  });
  brush.fill(bands, palette.fill.fault, .14);
  brush.fill(edges, palette.fill.fault, .55);
}

// drawHead draws the lanes of a closed group in miniature on its head.
function drawHead(tl, row, y) {
  if (!tl.lanes.closed.has(row.group)) return;
  const lanes = tl.lanes.all.filter((lane) => lane.group === row.group && lane.sets.length);
  const height = (row.height - 4) / Math.max(1, lanes.length);
  lanes.forEach((lane, i) => drawStates(tl, lane, { y: y + 2 + i * height, height, quiet: true }));
}

function drawLane(tl, row, y) {
  const { lane, height } = row;
  if (tl.cursor && tl.cursor.lane === lane) tl.stage.lanes.rect(0, y, tl.view.width, height - 1, tl.palette.accent, .08);
  drawShades(tl, lane.shades, y, height - 1);
  drawStates(tl, lane, { y: y + 1, height: height - 3, quiet: height < 18 });
  if (lane.samples.length) drawSamples(tl, lane, y, height);
  drawMarks(tl, lane, y + height / 2);
}

// The states whose spans have captions.
const written = new Set(["fault", "holding", "overdue", "paused", "dead", "key", "down", "outage", "clash"]);

// drawStates draws the spans of a lane, state by state. Grants that are not selected are dimmed
// if others are.
function drawStates(tl, lane, place) {
  const { selected } = tl, back = (s) => selected.size > 0 && s.g >= 0 && !selected.has(s.g);
  for (const [state, set] of lane.sets) {
    const look = lookIn(lane, state);
    if (selected.size) drawSpans(tl, state, set, { ...place, look, admits: back, alpha: .25 });
    const texts = drawSpans(tl, state, set, { ...place, look, admits: (s) => !back(s), alpha: place.alpha || 1 });
    if (!place.quiet && written.has(state)) for (const text of texts) drawCaption(tl, text, lane);
  }
}

// drawSpans draws the spans of one state, and returns their captions.
function drawSpans({ stage, view, palette, selected }, state, set, { y, height, look, admits, alpha }) {
  const brush = stage.lanes, paths = [1, 2, 3].map(() => new Path2D()), chosen = new Path2D(), texts = [];
  const top = y + look.top * height, high = Math.max(1, (look.bottom - look.top) * height);
  set.seen(view, state === "clash" ? 3 : 1.5, admits, (x, width, span, part) => {
    brush.bar(paths[Math.round(part * 3) - 1], x, top, width, high);
    if (!span) return;
    if (selected.has(span.g)) brush.bar(chosen, x, top, width, high);
    texts.push({ state, span, x, width, y: top + high / 2 + .5 });
  });
  paths.forEach((path, i) => {
    const strength = alpha * (solid.has(state) ? 1 : [.45, .7, 1][i]);
    brush.fill(path, palette.fill[state], strength);
    if (palette.hatch[state]) brush.fill(path, palette.hatch[state], strength);
    if (state === "clash") brush.stroke(path, palette.fill[state], 1);
  });
  if (selected.size && alpha === 1) brush.stroke(chosen, palette.ink, 1.6);
  return texts;
}

// drawCaption writes the caption of a span; on a hatched one with a background. A sign marks an
// open end.
function drawCaption({ stage, view, palette, model }, { state, span, x, width, y }, lane) {
  const brush = stage.lanes, font = "11px " + palette.font;
  const begin = Math.max(x, 0), room = Math.min(x + width, view.width) - begin - (span.o ? 20 : 10);
  const all = captions(model, span), text = all.find((one) => brush.fits(one, room, font)) || all.at(-1);
  if (span.o && width > 12) brush.text("»", x + width - 10, y, 12, palette.on(state), font);
  if (room < 26) return state === "fault" && drawBeside(brush, view, palette, { span, text, x: x + width + 4, y }, lane);
  if (palette.hatch[state]) {
    brush.c.font = font;
    brush.rect(begin + 3, y - 7, Math.min(room, brush.c.measureText(text).width) + 4, 13, palette.fill[state], .9);
  }
  brush.text(text, begin + 5, y, room, palette.on(state), font);
}

// drawBeside writes the name of a short fault beside it, if there is room.
function drawBeside(brush, view, palette, { span, text, x, y }, lane) {
  const { spans } = lane, next = spans[spans.indexOf(span) + 1];
  brush.text(text, x, y, Math.min(200, (next ? view.x(next.f) : view.width) - x - 4), palette.ink, "11px " + palette.font);
}

// The symbols of marks.
const signs = {
  cross: (p, x, y, r) => { p.moveTo(x - r, y - r); p.lineTo(x + r, y + r); p.moveTo(x + r, y - r); p.lineTo(x - r, y + r); },
  down: (p, x, y, r) => { p.moveTo(x - r, y - r * .7); p.lineTo(x + r, y - r * .7); p.lineTo(x, y + r); p.closePath(); },
  up: (p, x, y, r) => { p.moveTo(x - r, y + r * .7); p.lineTo(x + r, y + r * .7); p.lineTo(x, y - r); p.closePath(); },
  diamond: (p, x, y, r) => { p.moveTo(x, y - r); p.lineTo(x + r, y); p.lineTo(x, y + r); p.lineTo(x - r, y); p.closePath(); },
};
const signOf = (mark) => (/kill|died|error/.test(mark.k) ? "cross" : /down/.test(mark.k) ? "down" : /-up|restart/.test(mark.k) ? "up" : "diamond");

// drawMarks draws the marks of a lane, those of findings on top.
function drawMarks({ stage, view, palette }, lane, y) {
  const brush = stage.lanes, path = new Path2D(), bad = new Path2D();
  const drawn = { false: -9, true: -9 };
  for (let i = firstAbove(lane.markTimes, view.from - 1); i < lane.marks.length && lane.markTimes[i] <= view.to; i++) {
    const mark = lane.marks[i], x = view.x(mark.t);
    if (x - drawn[!!mark.b] < 4) continue;
    drawn[!!mark.b] = x;
    brush.count++;
    signs[mark.b ? "diamond" : signOf(mark)](mark.b ? bad : path, x, y, mark.b ? 6 : 3.5);
  }
  for (const [signs, colour] of [[path, palette.ink], [bad, palette.bad]]) {
    brush.stroke(signs, palette.ground, 3.5);
    brush.stroke(signs, colour, 1.4);
    brush.fill(signs, colour);
  }
}

// drawFinds draws the places of the findings behind the lanes, and the edges of the current
// one above them.
function drawFinds({ stage, view, palette, finds, find }, above) {
  const brush = stage.lanes;
  finds.forEach((f, i) => {
    if (!f.somewhere || f.t < view.from || f.f > view.to) return;
    const x = view.x(f.f), width = Math.max(1.5, view.x(f.t) - x), colour = f.v === "violated" ? palette.bad : palette.open;
    if (!above) return brush.rect(x, 0, width, stage.height, colour, i === find ? .22 : .1);
    if (i !== find) return;
    brush.rect(x - 1, 0, 1, stage.height, colour, .9);
    brush.rect(x + width, 0, 1, stage.height, colour, .9);
  });
}
