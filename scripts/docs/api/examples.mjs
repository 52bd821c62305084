// Examples of comments as whole programs: what they use is declared and imported.

/** What short examples take for granted. */
const GIVEN = {
  agent: 'const agent = claudeCode("claude-opus-4-8");',
  reviewer: 'const reviewer = codex("gpt-6-sol");',
  options:
    'const options = { agent, sandbox: docker(), branchStrategy: { type: "merge-to-head" }, prompt: "Fix issue 7" } as const;',
};

const isUsed = (name, code) => new RegExp(`(?<![.\\w"'\`])${name}(?=[,)]| })|\\.\\.\\.${name}\\b`).test(code);
/** Whether the example itself has such a variable: a member that it has taken out of an object. */
const isBound = (name, code) => new RegExp(`[{,] *${name} *[,}]`).test(code);
const isCalled = (name, code) =>
  !isBound(name, code) &&
  new RegExp(`(?<=^|\\.{3}|[^.\\w"'])${name}(?=[.()])|instanceof ${name}\\b`).test(code);

const withGiven = (example) =>
  ["reviewer", "options", "agent"].reduce(
    (code, name) => (isUsed(name, code) ? `${GIVEN[name]}\n${code}` : code),
    example,
  );

/** The example with what it takes for granted, and with imports for the exported functions and classes in it. */
export const wholeExample = (example, names) => {
  const code = withGiven(example);
  const used = names.filter(({ kind, name }) => kind !== "type" && isCalled(name, code));
  const paths = [...new Set(used.map(({ paths: [path] }) => path))].sort();
  const imports = paths.map((path) => {
    const imported = used.filter(({ paths: [first] }) => first === path).map(({ name }) => name);
    return `import { ${imported.sort().join(", ")} } from "${path}";`;
  });
  const foreign = [
    ...(code.includes("assert.") ? ['import assert from "node:assert/strict";'] : []),
    ...(/\bz\./.test(code) ? ['import { z } from "zod";'] : []),
  ];
  return [...imports, ...foreign, "", code].join("\n").trim();
};
