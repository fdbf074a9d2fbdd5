// Functions of every page: theme, sortable tables, folds, filters. lockstorm.enhance(element) does for
// an element that is added later what is done here for the page.

// The theme: system, light or dark. The choice lasts while the page is open: a page opened from a
// disk has no storage of its own.
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

// Folds: a link into a fold opens it.
const reveal = () => {
  if (location.hash.length < 2) return;
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", reveal);
document.addEventListener("click", (e) => { // a repeated click does not change the hash
  const link = e.target.closest && e.target.closest("a[href^='#']");
  if (link && link.getAttribute("href") === location.hash) reveal();
});
reveal();

// Tables: a click on the head of a column sorts by it, a second one in reverse, a third restores
// the order of the page. Rows stay below their heading.
const sortTables = (root) => {
  for (const table of root.querySelectorAll("table.sorts")) {
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
      if (!head.textContent.trim()) return; // its button would have no name
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
};

// A table or drawing that fits its page scrolls with it, so its head sticks to the window. One
// that is too wide scrolls in a box.
const fitWide = (root) => {
  for (const wide of root.querySelectorAll("table.filters, .frame")) {
    const box = wide.parentElement;
    const fit = () => box.classList.toggle("fits", wide.offsetWidth <= box.offsetWidth);
    for (const element of [box, wide]) new ResizeObserver(fit).observe(element);
    fit();
  }
};

// Filters: rows with some words, with a violation, or with marks only. A heading disappears with its
// rows.
const filterTables = (root) => {
  for (const table of root.querySelectorAll("table[data-filters]")) {
    const box = document.createElement("p");
    box.className = "filter";
    const labelled = (text, type) => {
      const label = document.createElement("label"), input = document.createElement("input");
      input.type = type;
      if (type === "checkbox") label.append(input, " " + text);
      else label.append(text + " ", input);
      box.append(label, " ");
      return input;
    };
    const words = labelled("rows with", "search");
    const only = [["td.violates", "only rows with a violation"], ["td.bad, td.open, td.marked", "only rows that are marked"]]
      .filter(([cells]) => table.querySelector(cells)).map(([cells, text]) => ({ cells, box: labelled(text, "checkbox") }));
    const count = document.createElement("output");
    box.append(count);
    (table.closest(".scroll") || table).before(box);
    const rows = [...table.tBodies[0].rows].filter((r) => !r.classList.contains("head"));
    const narrow = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter((w) => w);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !wanted.every((w) => text.includes(w)) || only.some(({ cells, box }) => box.checked && !row.querySelector(cells));
        if (!row.hidden) shown++;
      }
      let head = null, any = false;
      for (const row of [...table.tBodies[0].rows, null]) {
        if (row === null || row.classList.contains("head")) {
          if (head) head.hidden = !any;
          head = row;
          any = false;
        } else if (!row.hidden) any = true;
      }
      count.textContent = shown === rows.length ? "" : shown + " of " + rows.length;
    };
    words.addEventListener("input", narrow);
    for (const { box } of only) box.addEventListener("change", narrow);
  }
};

const enhance = (root) => {
  for (const part of [sortTables, fitWide, filterTables]) part(root);
};
enhance(document);
(window.lockstorm ||= {}).enhance = enhance;
