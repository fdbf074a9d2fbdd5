// The keys, as in other trace viewers.

const keyHelp = [
  ["← →, A D", "move in time"], ["+ −, W S", "zoom"], ["Home End", "go to the beginning, to the end"], ["0", "show the whole run"],
  ["N P", "go to the next finding, to the previous one"], ["↑ ↓", "choose a lane"], [". ,", "step to the next item in the lane, to the previous one"],
  ["Enter, Space", "select the grant, or deselect it"], ["F", "zoom to the chosen item"], ["Esc", "deselect all"], ["?", "list the keys"],
  ["drag, double click", "move, zoom in"], ["Ctrl + wheel, pinch", "zoom"], ["drag on the axis", "zoom to a range"],
];

const keys = {
  ArrowLeft: (tl) => tl.view.pan(-tl.view.width * .12),
  ArrowRight: (tl) => tl.view.pan(tl.view.width * .12),
  "+": (tl) => tl.view.zoom(.6),
  "-": (tl) => tl.view.zoom(1 / .6),
  Home: (tl) => tl.view.set(0, tl.view.size),
  End: (tl) => tl.view.set(tl.view.end - tl.view.size, tl.view.end),
  0: (tl) => tl.view.whole(),
  n: (tl) => tl.step(1),
  p: (tl) => tl.step(-1),
  ArrowUp: (tl) => chooseLane(tl, -1),
  ArrowDown: (tl) => chooseLane(tl, 1),
  ".": (tl) => chooseItem(tl, 1),
  ",": (tl) => chooseItem(tl, -1),
  Enter: (tl) => tl.cursor?.span && tl.pick(tl.cursor, true),
  f: (tl) => zoomToChosen(tl),
  Escape: (tl) => tl.letGo(),
  "?": (tl) => { tl.help.open = !tl.help.open; },
};
const moves = new Set(["ArrowLeft", "ArrowRight", "+", "-", "Home", "End", "0"].map((key) => keys[key])); // these announce the visible time
const sameKeys = { a: "ArrowLeft", d: "ArrowRight", w: "+", s: "-", "=": "+", _: "-", "−": "-", " ": "Enter" };

function listenToKeys(tl) {
  tl.stage.canvas.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const key = e.key.length === 1 ? e.key.toLowerCase() : e.key, act = keys[sameKeys[key] || key];
    if (!act) return;
    e.preventDefault();
    const { from, to } = tl.view;
    act(tl);
    if ((tl.view.from !== from || tl.view.to !== to) && moves.has(act)) tl.say(tl.view.toString());
  });
}

// itemsOf returns the items of a lane in the order of time.
function itemsOf(lane) {
  return lane.items ||= [
    ...lane.spans.map((span) => ({ lane, span, from: span.f, to: span.t })),
    ...lane.marks.map((mark) => ({ lane, mark, from: mark.t, to: mark.t })),
    ...lane.samples.map((sample) => ({ lane, sample, from: sample.t, to: sample.t })),
  ].sort((a, b) => a.from - b.from);
}

function chooseLane(tl, by) {
  const rows = tl.lanes.rows.filter((row) => row.lane);
  if (!rows.length) return;
  const now = rows.findIndex((row) => row.lane === tl.cursor?.lane);
  const row = rows[now < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(now + by, 0), rows.length - 1)];
  tl.cursor = { lane: row.lane };
  tl.stage.reveal(row);
  tl.say(`${row.group}, ${row.lane.name}: ${itemsOf(row.lane).length} things in it`);
  tl.redraw();
}

// chooseItem steps on from the chosen item, or goes to the first visible one.
function chooseItem(tl, by) {
  if (!tl.cursor) chooseLane(tl, 1);
  if (!tl.cursor) return;
  const items = itemsOf(tl.cursor.lane);
  const now = items.indexOf(tl.cursor);
  let next = now + by;
  if (now < 0) next = by > 0 ? items.findIndex((i) => i.to >= tl.view.from) : items.findLastIndex((i) => i.from <= tl.view.to);
  if (!items[next]) return tl.say("nothing more in this lane");
  tl.choose(items[next]);
}

function zoomToChosen(tl) {
  const item = tl.cursor || {}, { from, to } = item;
  if (from === undefined) return;
  const margin = Math.max((to - from) * .3, tl.view.least * 2);
  tl.view.glide(from - margin, to + margin);
}
