// The timelines of the page, for tests and for the browser's console:
//
//	lockstorm.timelines[0].range()             the visible time, in nanoseconds: [from, to]
//	…end()                                     the end of the run
//	…show(from, to)                            shows a time
//	…jump(n), …find()                          goes to the n-th finding; the current finding, or -1
//	…here()                                    the place of the step of a story that was chosen, or null: { from, to, lane }
//	…box({ grant: 3, state: "holding" })       scrolls to a span and returns its place in the window: { x, y, width, height, from, to }
//	…box({ lane: 0, state: "clash", nth: 2 })  … by its lane in the model; grant, state, lane and nth narrow it down
//	…selected(), …select([3, 4])               indices of grants
//	…at(), …go(time)                           the instant that is played, or null; shows an instant
//	…step(n)                                   goes to the next event, or with -1 to the previous one
//	…close()                                   before the element is removed
//	…operations()                              number of drawing operations of the last frame
//	…ready                                     when it was first drawn, in milliseconds since navigation began
const open = (tl) => ({
  ready: tl.ready,
  range: () => [tl.view.from, tl.view.to],
  end: () => tl.view.end,
  show: (from, to) => tl.showTime(from, to, { atOnce: true, exactly: true }),
  jump: (n) => tl.jump(n, true),
  find: () => tl.find,
  here: () => tl.here && { from: tl.here.from, to: tl.here.to, lane: tl.here.row?.lane.name ?? null },
  selected: () => [...tl.selected],
  select: (grants) => tl.select(grants),
  at: () => tl.player.at,
  go: (at) => tl.player.go(at),
  step: (n) => tl.player.step(n),
  close: () => tl.close(),
  operations: () => tl.frame.operations,
  box: (wanted) => boxOnWindow(tl, wanted),
});

function boxOnWindow(tl, { lane, grant, state, nth = 0 }) {
  const fits = (s) => (grant === undefined || s.g === grant) && (state === undefined || s.s === state);
  for (const row of tl.lanes.rows) {
    if (!row.lane || (lane !== undefined && row.lane.number !== lane)) continue;
    for (const span of row.lane.spans) {
      if (!fits(span) || nth-- > 0) continue;
      tl.stage.reveal(row);
      tl.stage.element.scrollIntoView({ block: "nearest" });
      tl.draw();
      const place = boxOf(tl, { lane: row.lane, span }, row), { left, top } = tl.stage.canvas.getBoundingClientRect();
      return { x: left + place.x, y: top + place.y, width: place.width, height: place.height, from: span.f, to: span.t };
    }
  }
  return null;
}

// mount draws the timelines in an element that was added to the page, and returns them.
function mount(root) {
  return [...root.querySelectorAll(".timeline")].map((place) => {
    const tl = new Timeline(place, JSON.parse(place.querySelector("script[type='application/json']").textContent));
    tl.begin();
    const opened = open(tl);
    lockstorm.timelines.push(opened);
    tl.gone.signal.addEventListener("abort", () => lockstorm.timelines.splice(lockstorm.timelines.indexOf(opened), 1));
    return opened;
  });
}

Object.assign((window.lockstorm ||= {}), { timelines: [], mount });
mount(document);
