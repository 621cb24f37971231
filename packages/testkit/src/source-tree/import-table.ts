// The table of allowed imports between packages and folders (docs/design/packages.md#import-rules).

export interface PackageRow {
  /** Packages of this repository that it may import; `core/node` means only that folder of core. */
  readonly ours: readonly string[]
  readonly builtins: boolean
  readonly npm: boolean
}

const ALL_PACKAGES = ['contract', 'core', 'server', 'agent', 'client', 'cli', 'simulation', 'testkit']

/** Packages that must run in a browser use no built-ins. */
export const PACKAGES: { readonly [name: string]: PackageRow } = {
  contract: { ours: [], builtins: false, npm: false },
  core: { ours: ['contract'], builtins: false, npm: false },
  server: { ours: ['contract', 'core'], builtins: true, npm: true },
  agent: { ours: ['contract', 'core/node'], builtins: true, npm: true },
  client: { ours: ['contract'], builtins: false, npm: false },
  cli: { ours: ['contract', 'client', 'core/admission'], builtins: true, npm: true },
  dashboard: { ours: ['contract', 'client'], builtins: false, npm: true },
  simulation: { ours: ['contract', 'core', 'server'], builtins: true, npm: true },
  testkit: {
    ours: ['contract', 'core', 'server', 'agent', 'client', 'cli', 'simulation'],
    builtins: true,
    npm: true,
  },
  tests: { ours: [...ALL_PACKAGES, 'scripts'], builtins: true, npm: true },
  e2e: { ours: ALL_PACKAGES, builtins: true, npm: true },
  bench: { ours: ALL_PACKAGES, builtins: true, npm: true },
  scripts: { ours: ALL_PACKAGES, builtins: true, npm: true },
}

export interface FolderRow {
  /** A folder or file of the package. */
  readonly folder: string
  /** Paths inside the same package that it may not import. */
  readonly never: readonly string[]
  /** Built-ins and registry packages that it may not import. */
  readonly neverModules: readonly string[]
}

/** compose.ts and the files split off from it. */
const ROOTS = ['compose.ts', 'connect-engines.ts', 'set-up-secrets-store.ts', 'main.ts']
const HTTP_TYPES = ['fastify', '@fastify/', 'node:http', 'node:https', 'node:http2', 'http', 'https', 'http2']

/** All of server may import core: its decisions are pure, and the API rejects requests with the same functions as the rules. */
export const FOLDERS: { readonly [name: string]: readonly FolderRow[] } = {
  server: [
    { folder: 'api', never: ['adapters', 'loops', ...ROOTS], neverModules: [] },
    { folder: 'operations', never: ['adapters', 'api', ...ROOTS], neverModules: HTTP_TYPES },
    { folder: 'loops', never: ['adapters', 'api', ...ROOTS], neverModules: HTTP_TYPES },
  ],
}

/** Adapters are constructed only here; they may use one another. */
export const MAY_CONSTRUCT_ADAPTERS = [...ROOTS, 'adapters']

/** Globals that pure code may not use: each reaches the outside world without an import. */
const NODE_GLOBALS = ['process', 'Buffer', 'require', '__dirname', 'globalThis', 'fetch', 'console']
const TIMERS = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']
const CLOCKS = [
  String.raw`Date\s*\.\s*now`,
  String.raw`new\s+Date\s*(?:\(\s*\)|(?!\s*\())`,
  'performance',
  'Temporal\\s*\\.\\s*Now',
]
const RANDOM = [String.raw`Math\s*\.\s*random`, 'crypto']

export const PURE: { readonly [name: string]: readonly string[] } = {
  contract: [...NODE_GLOBALS, ...TIMERS],
  core: [...NODE_GLOBALS, ...TIMERS, ...CLOCKS, ...RANDOM],
  // It does I/O, but only what a browser allows.
  client: ['process', 'Buffer', 'require', '__dirname'],
}
