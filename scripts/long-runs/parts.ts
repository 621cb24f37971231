// The parts of the long run, and the steps of each. A part takes at most 90 minutes. Steps with test files take one file at a
// time, so that a part that was interrupted continues with its next file.

/** Files of tests, as globs; each file is a step of its own. */
interface Tests {
  readonly tests: readonly string[]
}

/** A command of the repository. */
interface Command {
  readonly name: string
  readonly command: readonly string[]
}

export interface Part {
  readonly name: string
  readonly about: string
  /** The part builds the packages first, and its tests start the installed programs. */
  readonly isInstalled?: true | undefined
  readonly steps: readonly (Tests | Command)[]
}

const part = (name: string, about: string, ...steps: Part['steps']): Part => ({ name, about, steps })
const tests = (...globs: string[]): Tests => ({ tests: globs })
const command = (name: string, ...words: string[]): Command => ({ name, command: words })
const bench = (name: string, ...words: string[]): Command =>
  command(`bench ${name}`, 'node', `bench/${name}.ts`, ...words)
const installed = (name: string, about: string, ...globs: string[]): Part => ({
  ...part(name, about, tests(...globs)),
  isInstalled: true,
})

const SEEDS = 'packages/simulation/src'
const AGENT = 'packages/agent/src'
const PACKAGES = 'dist/packages'

const SUITES: readonly Part[] = [
  part(
    'unit',
    'unit tests with more runs of each property',
    command('unit tests', 'vitest', 'run', '--project', 'unit'),
  ),
  part('seeds', 'clusters of random seeds', tests(`${SEEDS}/seeds/seeds.test.ts`)),
  part('failing-seeds', 'random clusters whose machines fail', tests(`${SEEDS}/seeds/failures.test.ts`)),
  part(
    'other-seeds',
    'random clusters with many jobs, cuts of the store and failed creations',
    tests(`${SEEDS}/seeds/{creations,many-jobs,store-cuts}.test.ts`),
  ),
  part(
    'search',
    'exhaustive search of promotions, effects of random changes',
    tests(`${SEEDS}/promotion/{missing-guards,search}.test.ts`, `${SEEDS}/effects/effects.test.ts`),
  ),
  part(
    'seeded-bugs',
    'every seeded bug is noticed',
    command('seeded bugs', 'node', 'scripts/seeded-bugs.ts'),
  ),
  part('controllers', 'controllers on etcd', tests('tests/controllers/**/*.test.ts')),
]

const REAL: readonly Part[] = [
  part('api-a', 'requests, files a to m', tests('tests/real/api/[a-m]*.test.ts')),
  part(
    'api-n',
    'requests, files n to z, one hour of generated requests',
    tests('tests/real/api/[n-z]*.test.ts'),
  ),
  part('command-line', 'the command line', tests('tests/real/cli/**/*.test.ts')),
  part('dashboard', 'the dashboard in a browser', tests('tests/real/dashboard/**/*.test.ts')),
  part('faults', 'faults of engines and of the store', tests('tests/real/{faults,store}/**/*.test.ts')),
  part('placement', 'nodes and placement', tests('tests/real/{nodes,placement}/**/*.test.ts')),
  part('secrets', 'secrets', tests('tests/real/secrets/**/*.test.ts')),
  part('sessions', 'sessions of agents', tests('tests/real/{session,packages}/**/*.test.ts')),
  part(
    'server',
    'adapters and the store of the server',
    tests('packages/{server,cli,simulation}/src/**/*.real.test.ts'),
  ),
]

const MACHINES: readonly Part[] = [
  part('adapters', 'adapters of the agent', tests(`${AGENT}/adapters/**/*.real.test.ts`)),
  part(
    'replication',
    'replication and promises between nodes',
    tests(`${AGENT}/{replication,promises,peer,storage}/**/*.real.test.ts`),
  ),
  part(
    'agent',
    'all other parts of the agent',
    tests(
      `${AGENT}/*.real.test.ts`,
      `${AGENT}/{converge,enroll,fencer,images,networks,observe,routing,session,state,streams,usage}/**/*.real.test.ts`,
    ),
  ),
  part('testkit', 'engines and labs of the tests', tests('packages/testkit/src/**/*.real.test.ts')),
]

const LABS: readonly Part[] = [
  installed('lab-a', 'labs, files a to i', 'e2e/[a-i]*.test.ts'),
  installed('lab-j', 'labs, files j to o', 'e2e/[j-o]*.test.ts'),
  installed('lab-p', 'labs, files p and q', 'e2e/[pq]*.test.ts'),
  installed('lab-r', 'labs, files r', 'e2e/r*.test.ts'),
  installed('lab-s', 'labs, files s', 'e2e/s*.test.ts'),
  installed('lab-t', 'labs, files ta to tv', 'e2e/t[a-v]*.test.ts'),
  installed(
    'two-builds',
    'labs, files tw to u: two builds in every mixture',
    'e2e/t[w-z]*.test.ts',
    'e2e/u*.test.ts',
  ),
  installed('lab-v', 'labs, files v to z', 'e2e/[v-z]*.test.ts'),
]

const PACKAGING: readonly Part[] = [
  part(
    'packages',
    'packages: equal from two clones, installed, set up, refused when older',
    command('packages', 'bash', 'scripts/build'),
    command('artefacts of two clones', 'node', 'scripts/compare-builds.ts'),
    command('install packages', 'scripts/package/try-install', PACKAGES),
    command('refuse an older package', 'scripts/package/try-downgrade', PACKAGES),
    command('set up a platform', 'scripts/package/try-setup', PACKAGES),
  ),
  part(
    'guides',
    'the commands of README and guides, also on machines',
    command('packages', 'bash', 'scripts/build'),
    command('first minutes, all guides', 'node', 'scripts/first-minutes.ts'),
    command(
      'packages of the next version',
      'node',
      'scripts/build-next.ts',
      'dist/next',
      'holdfast-server',
      'holdfast-agent',
    ),
    command('guides on a machine', 'scripts/package/try-guides', PACKAGES, 'dist/next'),
    command('a platform on three machines', 'scripts/package/try-three-machines', PACKAGES),
  ),
]

const BENCHES: readonly Part[] = [
  part(
    'bench-cost',
    'cost of the hot paths, beside the commits of .ci/cost-base',
    bench('cost'),
    command('bench cost of CI', 'node', 'bench/cost.ts', '--ci', '--check'),
  ),
  part(
    'bench-server',
    'creates, secrets, placements, decisions, explanations',
    bench('creates', '--check'),
    bench('secrets'),
    bench('resolve', '--check'),
    bench('profile'),
    bench('decisions', '--check'),
    bench('explanation', '--check'),
    bench('placements', '--check'),
    bench('why', '--check'),
    bench('usage'),
  ),
  part(
    'bench-sessions',
    'sessions and delivery',
    bench('sessions', '--agents', '10000', '--check'),
    bench('delivery', '--check'),
  ),
  part('bench-rollouts', 'rollouts', bench('rollout', '--full', '--check')),
  part(
    'bench-updates',
    'updates and routes',
    bench('updates', '--rounds', '3', '--check'),
    bench('routes', '--check'),
  ),
  part('bench-dashboard', 'the dashboard for an hour', bench('dashboard', '--minutes', '60', '--check')),
  part(
    'bench-clients',
    'command line and logs',
    bench('cli-start', '--check'),
    bench('follow-logs', '--check'),
  ),
  part(
    'bench-volumes',
    'replication, and volumes that are written or idle',
    bench('replication', '--check'),
    bench('volume-writes', '--check'),
    bench('idle-volumes', '--check'),
    bench('idle-promises', '--check'),
  ),
]

export const PARTS: readonly Part[] = [...SUITES, ...REAL, ...MACHINES, ...LABS, ...PACKAGING, ...BENCHES]

/** Names of the environment variables with which every step runs. */
export const environmentOf = (
  { isInstalled }: Part,
  commit: string,
): { readonly [name: string]: string } => ({
  HOLDFAST_LONG: '1',
  CONTROLLERS_ON_ETCD: 'all',
  // Each commit starts at another seed; CI always starts at seed 1.
  SIMULATION_FIRST_SEED: String(Number.parseInt(commit.slice(0, 7), 16)),
  ...(isInstalled === true ? { HOLDFAST_PROGRAMS: 'dist/installed' } : {}),
})
