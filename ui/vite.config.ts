import { defineConfig } from "vitest/config";

// One script without imports, so that a page can hold it; the style is in it.
export default defineConfig({
  build: {
    target: "es2022",
    outDir: "dist",
    // The page of fathom watch is built beside it.
    emptyOutDir: false,
    modulePreload: false,
    lib: { entry: "src/main.ts", formats: ["iife"], name: "fathomTrace", fileName: () => "trace.js" },
  },
  test: { include: ["test/**/*.test.ts"] },
});
