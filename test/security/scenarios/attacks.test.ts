import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ScenarioRecord } from "../../../src/scenarios/records/record.ts";
import type { Assertion, ScenarioSpec } from "../../../src/scenarios/spec.ts";
import { sandboxFlags } from "../../cli/runs/hangingRuns.ts";
import {
  makeSuite,
  pageOf,
  recordOf,
  recordsOf,
  runScenarios,
  sh,
  spec,
} from "../../cli/scenario/scenarioSuites.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { PAYLOADS } from "../git/gitPayloads.ts";

useOwnTemporaryDirectory();

/** The agent is a shell, and what it is told is its script. */
const AGENT = ["--runnable=agent", "--agent-command", "sh -s"];
const IN_BUBBLEWRAP = [...AGENT, ...sandboxFlags("bubblewrap")];

const attack = (script: string, assertions: readonly Assertion[], parts: Partial<ScenarioSpec> = {}) =>
  spec({ runnable: "agent", steps: [{ agent: "work", prompt: script }], assertions, ...parts });

const verdictsOf = ({ assertions }: ScenarioRecord): string => assertions.map(({ ok }) => ok).join(" ");

const hashOf = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

/** Every file below a directory, with its hash. */
const hashesOf = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory, { recursive: true })
      .map(String)
      .filter((name) => statSync(join(directory, name)).isFile())
      .map((name) => [name, hashOf(readFileSync(join(directory, name)))]),
  );

describeWith(["bubblewrap"], "In bubblewrap", () => {
  test("Pages, fixtures, records and the runner's own files are out of an agent's reach", async () => {
    const cwd = makeSuite({ pages: { cheat: spec() } });
    const script = `for root in "" /proc/1/root /proc/$PPID/root /sanddune/project/../..; do
  mkdir -p "$root${cwd}/runs/cheat"
  for file in ${Object.keys(hashesOf(cwd)).join(" ")} runs/index.json runs/cheat/x.json; do
    echo owned > "$root${cwd}/$file"
  done
done 2> /dev/null
find / -xdev \\( -name '*.md' -o -name owner.json -o -name sandboxes.jsonl \\) -exec sh -c 'echo owned > "$1"' _ {} \\; 2> /dev/null
true`;
    writeFileSync(
      join(cwd, "scenarios/cheat.md"),
      pageOf(attack(script, [{ file_exists: "honest.txt" }, { file_exists: "base.txt" }])),
    );
    const before = hashesOf(cwd);
    expect(await runScenarios(cwd, IN_BUBBLEWRAP)).toMatchObject({ exitCode: 1 });
    expect(verdictsOf(recordOf(cwd, "cheat"))).toBe("false true");
    expect(hashesOf(cwd)).toMatchObject(before);
    expect(Object.keys(hashesOf(join(cwd, "runs")))).toHaveLength(2);
  });
});

describeWith(["bubblewrap"], "In bubblewrap", () => {
  test("An agent that ruins the project and says that it was not found fails; one that did nothing is no verdict", async () => {
    const excuse = "echo 'sh: agent: not found' >&2; exit 127";
    const assertions = [{ file_exists: "base.txt" }];
    const cwd = makeSuite({
      pages: { harm: attack(`rm base.txt; ${excuse}`, assertions), nothing: attack(excuse, assertions) },
    });
    expect(await runScenarios(cwd, IN_BUBBLEWRAP)).toMatchObject({ exitCode: 1 });
    expect(recordOf(cwd, "nothing")).toMatchObject({ result: "manual", assertions: [] });
    const { result, notes, ...harm } = recordOf(cwd, "harm");
    expect([result, verdictsOf({ result, notes, ...harm })]).toEqual(["failing", "false"]);
    expect(notes).toContain('graded all the same, because an agent had changed "base.txt"');
  });
});

const CHECK: ScenarioSpec["prerequisites"] = [
  { write_file: { path: "checks/check.sh", content: 'grep -q honest "$1"\n' } },
];
const CHECKED: Assertion = { cmd_zero: ["sh", "checks/check.sh", "base.txt"] };
/** Nothing of this is true, whatever is at that path. */
const ASSERTED: readonly Assertion[] = [
  { file_exists: "out.txt" },
  { file_contains: { path: "out.txt", substr: "root" } },
  { file_matches: { path: "out.txt", regex: "." } },
  { sha256_equals: { path: "out.txt", sha256: hashOf("root of all evil") } },
];
const NONE = "false false false false";
/** Fails if anything changes while it looks. */
const IS_STILL: Assertion = {
  cmd_zero: ["sh", "-c", 'a=$(cat tick); sleep 0.3; test "$a" = "$(cat tick)"'],
};
const DAEMON = `(setsid sh -c 'i=0; while :; do i=$((i+1)); echo $i > tick.new; mv tick.new tick; done' > /dev/null 2>&1 &)
until [ -s tick ]; do :; done`;

describeWith(["bubblewrap"], "In bubblewrap, too", () => {
  test("An agent that cheats gets the grade that it deserves, and nothing of the host", async () => {
    const host = temporaryDirectory();
    writeFileSync(join(host, "secret.txt"), "root of all evil");
    const link = (target: string) => attack(`ln -s ${target} out.txt`, ASSERTED);
    const onHelper = (script: string, assertions: readonly Assertion[] = [CHECKED]) =>
      attack(script, assertions, { prerequisites: CHECK });
    const cases: Record<string, readonly [ScenarioSpec, string]> = {
      "helper-edited": [onHelper("echo 'exit 0' > checks/check.sh"), "false"],
      "helper-linked": [onHelper("echo 'exit 0' > mine; ln -sf ../mine checks/check.sh"), "false"],
      "helper-moved": [
        onHelper("mkdir evil; echo 'exit 0' > evil/check.sh; rm -r checks; ln -s evil checks"),
        "false",
      ],
      "helper-directory": [
        onHelper("rm checks/check.sh; mkdir -p checks/check.sh/x; chmod 0 checks"),
        "false",
      ],
      "helper-during-grading": [
        onHelper("echo 'echo exit 0 > checks/check.sh' > test.sh", [
          { cmd_zero: ["sh", "test.sh"] },
          CHECKED,
        ]),
        "true false",
      ],
      "daemon-during-grading": [
        onHelper(`cat > test.sh <<'END'\n${DAEMON}\nEND`, [{ cmd_zero: ["sh", "test.sh"] }, IS_STILL]),
        "true true",
      ],
      daemon: [attack(DAEMON, [IS_STILL, { file_exists: "tick" }]), "true true"],
      "link-to-host-file": [link(join(host, "secret.txt")), NONE],
      "link-to-environment": [link("/proc/self/environ"), NONE],
      "link-above": [link("../../../../../../../../../../etc/passwd"), NONE],
      "link-to-itself": [link("out.txt"), NONE],
      "named-pipe": [attack("mkfifo out.txt", ASSERTED), NONE],
      "links-to-write-through": [
        spec({
          runnable: "agent",
          steps: [
            { agent: "work", prompt: `ln -s ${host}/secret.txt log.txt; ln -s ${host} logs` },
            { append_to_file: { path: "log.txt", content: "owned" }, allow_nonzero: true },
            { write_file: { path: "logs/new.txt", content: "owned" }, allow_nonzero: true },
          ],
        }),
        "true",
      ],
      "planted-programs": [
        attack(
          `git init -q; mkdir -p $HOME/bin $HOME/.local/bin node_modules/.bin
for place in . $HOME/bin $HOME/.local/bin node_modules/.bin; do
  for name in sh git grep test; do printf '#!/bin/sh\\nexit 0\\n' > $place/$name; chmod +x $place/$name; done
done
printf '[alias]\\n status = !true\\n[core]\\n excludesFile = /sanddune/project/all\\n' > $HOME/.gitconfig; echo '*' > all
echo 'export PATH=/sanddune/project:$PATH' | tee $HOME/.profile $HOME/.bashrc $HOME/.npmrc > /dev/null`,
          [
            { cmd_zero: ["grep", "-q", "honest", "base.txt"] },
            { cmd_zero: ["sh", "-c", 'test -z "$(ls -A "$HOME")"'] },
            { git_clean: true },
          ],
        ),
        "false true false",
      ],
      "regex-without-end": [
        attack(`printf '%s!' aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa > out.txt`, [
          { file_matches: { path: "out.txt", regex: "^(a+)+$" } },
          { file_exists: "out.txt" },
        ]),
        "false true",
      ],
    };
    const ids = Object.keys(cases);
    const cwd = makeSuite({
      pages: Object.fromEntries(ids.map((id) => [id, cases[id]?.[0] as ScenarioSpec])),
    });
    expect(await runScenarios(cwd, IN_BUBBLEWRAP)).toMatchObject({ exitCode: 1 });
    const verdicts = ids.map((id) => [id, verdictsOf(recordOf(cwd, id))]);
    expect(verdicts).toEqual(ids.map((id) => [id, cases[id]?.[1]]));
    for (const id of ids.filter((name) => name.startsWith("helper-"))) {
      expect(recordOf(cwd, id).notes).toContain("checks/check.sh, which the assertions use, was changed");
    }
    const exitCodes = recordOf(cwd, "links-to-write-through").steps.map(({ exit_code }) => exit_code);
    expect(exitCodes).toEqual([0, 0, 1, 1]);
    expect(hashesOf(host)).toEqual({ "secret.txt": hashOf("root of all evil") });
    expect(JSON.stringify(ids.map((id) => recordsOf(cwd, id)))).not.toContain("all evil");
  });

  test("No setting of a repository that an agent leaves behind runs on the host, or makes it look clean", async () => {
    const canaries = temporaryDirectory();
    const repository = [
      sh("git init -q && git add . && git -c user.name=D -c user.email=d@e.f commit -q -m one"),
    ];
    const left = (script: string) => attack(script, [{ git_clean: true }], { prerequisites: repository });
    const pages = Object.fromEntries([
      ...PAYLOADS.map(({ name, plant }) => [
        `runs-${name}`,
        left(`git config user.name E; git config user.email e@f.g; cp base.txt README.md; git add .; git commit -qm two
${plant(`touch ${canaries}/${name} 2> /dev/null`)}
touch changed.txt; touch -d 2001-01-01 README.md`),
      ]),
      ["looks-clean-untracked", left("touch changed.txt; git config status.showUntrackedFiles no")],
      ["looks-clean-elsewhere", left("touch changed.txt; mkdir .git/e; git config core.worktree .git/e")],
      ["looks-clean-gone", left("rm -rf .git")],
    ]);
    const cwd = makeSuite({ pages });
    expect(await runScenarios(cwd, IN_BUBBLEWRAP)).toMatchObject({ exitCode: 1 });
    expect(readdirSync(canaries)).toEqual([]);
    const ids = Object.keys(pages);
    const found = ids.map((id) => {
      const record = recordOf(cwd, id);
      return [id, record.steps.at(-1)?.exit_code, verdictsOf(record)];
    });
    expect(found).toEqual(ids.map((id) => [id, 0, "false"]));
  });
});

test("Processes that steps leave running on the host are ended before grading", async () => {
  const cwd = makeSuite({ pages: { daemon: spec({ steps: [sh(DAEMON)], assertions: [IS_STILL] }) } });
  expect(await runScenarios(cwd)).toMatchObject({ exitCode: 0 });
});

test("A page whose paths leave the project is refused by its line, and nothing of it is done", async () => {
  const leaving = ["../out.txt", "/etc/out.txt", "a/../../out.txt", "~/out.txt", ".."];
  const pages = Object.fromEntries(
    leaving.flatMap((path, index) => [
      [`write-${index}`, spec({ steps: [{ write_file: { path, content: "owned" } }] })],
      [`assert-${index}`, spec({ assertions: [{ file_exists: path }] })],
      [`fixture-${index}`, spec({ fixture: path })],
    ]),
  );
  const cwd = makeSuite({ pages: { ...pages, good: spec() } });
  const { exitCode, stderr } = await runScenarios(cwd);
  expect(exitCode).toBe(2);
  for (const id of Object.keys(pages)) {
    expect(stderr).toMatch(new RegExp(`^scenarios/${id}\\.md:\\d+: `, "m"));
  }
  expect(readdirSync(join(cwd, "runs")).sort()).toEqual(["good", "index.json"]);
});

describeWith(["docker"], "In a container", () => {
  test("an agent that cheats gets the grade that it deserves, too", async () => {
    const host = temporaryDirectory();
    writeFileSync(join(host, "secret.txt"), "root of all evil");
    const cheats = attack(
      `${DAEMON}
echo 'exit 0' > checks/check.sh; ln -s ${host}/secret.txt out.txt; mkfifo pipe
echo '[core] fsmonitor = touch ${host}/canary' > $HOME/.gitconfig`,
      [IS_STILL, CHECKED, ...ASSERTED, { file_contains: { path: "pipe", substr: "x" } }],
      { prerequisites: CHECK },
    );
    const cwd = makeSuite({ pages: { cheats } });
    const before = hashesOf(cwd);
    expect(await runScenarios(cwd, [...AGENT, ...sandboxFlags("docker")])).toMatchObject({ exitCode: 1 });
    expect(verdictsOf(recordOf(cwd, "cheats"))).toBe(`true false ${NONE} false`);
    expect(hashesOf(cwd)).toMatchObject(before);
    expect(readdirSync(host)).toEqual(["secret.txt"]);
  });
});
