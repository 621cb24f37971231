// Which package and folder may import which, as data (docs/design/packages.md#import-rules).

export interface PackageRow {
  /** The packages of this repository that it may import; `core/node` means that folder of core alone. */
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
  /** Folder of the package, or a file. */
  readonly folder: string
  /** Paths inside the same package that it never imports. */
  readonly never: readonly string[]
  /** Built-ins and registry packages that it never imports. */
  readonly neverModules: readonly string[]
}

/** compose.ts and what it is cut into. */
const ROOTS = ['compose.ts', 'connect-engines.ts', 'set-up-secrets-store.ts', 'main.ts']
const HTTP_TYPES = ['fastify', '@fastify/', 'node:http', 'node:https', 'node:http2', 'http', 'https', 'http2']

/** core is open to all of server: its decisions are pure, and api says no with the same function as the rules. */
export const FOLDERS: { readonly [name: string]: readonly FolderRow[] } = {
  server: [
    { folder: 'api', never: ['adapters', 'loops', ...ROOTS], neverModules: [] },
    { folder: 'operations', never: ['adapters', 'api', ...ROOTS], neverModules: HTTP_TYPES },
    { folder: 'loops', never: ['adapters', 'api', ...ROOTS], neverModules: HTTP_TYPES },
  ],
}

/** Adapters are constructed here and nowhere else; they may use one another. */
export const MAY_CONSTRUCT_ADAPTERS = [...ROOTS, 'adapters']

/** What pure code never says, beside imports: each is a way to the world that needs none. */
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
  // It talks to the world, but only as a browser can.
  client: ['process', 'Buffer', 'require', '__dirname'],
}
