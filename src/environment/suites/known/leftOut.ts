import { readSource, testFilesOf } from "./testFiles.ts";

export interface Omissions {
  /** Which options of the runner cannot leave tests out. */
  readonly harmlessOption?: string;
  /** Files that tests can be left out by, by their paths in the environment. */
  readonly isSource: (path: string) => boolean;
  /** By what they would say so. */
  readonly words: RegExp;
}

/**
 * Whether an option, or a file of the environment, may leave tests out on purpose. Otherwise only code of the work can have
 * done that.
 */
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
