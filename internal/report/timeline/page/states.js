// How each state looks, in the order in which they are drawn over each other: the part of
// a lane's height that it takes, and a hatch, so that no meaning hangs on a colour alone.
// The colours stand in the style, as --tl-STATE.
const looks = {
  fault: { top: .1, bottom: .9, hatch: "", says: "a fault, for as long as it lasts" },
  waiting: { top: .38, bottom: .62, hatch: "", says: "a client has asked for the lock, or sleeps between its tries" },
  holding: { top: .1, bottom: .9, hatch: "", says: "a client holds the lock, and its validity lasts" },
  overdue: { top: .1, bottom: .9, hatch: "slash", says: "it works on as if it held the lock, past its validity" },
  extends: { top: .1, bottom: .28, hatch: "", says: "a call of extend" },
  releases: { top: .72, bottom: .9, hatch: "", says: "a call of release" },
  access: { top: .72, bottom: .9, hatch: "", says: "access to the guarded resource" },
  paused: { top: .02, bottom: .98, hatch: "bars", says: "a client stands still" },
  dead: { top: .02, bottom: .98, hatch: "cross", says: "a client has died" },
  cut: { top: .88, bottom: 1, hatch: "dashes", says: "it cannot count on a round trip to some node" },
  key: { top: .16, bottom: .84, hatch: "", says: "a node keeps a key" },
  down: { top: .1, bottom: .9, hatch: "cross", says: "a node, or its store, does not run" },
  outage: { top: .16, bottom: .84, hatch: "dots", says: "nobody got the lock" },
  clash: { top: 0, bottom: 1, hatch: "backslash", says: "two hold at once" },
};
const states = Object.keys(looks);
const solid = new Set(["clash", "dead", "down", "outage", "overdue"]); // never paler where they are short

// lookIn is how a state looks in a lane: where nothing else goes on, access has all the room.
const lookIn = (lane, state) => (state === "access" && lane.group === "guarded resource" ? looks.holding : looks[state]);

// Palette is the colours and hatches of the page as it is now, light or dark.
class Palette {
  constructor(place) {
    this.style = getComputedStyle(place);
    this.scale = devicePixelRatio || 1;
    this.font = this.style.fontFamily;
    for (const name of ["ground", "panel", "ink", "soft", "line", "accent", "bad", "open"]) this[name] = this.colour("--" + name);
    this.fill = Object.fromEntries(states.map((state) => [state, this.colour("--tl-" + state)]));
    this.series = this.colour("--tl-series");
    this.hatch = Object.fromEntries(states.map((state) => [state, this.tile(looks[state].hatch, this.on(state))]));
  }

  colour(name) { return this.style.getPropertyValue(name).trim(); }

  // on is a colour that can be read on that of a state.
  on(state) {
    const [r, g, b] = (this.fill[state].match(/[0-9a-f]{2}/gi) || ["80", "80", "80"]).map((c) => parseInt(c, 16));
    return .299 * r + .587 * g + .114 * b > 140 ? "#14171b" : "#ffffff";
  }

  tile(hatch, colour) {
    if (!hatch) return null;
    const side = 8, canvas = document.createElement("canvas"), px = Math.max(1, Math.round(side * this.scale));
    canvas.width = canvas.height = px;
    const c = canvas.getContext("2d");
    c.scale(px / side, px / side);
    [c.strokeStyle, c.fillStyle, c.globalAlpha, c.lineWidth] = [colour, colour, .62, 1.3];
    hatches[hatch](c, side);
    const pattern = c.createPattern(canvas, "repeat");
    pattern.setTransform(new DOMMatrix().scale(side / px));
    return pattern;
  }
}

// stripe draws one line of a tile, and where the tile is repeated.
const stripe = (c, n, ...ends) => {
  c.beginPath();
  for (const shift of [-n, 0, n]) { c.moveTo(ends[0] + shift, ends[1]); c.lineTo(ends[2] + shift, ends[3]); }
  c.stroke();
};
const hatches = {
  slash: (c, n) => stripe(c, n, -1, n + 1, n + 1, -1),
  backslash: (c, n) => stripe(c, n, -1, -1, n + 1, n + 1),
  cross: (c, n) => { stripe(c, n, -1, n + 1, n + 1, -1); stripe(c, n, -1, -1, n + 1, n + 1); },
  bars: (c, n) => stripe(c, n, n / 2, 0, n / 2, n),
  dots: (c, n) => { c.fillRect(1, 1, 2, 2); c.fillRect(n / 2 + 1, n / 2 + 1, 2, 2); },
  dashes: (c, n) => c.fillRect(0, 0, n / 2, n),
};
