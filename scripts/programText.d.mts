import type { Plugin as EsbuildPlugin } from "esbuild";
import type { Plugin as VitePlugin } from "vitest/config";

export declare const esbuildProgramText: EsbuildPlugin;
export declare const viteProgramText: VitePlugin;
