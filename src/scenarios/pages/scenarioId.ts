const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The name of the file beside the directories of the records. */
const TAKEN = "index.json";

/** Says why something cannot be the id of a scenario, or nothing if it can: records are kept in a directory of that name. */
export const scenarioIdProblem = (id: string): string | undefined => {
  if (ID.test(id) && id.toLowerCase() !== TAKEN) return undefined;
  return `${JSON.stringify(id)} is no id for a scenario: that is 1 to 100 of the characters A-Z, a-z, 0-9, ".", "_" and "-", begins with a letter or a digit, and is not ${TAKEN}`;
};
