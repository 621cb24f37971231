// Which tests notice a change of a file that no test imports: an asset of the dashboard, a systemd unit, a script, a golden file
// or a document. A file that a test or its support names in a string needs no row (affected-tests.ts).

export interface SuiteRow {
  readonly changed: RegExp
  readonly tests: RegExp
  readonly why: string
}

export const SUITES: readonly SuiteRow[] = [
  {
    changed: /^packages\/dashboard\/(?!README)/,
    tests: /^tests\/(?:real\/dashboard\/|unit\/dashboard-)/,
    why: 'a browser loads the built dashboard',
  },
  {
    changed: /\.(?:service|conf)$|^scripts\/(?:package\/|build)|^packages\/[^/]+\/package\.json$/,
    tests: /^tests\/unit\/(?:service-units|packages\/)|^scripts\/package\//,
    why: 'packages contain units, and scripts build them',
  },
  {
    changed: /^scripts\/.*(?:\.sh|\/[\w-]+)$|^\.ci\/(?:run|steps\.sh)$/,
    tests: /^tests\/unit\/(?:shell-scripts|ci-reports|packages\/)/,
    why: 'shell scripts',
  },
  {
    changed: /^engines\//,
    tests: /^tests\/(?:real|unit)\/packages\/|^packages\/testkit\/src\/engines\//,
    why: 'engines are started by tests and are part of packages',
  },
  {
    changed: /^packages\/manifest\/fixtures\//,
    tests: /^packages\/manifest\/src\//,
    why: 'fixtures of manifests',
  },
  {
    changed: /^packages\/server\/src\/migrations\/golden\//,
    tests: /^packages\/server\/src\/migrations\//,
    why: 'golden records of stored records',
  },
  {
    changed: /^examples\//,
    tests: /^tests\/unit\/|^packages\/(?:manifest|cli)\/src\/[^/]*\.test/,
    why: 'examples are read by documents and walks',
  },
  { changed: /\.md$|^docs\//, tests: /^tests\/unit\//, why: 'rules about documents' },
]

/** Files that the packaging walk (scripts/package/try-setup) builds, installs or starts on an empty Debian. */
const PACKED =
  /^scripts\/(?:package\/|build)|^engines\/|\.(?:service|conf)$|^docs\/guides\/|^packages\/[^/]+\/package\.json$|^packages\/cli\/src\/print\//

export const needsPackagingWalk = (changed: readonly string[]): boolean =>
  changed.some((path) => PACKED.test(path))
