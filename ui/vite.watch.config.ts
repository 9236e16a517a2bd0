import { defineConfig } from "vite";
import { build } from "./vite.shared.ts";

// The page of fathom watch: one script and one style, embedded by the server; nothing is loaded
// from elsewhere.
export default defineConfig({
  build: {
    ...build,
    lib: { entry: "src/watch/main.ts", formats: ["es"], fileName: () => "watch.js", cssFileName: "watch" },
  },
});
