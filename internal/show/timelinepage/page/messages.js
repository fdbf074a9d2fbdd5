// The diagram of the messages below a timeline: a drawing whose rows have data-t, their times. It
// marks the row of the instant that the timeline shows, and a click on a row shows its instant.

const messagesOf = (place) => following(place, "svg.sequence[role='img']")[0];

// followMessages lets clicks in the diagram set the instant.
function followMessages(tl) {
  const svg = messagesOf(tl.place);
  if (!svg) return;
  tl.messages = { svg, rows: [...svg.querySelectorAll("[data-t]")].map((row) => ({ t: Number(row.dataset.t), y: Number(row.getAttribute("y1")) })) };
  svg.addEventListener("click", (e) => {
    const y = (e.clientY - svg.getBoundingClientRect().top) * svg.viewBox.baseVal.height / svg.clientHeight;
    const row = tl.messages.rows.filter((one) => one.y <= y + 10).at(-1);
    if (row) tl.player.go(row.t);
  });
}

// markMessages marks the last row that is not later than an instant.
function markMessages({ messages }, at) {
  const row = messages?.rows.filter(({ t }) => t <= at).at(-1);
  if (!row || messages.row === row) return;
  messages.row = row;
  const { svg } = messages;
  svg.querySelector(".now")?.remove();
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ class: "now", x: 0, y: row.y - 10, width: svg.viewBox.baseVal.width, height: 22 })) mark.setAttribute(name, value);
  svg.querySelector("rect, line, text").before(mark);
  revealRow(svg, row.y);
}

// revealRow scrolls the box of the diagram, not the page.
function revealRow(svg, y) {
  const box = svg.closest(".scroll");
  if (!box || box.scrollHeight <= box.clientHeight) return;
  const at = y * svg.clientHeight / svg.viewBox.baseVal.height;
  if (at < box.scrollTop + 60 || at > box.scrollTop + box.clientHeight - 40) box.scrollTop = at - box.clientHeight / 2;
}
