import { readSource, testFilesOf } from "./testFiles.ts";

export interface Omissions {
  /** The option of the runner that cannot leave tests out. */
  readonly harmlessOption?: string;
  /** Whether a file of the environment can leave tests out, by its path. */
  readonly isSource: (path: string) => boolean;
  /** Words in such a file. */
  readonly words: RegExp;
}

/** Whether tests may be left out on purpose. If not, a missing test is the doing of the tested code. */
export const mayLeaveOut = (
  args: readonly string[],
  environment: string,
  { harmlessOption, isSource, words }: Omissions,
): boolean =>
  args.some((each) => each.startsWith("-") && each.split("=")[0] !== harmlessOption) ||
  testFilesOf([environment], environment, isSource).some((file) => {
    const source = readSource(file);
    return source === undefined || words.test(source);
  });
