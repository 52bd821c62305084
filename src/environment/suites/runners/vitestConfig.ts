interface VitestConfigOptions {
  /** The configuration of the environment, if it has one. */
  readonly own: string | undefined;
  readonly root: string;
  readonly cache: string;
}

/**
 * The configuration that vitest uses instead of the one that it would find in the work. It is generated, because vitest must
 * transform the environment's own configuration with it, which only a static import achieves. The environment may be read-only:
 * the cache is elsewhere.
 */
export const vitestConfig = ({
  own,
  root,
  cache,
}: VitestConfigOptions): string => `import { resolve } from "node:path";
${own === undefined ? "const own = {};" : `import own from ${JSON.stringify(own)};`}
const root = ${JSON.stringify(root)};
export default async (env) => {
  const config = (await (typeof own === "function" ? own(env) : own)) ?? {};
  return { ...config, root: resolve(root, config.root ?? "."), cacheDir: ${JSON.stringify(cache)} };
};
`;
