// When does CI build the packages, install them on an empty Debian and walk README and guides? When something changed that they
// contain or state, and otherwise in every fourth run. docs/design/packages.md#programs-of-tests

/** Without a change, one run in so many takes the packages. */
export const EVERY = 4

/** The content of packages besides code, and the statements of the documents on installing them and on the first minutes. */
const PACKED = [
  /^engines\//,
  /^packages\/[^/]+\/package\.json$/,
  /^packages\/cli\/src\/print\//,
  /^packages\/server\/src\/(setup|doctor)\//,
  /\.service$/,
  /^(package(-lock)?\.json|README\.md)$/,
  /^(docs\/guides|examples)\//,
  /^scripts\/(package|first-minutes|dev|bootstrap|build|bundle)/,
]

/** Why the packages are due; undefined if they are not. Without known changes they are. */
export function packagingDue(
  changed: readonly string[] | undefined,
  slice: number | undefined,
): string | undefined {
  if (slice === undefined) return 'this run leaves nothing out'
  if (changed === undefined) return 'the changes since the last green run are not known'
  const packed = changed.find((path) => PACKED.some((pattern) => pattern.test(path)))
  if (packed !== undefined) return `${packed} has changed`
  return slice % EVERY === 0 ? 'it is their turn' : undefined
}

/** The items of a list of which each run with packages in turn takes another one. */
export const withPackages = <T>(items: readonly T[], slice: number | undefined): readonly T[] =>
  slice === undefined ? items : items.filter((_, at) => at === Math.floor(slice / EVERY) % items.length)
