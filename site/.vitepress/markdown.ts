// The pages are also read at GitHub, so here Markdown means what it means there.

import { existsSync, statSync } from "node:fs";
import { posix, relative } from "node:path";
import type { MarkdownOptions } from "vitepress";
import { pages, repository, root, route } from "./pages";

type Renderer = Parameters<NonNullable<MarkdownOptions["config"]>>[0];

/** The anchor of a heading, as GitHub makes it. */
export function slugify(heading: string): string {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{N}\-_ ]/gu, "").replaceAll(" ", "-");
}

/**
 * Where a link of a page leads on the site: a page's own path, or GitHub for what is no page.
 * It throws if a relative link leads to no file.
 */
export function target(page: string, href: string): string {
  if (/^[a-z][a-z0-9+.-]*:|^#|^\//i.test(href)) return href;
  const [path, anchor] = href.split("#", 2);
  const file = posix.join(posix.dirname(page), decodeURI(path)).replace(/\/$/, "");
  const behind = anchor ? "#" + anchor : "";
  if (pages.has(file)) return route(file) + behind;
  if (!existsSync(root + file)) throw new Error(`${page}: the link (${href}) leads to no file`);
  return `${repository}/${statSync(root + file).isDirectory() ? "tree" : "blob"}/main/${file}${behind}`;
}

function configure(md: Renderer) {
  md.linkify.set({ fuzzyLink: false }); // GitHub makes no link of redis.io
  md.core.ruler.push("links-of-the-project", ({ tokens, env }) => {
    if (!env.path) return; // a title alone
    const page = relative(root, env.realPath ?? env.path).replaceAll("\\", "/");
    for (const token of tokens.flatMap((t) => t.children ?? [])) {
      const href = token.type === "link_open" && token.attrGet("href");
      if (href) token.attrSet("href", target(page, href));
    }
  });
  // Vue would take {{ in a text for an expression.
  const text = md.renderer.rules.text!;
  md.renderer.rules.text = (...of) => text(...of).replaceAll("{{", "&#123;&#123;");
}

export const markdown: MarkdownOptions = {
  anchor: { slugify },
  attrs: { disable: true }, // braces at the end of a paragraph are text
  emoji: { shortcuts: {} },
  config: configure,
};
