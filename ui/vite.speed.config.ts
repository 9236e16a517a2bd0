import { defineConfig } from "vite";
import { build } from "./vite.shared.ts";

// The page of fathom serve: a script and two workers, embedded by the server. Each is built alone
// (--mode), so that none imports another.
const ENTRIES: Record<string, [entry: string, file: string]> = {
  page: ["src/speed/main.ts", "speed"],
  load: ["src/speed/load.ts", "speed-load"],
  probe: ["src/speed/probe.ts", "speed-probe"],
};

export default defineConfig(({ mode }) => {
  const [entry, file] = ENTRIES[mode] ?? [];
  if (!entry || !file) throw new Error(`no entry ${mode}`);
  return { build: { ...build, lib: { entry, formats: ["es"], fileName: () => `${file}.js`, cssFileName: file } } };
});
