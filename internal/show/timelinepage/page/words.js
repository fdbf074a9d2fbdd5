// Texts about what is drawn: captions, tooltips, announcements.

// short shortens a token as the stories do: a random one to its first 8 digits, another long
// one to its beginning and its end.
function short(token) {
  if (/^[0-9a-f]{16,}$/i.test(token)) return token.slice(0, 8);
  const letters = [...token];
  return letters.length > 24 ? letters.slice(0, 8).join("") + "…" + letters.slice(-8).join("") : token;
}

const grantName = (model, g) => `client ${model.grants[g].c}, ${short(model.grants[g].k)}`;

// captions returns the texts for a span. The first one that fits is drawn.
function captions(model, span) {
  const grant = (model.grants || [])[span.g];
  if (span.s === "fault") return [span.x];
  if (span.s === "key" && grant) return [grantName(model, span.g), "client " + grant.c, String(grant.c)];
  if (span.s === "holding" && grant) return [short(grant.k)];
  return [span.s === "clash" ? looks.clash.says : span.s, span.s];
}

const lasting = (from, to, open) => `${instant(from)} to ${open ? "the end" : instant(to)} (${duration(to - from)}${open ? " so far" : ""})`;

// describe returns the title of an item, and named facts about it.
function describe(model, { lane, span, mark, sample }) {
  if (sample) return { title: `${lane.name}: ${value(sample.v, lane.unit)}${sample.b ? ", failed" : ""}`, facts: [["at", instant(sample.t)]] };
  if (mark) return { title: `${lane.name}: ${mark.k}`, facts: [["at", instant(mark.t)], ...more(model, mark)] };
  const from = ["from", lasting(span.f, span.t, span.o)];
  if (span.s === "fault") return { title: "fault: " + span.x, facts: [from] };
  if (span.s === "clash") return { title: `${lane.name}: ${looks.clash.says}`, facts: [from, ...clashFacts(model, span), ...more(model, span)] };
  return { title: `${lane.name}: ${span.s}`, facts: [from, ["is", looks[span.s].says], ...more(model, span)] };
}

// more returns the text and the grant of an item.
const more = (model, { x, g }) => [...(x ? [["more", x]] : []), ...(g >= 0 && model.grants?.[g] ? grantFacts(model.grants[g]) : [])];

// nameOfFind names all properties of a finding.
const nameOfFind = (find) => [find, ...(find.a || [])].map(({ p }) => p).join(", ");

// clashFacts names the finding of an overlap and its two grants.
function clashFacts(model, { f, t }) {
  const find = (model.finds || []).find((one) => one.v === "violated" && one.f < t && one.t > f && (one.g || []).length > 1);
  return find ? [["violates", nameOfFind(find)], ["grants", find.g.slice(0, 2).map((g) => grantName(model, g)).join(" and ")]] : [];
}

// grantFacts returns the facts of a grant.
function grantFacts(g) {
  return [
    ["grant", `client ${g.c} on ${g.r}`], ["token", g.k], ["acquire called at", instant(g.a)], ["granted at", instant(g.f)],
    ["held until", instant(g.t) + (g.h ? ": " + g.h : "")], ...(g.n ? [["fence", String(g.n)]] : []),
  ];
}
