/** As in `engines` of package.json. */
export const OLDEST_NODE = "20.19";

const numbersOf = (version: string): [major: number, minor: number] => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return [major, minor];
};

/** Why sanddune cannot run on this version of Node.js, and what to do; `undefined` if it can. */
export const nodeVersionProblem = (version: string, path: string): string | undefined => {
  const [major, minor] = numbersOf(version);
  const [oldestMajor, oldestMinor] = numbersOf(OLDEST_NODE);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `sanddune needs Node.js ${OLDEST_NODE} or newer, but this is Node.js ${version} (${path}). Install a newer one, e.g. with: nvm install --lts`;
};
