// The findings are in the page as text. This adds their buttons.

class Finds {
  constructor(tl) {
    this.tl = tl;
    this.articles = [...tl.place.querySelectorAll("[data-find]")];
    this.articles.forEach((article, i) => {
      article.append(this.buttons(tl.finds[i], i));
      this.steps(article).forEach((step, n) => step.querySelector("a")?.addEventListener("click", (e) => this.pressed(e, i, n)));
    });
  }

  steps(article) { return [...article.querySelectorAll(".tl-steps li")]; }

  // pressed shows a step without moving the page to its text, which is in sight.
  pressed(event, i, n) {
    event.preventDefault();
    event.stopPropagation();
    history.replaceState(null, "", "#" + this.steps(this.articles[i])[n].id);
    this.tl.jumpToStep(i, n);
  }

  buttons(find, i) {
    const { tl } = this, { model } = tl, row = make("div", { class: "tl-buttons" });
    if (find.somewhere) row.append(button("show", () => this.show(i), { class: "tl-show", "aria-label": `show where: ${find.name}` }));
    for (const g of find.g || []) {
      if (!model.grants[g]) continue;
      row.append(button(grantName(model, g), () => this.showGrant(i, g), { class: "tl-grant", "data-grant": g, "aria-pressed": "false", "aria-label": `select the grant of ${grantName(model, g)}` }));
    }
    return row;
  }

  // askedStep returns the step that the address names, or -1.
  askedStep(i) { return this.steps(this.articles[i]).findIndex((step) => "#" + step.id === location.hash); }

  // asked returns the finding that the address names, or that one of its steps, or -1.
  asked() { return this.articles.findIndex((article) => [...article.querySelectorAll("[id]")].some((head) => "#" + head.id === location.hash)); }

  show(i) {
    this.tl.jump(i);
    this.tl.stage.element.scrollIntoView({ block: "nearest" });
  }

  showGrant(i, g) {
    const { tl } = this;
    tl.select(tl.selected.has(g) && tl.selected.size === 1 ? [] : [g]);
    if (tl.selected.size) tl.goTo(tl.model.grants[g]);
  }

  // mark marks the current finding and the selected grants.
  mark() {
    const { find, chosenStep: step, selected } = this.tl, mark = (element, is) => (is ? element.setAttribute("aria-current", "true") : element.removeAttribute("aria-current"));
    this.articles.forEach((article, i) => {
      mark(article, i === find);
      this.steps(article).forEach((element, n) => mark(element, i === find && n === step));
    });
    for (const b of this.tl.place.querySelectorAll("[data-grant]")) b.setAttribute("aria-pressed", String(selected.has(Number(b.dataset.grant))));
  }

  // reveal scrolls the panel, not the page.
  reveal(i) {
    const article = this.articles[i], panel = article?.parentElement;
    if (panel && panel.scrollHeight > panel.clientHeight) panel.scrollTop = article.offsetTop - panel.offsetTop - 8;
  }
}

// rangeOf returns the time to show for a finding: its place and its first two grants, cut if
// they are so long that the place would be too small.
function rangeOf(model, find) {
  const grants = (find.g || []).slice(0, 2).map((g) => model.grants[g]).filter(Boolean);
  const size = Math.max(find.t - find.f, 1000), most = size * 60;
  const from = Math.max(Math.min(find.f, ...grants.map((g) => g.f)), find.f - most);
  const to = Math.min(Math.max(find.t, ...grants.map((g) => g.t)), find.t + most);
  const margin = Math.max(to - from, size) * .12;
  return [from - margin, to + margin];
}
