// What the builds of both pages have in common: each is one script, in the same folder as the other's.
export const build = { target: "es2022", outDir: "dist", emptyOutDir: false, modulePreload: false } as const;
