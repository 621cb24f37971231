// Tests which nodes no longer qualify for the replicas on them, and what happens to those replicas.

import type { DeploymentSpec } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { NodeFacts } from '../scheduling/index.ts'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import { DISPLACED_AT_ONCE, findDisplaced } from './find-displaced.ts'
import { anExample, aPlacement, assigned, type ExampleTenant, planOf, shown } from './placement.fixture.ts'

const onSsd: NonNullable<DeploymentSpec['placement']> = {
  constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }],
}
const inGermany: NonNullable<DeploymentSpec['placement']> = { residency: { country: 'DE' } }
const country = (code: string): Partial<NodeFacts> => ({ labels: { 'holdfast.io/country': code } })
const ssd: Partial<NodeFacts> = { labels: { disk: 'ssd' } }
const DATA: NonNullable<DeploymentSpec['volumes']> = [
  { type: 'volume', volume: 'data', target: '/data', readOnly: false },
]

const one = aPlacement([assigned(1, 1)])
const base: ExampleTenant = { nodes: [{}], placement: one, spec: { replicas: 1 } }

interface Row {
  readonly placement: NonNullable<DeploymentSpec['placement']>
  readonly nodes: readonly Partial<NodeFacts>[]
  readonly gated?: boolean
  readonly stateful?: boolean
  /** The disposition of the replica on node 1; undefined if node 1 still qualifies. */
  readonly disposition: string | undefined
  readonly isNowhere?: boolean
}

const ROWS: { readonly [name: string]: Row } = {
  'a deployment without demands is never displaced': {
    placement: { spread: 'zone' },
    nodes: [{}],
    disposition: undefined,
  },
  'a node that meets the demands keeps its replica': {
    placement: inGermany,
    nodes: [country('DE')],
    disposition: undefined,
  },
  'a replica leaves for a node that qualifies': {
    placement: inGermany,
    nodes: [country('FR'), country('DE')],
    disposition: 'leaving',
  },
  'a residency demand that no node meets bars the replica': {
    placement: inGermany,
    nodes: [country('FR'), country('FR')],
    disposition: 'barred',
    isNowhere: true,
  },
  'residency bars a replica whose successor waits for a dependency': {
    placement: inGermany,
    nodes: [country('FR'), country('DE')],
    gated: true,
    disposition: 'barred',
  },
  'residency bars a replica with a read-write mount, which cannot have a successor beside it': {
    placement: inGermany,
    nodes: [country('FR'), country('DE')],
    stateful: true,
    disposition: 'barred',
    isNowhere: true,
  },
  'a label constraint moves the replica where another node accepts it': {
    placement: onSsd,
    nodes: [{}, ssd],
    disposition: 'leaving',
  },
  'a label constraint that no node meets leaves the replica where it is': {
    placement: onSsd,
    nodes: [{}, {}],
    disposition: 'stranded',
    isNowhere: true,
  },
}

describe('displaced replicas', () => {
  test.each(Object.entries(ROWS))('%s', (_name, row) => {
    const spec = { placement: row.placement, replicas: 1, ...(row.stateful ? { volumes: DATA } : {}) }
    const { snapshot, deployment } = anExample({ ...base, nodes: row.nodes, spec })
    const found = findDisplaced(snapshot, deployment, row.gated === true)
    expect(found.dispositions.get(nodeIdOf(1))).toBe(row.disposition)
    expect(found.refusals.has(nodeIdOf(1))).toBe(row.disposition !== undefined)
    expect(found.nowhere !== undefined).toBe(row.isNowhere === true)
  })

  test('a silent node is judged by its last labels, and keeps its own disposition', () => {
    const { snapshot, deployment } = anExample({
      ...base,
      nodes: [country('FR'), country('DE')],
      dispositions: { 1: 'failed' },
      spec: { placement: inGermany, replicas: 1 },
    })
    const found = findDisplaced(snapshot, deployment, false)
    expect(found.refusals.size).toBe(1)
    expect(found.dispositions.size).toBe(0)
  })

  test('a node that is full only because of the displaced replica accepts its successor', () => {
    const { snapshot, deployment } = anExample({
      ...base,
      nodes: [country('FR'), country('DE')],
      limit: 1,
      spec: { placement: inGermany, replicas: 1 },
    })
    expect(findDisplaced(snapshot, deployment, false).dispositions.get(nodeIdOf(1))).toBe('leaving')
  })

  test('a deployment that is being deleted is not displaced', () => {
    const { snapshot, deployment } = anExample({
      ...base,
      nodes: [country('FR')],
      spec: { placement: inGermany, replicas: 1 },
      deployment: { deleting: true },
    })
    expect(findDisplaced(snapshot, deployment, false).refusals.size).toBe(0)
  })

  test('at most 25 barred replicas are stopped at once', () => {
    const count = DISPLACED_AT_ONCE + 3
    const replicas = Array.from({ length: count }, (_, index) => assigned(index + 1, index + 1))
    const plan = planOf({
      nodes: replicas.map(() => country('FR')),
      placement: aPlacement(replicas),
      spec: { placement: inGermany, replicas: count },
    })
    const stopped = shown(plan.kept).filter((text) => text.endsWith('removed'))
    expect(stopped).toHaveLength(DISPLACED_AT_ONCE)
    expect(plan.nodesToCompare.size).toBe(DISPLACED_AT_ONCE)
  })
})
