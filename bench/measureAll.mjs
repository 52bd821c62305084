// One benchmark after the other. One that cannot run, or fails, does not take the others with it.

/** Where the runtimes must be there, as in the tests. */
const isRequired = () => process.env.SANDDUNE_REQUIRE_RUNTIMES === "1";

const firstLine = (error) => String(error?.message ?? error).split("\n")[0];

/** The rows and phases, and for each benchmark its `problem`, if it has one. */
export const measureAll = async (benchmarks, context) => {
  const results = { rows: [], sessions: [], measured: [] };
  for (const { name, problem, measure } of benchmarks) {
    const reason = problem();
    if (reason !== undefined) {
      console.error(`Skipped: ${name}. ${reason}`);
      results.measured.push({ name, problem: reason, hasFailed: isRequired() });
      continue;
    }
    console.error(`Measuring: ${name} …`);
    try {
      const { rows, phases = [] } = await measure(context);
      results.rows.push(...rows);
      results.sessions.push(...phases);
      results.measured.push({ name, hasFailed: false });
    } catch (error) {
      console.error(`Failed: ${name}.`, error);
      results.measured.push({ name, problem: `failed: ${firstLine(error)}`, hasFailed: true });
    }
  }
  return results;
};
