const HOST = String.raw`(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[A-Fa-f0-9:]+\])(?::\d+)?`;
const PART = "[a-z0-9]+(?:(?:[.]|__?|-+)[a-z0-9]+)*";
/** An image name for both engines: a registry, a path, a tag and a digest. Only the path is required. */
const IMAGE_NAME = new RegExp(
  String.raw`^(?:${HOST}/)?${PART}(?:/${PART})*(?::\w[\w.-]{0,127})?(?:@sha256:[a-f0-9]{64})?$`,
);

/** The problem of an image name; `undefined` if it is valid. */
export const checkImageName = (name: string): string | undefined =>
  IMAGE_NAME.test(name)
    ? undefined
    : `${JSON.stringify(name)} is no name for an image. Write one like sanddune:my-app`;

/** The part of a name that both engines keep: they add a registry before it, and a tag after it. */
const withTag = (name: string): string => (/:[^/]*$/.test(name) ? name : `${name}:latest`);

/** Whether a tag that an engine lists is the one that a name means. An image id is not a name. */
export const namesTag = (name: string, tag: string): boolean => {
  const wanted = withTag(name);
  return [wanted, `localhost/${wanted}`].includes(tag);
};
