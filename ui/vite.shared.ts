// Shared by the builds of both pages: each is a single script, in the same directory.
export const build = { target: "es2022", outDir: "dist", emptyOutDir: false, modulePreload: false } as const;
