// The lanes.

const bandEdge = 6; // a fault narrower than this has no edges of its own

// drawLanes draws what is in sight of time and of rows.
function drawLanes(tl) {
  const { stage, view, lanes, palette } = tl, brush = stage.lanes;
  const rows = lanes.within(stage.top, stage.top + stage.height);
  brush.clear(view.width, stage.height, palette.scale);
  drawGround(tl, rows);
  drawShades(tl, lanes.everywhere, 0, stage.height);
  for (const row of rows) {
    const y = row.y - stage.top;
    if (row.lane) drawLane(tl, row, y); else drawHead(tl, row, y);
  }
  drawFinds(tl);
}

// drawGround draws what lies below all lanes: lines of the time, the grounds of heads.
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

// drawShades draws faults behind what happened meanwhile.
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

// drawHead draws, on the head of a closed group, what its lanes hold, in small.
function drawHead(tl, row, y) {
  if (!tl.lanes.closed.has(row.group)) return;
  const lanes = tl.lanes.all.filter((lane) => lane.group === row.group && lane.sets.length);
  const height = (row.height - 4) / Math.max(1, lanes.length);
  lanes.forEach((lane, i) => {
    for (const [state, set] of lane.sets) drawSet(tl, state, set, { y: y + 2 + i * height, height, quiet: true });
  });
}

function drawLane(tl, row, y) {
  const { lane, height } = row;
  if (tl.cursor && tl.cursor.lane === lane) tl.stage.lanes.rect(0, y, tl.view.width, height - 1, tl.palette.accent, .08);
  drawShades(tl, lane.shades, y, height - 1);
  for (const [state, set] of lane.sets) drawSet(tl, state, set, { y: y + 1, height: height - 3, quiet: height < 18 });
  if (lane.samples.length) drawSamples(tl, lane, y, height);
  drawMarks(tl, lane, y + height / 2);
}

// drawSet draws the spans of one state. If grants are selected the others step back.
function drawSet(tl, state, set, { y, height, quiet }) {
  const { selected } = tl, back = (s) => selected.size > 0 && s.g >= 0 && !selected.has(s.g);
  if (selected.size) drawSpans(tl, state, set, back, { y, height, quiet: true, alpha: .25 });
  drawSpans(tl, state, set, (s) => !back(s), { y, height, quiet, alpha: 1 });
}

function drawSpans({ stage, view, palette, model, selected }, state, set, admits, { y, height, quiet, alpha }) {
  const brush = stage.lanes, look = looks[state], path = new Path2D(), chosen = new Path2D(), texts = [];
  const top = y + look.top * height, high = Math.max(1, (look.bottom - look.top) * height);
  set.seen(view, state === "clash" ? 3 : 1.5, admits, (x, width, span) => {
    brush.bar(path, x, top, width, high);
    if (!span) return;
    if (selected.has(span.g)) brush.bar(chosen, x, top, width, high);
    if (span.o && width > 12) texts.push(["»", x + width - 10, 12]);
    const begin = Math.max(x, 0), room = Math.min(x + width, view.width) - begin - (span.o ? 20 : 10);
    if (room > 26) texts.push([caption(model, span), begin + 5, room]);
  });
  brush.fill(path, palette.fill[state], alpha);
  if (palette.hatch[state]) brush.fill(path, palette.hatch[state], alpha);
  if (state === "clash") brush.stroke(path, palette.fill[state], 1);
  if (selected.size) brush.stroke(chosen, palette.ink, 1.6);
  if (quiet || high < 12) return;
  for (const [text, x, room] of texts) drawCaption(brush, palette, state, { text, x, room, y: top + high / 2 + .5 });
}

// drawCaption writes on a span; where that is hatched, on a ground of its own.
function drawCaption(brush, palette, state, { text, x, room, y }) {
  const font = "11px " + palette.font;
  if (palette.hatch[state] && text) {
    brush.c.font = font;
    const width = Math.min(room, brush.c.measureText(text).width);
    brush.rect(x - 2, y - 7, width + 4, 13, palette.fill[state], .9);
  }
  brush.text(text, x, y, room, palette.on(state), font);
}

// The signs of what happens at an instant, around a point.
const signs = {
  cross: (p, x, y, r) => { p.moveTo(x - r, y - r); p.lineTo(x + r, y + r); p.moveTo(x + r, y - r); p.lineTo(x - r, y + r); },
  down: (p, x, y, r) => { p.moveTo(x - r, y - r * .7); p.lineTo(x + r, y - r * .7); p.lineTo(x, y + r); p.closePath(); },
  up: (p, x, y, r) => { p.moveTo(x - r, y + r * .7); p.lineTo(x + r, y + r * .7); p.lineTo(x, y - r); p.closePath(); },
  diamond: (p, x, y, r) => { p.moveTo(x, y - r); p.lineTo(x + r, y); p.lineTo(x, y + r); p.lineTo(x - r, y); p.closePath(); },
};
const signOf = (mark) => (/kill|died|error/.test(mark.k) ? "cross" : /down/.test(mark.k) ? "down" : /-up|restart/.test(mark.k) ? "up" : "diamond");

// drawMarks draws what happened at an instant; what a judge has found comes last, and so on top.
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

// drawFinds draws where a judge found something.
function drawFinds({ stage, view, palette, finds, find }) {
  const brush = stage.lanes;
  finds.forEach((f, i) => {
    if (!f.somewhere || f.t < view.from || f.f > view.to) return;
    const x = view.x(f.f), width = Math.max(1.5, view.x(f.t) - x), colour = f.v === "violated" ? palette.bad : palette.open;
    brush.rect(x, 0, width, stage.height, colour, i === find ? .2 : .07);
    if (i !== find) return;
    brush.rect(x - 1, 0, 1, stage.height, colour, .9);
    brush.rect(x + width, 0, 1, stage.height, colour, .9);
  });
}
