/** A script of `sh` in the folder of an environment, which runs before its tests can. */
export const SETUP_FILE = "setup.sh";
