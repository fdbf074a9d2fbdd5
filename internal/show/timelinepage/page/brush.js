// Brush draws on a canvas in CSS pixels, and counts the drawing operations.
class Brush {
  constructor(canvas) {
    this.canvas = canvas;
    this.c = canvas.getContext("2d");
    this.count = 0;
  }

  // clear sets the size and clears the canvas.
  clear(width, height, scale) {
    const [w, h] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      [this.canvas.width, this.canvas.height] = [w, h];
      [this.canvas.style.width, this.canvas.style.height] = [width + "px", height + "px"];
    }
    [this.width, this.height, this.count] = [width, height, 0];
    this.c.setTransform(scale, 0, 0, scale, 0, 0);
    this.c.clearRect(0, 0, width, height);
  }

  // bar adds a rectangle to a path. Wide ones have round corners.
  bar(path, x, y, width, height) {
    this.count++;
    if (width > 8 && height > 6) path.roundRect(x, y, width, height, 2.5);
    else path.rect(x, y, width, height);
  }

  fill(path, style, alpha = 1) {
    this.count++;
    [this.c.fillStyle, this.c.globalAlpha] = [style, alpha];
    this.c.fill(path);
    this.c.globalAlpha = 1;
  }

  stroke(path, style, width = 1, alpha = 1) {
    this.count++;
    [this.c.strokeStyle, this.c.lineWidth, this.c.globalAlpha] = [style, width, alpha];
    this.c.stroke(path);
    this.c.globalAlpha = 1;
  }

  rect(x, y, width, height, style, alpha = 1) {
    this.count++;
    [this.c.fillStyle, this.c.globalAlpha] = [style, alpha];
    this.c.fillRect(x, y, width, height);
    this.c.globalAlpha = 1;
  }

  // lettersIn estimates how many letters fit a width. Measuring each text would take longer
  // than all other drawing.
  lettersIn(width, font) { return Math.floor(width / (parseFloat(font.match(/(\d+)px/)[1]) * .56)); }
  fits(text, width, font) { return text.length <= this.lettersIn(width, font); }

  // text writes as much as fits a width, but not a single letter of a longer text.
  text(text, x, y, width, style, font, align = "left") {
    const room = this.lettersIn(width, font);
    if (room < Math.min(3, text.length)) return;
    this.count++;
    [this.c.fillStyle, this.c.font, this.c.textAlign, this.c.textBaseline] = [style, font, align, "middle"];
    this.c.fillText(text.length > room ? text.slice(0, room - 1) + "…" : text, x, y);
  }
}
