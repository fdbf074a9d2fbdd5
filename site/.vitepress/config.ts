import { readdirSync } from "node:fs";
import { defineConfig } from "vitepress";
import type { Plugin } from "vite";
import { markdown } from "./markdown";
import { pages, repository, rewrites, root, route, tasks, title } from "./pages";

const evidence = "Evidence"; // has as many pages as all other tasks, so it is closed at first

const playground = { text: "Playground", link: "/playground/", target: "_self", noIcon: true };

// Directories without pages.
const others = readdirSync(root, { withFileTypes: true })
  .filter((e) => e.isDirectory() && e.name !== "docs" && e.name !== "site")
  .map((e) => e.name + "/**");

// Pages lie outside of the directory in which Vite looks for Vue. When the pages are rendered, Node
// loads it; the browser gets what VitePress names.
const vueOfTheSite: Plugin = {
  name: "vue-of-the-site",
  enforce: "pre",
  resolveId: (id, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined),
};

// The pages stay where they are: the directory of sources is the project's.
export default defineConfig({
  title: "Lockstorm",
  description: "A test of distributed locks: does this lock hold, and under exactly which assumptions?",
  lang: "en",
  base: process.env.SITE_BASE || "/lockstorm/",
  srcDir: "..",
  srcExclude: others,
  rewrites,
  outDir: "dist",
  cacheDir: "node_modules/.cache/vitepress",
  ignoreDeadLinks: [/^\/playground\//], // which is put beside the pages
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown,
  themeConfig: {
    nav: [
      ...["docs/test-your-lock.md", "docs/reproduce.md", "docs/evidence/README.md"].map((page) => ({ text: title(page), link: route(page) })),
      playground,
      { text: "GitHub", link: repository, noIcon: true },
    ],
    sidebar: tasks.map(({ task, pages }) => ({
      text: task,
      collapsed: task === evidence ? true : false,
      items: pages.map((page) => ({ text: title(page), link: route(page) })),
    })),
    outline: { level: [2, 3] },
    search: { provider: "local" },
    editLink: { pattern: repository + "/edit/main/:path", text: "Edit this page" },
    externalLinkIcon: false,
  },
  vite: { plugins: [vueOfTheSite], build: { chunkSizeWarningLimit: 1024 } },
  transformPageData(page) {
    if (page.filePath !== "site/index.md" && !pages.has(page.filePath)) throw new Error(`${page.filePath} is not in site/nav.json`);
  },
});
