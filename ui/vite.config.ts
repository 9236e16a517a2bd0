import { defineConfig } from "vitest/config";
import { build } from "./vite.shared.ts";

// A single script without imports, including the style, so that it can be embedded in a page.
export default defineConfig({
  build: {
    ...build,
    lib: { entry: "src/main.ts", formats: ["iife"], name: "fathomTrace", fileName: () => "trace.js" },
  },
  test: { include: ["test/**/*.test.ts"] },
});
