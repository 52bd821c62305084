// Bundles a program for a test: node bundler.mjs INPUT OUTPUT. A process of its own, because only esbuild's asynchronous API
// takes plugins, and callers of bundle() are synchronous.
import { build } from "esbuild";
import { esbuildProgramText } from "../../scripts/programText.mjs";

const [program, outfile] = process.argv.slice(2);
await build({
  entryPoints: [program],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  // The oldest Node that is supported, as for the package.
  target: "node20.19",
  // Loaded only when they are used, which these programs do not.
  external: ["@vercel/sandbox", "e2b", "modal"],
  plugins: [esbuildProgramText],
  logLevel: "error",
});
