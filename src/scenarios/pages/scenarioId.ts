const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** A scenario's records directory must not have the name of the index. */
const TAKEN = "index.json";

/** Why a text cannot be a scenario's id, if so. The id is the name of its records directory. */
export const scenarioIdProblem = (id: string): string | undefined => {
  if (ID.test(id) && id.toLowerCase() !== TAKEN) return undefined;
  return `${JSON.stringify(id)} is not a valid scenario id. An id has 1 to 100 of the characters A-Z, a-z, 0-9, ".", "_" and "-", begins with a letter or a digit, and is not ${TAKEN}`;
};
