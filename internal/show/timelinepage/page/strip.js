// The strip above the lanes: the whole run in miniature, with the visible part.

const stripHeight = 40, stripRows = 12, flagHeight = 6;

// drawStrip draws the run once for each size and theme, and the visible part each time.
function drawStrip(tl) {
  const { stage, view, palette } = tl, brush = stage.strip;
  if (tl.overview?.palette !== palette || tl.overview.view.width !== view.width) tl.overview = overview(tl);
  brush.clear(view.width, stripHeight, palette.scale);
  brush.c.drawImage(tl.overview.canvas, 0, 0, view.width, stripHeight);
  const x = tl.overview.view.x(view.from), right = Math.max(x + 3, tl.overview.view.x(view.to)), frame = new Path2D();
  brush.rect(0, 0, x, stripHeight, palette.ground, .6);
  brush.rect(right, 0, view.width - right, stripHeight, palette.ground, .6);
  frame.roundRect(x + 1, 1, Math.max(1, right - x - 2), stripHeight - 2, 3);
  brush.stroke(frame, palette.accent, 2);
}

function overview(tl) {
  const { palette, lanes, finds } = tl, view = new View(tl.view.end, () => {}), brush = new Brush(document.createElement("canvas"));
  view.width = tl.view.width;
  brush.clear(view.width, stripHeight, palette.scale);
  brush.rect(0, 0, view.width, stripHeight, palette.panel);
  const all = { ...tl, view, selected: new Set(), stage: { lanes: brush } };
  const shown = lanes.own.filter((lane) => lane.sets.length), height = (stripHeight - flagHeight - 2) / Math.min(stripRows, Math.max(1, shown.length));
  drawShades(all, lanes.everywhere, 0, stripHeight);
  shown.forEach((lane, i) => {
    const y = flagHeight + Math.floor(i / shown.length * Math.min(stripRows, shown.length)) * height;
    drawStates(all, lane, { y, height: height - .5, quiet: true, alpha: shown.length > stripRows ? .5 : .9 });
  });
  for (const f of finds) {
    if (!f.somewhere) continue;
    const x = Math.max(0, view.x((f.f + f.t) / 2)), flag = new Path2D(), colour = f.v === "violated" ? palette.bad : palette.open;
    signs.down(flag, x, 3, 4.5);
    brush.fill(flag, colour);
    brush.rect(x - .5, 0, 1, stripHeight, colour);
  }
  return { canvas: brush.canvas, view, palette };
}

// followStrip handles dragging: of the edges, of the visible part, or a press elsewhere.
function followStrip(tl) {
  const canvas = tl.stage.strip.canvas;
  canvas.addEventListener("pointerdown", (e) => {
    const whole = tl.overview.view, { view } = tl, t = whole.t(e.offsetX), slack = whole.t(7);
    const edge = Math.abs(t - view.from) < slack ? "from" : Math.abs(t - view.to) < slack ? "to" : "";
    if (!edge && (t < view.from || t > view.to)) view.set(t - view.size / 2, t + view.size / 2);
    tl.strip = { edge, off: t - view.from };
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!tl.strip) return;
    const { view, strip } = tl, t = tl.overview.view.t(e.offsetX);
    if (strip.edge === "from") view.set(Math.min(t, view.to - view.least), view.to);
    else if (strip.edge === "to") view.set(view.from, Math.max(t, view.from + view.least));
    else view.pan((t - strip.off - view.from) / view.size * view.width);
  });
  for (const over of ["pointerup", "pointercancel"]) canvas.addEventListener(over, () => { tl.strip = null; });
}
