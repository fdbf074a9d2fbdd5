// All that is drawn, as tables. They are made on demand, a page of rows at a time.

const pageRows = 500;

// The tables. A column has a name, the value to sort by, and how to print it.
const tables = {
  grants: {
    rows: ({ model }) => model.grants || [],
    columns: [
      ["client", (g) => g.c], ["resource", (g) => g.r], ["token", (g) => g.k], ["acquire called at", (g) => g.a, instant], ["granted at", (g) => g.f, instant],
      ["held until", (g) => g.t, instant], ["how it ended", (g) => g.h], ["fence", (g) => g.n || 0, (n) => (n ? String(n) : "")],
    ],
    range: (g) => [g.f, g.t],
  },
  events: {
    rows: ({ lanes }) => lanes.own.flatMap(itemsOf).sort((a, b) => a.from - b.from),
    columns: [
      ["from", (i) => i.from, instant], ["to", (i) => i.to, instant], ["lane", (i) => i.lane.name],
      ["what", (i, model) => describe(model, i).title.slice(i.lane.name.length + 2)], ["more", (i) => (i.span || i.mark || {}).x || ""],
      ["token", (i, model) => model.grants?.[(i.span || i.mark || {}).g]?.k || ""],
    ],
    range: (i) => [i.from, i.to],
  },
  faults: {
    rows: ({ model }) => model.shades || [],
    columns: [
      ["number", (s) => s.n], ["fault", (s) => s.x], ["from", (s) => s.f, instant], ["to", (s) => s.t, instant],
      ["lanes", (s, model) => (s.l || []).map((i) => model.lanes[i]?.name).join(", ") || "all"],
    ],
    range: (s) => [s.f, s.t],
  },
};

class Text {
  constructor(tl) {
    this.tl = tl;
    this.body = make("div");
    this.element = make("details", { class: "tl-text" }, make("summary", {}, "as text: grants, events, faults"), this.body);
    this.element.addEventListener("toggle", () => this.element.open && !this.name && this.open("grants"));
  }

  open(name) {
    [this.name, this.page, this.by, this.sign] = [name, 0, null, 1];
    this.rows = [...tables[name].rows(this.tl)];
    this.show();
  }

  // sort sorts all rows by a column: ascending, descending, then as they were.
  sort(column) {
    if (this.by === column && this.sign < 0) return this.open(this.name);
    this.sign = this.by === column ? -1 : 1;
    [this.by, this.page] = [column, 0];
    const { model } = this.tl, key = tables[this.name].columns[column][1];
    const order = (a, b) => (typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    this.rows = this.rows.map((row) => [key(row, model), row]).sort((a, b) => this.sign * order(a[0], b[0])).map(([, row]) => row);
    this.show();
  }

  turn(by) {
    this.page += by;
    this.show();
  }

  show() {
    const kinds = Object.keys(tables).map((name) => button(name, () => this.open(name), { "aria-pressed": String(name === this.name) }));
    this.body.replaceChildren(make("div", { class: "tl-buttons" }, ...kinds), this.table(), this.pager());
  }

  table() {
    const { columns, range } = tables[this.name], { model } = this.tl, shown = this.rows.slice(this.page * pageRows, (this.page + 1) * pageRows);
    const heads = columns.map(([name], i) => make("th", { scope: "col", "aria-sort": this.by === i && (this.sign > 0 ? "ascending" : "descending") }, button(name, () => this.sort(i))));
    const body = shown.map((row) => make("tr", {}, make("td", {}, button("show", () => this.tl.showTime(...range(row)), { "aria-label": "show what was at " + instant(range(row)[0]) })),
      ...columns.map(([, cell, says = String]) => make("td", {}, says(cell(row, model))))));
    return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": this.name },
      make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "where"), ...heads)), make("tbody", {}, ...body)));
  }

  pager() {
    const pages = Math.max(1, Math.ceil(this.rows.length / pageRows));
    const first = this.page * pageRows, to = Math.min(this.rows.length, first + pageRows);
    return make("div", { class: "tl-buttons" }, button("previous rows", () => this.turn(-1), { disabled: this.page === 0 && "" }),
      button("next rows", () => this.turn(1), { disabled: this.page >= pages - 1 && "" }),
      make("span", { class: "soft" }, this.rows.length ? `rows ${first + 1} to ${to} of ${this.rows.length}` : "no rows"));
  }
}
