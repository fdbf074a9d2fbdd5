// The axis above the lanes, and the overlay that follows the pointer: the line at its time, the
// frame around the item below it, the range being chosen.

const axisHeight = 34;

function drawAxis({ stage, view, palette, finds, find, pointer }) {
  const brush = stage.axis, font = "11px " + palette.font, { step, at } = ticks(view.from, view.to, view.width / 110);
  brush.clear(view.width, axisHeight, palette.scale);
  for (const t of at) {
    const x = Math.round(view.x(t));
    brush.rect(x, axisHeight - 6, 1, 6, palette.soft);
    const [align, shift] = x < 30 ? ["left", Math.max(0, 2 - x)] : x > view.width - 30 ? ["right", Math.min(0, view.width - 2 - x)] : ["center", 0];
    brush.text(instant(t, step), x + shift, axisHeight - 13, 110, palette.soft, font, align);
  }
  drawFlags(brush, view, palette, finds, find);
  if (pointer.chosen) brush.rect(...between(view, pointer.chosen), axisHeight, palette.accent, .25);
  if (pointer.x === null) return;
  const text = instant(view.t(pointer.x), view.size / view.width), x = Math.min(Math.max(pointer.x, 46), view.width - 46);
  brush.rect(x - 46, axisHeight - 20, 92, 15, palette.ink);
  brush.text(text, x, axisHeight - 12, 92, palette.ground, font, "center");
}

// drawFlags marks the findings with the codes of their properties, without overlaps.
function drawFlags(brush, view, palette, finds, find) {
  let free = 0;
  const flags = finds.map((f, i) => ({ ...f, i, x: view.x((f.f + f.t) / 2) })).filter((f) => f.somewhere && f.x > -4 && f.x < view.width + 4);
  for (const flag of flags.sort((a, b) => a.x - b.x)) {
    const colour = flag.v === "violated" ? palette.bad : palette.open, path = new Path2D(), now = flag.i === find;
    const left = Math.max(Math.min(flag.x - 13, view.width - 26), free);
    free = left + 27;
    path.roundRect(left, 1, 26, 13, 3);
    signs.down(path, flag.x, 16, 3.5);
    brush.fill(path, colour, now ? 1 : .75);
    brush.text(flag.code, left + 13, 8, 30, palette.ground, (now ? "bold " : "") + "10px " + palette.font, "center");
  }
}

// between returns x, y and width of a range of pixels.
const between = (view, [a, b]) => [Math.min(a, b), 0, Math.abs(b - a)];

function drawOver(tl) {
  const { stage, view, palette, pointer, lanes } = tl, brush = stage.over;
  brush.clear(view.width, stage.height, palette.scale);
  drawHere(tl, brush);
  if (tl.player.at !== null) brush.rect(Math.round(view.x(tl.player.at)) - 1, 0, 2, stage.height, palette.accent);
  if (pointer.x !== null) brush.rect(Math.round(pointer.x), 0, 1, stage.height, palette.ink, .4);
  if (pointer.chosen) brush.rect(...between(view, pointer.chosen), stage.height, palette.accent, .18);
  for (const [item, width] of [[pointer.item, 1.5], [tl.cursor, 2.5]]) {
    const row = item && lanes.rowOf(item.lane);
    if (!row || (!item.span && !item.mark && !item.sample)) continue;
    const place = boxOf(tl, item, row), path = new Path2D();
    path.roundRect(place.x - 2, place.y - 2, place.width + 4, place.height + 4, 3);
    brush.stroke(path, palette.ground, width + 2);
    brush.stroke(path, width > 2 ? palette.accent : palette.ink, width);
  }
}

// drawHere marks the time and the lane of the step of a story at which the reader looks.
function drawHere({ here, view, stage, palette }, brush) {
  if (!here) return;
  const x = view.x(here.from), width = Math.max(3, view.x(here.to) - x);
  brush.rect(x - 1, 0, width, stage.height, palette.accent, .35);
  if (!here.row) return;
  const path = new Path2D();
  path.roundRect(x - 7, here.row.y - stage.top + 1, width + 12, here.row.height - 2, 4);
  brush.stroke(path, palette.ground, 4.5);
  brush.stroke(path, palette.accent, 2.5);
}

// boxOf returns the place of an item on the canvas.
function boxOf({ stage, view }, item, row) {
  const y = row.y - stage.top;
  if (item.sample) return { x: view.x(item.sample.t) - 3, y: y + item.lane.y(item.sample.v, row.height) - 3, width: 6, height: 6 };
  if (item.mark) return { x: view.x(item.mark.t) - 4, y: y + row.height / 2 - 4, width: 8, height: 8 };
  const { top, bottom } = lookIn(item.lane, item.span.s), x = Math.max(-6, view.x(item.span.f)), high = row.height - 3;
  return { x, y: y + 1 + top * high, width: Math.max(3, Math.min(view.width + 6, view.x(item.span.t)) - x), height: (bottom - top) * high };
}
