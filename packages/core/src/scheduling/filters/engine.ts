// Refuses nodes whose container engine does not answer. Replicas that already run there stay until the engine has failed.

import type { NodeFacts } from '../facts.ts'
import type { Filter } from '../refusal.ts'

export const isSilent = ({ faults }: Pick<NodeFacts, 'faults'>): boolean =>
  faults?.includes('engine_silent') === true

export const engine: Filter = {
  name: 'engine',
  retryOn: ['node_status'],
  phrases: { engine_silent: 'with a silent engine' },
  reportsRecordFact: true,
  cacheKey: () => [],
  nodeKey: isSilent,
  refuse: (_workload, node) =>
    isSilent(node) ? { code: 'engine_silent', required: 'answering', reported: 'silent' } : undefined,
}

type Faulty = Pick<NodeFacts, 'faults'>

/** Whether two nodes are degraded for the same reasons. */
export const sameFaults = ({ faults: before = [] }: Faulty, { faults: after = [] }: Faulty): boolean =>
  before.length === after.length && before.every((reason, at) => reason === after[at])
