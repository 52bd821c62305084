// The processes that a program starts, and theirs, as strace sees them: with files of one process each, and process ids that
// are translated where a process lives in a namespace of its own.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { command } from "./command.mjs";

const CALLS = "execve,clone,clone3,fork,vfork";
const STRACE = [
  "-ff",
  "--quiet=all",
  "--pidns-translation",
  "--signal=none",
  `--trace=${CALLS}`,
  "--string-limit=200",
];

const CREATED = /^(?:clone3?|v?fork)\((.*)\)?\s+= (\d+)(?: \/\* (\d+) in strace's PID NS \*\/)?$/;
const EXECUTED = /^execve\("([^"]*)", \[(.*?)\](?:\.\.\.)?, .*= 0$/;

/** One process: the programs that it became, and the processes that it made. A thread is a part of its process. */
const processOf = (text) => {
  const lines = text.split("\n");
  const programs = lines.flatMap((line) => {
    const found = EXECUTED.exec(line);
    return found === null ? [] : [{ program: basename(found[1]), argv: found[2] }];
  });
  const created = lines.flatMap((line) => {
    const found = CREATED.exec(line);
    if (found === null) return [];
    return [{ id: Number(found[3] ?? found[2]), isThread: found[1].includes("CLONE_THREAD") }];
  });
  return { programs, created };
};

const treeOf = (processes, id, isThread = false) => {
  const { programs, created } = processes.get(id) ?? { programs: [], created: [] };
  const children = created.map((child) => treeOf(processes, child.id, child.isThread));
  return { id, isThread, programs, children };
};

/** Runs a program under strace; the tree of its processes. */
export const traceProcesses = async (directory, program, ...args) => {
  const prefix = join(directory, "trace");
  await command("strace", ...STRACE, "--output", prefix, program, ...args);
  const files = readdirSync(directory).filter((name) => name.startsWith("trace."));
  const processes = new Map(
    files.map((name) => [
      Number(name.slice("trace.".length)),
      processOf(readFileSync(join(directory, name), "utf8")),
    ]),
  );
  for (const name of files) rmSync(join(directory, name));
  const made = new Set([...processes.values()].flatMap(({ created }) => created.map(({ id }) => id)));
  const [root] = [...processes.keys()].filter((id) => !made.has(id));
  return treeOf(processes, root);
};

const everyProcess = (node) => [...(node.isThread ? [] : [node]), ...node.children.flatMap(everyProcess)];

const became = (node, isWanted) => node.programs.some(isWanted);

/** A copy of the tree, without the processes that became such a program, and all below them. */
const without = (node, isWanted) => ({
  ...node,
  children: node.children
    .filter((child) => !became(child, isWanted))
    .map((child) => without(child, isWanted)),
});

const isSandbox = ({ program }) => program === "bwrap";
const isAgent = ({ argv }) => argv === '"sh", "agent.sh"';

/** All processes of the host, without the program itself. */
export const countOnHost = (tree) => everyProcess(without(tree, isSandbox)).length - 1;

/** The processes of the host that ran one of these programs, without those that they started themselves. */
export const countStarted = (node, isWanted) => {
  if (became(node, isSandbox)) return 0;
  if (became(node, isWanted)) return 1;
  return node.children.reduce((sum, child) => sum + countStarted(child, isWanted), 0);
};

/** The processes in sandboxes, without bubblewrap's own, and without the agent and all that it started. */
export const countInSandboxes = (tree) => {
  const sandboxes = everyProcess(tree).filter((node) => became(node, isSandbox));
  const inside = sandboxes.flatMap((sandbox) => everyProcess(without(sandbox, isAgent)));
  return inside.filter((node) => !became(node, isSandbox) && node.programs.length > 0).length;
};
