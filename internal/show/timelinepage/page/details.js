// The details of the chosen item, below the lanes.

class Details {
  constructor(tl) {
    this.tl = tl;
    this.element = make("div", { class: "tl-details", role: "group", "aria-label": "details" });
    this.show(null);
  }

  show(item) {
    this.element.classList.toggle("tl-empty", !item);
    if (!item) return this.element.replaceChildren(make("p", { class: "soft" }, "Click an operation to see its details."));
    const { tl } = this, { title, facts: all } = describe(tl.model, item), g = (item.span || item.mark || {}).g;
    const row = make("div", { class: "tl-buttons" });
    if (g >= 0 && tl.model.grants[g]) {
      row.append(button("select its grant", () => tl.select(tl.selected.has(g) ? [] : [g]), { "data-grant": g, "aria-pressed": String(tl.selected.has(g)) }));
      row.append(button("show the grant", () => tl.goTo(tl.model.grants[g])));
    }
    this.element.replaceChildren(make("h4", {}, title), facts(all), row);
  }
}

// Legend shows the states that occur.
class Legend {
  constructor(tl) {
    this.tl = tl;
    this.present = states.filter((state) => tl.lanes.all.some((lane) => lane.sets.some(([s]) => s === state)));
    this.swatches = this.present.map(() => new Brush(make("canvas", { "aria-hidden": "true" })));
    const marks = tl.lanes.all.some((lane) => lane.marks.some((m) => m.b)) ? [make("li", {}, make("span", { class: "tl-diamond", "aria-hidden": "true" }, "◆"), "found by the checker")] : [];
    this.element = make("ul", { class: "tl-legend", "aria-label": "legend" },
      ...this.present.map((state, i) => make("li", { title: looks[state].says }, this.swatches[i].canvas, state)), ...marks);
  }

  draw() {
    const { palette } = this.tl;
    this.present.forEach((state, i) => {
      const brush = this.swatches[i], path = new Path2D(), { top, bottom } = looks[state];
      brush.clear(26, 14, palette.scale);
      brush.bar(path, 0, 14 * top, 26, Math.max(3, 14 * (bottom - top)));
      brush.fill(path, palette.fill[state]);
      if (palette.hatch[state]) brush.fill(path, palette.hatch[state]);
    });
  }
}
