(selector, least) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  canvas.canvas.width = canvas.canvas.height = 1;
  // rgba returns the parts of a colour in any notation, from 0 to 255, and its opacity from 0 to 1.
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((v, i) => v * a + below[i] * (1 - a)).concat(1);
  // behind returns the colour behind an element: its background, or that of what it lies on.
  const behind = (e) => {
    if (!e) return [255, 255, 255, 1];
    const own = rgba(getComputedStyle(e).backgroundColor);
    return own[3] >= .999 ? own : over(own, behind(e.parentElement));
  };
  const luminance = (colour) => colour.slice(0, 3).map((v) => v / 255).map((v) => (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const low = [], texts = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
  while (texts.nextNode() && low.length < 10) {
    const text = texts.currentNode, e = text.parentElement;
    if (!text.data.trim() || e.closest("svg, script, style, noscript, [disabled]") || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || !e.getClientRects().length) continue;
    const ground = behind(e), ink = over(rgba(getComputedStyle(e).color), ground);
    const [dark, light] = [luminance(ink), luminance(ground)].sort((a, b) => a - b), ratio = (light + .05) / (dark + .05);
    if (ratio < least) low.push(`${ratio.toFixed(2)}: ${text.data.trim().slice(0, 40)}`);
  }
  return low;
}
