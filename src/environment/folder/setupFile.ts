/** A script for `sh` in an environment's folder. It runs before the tests. */
export const SETUP_FILE = "setup.sh";
