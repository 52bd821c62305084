/** Prints where programs are looked for after a run in the current directory. */
import { distrustCheckoutOf, hostPath } from "../../../src/process/hostPrograms.ts";

distrustCheckoutOf(process.cwd());
console.log(hostPath());
