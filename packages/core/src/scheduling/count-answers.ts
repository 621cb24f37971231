// Counts the different answers of an explanation, so that texts and groups are built once for all nodes that share one.

import type { ExplainedCandidate, SharedAnswer } from './explain-nodes.ts'

/** The most remedies that an explanation lists. */
export const MAX_REMEDIES = 10

/** An answer with the nodes that share it. */
export interface CountedAnswer {
  readonly answer: SharedAnswer
  count: number
  /** The positions of the first nodes, in the order of the nodes. */
  readonly first: number[]
  /** The position of the last node. */
  last: number
}

export interface Counted {
  /** In the order of their first nodes. */
  readonly answers: readonly CountedAnswer[]
  /** For each node, the position of its answer in `answers`. */
  readonly indexOf: Int32Array
}

export function countAnswers(explained: readonly ExplainedCandidate[]): Counted {
  const indexes = new Map<SharedAnswer, number>()
  const answers: CountedAnswer[] = []
  const indexOf = new Int32Array(explained.length)
  for (const [at, { shared }] of explained.entries()) {
    const index = indexes.get(shared) ?? answers.length
    const known = answers[index]
    indexOf[at] = index
    if (known === undefined) {
      indexes.set(shared, index)
      answers.push({ answer: shared, count: 1, first: [at], last: at })
    } else {
      known.count += 1
      known.last = at
      if (known.first.length < MAX_REMEDIES) known.first.push(at)
    }
  }
  return { answers, indexOf }
}
