// How the sources become the files the service serves: split by page, named by content, compressed once and for all.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const OUTPUT = "../src/firstlight/server/web/dist";
const WORTH_COMPRESSING = /\.(js|css|html|svg|json)$/;

function compressed(): Plugin {
  let folder = OUTPUT;
  return {
    name: "compressed",
    apply: "build",
    configResolved(config) {
      folder = join(config.root, config.build.outDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        if (!WORTH_COMPRESSING.test(name)) continue;
        const path = join(folder, name);
        const content = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
        const size = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params: size }));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), compressed()],
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    // The policy of the page forbids inline data and inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    chunkSizeWarningLimit: 700,
  },
});
