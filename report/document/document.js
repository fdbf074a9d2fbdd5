// What every page can do: choose its colours, sort its tables.

// The theme: as the system has it, light or dark. The choice is for as long as the page is
// open: a page that was opened from a disk has no place of its own to keep it in.
const themes = ["as the system", "light", "dark"];
const theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const next = themes[(themes.indexOf(document.documentElement.dataset.theme || themes[0]) + 1) % themes.length];
  if (next === themes[0]) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  theme.textContent = "theme: " + next;
  document.dispatchEvent(new Event("themechange"));
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("themechange")));

// Tables: a click on the head of a column sorts by it, another one the other way round, a
// third restores the order of the page. Rows stay below the heading that they belong to.
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const groups = [];
  for (const row of body.rows) {
    if (row.classList.contains("head") || groups.length === 0) groups.push({ head: row.classList.contains("head") ? row : null, rows: [] });
    if (!row.classList.contains("head")) groups.at(-1).rows.push(row);
  }
  const key = (row, i) => {
    const cell = row.cells[i];
    return cell.dataset.sort !== undefined ? Number(cell.dataset.sort) : cell.textContent;
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
      const order = next === undefined ? "ascending" : next;
      for (const h of heads) h.removeAttribute("aria-sort");
      if (order) head.setAttribute("aria-sort", order);
      const sign = order === "descending" ? -1 : 1;
      for (const g of groups) {
        const rows = order ? [...g.rows].sort((a, b) => sign * compare(key(a, i), key(b, i))) : g.rows;
        body.append(...(g.head ? [g.head] : []), ...rows);
      }
    });
  });
}
