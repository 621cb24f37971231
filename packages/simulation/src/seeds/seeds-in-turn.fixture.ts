// Which seeds does a suite run? In development and in long runs all of them. In CI those whose turn it is, or a few of these if
// every slice has run green on the same code (scripts/ci/simulation-record.ts).

import { env } from 'node:process'
import { isInTurn, ROTATIONS, sliceOf } from '@holdfast/testkit/rotation'

/** A suite whose code is unchanged runs one seed of so many, and a few at least, so that its promise is tested in every run. */
const FEW = 100
const LEAST = 5

export interface SeedsInTurn {
  /** Whether a few seeds are enough, because all of them ran green on the same code. */
  readonly few: boolean
  /** One in CI, where several suites run at a time: a suite that counts what its seeds do then always runs the same ones. */
  readonly threads: number | undefined
  /** The part of an amount that this run takes. */
  share(amount: number): number
  /** The seeds of this run from a number on; at most so many, if a number is given. */
  from(first: number, most?: number): Generator<number>
}

/** The seeds for a test file, named as in `.ci/simulation.json`. */
export function seedsInTurn(suite: string): SeedsInTurn {
  const few = (env['CI_SIMULATION_COVERED'] ?? '').split(' ').includes(suite)
  return chooseSeeds(few, sliceOf('simulation-seeds') !== undefined, (item) =>
    isInTurn('simulation-seeds', item),
  )
}

export function chooseSeeds(few: boolean, sliced: boolean, isTaken: (item: number) => boolean): SeedsInTurn {
  const parts = few ? FEW : sliced ? ROTATIONS['simulation-seeds'] : 1
  return {
    few,
    threads: few || sliced ? 1 : undefined,
    share: (amount) => Math.max(few ? LEAST : 0, Math.ceil(amount / parts)),
    *from(first, most = Number.POSITIVE_INFINITY) {
      let taken = 0
      for (let at = 0; taken < most; at += 1) {
        if (!isTaken(diagonal(at))) continue
        taken += 1
        yield first + at
      }
    },
  }
}

/**
 * Every fifth script is of one kind, and with every fifth seed one slice would have all of that kind. So each row of five seeds
 * is shifted against the one before.
 */
const diagonal = (at: number): number => at + Math.floor(at / ROTATIONS['simulation-seeds'])
