// Some suites find more the longer they run. Their repetition rotates: each CI run takes one slice of every rotation, the next
// run another one, and the long runs take all of them. `.ci/run` chooses the slices (scripts/ci/slices.ts) and passes them on in CI_SLICES. Without that
// variable, so in development and in long runs, nothing is left out. docs/design/ci.md#what-rotates

import { env } from 'node:process'

/** The number of CI runs after which every slice of a rotation has run. */
export const ROTATIONS = {
  /** Seeds of the simulation: a slice has every fifth seed of each suite. */
  'simulation-seeds': 5,
  /** Seeded bugs that the simulation finds: a slice has three of them. */
  'seeded-bugs': 24,
  /** Files of tests/controllers that run on etcd; the others use the in-memory store. */
  'controllers-on-etcd': 4,
  /** Files of tests/real that run on etcd; the others of their folder use the in-memory store. */
  'requests-on-etcd': 4,
  /** Combinations of X-Tenant-ID and tenant in the path, for each endpoint and each identity. */
  'tenant-texts': 4,
  /** Fields of request bodies in which a secret is planted. */
  'planted-fields': 4,
  /** Commands whose output is searched for a token. */
  'cli-commands': 4,
  /** Widths at which axe examines a page of the dashboard. */
  'page-widths': 2,
  /** Docker Engine lines of tests that do not depend on the line: 0 is the old line, 1 the new one. */
  'engine-lines': 2,
  /** Repetitions in tests of machines: kills, overwrites, hostile peers. */
  'machine-rounds': 5,
  /** Parts of the hostile requests: a slice has a third of them. */
  'hostile-requests': 3,
  /** Servers that race for a record: slice 0 has one, slice 1 two. */
  'racing-servers': 2,
  /** Faults of a promotion: each run has one of each kind, and a kind has at most three. */
  'promotion-faults': 3,
  /** Orders in which the processes of two builds change, forward and back; each run has one. */
  'two-builds': 3,
  /** Phases from which a rotation of a password is aborted while containers log in with it. */
  'rotation-aborts': 2,
  /** Restores of etcd under machines. */
  'restored-stores': 3,
  /** Packages on an empty Debian: every fourth slice runs them, each with another guide that needs the platform alone. */
  packaging: 24,
  /** Benchmarks that start many processes or Docker Engines, in their tiny size. */
  'tiny-benches': 5,
} as const

export type Rotation = keyof typeof ROTATIONS

/** The chosen slice of each rotation, written as `name=slice`, separated by spaces. */
const CHOSEN = new Map(
  (env['CI_SLICES'] ?? '')
    .split(' ')
    .filter((text) => text !== '')
    .map((text) => {
      const [name = '', slice] = text.split('=')
      return [name, Number(slice)]
    }),
)

/** The slice that this run takes, or undefined if it takes all. */
export const sliceOf = (rotation: Rotation): number | undefined => CHOSEN.get(rotation)

/** Is it the turn of the item with this number? Item n belongs to slice n modulo the number of slices. */
export function isInTurn(rotation: Rotation, item: number): boolean {
  const slice = sliceOf(rotation)
  return slice === undefined || item % ROTATIONS[rotation] === slice
}

/** The items whose turn it is. */
export const inTurn = <T>(rotation: Rotation, items: readonly T[]): readonly T[] =>
  items.filter((_, item) => isInTurn(rotation, item))

/** The one item whose turn it is, or all of them if this run takes all slices. With at most as many items as slices, each has a turn. */
export function oneInTurn<T>(rotation: Rotation, items: readonly T[]): readonly T[] {
  const slice = sliceOf(rotation)
  return slice === undefined ? items : items.filter((_, item) => item === slice % items.length)
}
