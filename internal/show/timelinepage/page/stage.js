// Stage has the canvases and the names beside them. Only visible lanes are drawn: an empty
// element of their full height scrolls, and the canvas sticks to its window.
class Stage {
  constructor(tl) {
    this.tl = tl;
    this.top = 0; // scroll position of the lanes
    this.height = 1;
    const strip = make("canvas", { class: "tl-strip", "aria-hidden": "true" });
    const axis = make("canvas", { class: "tl-axis", "aria-hidden": "true" });
    const over = make("canvas", { class: "tl-over", "aria-hidden": "true" });
    this.canvas = make("canvas", {
      class: "tl-lanes", tabindex: "0", role: "application", "aria-roledescription": "timeline",
      "aria-label": `the run on ${tl.lanes.own.length} lanes; the question mark lists the keys`,
    });
    this.names = make("div", { class: "tl-names" });
    this.sticky = make("div", { class: "tl-sticky" }, this.canvas, over);
    this.space = make("div", { class: "tl-space" }, this.names, this.sticky);
    this.scroll = make("div", { class: "tl-scroll", scroll: () => this.scrolled() }, this.space);
    this.element = make("div", { class: "tl-stage" }, strip, axis, this.scroll);
    [this.strip, this.axis, this.lanes, this.over] = [strip, axis, this.canvas, over].map((c) => new Brush(c));
  }

  // measure reads the sizes from the page after the lanes or the page have changed.
  measure() {
    this.space.style.height = this.tl.lanes.height + "px";
    this.height = Math.max(1, Math.min(this.scroll.clientHeight, this.tl.lanes.height));
    this.sticky.style.height = this.height + "px";
    this.tl.view.width = Math.max(40, this.sticky.clientWidth);
    this.top = this.scroll.scrollTop;
    this.tl.redraw();
  }

  scrolled() {
    this.top = this.scroll.scrollTop;
    this.tl.redraw();
  }

  // name writes the names of the rows. The heads of groups open and close them.
  name() {
    const { lanes } = this.tl;
    this.names.replaceChildren(...lanes.rows.map((row) => {
      const style = `top: ${row.y}px; height: ${row.height}px`;
      if (!row.lane) return this.head(row, style);
      const { lane } = row, range = lane.samples.length ? [make("small", {}, values(lane.least, lane.most, lane.unit))] : [];
      return make("div", { class: "tl-name" + (row.height < 18 ? " tl-small" : ""), style, title: lane.name }, make("span", {}, lane.name), ...range);
    }));
  }

  head(row, style) {
    const { lanes } = this.tl, open = !lanes.closed.has(row.group), count = lanes.all.filter((l) => l.group === row.group).length;
    return button(`${open ? "▾" : "▸"} ${row.group} (${count})`, () => this.tl.toggle(row.group), { class: "tl-head", style, "aria-expanded": String(open), "data-group": row.group });
  }

  // reveal scrolls a row into view.
  reveal(row) {
    if (!row) return;
    const above = row.y - 24, below = row.y + row.height + 24 - this.height;
    if (this.top > above) this.scroll.scrollTop = above; else if (this.top < below) this.scroll.scrollTop = below;
    this.top = this.scroll.scrollTop;
  }
}
