// The table of allowed imports between packages and folders (docs/design/packages.md#import-rules).

export interface PackageRow {
  /** Packages of this repository that the package may import; `core/node` means only that folder of core. */
  readonly ours: readonly string[]
  readonly builtins: boolean
  readonly npm: boolean
}

const ALL_PACKAGES = [
  'contract',
  'core',
  'server',
  'agent',
  'client',
  'manifest',
  'cli',
  'dashboard',
  'simulation',
  'testkit',
]

/** Allowed imports of each package. Packages that must run in a browser use no built-ins. */
export const PACKAGES: { readonly [name: string]: PackageRow } = {
  contract: { ours: [], builtins: false, npm: false },
  core: { ours: ['contract'], builtins: false, npm: false },
  server: { ours: ['contract', 'core'], builtins: true, npm: true },
  agent: { ours: ['contract', 'core/node', 'core/promotion'], builtins: true, npm: true },
  client: { ours: ['contract'], builtins: false, npm: false },
  manifest: {
    ours: [
      'contract',
      'core/admission',
      'core/volumes/check-volume',
      'core/networks/check-network',
      'core/jobs/job-body',
    ],
    builtins: false,
    npm: true,
  },
  cli: { ours: ['contract', 'client', 'manifest', 'core/admission'], builtins: true, npm: true },
  dashboard: { ours: ['contract', 'client'], builtins: false, npm: true },
  simulation: { ours: ['contract', 'core', 'server'], builtins: true, npm: true },
  testkit: {
    ours: ['contract', 'core', 'server', 'agent', 'client', 'manifest', 'cli', 'simulation'],
    builtins: true,
    npm: true,
  },
  tests: { ours: [...ALL_PACKAGES, 'scripts'], builtins: true, npm: true },
  e2e: { ours: ALL_PACKAGES, builtins: true, npm: true },
  bench: { ours: [...ALL_PACKAGES, 'scripts'], builtins: true, npm: true },
  scripts: { ours: ALL_PACKAGES, builtins: true, npm: true },
}

export interface FolderRow {
  /** A folder or file of the package, to which the rule applies. */
  readonly folder: string
  /** Paths in the package that files of the folder may not import. */
  readonly never: readonly string[]
  /** Built-ins and registry packages that files of the folder may not import. */
  readonly neverModules: readonly string[]
  /** Packages of this repository that files of the folder may not import. */
  readonly neverOurs?: readonly string[]
}

/** The composition root compose.ts and the files split off from it. */
const ROOTS = ['compose.ts', 'connect-engines.ts', 'set-up-secrets-store.ts', 'main.ts']
const HTTP_TYPES = ['fastify', '@fastify/', 'node:http', 'node:https', 'node:http2', 'http', 'https', 'http2']

const DASHBOARD_PAGES = ['features', 'shell', 'palette', 'routes', 'router.ts', 'main.tsx']
const QUERIES = '@tanstack/react-query'

/**
 * Import rules for folders of a package. All folders of server may import core, because core's functions are pure and the
 * API and the controllers must use the same rules.
 */
export const FOLDERS: { readonly [name: string]: readonly FolderRow[] } = {
  server: [
    { folder: 'api', never: ['adapters', 'loops', ...ROOTS], neverModules: [] },
    { folder: 'operations', never: ['adapters', 'api', ...ROOTS], neverModules: HTTP_TYPES },
    { folder: 'loops', never: ['adapters', 'api', ...ROOTS], neverModules: HTTP_TYPES },
  ],
  dashboard: [
    // Components of parts receive data and show it, so that every page can use them.
    {
      folder: 'parts',
      never: [...DASHBOARD_PAGES, 'api', 'live'],
      neverModules: [QUERIES],
      neverOurs: ['client'],
    },
    {
      folder: 'texts',
      never: [...DASHBOARD_PAGES, 'api', 'live', 'parts'],
      neverModules: ['react', QUERIES],
    },
    { folder: 'api', never: [...DASHBOARD_PAGES, 'parts'], neverModules: [] },
    { folder: 'live', never: [...DASHBOARD_PAGES, 'parts'], neverModules: [] },
    { folder: 'features', never: ['shell', 'routes', 'router.ts', 'main.tsx'], neverModules: [] },
  ],
}

/**
 * Packages that only one folder of a package may import. The rules of admission are large, so only the editor's lazy chunk of
 * the dashboard has them.
 */
export const ONLY_IN: { readonly [name: string]: { readonly [folder: string]: readonly string[] } } = {
  dashboard: { 'features/editor': ['manifest', 'core/admission'] },
}

/** Folders whose subfolders may not import each other: a page never depends on another page. */
export const SEPARATE: { readonly [name: string]: readonly string[] } = { dashboard: ['features'] }

/** Folders and files that may construct adapters. Adapters may also use one another. */
export const MAY_CONSTRUCT_ADAPTERS = [...ROOTS, 'fencer-main.ts', 'adapters']

/** Globals that pure code may not use, because they give access to I/O without an import. */
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
  // The client package does I/O, but only I/O that a browser allows.
  client: ['process', 'Buffer', 'require', '__dirname'],
  manifest: [...NODE_GLOBALS, ...TIMERS, ...CLOCKS, ...RANDOM],
}
