import { defineConfig } from "vite";

// The result is static files with relative addresses, so that any host serves it under any path.
// scripts/playground.sh empties the directory, and leaves .keep.
export default defineConfig({
  base: "./",
  build: { outDir: "dist", emptyOutDir: false, target: "es2022", chunkSizeWarningLimit: 1024, license: { fileName: "licenses.md" } },
  worker: { format: "es" },
});
