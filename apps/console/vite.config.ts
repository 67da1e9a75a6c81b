/** How the console is built: one page below /console/, files named by their content so that browsers may keep them for ever. */
import { defineConfig } from "vite";

export default defineConfig({
  base: "/console/",
  // In development the page comes from vite and everything else from a gateway on its usual port.
  server: { proxy: { "/v1": "http://127.0.0.1:7600" } },
  build: {
    outDir: "dist/web",
    target: "es2022",
    assetsDir: "assets",
    // The page's security policy allows no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 300,
  },
});
