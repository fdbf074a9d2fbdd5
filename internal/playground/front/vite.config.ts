import { defineConfig } from "vite";

// The result is static files with relative addresses, so that any host serves it under any path.
export default defineConfig({
  base: "./",
  build: { outDir: "dist", emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 1024, license: { fileName: "licenses.md" } },
  worker: { format: "es" },
});
