// Timeline is a timeline of the page: its view, its lanes, its selection.
class Timeline {
  constructor(place, model) {
    [this.place, this.model] = [place, model];
    this.finds = (model.finds || []).map((f) => ({ ...f, somewhere: f.f !== 0 || f.t !== 0, name: nameOfFind(f), code: f.p.split(" ")[0] }));
    this.find = -1; // the current one
    this.chosenStep = -1; // the current one of its story
    this.selected = new Set(); // indices of grants
    this.cursor = null; // chosen by keys
    this.dirty = { lanes: true, over: true };
    this.view = new View(model.end, () => this.redraw());
    this.lanes = new Lanes(model);
    this.stage = new Stage(this);
    this.build();
    this.pointer = new Pointer(this);
    this.panel = new Finds(this);
    followMessages(this);
    listenToKeys(this);
    followStrip(this);
  }

  // build builds the controls, the lanes, and the findings beside them.
  build() {
    this.details = new Details(this);
    this.legend = new Legend(this);
    this.text = new Text(this);
    this.range = make("span", { class: "tl-range" });
    this.live = make("div", { class: "tl-live", "aria-live": "polite" });
    this.player = new Player(this);
    this.help = make("details", { class: "tl-keys" }, make("summary", {}, "keys and pointer"), facts(keyHelp));
    const main = make("div", { class: "tl-main" }, this.controls(), this.player.element, this.stage.element, this.legend.element);
    this.place.prepend(main, this.details.element);
    this.place.append(this.help, this.text.element, this.live);
    this.place.classList.add("tl-alive");
  }

  controls() {
    const found = this.finds.some((f) => f.somewhere) ? [
      button("◀ finding", () => this.step(-1), { "aria-label": "previous finding", class: "tl-previous" }),
      button("finding ▶", () => this.step(1), { "aria-label": "next finding", class: "tl-next" }),
    ] : [];
    return make("div", { class: "tl-controls", role: "group", "aria-label": "visible time" }, ...found,
      button("−", () => this.view.zoom(1 / .6), { "aria-label": "zoom out" }), button("+", () => this.view.zoom(.6), { "aria-label": "zoom in" }),
      button("whole run", () => this.view.whole(), { class: "tl-whole" }), this.range);
  }

  // begin draws the timeline for the first time, at the first violation if there is one.
  begin() {
    this.curves = curvesOf(this.place);
    this.dress();
    this.stage.name();
    this.stage.measure();
    const asked = this.panel.asked(), first = asked >= 0 ? asked : this.finds.findIndex((f) => f.somewhere && f.v === "violated");
    if (first >= 0) this.jump(first, true);
    if (asked >= 0) this.jumpToStep(asked, this.panel.askedStep(asked), true);
    this.draw();
    this.ready = performance.now();
    this.gone = new AbortController();
    const { signal } = this.gone;
    this.resized = new ResizeObserver(() => this.stage.measure());
    this.resized.observe(this.stage.scroll);
    document.addEventListener("themechange", () => { this.dress(); this.redraw(); }, { signal });
    addEventListener("hashchange", () => this.follow(), { signal });
  }

  // close ends what outlives the element.
  close() {
    this.player.pause();
    this.gone.abort();
    this.resized.disconnect();
  }

  // follow goes to the finding that the address names.
  follow() {
    const i = this.panel.asked();
    if (i < 0) return;
    this.jump(i);
    this.jumpToStep(i, this.panel.askedStep(i));
  }

  // dress reads the colours of the current theme.
  dress() {
    this.palette = new Palette(this.place);
    this.legend.draw();
  }

  // redraw draws in the next frame: all, or only the overlay.
  redraw(part = "lanes") {
    if (!this.dirty.lanes && !this.dirty.over) requestAnimationFrame(() => this.draw());
    this.dirty[part] = true;
  }

  draw() {
    if (devicePixelRatio !== this.palette.scale) this.dress();
    const began = performance.now(), { lanes } = this.dirty;
    this.dirty = { lanes: false, over: false };
    if (lanes) {
      drawLanes(this);
      drawStrip(this);
      for (const svg of this.curves) drawCurve(svg, this.view);
      this.frame = { operations: this.stage.lanes.count + this.stage.strip.count, millis: performance.now() - began };
      this.range.textContent = this.view.toString();
    }
    drawAxis(this);
    drawOver(this);
  }

  // jump goes to a finding and selects its grants.
  jump(i, atOnce = false) {
    const find = this.finds[i];
    [this.find, this.chosenStep] = [i, -1];
    this.select(find.g || []);
    this.panel.reveal(i);
    if (find.somewhere) this.showTime(...rangeOf(this.model, find), { atOnce, exactly: true });
    this.stage.reveal(this.rowOfFind(find));
    this.say(`${find.name}: ${find.v}`);
  }

  // here returns the step at which the reader looks, if it has a place.
  get here() {
    const step = this.finds[this.find]?.x[this.chosenStep];
    return step?.p ? { from: step.f || 0, to: step.t || 0, row: this.rowOfStep(step), text: step.x } : null;
  }

  // jumpToStep shows a step of a finding's story, and of the finding as much as is near.
  jumpToStep(i, n, atOnce = false) {
    if (n < 0) return;
    [this.find, this.chosenStep] = [i, n];
    this.panel.mark();
    const { here } = this;
    if (!here) return;
    const { from, to, row, text } = here, [begin, end] = this.finds[i].somewhere ? rangeOf(this.model, this.finds[i]) : [from, to];
    this.showTime(Math.min(from, begin), Math.max(to, end), { atOnce });
    this.stage.reveal(row);
    this.stage.element.scrollIntoView({ block: "nearest" });
    this.say(text);
    this.redraw();
  }

  // rowOfStep returns the row of what a step is about: a lane, or the fault that began then.
  rowOfStep(step) {
    return this.lanes.rows.find(({ lane }) => lane && (step.l >= 0 ? lane.number === step.l : step.k === "fault" && lane.number < 0 && lane.spans.some((s) => s.f === (step.f || 0))));
  }

  // rowOfFind returns the first row that shows a finding.
  rowOfFind(find) {
    return this.lanes.rows.find(({ lane }) => {
      let seen = false;
      lane?.sets.forEach(([state, set]) => set.near(find.f, find.t, (s) => { seen ||= state === "clash" || (find.g || []).includes(s.g); }));
      return seen;
    });
  }

  // step goes to the finding that many places further on.
  step(by) {
    const shown = this.finds.map((f, i) => i).filter((i) => this.finds[i].somewhere);
    if (!shown.length) return this.say("no finding in this run");
    const now = shown.indexOf(this.find);
    this.jump(shown[(now < 0 && by < 0 ? shown.length - 1 : now + by + shown.length) % shown.length]);
  }

  showTime(from, to, { atOnce = false, exactly = false } = {}) {
    const margin = exactly ? 0 : Math.max((to - from) * .3, this.view.least);
    if (atOnce) this.view.set(from - margin, to + margin); else this.view.glide(from - margin, to + margin);
  }

  // goTo shows a grant.
  goTo(grant) {
    this.showTime(grant.f, grant.t);
    const g = this.model.grants.indexOf(grant);
    this.stage.reveal(this.lanes.rows.find(({ lane }) => lane?.sets.some(([, set]) => set.spans.some((s) => s.g === g))));
  }

  select(grants) {
    this.selected = new Set(grants);
    this.panel.mark();
    this.redraw();
  }

  // pick describes the item and selects its grant.
  pick(item, more) {
    this.details.show(item);
    const g = (item?.span || item?.mark || {}).g, has = g >= 0 && this.model.grants?.[g];
    if (!has) return this.select(item || more ? this.selected : []);
    const others = more ? [...this.selected].filter((other) => other !== g) : [];
    this.select(this.selected.has(g) && (more || this.selected.size === 1) ? others : [...others, g]);
  }

  // choose moves the keyboard cursor.
  choose(item) {
    this.cursor = item;
    this.details.show(item);
    this.view.reveal(item.from, item.to);
    this.stage.reveal(this.lanes.rowOf(item.lane));
    const { title, facts: all } = describe(this.model, item);
    this.say([title, ...all.slice(0, 4).map(([name, text]) => `${name} ${text}`)].join("; "));
    this.redraw();
  }

  letGo() {
    this.cursor = null;
    this.chosenStep = -1;
    this.pointer.leave();
    this.details.show(null);
    this.select([]);
  }

  toggle(group) {
    this.lanes.toggle(group);
    this.stage.name();
    this.stage.measure();
    this.stage.names.querySelector(`[data-group="${CSS.escape(group)}"]`)?.focus();
  }

  // say announces a text to screen readers.
  say(text) { this.live.textContent = text; }
}
