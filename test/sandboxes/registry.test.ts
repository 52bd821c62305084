import { describe, expect, it } from "vitest";
import { flagKeyOf } from "../../src/sandboxes/description/settings.ts";
import {
  findLeftovers,
  findProvider,
  sandboxProviders,
  sandboxSettings,
} from "../../src/sandboxes/registry.ts";

describe("the list of sandbox providers", () => {
  it("has one flag for each setting, whichever provider describes it", () => {
    for (const { settings } of sandboxProviders) {
      for (const [name, setting] of Object.entries(settings)) {
        expect(setting.flag).toBe(sandboxSettings.get(name)?.flag);
      }
    }
    const keys = [...sandboxSettings.values()].map(flagKeyOf);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each(sandboxProviders.map(({ name }) => name))(
    "finds the provider and the leftovers of %s",
    async (name) => {
      expect(await findLeftovers(name)).toMatchObject({ find: expect.any(Function) });
      const provider = await findProvider(name)?.create?.({}, { network: false });
      expect(provider?.name ?? name).toBe(name);
    },
  );
});
