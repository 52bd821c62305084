// Which page has which names, and in which order.

const byKind = (names) => [
  { title: "Functions", names: names.filter(({ kind }) => kind === "function" || kind === "constant") },
  { title: "Types", names: names.filter(({ kind }) => kind === "type") },
];

/** A name that several entry points export is with the first of them. */
const byPath = (names) =>
  [...new Set(names.map(({ paths }) => paths[0]))].map((path) => ({
    title: path,
    names: names.filter(({ paths }) => paths[0] === path),
  }));

const PACKAGE = "@missingstudio/sanddune";

const isMain = ({ paths }) => paths.includes(PACKAGE);

const AUTHORS_PATHS = ["@missingstudio/sanddune/sandboxes/kit", "@missingstudio/sanddune/testing"];

/** The pages in their order. The last one that wants a name has it. */
const PAGES = [
  {
    name: "entry-points",
    title: "API: entry points",
    intro:
      "`run()` and the other entry points, their options and results. All are imported from `@missingstudio/sanddune`. How to use them is in [run.md](../run.md).",
    has: isMain,
    sections: byKind,
  },
  {
    name: "agents",
    title: "API: agents",
    intro:
      "Agent providers, their options, and the contract for [one of your own](../own-agent-provider.md). All are imported from `@missingstudio/sanddune`.",
    has: ({ file, ...rest }) => isMain(rest) && file.startsWith("agents/"),
    sections: byKind,
  },
  {
    name: "sandboxes",
    title: "API: sandboxes",
    intro:
      "Each sandbox has an import path of its own, below which its names are listed. More about them: [sandboxes.md](../sandboxes.md).",
    has: ({ file, paths: [path] }) =>
      path.startsWith("@missingstudio/sanddune/sandboxes/") || file.startsWith("sandboxes/services/"),
    sections: byPath,
  },
  {
    name: "errors",
    title: "API: errors",
    intro:
      "Every error class of `sanddune`, with its own fields. Which call rejects with which, and what to do: [errors.md](../errors.md).",
    has: ({ file }) => file.startsWith("errors/"),
    sections: (names) => [
      { title: "Classes", names: names.filter(({ kind }) => kind === "class") },
      { title: "Types", names: names.filter(({ kind }) => kind === "type") },
    ],
  },
  {
    name: "environments",
    title: "API: environments",
    intro: "For the folder of an [environment](../environments.md).",
    has: ({ paths }) => paths.includes("@missingstudio/sanddune/environment"),
    sections: (names) => [{ title: "@missingstudio/sanddune/environment", names }],
  },
  {
    name: "sandbox-providers",
    title: "API: contract of sandbox providers",
    intro: "For authors of [sandbox providers](../own-sandbox-provider.md).",
    has: ({ file, paths: [path] }) =>
      AUTHORS_PATHS.includes(path) || (path === PACKAGE && /^sandboxes\/(?!services\/)/.test(file)),
    sections: byPath,
  },
  {
    name: "vitepress",
    title: "API: components for VitePress",
    intro: "Records of scenarios on [a site of your own](../scenario-ci.md#on-a-vitepress-site).",
    has: ({ paths: [path] }) => path.startsWith("@missingstudio/sanddune/vitepress"),
    sections: byPath,
  },
];

const rank = ({ kind }) => ["function", "constant", "class", "type"].indexOf(kind);

/** Functions first; classes, which are grouped in their files, as they are there. */
const inOrder = (names) =>
  [...names].sort(
    (one, other) =>
      rank(one) - rank(other) || (one.kind === "class" ? 0 : one.name.localeCompare(other.name, "en")),
  );

/** Every page with its sections; a name is on one of them. */
export const pagesOf = (names) =>
  PAGES.map((page) => ({
    ...page,
    sections: page
      .sections(names.filter((each) => PAGES.findLast(({ has }) => has(each)) === page))
      .filter((section) => section.names.length > 0)
      .map((section) => ({ ...section, names: inOrder(section.names) })),
  }));
