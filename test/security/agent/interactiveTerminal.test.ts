import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  environmentsWith,
  NEEDS,
  type SandboxName,
  startScene,
} from "../../integration/interactive/scenes.ts";
import { commandLinesWithSecret, inspectContainers, leaksIn, SECRET } from "../secrets/traces.ts";

const CONFINED = ["bubblewrap", "docker"] as const satisfies readonly SandboxName[];

/** What is typed into a program on the terminal that this perl is on. */
const typeInto = (text: string): string =>
  `perl -e 'for my $c (split //, "${text}") { ioctl(STDIN, 0x5412, $c) }'`;

/** Takes down whatever is typed into the shell after the session, also what has no line end. */
const readBack = (path: string): string => `stty -icanon; timeout --foreground 1 cat > ${path}`;

const QUESTIONS = "printf '\\033[c\\033[5n\\033[6n'";

const play = (sandbox: SandboxName, agent: string, shell?: string) =>
  startScene([{ call: "interactive", sandbox, agent, options: { branchStrategy: undefined } }], {
    cwd: temporaryRepository(),
    ...(shell !== undefined && { shell }),
  });

describeWith(["tmux"], "a terminal", () => {
  it("control: a program does type into the shell that it was started from", async () => {
    const typed = join(temporaryDirectory(), "typed");
    const scene = startScene([], {
      cwd: temporaryRepository(),
      shell: `${typeInto("echo owned")}; ${readBack(typed)}`,
    });
    await scene.terminal.ended();
    expect(readFileSync(typed, "utf8")).toContain("echo owned");
  });

  it("control: a terminal does answer the questions that programs ask", async () => {
    const typed = join(temporaryDirectory(), "typed");
    const scene = startScene([], { cwd: temporaryRepository(), shell: `${QUESTIONS}; ${readBack(typed)}` });
    await scene.terminal.ended();
    expect(readFileSync(typed, "utf8")).toContain("\u001b[");
  });
});

describe.each(CONFINED)("an agent on a terminal of %s", (sandbox) => {
  describeWith(NEEDS[sandbox], "that is hostile", () => {
    it("types nothing into the shell that the session was started from", async () => {
      const typed = join(temporaryDirectory(), "typed");
      const attack = `${typeInto("echo owned")}; ${typeInto("\\n")}; for f in /dev/tty /dev/console /proc/*/fd/0; do ${typeInto("echo owned").replace("STDIN", "F").replace("perl -e '", `perl -e 'open(F, "+<", "'$f'"); `)}; done`;
      const scene = play(sandbox, attack, `"$@"; ${readBack(typed)}`);
      await scene.terminal.ended();
      expect(readFileSync(typed, "utf8")).toBe("");
    });

    it("leaves no answers of the terminal behind, to questions that it asked with its last breath", async () => {
      const typed = join(temporaryDirectory(), "typed");
      const scene = play(sandbox, QUESTIONS, `"$@"; ${readBack(typed)}`);
      await scene.terminal.ended();
      expect(readFileSync(typed, "utf8")).toBe("");
    });

    it("cannot keep the session from ending by what it leaves on the terminal, nor read what is typed afterwards", async () => {
      const shared = temporaryDirectory();
      const linger = `(trap '' HUP TERM INT; setsid nohup sh -c 'while read -r line; do echo "$line" >> stolen; done; sleep 1000' & sleep 1000 & ) ; exit 0`;
      const scene = play(sandbox, linger, `"$@"; read -r line; echo "$line" > ${shared}/mine`);
      await waitFor(() => existsSync(join(scene.directory, "report")));
      scene.terminal.type("my password");
      scene.terminal.press("Enter");
      await scene.terminal.ended();
      expect(readFileSync(join(shared, "mine"), "utf8")).toBe("my password\n");
      expect(existsSync(join(scene.cwd, "stolen"))).toBe(false);
    });

    const ways: [string, string][] = [
      ["stops everything that it can reach", "kill -STOP -1; kill -STOP 0; sleep 1000"],
      ["ignores every signal", "trap '' HUP INT QUIT TERM; while true; do sleep 1; done"],
      ["has left its session and its environment", "env -i setsid sh -c 'trap \"\" HUP TERM; sleep 1000'"],
    ];
    it.each(sandbox === "bubblewrap" ? ways : ways.slice(-1))(
      "is gone after an abort when it %s",
      async (_, attack) => {
        const mark = `${1000 + (process.pid % 1000)}${Math.floor(performance.now())}`;
        const scene = startScene(
          [{ call: "interactive", sandbox, agent: `sleep ${mark} & touch started; ${attack}` }],
          { cwd: temporaryRepository(), onSignal: "abort" },
        );
        await waitFor(() => existsSync(join(scene.cwd, "started")));
        scene.signal();
        expect((await scene.outcome()).error?.isReason).toBe(true);
        const processes = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
        expect(processes.filter((line) => line === `sleep ${mark}`)).toEqual([]);
      },
    );

    const forgeries: [string, string][] = [
      ["a number that is none", "head -c 400 /dev/zero | tr '\\0' 9 >"],
      ["a FIFO", "rm -f $d/exit; mkfifo"],
      ["a link", "ln -sf /etc/passwd"],
    ];
    it.each(sandbox === "bubblewrap" ? forgeries : forgeries.slice(0, 1))(
      "cannot make the session end without an exit code, by %s in the place of its file",
      async (_, forge) => {
        // Everything that could still tell the exit code is killed, so that the forged file is all there is.
        const kill =
          'p=$$; l=; while [ "$p" -gt 1 ]; do l="$p $l"; read -r a b c p rest < /proc/$p/stat; done; kill -9 $l';
        const attack = `d=$(ls -d /tmp/sanddune-*); ${forge} $d/exit; ${kill}`;
        const outcome = await play(sandbox, attack).outcome();
        const { exitCode } = (outcome.value ?? {}) as { exitCode?: number };
        expect(exitCode).toBeGreaterThan(0);
        expect(exitCode).toBeLessThan(256);
      },
    );

    it("finds its env vars in its environment only, and no other process finds them", async () => {
      const cwd = temporaryRepository();
      const look = [
        'printf "%s" "$TOKEN" > ~/pattern; grep -rlsF -f ~/pattern /tmp > found',
        "cat /proc/[0-9]*/cmdline | grep -cF -f ~/pattern >> found",
        "touch looked; until [ -e go ]; do sleep 0.02; done",
      ].join("\n");
      const scene = startScene(
        [{ call: "interactive", sandbox, agent: look, options: { env: { TOKEN: SECRET } } }],
        { cwd },
      );
      await waitFor(() => existsSync(join(cwd, "looked")));
      const commandLines = commandLinesWithSecret().filter((line) => !line.includes("interactiveProgram"));
      const environments = environmentsWith(SECRET).filter((text) => !text.includes("SANDDUNE_SANDBOX="));
      const inspected = sandbox === "docker" ? inspectContainers() : "";
      writeFileSync(join(cwd, "go"), "");
      await scene.report();
      expect(commandLines).toEqual([]);
      expect(environments).toEqual([]);
      expect(leaksIn({ inspected })).toEqual([]);
      expect(readFileSync(join(cwd, "found"), "utf8").trim()).toBe("0");
    });
  });
});

describeWith(NEEDS.bubblewrap, "what is said after a session", () => {
  it("makes control characters of branches, files and messages visible", async () => {
    const name = "$(printf 'x\\302\\233\\302\\235y\\342\\200\\256z')";
    const title = "\\033]0;owned\\007\\033[2J";
    const agent = [
      `git checkout -q -b "${name}"; git commit -q --allow-empty -m "$(printf '${title}')"; git checkout -q main`,
      `mkdir .husky "$(printf 'd${title.replaceAll("/", "")}')"; touch ".husky/$(printf '${title}')"`,
      `git init -q "$(printf 'd${title}')"; git add .husky; git commit -q -m "$(printf '${title}')"`,
    ].join("\n");
    const scene = startScene([{ call: "interactive", sandbox: "bubblewrap", agent }], {
      cwd: temporaryRepository(),
      rows: 60,
    });
    const outcome = await scene.outcome();
    expect(outcome.value).toMatchObject({ exitCode: 0 });
    expect(scene.terminal.screen()).toContain("$ start");
    expect(scene.terminal.screen()).toMatch(/also committed to/);
    expect(scene.terminal.title()).not.toContain("owned");
    expect(scene.terminal.bytes()).not.toMatch(/[\u0080-\u009f\u202a-\u202e]|\u001b\]0|\u001b\[2J/);
    expect(readdirSync(scene.cwd)).toContain(".husky");
  });
});
