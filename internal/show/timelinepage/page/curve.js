// Curves below a timeline, on its axis: drawings with data-curve, the time at their right end, and with
// data-left and data-right, the ends of their axis.

// curvesOf returns the curves between a timeline and the next.
const curvesOf = (place) => following(place, "svg[data-curve]");

// following returns the elements between a timeline and the next.
function following(place, wanted) {
  const follows = (a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING;
  const next = [...document.querySelectorAll(".timeline")].find((other) => follows(place, other));
  return [...document.querySelectorAll(wanted)].filter((element) => follows(place, element) && !(next && follows(next, element)));
}

// drawCurve shows the visible time of a timeline in a curve.
function drawCurve(svg, view) {
  const [end, left, right] = ["curve", "left", "right"].map((name) => Number(svg.dataset[name]));
  const x = (t) => left + (t - view.from) / view.size * (right - left), scale = end / view.size;
  svg.querySelector("[data-scaled]").setAttribute("transform", `translate(${x(0) - left * scale} 0) scale(${scale} 1)`);
  for (const dot of svg.querySelectorAll("[data-t]")) {
    const at = x(Number(dot.dataset.t));
    dot.setAttribute("cx", at);
    dot.style.display = at < left || at > right ? "none" : "";
  }
  for (const label of svg.querySelectorAll("[data-share]")) {
    label.textContent = instant(view.from + view.size * Number(label.dataset.share), view.size / 1000);
  }
}
