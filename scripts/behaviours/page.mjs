// docs/behaviours.md: the promises as a page.

const INTRO = `# Promises and their tests

Each entry is a promise, the requirement that it meets if it meets one of the product's, and the tests that show it. A test
is named by its file and a part of its title. \`npm test\` checks at its end that every named test exists and passed; tests
that need a cluster only have to exist. Plain numbers are user stories, S-numbers are attacks and faults, SR is the
contract of the scenario runner. The page is made from \`docs/behaviours/\` by \`npm run docs:generate\`.`;

const code = (text) => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);

const anchorOf = (id) => `requirement-${id.toLowerCase()}`;

const showPromise = ({ promise, tests, requirements = [] }) => {
  const links = requirements.map((id) => `[${id}](#${anchorOf(id)})`).join(", ");
  return [`- ${promise}${links && ` (${links})`}`, ...tests.map((test) => `  - ${code(test)}`)].join("\n");
};

const showSection = ({ title, note, promises }) =>
  [`## ${title}`, ...(note ? [note] : []), promises.map(showPromise).join("\n")].join("\n\n");

/** Outside of code, `<` would begin an element and `{{` an expression of the site. */
const escaped = (text) =>
  text.replace(/`[^`]*`|[<{]/g, (part) => (part.length > 1 ? part : `&#${part.charCodeAt(0)};`));

const showRequirements = (requirements) =>
  [...requirements]
    .map(([id, text]) => `- <a id="${anchorOf(id)}"></a>**${id}** ${escaped(text)}`)
    .join("\n");

export const behavioursPage = ({ sections, requirements }) =>
  `${[INTRO, ...sections.map(showSection), "## Requirements", showRequirements(requirements)].join("\n\n")}\n`;
