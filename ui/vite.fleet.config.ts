import { defineConfig } from "vite";
import { build } from "./vite.shared.ts";

// The page of fathom fleet: one script and one style, embedded by the server; nothing is loaded
// from elsewhere.
export default defineConfig({
  build: {
    ...build,
    lib: { entry: "src/fleet/main.ts", formats: ["es"], fileName: () => "fleet.js", cssFileName: "fleet" },
  },
});
