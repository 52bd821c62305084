import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** Every TypeScript sample of the documents, by a file name that says where it is. */
export const samples = (): [string, string][] => {
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => !name.startsWith(".") && name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  return ["README.md", ...pages].flatMap((file) =>
    [...read(file).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""], index): [string, string] => [
      `${`${file}-${index}`.replaceAll(/\W/g, "-")}.mts`,
      `${code}\nexport {};\n`,
    ]),
  );
};
