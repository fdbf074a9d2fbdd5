// The appearance of each state, from the lowest to the topmost: its part of the lane's height,
// and a hatch, so that no meaning depends on colour alone. The colours are in the style sheet,
// as --tl-STATE.
const looks = {
  fault: { top: .1, bottom: .9, hatch: "", says: "a fault is active" },
  waiting: { top: .38, bottom: .62, hatch: "", says: "a client waits for the lock: it calls acquire, or sleeps between tries" },
  holding: { top: .1, bottom: .9, hatch: "", says: "a client holds the lock, within its validity" },
  overdue: { top: .1, bottom: .9, hatch: "slash", says: "a client works on past its validity" },
  extends: { top: .1, bottom: .28, hatch: "", says: "a call of extend" },
  releases: { top: .72, bottom: .9, hatch: "", says: "a call of release" },
  access: { top: .72, bottom: .9, hatch: "", says: "access to the guarded resource" },
  paused: { top: .02, bottom: .98, hatch: "bars", says: "a client is paused" },
  dead: { top: .02, bottom: .98, hatch: "cross", says: "a client is dead" },
  cut: { top: .88, bottom: 1, hatch: "dashes", says: "a client has no link to some nodes" },
  key: { top: .16, bottom: .84, hatch: "", says: "a node keeps a key" },
  down: { top: .1, bottom: .9, hatch: "cross", says: "a node, or the store, is down" },
  outage: { top: .16, bottom: .84, hatch: "dots", says: "nobody got the lock" },
  clash: { top: 0, bottom: 1, hatch: "backslash", says: "two clients hold the lock" },
};
const states = Object.keys(looks);
const solid = new Set(["clash", "dead", "down", "outage", "overdue"]); // drawn at full strength even if short

// lookIn returns the look of a state in a lane: on the guarded resource an access has the full height.
const lookIn = (lane, state) => (state === "access" && lane.group === "guarded resource" ? looks.holding : looks[state]);

// Palette has the colours and hatches of the current theme.
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

  // on returns a text colour that is readable on a state's colour.
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

// stripe draws a line of a tile, and its repetitions beside the tile.
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
