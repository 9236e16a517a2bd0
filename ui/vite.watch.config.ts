import { defineConfig } from "vite";

// The page of fathom watch: one script and one style, which the server embeds; nothing is loaded from elsewhere.
export default defineConfig({
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: false,
    modulePreload: false,
    lib: { entry: "src/watch/main.ts", formats: ["es"], fileName: () => "watch.js", cssFileName: "watch" },
  },
});
