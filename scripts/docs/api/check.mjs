// What the comments and the exports lack.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const withoutText = (names) =>
  names.flatMap(({ name, file, text, members }) => [
    ...(text === "" ? [`${name} (${file}.ts) has no doc comment`] : []),
    ...(name.endsWith("Options") ? members.filter((member) => member.text === "") : []).map(
      (member) => `${name}.${member.name} (${file}.ts) has no doc comment`,
    ),
  ]);

const declaredTypes = (root) =>
  new Set(
    readdirSync(join(root, "dist"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".d.ts"))
      .flatMap((file) => [
        ...readFileSync(join(root, "dist", file), "utf8").matchAll(/^(?:export )?(?:interface|type) (\w+)/gm),
      ])
      .map(([, name]) => name),
  );

/** A user who writes down the type of such a member could not import it. */
const notExported = (root, names) => {
  const exported = new Set(names.map(({ name }) => name));
  const declared = declaredTypes(root);
  return names.flatMap(({ name, code, members }) =>
    [
      ...new Set(
        [...code, ...members.map((member) => member.code)].flatMap((text) => text.match(/\b[A-Z]\w+/g) ?? []),
      ),
    ]
      .filter((word) => declared.has(word) && !exported.has(word))
      .map((word) => `${name} mentions ${word}, which is not exported`),
  );
};

/** Sentences about what is missing. */
export const problemsOf = (root, names) => [...withoutText(names), ...notExported(root, names)];
