// Player moves an instant through the run: from event to event, or by itself. The lanes show it as a
// line, the diagram of the messages marks the row that it is in.

const speeds = [["slow", 60], ["normal", 20], ["fast", 6]]; // seconds for the visible time

class Player {
  constructor(tl) {
    [this.tl, this.at, this.playing] = [tl, null, null];
    this.items = tl.lanes.own.flatMap(itemsOf);
    this.times = instantsOf(this.items);
    this.button = button("▶ play", () => (this.playing ? this.pause() : this.play()), { class: "tl-play" });
    this.speed = make("select", { "aria-label": "speed" }, ...speeds.map(([name, seconds]) => make("option", { value: seconds, ...(name === "normal" ? { selected: "" } : {}) }, name)));
    this.now = make("p", { class: "tl-now soft" });
    this.element = make("div", { class: "tl-player" }, make("div", { class: "tl-controls", role: "group", "aria-label": "play" },
      button("◀ event", () => this.step(-1), { "aria-label": "previous event" }), this.button, button("event ▶", () => this.step(1), { "aria-label": "next event" }), this.speed), this.now);
  }

  // play runs from the instant, or from the beginning of the visible time, to the end of the run.
  play() {
    const { view } = this.tl, begin = this.at === null || this.at >= view.end ? view.from : this.at;
    const playing = this.playing = { begin, rate: view.size / Number(this.speed.value) / 1000, from: performance.now() };
    this.button.textContent = "❚❚ pause";
    const frame = (now) => {
      if (this.playing !== playing) return;
      const at = playing.begin + Math.max(0, now - playing.from) * playing.rate;
      this.go(Math.min(at, view.end));
      if (at >= view.end) this.pause(); else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause() {
    this.playing = null;
    this.button.textContent = "▶ play";
  }

  // step goes to the next instant at which something begins or ends, or to the previous one.
  step(by) {
    this.pause();
    const next = by > 0 ? firstAbove(this.times, this.at ?? this.tl.view.from - 1) : firstAbove(this.times, (this.at ?? this.tl.view.to + 1) - 1) - 1;
    if (!(next in this.times)) return this.tl.say(by > 0 ? "no later event" : "no earlier event");
    this.go(this.times[next]);
    this.tl.say(this.now.textContent);
  }

  // go shows an instant.
  go(at) {
    const { tl } = this, { view } = tl, before = this.at;
    this.at = at;
    if (at < view.from || at > view.to) view.set(at - view.size * .2, at + view.size * .8);
    if (before === null || crossed(this.times, before, at)) this.tell();
    markMessages(tl, at);
    tl.place.dispatchEvent(new CustomEvent("lockstorm:time", { bubbles: true, detail: { at, by: tl } }));
    tl.redraw("over");
  }

  // tell says what begins or ends at the last event, in one line.
  tell() {
    const last = this.times[firstAbove(this.times, this.at) - 1];
    if (last === undefined) return this.now.replaceChildren(`${instant(this.at)}: nothing has happened`);
    const all = this.items.filter((i) => i.from === last || i.to === last).map((i) => `${i.lane.name}: ${wordOf(i)}${i.span && i.to === last && i.from !== last ? " ends" : ""}`);
    const said = all.slice(0, 4).join("; ") + (all.length > 4 ? `; and ${all.length - 4} more` : "");
    this.now.replaceChildren(`${instant(last)}: ${said}`);
  }
}

// wordOf names an item.
const wordOf = ({ span, mark, sample }) => (span ? (span.s === "clash" ? looks.clash.says : span.s === "fault" ? span.x : span.s) : mark ? mark.k : sample ? "sample" : "");

// instantsOf returns the instants at which items begin or end, in order, each once.
function instantsOf(items) {
  const all = Float64Array.from(items.filter((i) => !i.sample).flatMap((i) => [i.from, i.to])).sort();
  return all.filter((t, n) => n === 0 || t !== all[n - 1]);
}

// crossed reports whether an event lies between two instants.
const crossed = (times, a, b) => firstAbove(times, Math.min(a, b)) !== firstAbove(times, Math.max(a, b));
