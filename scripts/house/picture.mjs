// The table and the pictures of the rooms in CONTRIBUTING.md, made from scripts/house/rooms.mjs.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GROUND, mayUse, ROOMS, roomOf, WAY_OF_A_RUN } from "./rooms.mjs";

const SECTION = /(<!-- rooms: .* -->\n).*?(\n<!-- end of rooms -->)/s;

const places = Object.keys(ROOMS).filter((room) => !GROUND.includes(room));

/** The rooms that a room may import from, apart from the ground, which is open to all. */
const usedBy = (room) => [
  ...new Set(ROOMS[room].uses.map(roomOf).filter((used) => used !== room && !GROUND.includes(used))),
];

const reaches = (from, to) => usedBy(from).some((used) => used === to || reaches(used, to));

/** Arrows that follow from others are left out: they would hide the rest. */
const arrowsFrom = (room) =>
  usedBy(room).filter((used) => !usedBy(room).some((other) => other !== used && reaches(other, used)));

const nameOf = (folder) => (folder === "." ? "src/*.ts" : `${folder}/`);
const idOf = (folder) => (folder === "." ? "root" : folder.replaceAll("/", "_"));
const node = (folder) => `${idOf(folder)}["${nameOf(folder)}"]`;

const mermaid = (...lines) => ["```mermaid", ...lines, "```"].join("\n");

const houseOfRooms = () =>
  mermaid(
    "flowchart TD",
    ...places.map((room) => `  ${node(room)}`),
    ...places.flatMap((room) => arrowsFrom(room).map((used) => `  ${idOf(room)} --> ${idOf(used)}`)),
    `  ground["open to every room: ${GROUND.map(nameOf).join(" ")}"]`,
    ...places.filter((room) => arrowsFrom(room).length === 0).map((room) => `  ${idOf(room)} ~~~ ground`),
  );

const wayOfARun = () =>
  mermaid(
    '%%{init: {"flowchart": {"wrappingWidth": 500, "rankSpacing": 20}}}%%',
    "flowchart TD",
    ...WAY_OF_A_RUN.map(
      ([folder, what, uses], index) =>
        `  step${index}["${index + 1}. ${nameOf(folder)}: ${what}<br>calls ${uses.map(nameOf).join(" ")}"]`,
    ),
    `  ${WAY_OF_A_RUN.map((_, index) => `step${index}`).join(" --> ")}`,
    "  classDef default text-align:left",
  );

const table = () => {
  const rows = Object.entries(ROOMS)
    .reverse()
    .map(([room, { holds }]) => [`\`${room === "." ? "src/*.ts" : `src/${room}/`}\``, holds]);
  const lines = [["room", "holds"], ["---", "---"], ...rows];
  const widths = [0, 1].map((column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map(
      (line) =>
        `| ${line.map((cell, column) => cell.padEnd(widths[column], cell === "---" ? "-" : " ")).join(" | ")} |`,
    )
    .join("\n");
};

/** What is wrong with the table itself: a folder that does not exist, a circle, a step that the table does not allow. */
export const problemsOfRooms = (root) => {
  const isMissing = (folder) => !existsSync(join(root, "src", folder));
  const named = [
    ...Object.entries(ROOMS).flatMap(([room, { uses }]) => [room, ...uses]),
    ...WAY_OF_A_RUN.flatMap(([folder, , uses]) => [folder, ...uses]),
  ];
  return [
    ...[...new Set(named)].filter(isMissing).map((folder) => `src/${folder} does not exist`),
    ...places
      .filter((room) => reaches(room, room))
      .map((room) => `${room} may import itself over other rooms`),
    ...WAY_OF_A_RUN.flatMap(([folder, , uses]) =>
      uses
        .filter((used) => !mayUse(folder, used))
        .map((used) => `${folder} calls ${used}, which it may not import`),
    ),
  ];
};

/** CONTRIBUTING.md with the rooms as they are. */
export const contributingPage = (root) =>
  readFileSync(join(root, "CONTRIBUTING.md"), "utf8").replace(SECTION, (_, begin, end) =>
    [
      `${begin}\n${table()}`,
      "Who may import from whom (arrows that follow from others are left out):",
      houseOfRooms(),
      "The way of one run:",
      `${wayOfARun()}\n${end}`,
    ].join("\n\n"),
  );
