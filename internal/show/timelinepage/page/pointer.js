// The pointer shows the item below it, drags the lanes, and zooms. A plain wheel scrolls the
// page.

class Pointer {
  constructor(tl) {
    this.tl = tl;
    this.x = null; // on the canvas; null: elsewhere
    this.item = null;
    this.chosen = null; // the range of pixels being chosen on the axis
    this.down = new Map(); // pressed pointers, by their id
    this.listen(tl.stage.canvas);
    this.listenOnAxis(tl.stage.axis.canvas);
    this.tip = make("div", { class: "tl-tip", hidden: "" });
    tl.place.append(this.tip);
  }

  listen(canvas) {
    const on = (name, hear) => canvas.addEventListener(name, (e) => hear(e), { passive: false });
    on("pointermove", (e) => (this.down.has(e.pointerId) ? this.drag(e) : this.point(e)));
    on("pointerdown", (e) => this.press(e));
    on("pointerup", (e) => this.release(e));
    on("pointercancel", (e) => this.down.delete(e.pointerId));
    on("pointerleave", () => this.leave());
    on("dblclick", (e) => this.tl.view.zoom(.4, e.offsetX));
    on("wheel", (e) => this.wheel(e));
  }

  // point shows the item at a place.
  point(e) {
    this.x = e.offsetX;
    this.item = itemAt(this.tl, e.offsetX, e.offsetY);
    this.tl.stage.canvas.style.cursor = this.item ? "pointer" : "";
    this.tell(e);
    this.tl.redraw("over");
  }

  leave() {
    [this.x, this.item, this.tip.hidden] = [null, null, true];
    this.tl.redraw("over");
  }

  tell(e) {
    this.tip.hidden = !this.item;
    if (!this.item) return;
    const { title, facts: all } = describe(this.tl.model, this.item);
    this.tip.replaceChildren(make("strong", {}, title), facts(all));
    const { offsetWidth: w, offsetHeight: h } = this.tip, right = document.documentElement.clientWidth;
    this.tip.style.left = Math.max(4, e.clientX + 16 + w > right ? Math.min(e.clientX - w - 12, right - w - 4) : e.clientX + 16) + "px";
    this.tip.style.top = Math.max(4, e.clientY + 18 + h > innerHeight ? e.clientY - h - 14 : e.clientY + 18) + "px";
  }

  press(e) {
    if (e.button) return;
    this.down.set(e.pointerId, e.offsetX);
    this.moved = 0;
    this.tl.stage.canvas.setPointerCapture(e.pointerId);
  }

  // drag moves the lanes with one pointer, and stretches them with two.
  drag(e) {
    const was = this.down.get(e.pointerId), { view } = this.tl;
    this.down.set(e.pointerId, e.offsetX);
    this.moved += Math.abs(e.offsetX - was);
    if (this.moved < 4) return;
    this.tip.hidden = true;
    if (this.down.size === 1) return view.pan(was - e.offsetX);
    const other = [...this.down].find(([id]) => id !== e.pointerId)[1];
    view.zoom(Math.max(8, Math.abs(was - other)) / Math.max(8, Math.abs(e.offsetX - other)), (e.offsetX + other) / 2);
  }

  release(e) {
    if (!this.down.delete(e.pointerId) || this.moved >= 4) return;
    this.point(e);
    this.tl.pick(this.item, e.shiftKey);
    if (e.pointerType !== "mouse") this.tip.hidden = true;
  }

  // wheel zooms with Ctrl, which pinching on a touch pad sets too, and pans sideways.
  wheel(e) {
    const lines = e.deltaMode === 1 ? 16 : 1, { view } = this.tl;
    if (e.ctrlKey || e.metaKey) view.zoom(Math.exp(Math.min(60, Math.max(-60, e.deltaY * lines)) * .01), e.offsetX);
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) view.pan((e.deltaX || e.deltaY) * lines);
    else return;
    e.preventDefault();
    this.point(e);
  }

  // listenOnAxis zooms to the range that is dragged on the axis.
  listenOnAxis(axis) {
    axis.addEventListener("pointerdown", (e) => { this.chosen = [e.offsetX, e.offsetX]; axis.setPointerCapture(e.pointerId); });
    axis.addEventListener("pointermove", (e) => {
      this.x = e.offsetX;
      if (this.chosen) this.chosen[1] = e.offsetX;
      this.tl.redraw("over");
    });
    axis.addEventListener("pointerleave", () => this.leave());
    axis.addEventListener("pointercancel", () => { this.chosen = null; });
    axis.addEventListener("pointerup", () => {
      if (!this.chosen) return;
      const [a, b] = this.chosen.sort((a, b) => a - b), { view } = this.tl;
      this.chosen = null;
      if (b - a > 4) view.glide(view.t(a), view.t(b)); else this.tl.redraw("over");
    });
  }
}
