import { defineConfig } from "vitest/config";
import { build } from "./vite.shared";

// One script without imports, so that a page can hold it; the style is in it.
export default defineConfig({
  build: {
    ...build,
    lib: { entry: "src/main.ts", formats: ["iife"], name: "fathomTrace", fileName: () => "trace.js" },
  },
  test: { include: ["test/**/*.test.ts"] },
});
