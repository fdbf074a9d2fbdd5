// View is the visible time, and maps instants to pixels.
class View {
  constructor(end, changed) {
    this.end = Math.max(end, 1);
    this.least = Math.min(200, this.end);
    this.width = 1;
    this.changed = changed;
    [this.from, this.to] = [0, this.end];
  }

  get size() { return this.to - this.from; }
  x(t) { return (t - this.from) / this.size * this.width; }
  t(x) { return this.from + x / this.width * this.size; }

  // toString prints the visible time.
  toString() {
    const fine = this.size / 1000;
    return `${instant(this.from, fine)} to ${instant(this.to, fine)} (${duration(this.size)} of ${duration(this.end)})`;
  }

  // set shows a time range. One that is too short is widened, one beyond the run is moved into it.
  set(from, to) {
    this.gliding = null;
    this.put(from, to);
  }

  put(from, to) {
    const size = Math.min(Math.max(to - from, this.least), this.end);
    from = Math.min(Math.max((from + to - size) / 2, 0), this.end - size);
    [this.from, this.to] = [from, from + size];
    this.changed();
  }

  // zoom multiplies the visible time by a factor. The instant at x stays there.
  zoom(times, x = this.width / 2) {
    const size = Math.min(Math.max(this.size * times, this.least), this.end);
    const from = this.t(x) - x / this.width * size;
    this.set(from, from + size);
  }

  pan(pixels) {
    const by = Math.min(Math.max(pixels / this.width * this.size, -this.from), this.end - this.to);
    this.set(this.from + by, this.to + by);
  }

  whole() { this.glide(0, this.end); }

  // glide moves to a time range in steps, or at once if the user prefers reduced motion.
  glide(from, to) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.set(from, to);
    const way = this.gliding = { from: this.from, to: this.to, began: performance.now() };
    const step = (now) => {
      if (this.gliding !== way) return;
      const part = Math.min(1, Math.max(0, (now - way.began) / 220)), ease = 1 - (1 - part) ** 3;
      this.put(way.from + (from - way.from) * ease, way.to + (to - way.to) * ease);
      if (part < 1) requestAnimationFrame(step); else this.gliding = null;
    };
    requestAnimationFrame(step);
  }

  // reveal pans to an instant.
  reveal(from, to) {
    if (to >= this.from + this.size * .05 && from <= this.to - this.size * .05) return;
    const middle = (from + Math.min(to, from + this.size)) / 2;
    this.set(middle - this.size / 2, middle + this.size / 2);
  }
}
