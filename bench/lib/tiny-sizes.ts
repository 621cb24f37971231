// The tiny size of each benchmark: arguments with which it runs in seconds, and the figure in its output that shows that it
// measured something. Other files of bench are parts of these.

export interface TinySize {
  /** Name of the file in bench, without its extension. */
  readonly bench: string
  readonly words: string
  /** Finds a figure in the output. It must be greater than 0. */
  readonly figure: RegExp
  /** The benchmark starts Docker Engines or many processes, so CI runs it in turn with the others of its kind. */
  readonly isLarge?: true
}

export const TINY_SIZES: readonly TinySize[] = [
  {
    bench: 'decisions',
    words: '--nodes 1000 --tenants 20 --rounds 1 --milliseconds 2',
    figure: /ratio to the naive chain (\d+)/,
  },
  {
    bench: 'explanation',
    words: '--nodes 20 --rounds 1 --milliseconds 5',
    figure: /every filter +([\d.]+) ms/,
  },
  { bench: 'usage', words: '--containers 2 --rounds 2', figure: /CPU time of a round +([\d.]+) ms/ },
  { bench: 'resolve', words: '--rounds 1 --reads 20', figure: /resolve to bare, p99: ([\d.]+)/ },
  {
    bench: 'placements',
    words: '--nodes 20 --tenants 2 --deployments 40 --seconds 0.2',
    figure: /10 replicas each: (\d+)\/s/,
  },
  { bench: 'creates', words: '--rounds 1 --seconds 0.2 --tenants 2', figure: /http +(\d+)\/s/ },
  { bench: 'cost', words: '--starts 2 --slices 1 --base tree', figure: /create +([\d.]+) us/, isLarge: true },
  {
    bench: 'secrets',
    words: '--rounds 1 --seconds 0.3 --callers 4',
    figure: /generated to without: ([\d.]+)/,
    isLarge: true,
  },
  { bench: 'profile', words: '--callers 4 --seconds 1', figure: /^(\d+)\/s/m, isLarge: true },
  {
    bench: 'delivery',
    words: '--rate 10 --seconds 1 --nodes 2',
    figure: /submitted to received\D*([\d.]+)/,
    isLarge: true,
  },
  {
    bench: 'sessions',
    words: '--agents 10 --seconds 1 --rate 10',
    figure: /written to received p50 ([\d.]+) ms/,
    isLarge: true,
  },
  { bench: 'why', words: '--nodes 20 --requests 4', figure: /wall clock p50 ([\d.]+) ms/, isLarge: true },
  { bench: 'cli-start', words: '--rounds 1', figure: /packaged, --help +(\d+) ms/, isLarge: true },
  {
    bench: 'dashboard',
    words: '--deployments 20 --nodes 4 --only load',
    figure: /^load \(cores[^\n]*\n[^\n]*?([1-9][\d.]*)/m,
    isLarge: true,
  },
  {
    bench: 'idle-promises',
    words: '--nodes 2 --volumes 2 --seconds 1',
    figure: /payload (\d+)/,
    isLarge: true,
  },
  {
    bench: 'replication',
    words: '--mib 4 --changed 1 --rounds 1',
    figure: /full, 4 MiB +([\d.]+)/,
    isLarge: true,
  },
  {
    bench: 'rollout',
    words: '--tiny --rounds 1 --no-swarm',
    figure: /POST to running +(\d+) ms/,
    isLarge: true,
  },
  {
    bench: 'updates',
    words: '--replicas 2 --parallelism 1 --engines new --no-routed',
    figure: /ratio ([\d.]+)/,
    isLarge: true,
  },
  {
    bench: 'routes',
    words: '--deployments 1 --routes 5 --changes 2',
    figure: /another replica +p50 +(\d+) ms/,
    isLarge: true,
  },
  { bench: 'follow-logs', words: '--seconds 1 --engines new', figure: /written ([\d.]+) MiB/, isLarge: true },
  {
    bench: 'volume-writes',
    words: '--rounds 1 --seconds 1',
    figure: /transactions\/s[^\n]*\n {2}[a-z ]+ +([\d.]+)/,
    isLarge: true,
  },
  {
    bench: 'idle-volumes',
    words: '--volumes 1 --seconds 1',
    figure: /replicated after (\d+) s/,
    isLarge: true,
  },
]

/** Files of bench that are loaded or started by one of the benchmarks, or that start them. */
export const PARTS: readonly string[] = ['loop-delay', 'session-server', 'tiny', 'why-reads']
