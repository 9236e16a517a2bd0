import { defineConfig } from "vite";
import { build } from "./vite.shared.ts";

// The pages of `make site`. Each is a classic script with its worker inside, because a page that
// was opened from a disk may load neither modules nor workers.
const ENTRIES: Record<string, string> = { trace: "src/site/trace.ts", sim: "src/site/sim.ts" };

export default defineConfig(({ mode }) => {
  const entry = ENTRIES[mode];
  if (!entry) throw new Error(`no entry ${mode}`);
  const lib = { entry, formats: ["iife" as const], name: "fathomPage", fileName: () => `site-${mode}.js`, cssFileName: "site" };
  return { build: { ...build, lib } };
});
