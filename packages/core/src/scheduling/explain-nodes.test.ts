// Tests in random clusters that an explanation by classes equals the one that asks every filter about every node, and
// that it does not change while it is computed step by step.

import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryTenant, arbitraryWorkload } from './arbitrary.fixture.ts'
import { createRefusalFinder, sortedByName } from './check-candidates.ts'
import { explainCandidates } from './explain.ts'
import { type ExplainedCandidate, explainNodes, reasonsOf, runToEnd } from './explain-nodes.ts'
import type { TenantFacts, Workload } from './facts.ts'
import { PLACEMENT_FILTERS } from './filters/index.ts'
import { textOfSteps } from './remedies/change-text.ts'
import { compareCosts } from './remedies/cost.ts'
import { createAdvisor } from './remedies/find-remedies.ts'
import { createSchedulingView } from './scheduling-view.ts'

const SEED = 20_261_118
const PATIENCE = { timeout: 600_000 }

/** Explains node by node: every filter, then the search for a remedy, for each node alone. */
function explainEach(workload: Workload, facts: TenantFacts): ExplainedCandidate[] {
  return sortedByName(facts.nodes).map((node) => {
    const refusals = createRefusalFinder(workload, facts)(node)
    const advice =
      refusals.length === 0
        ? { fixes: [], remedy: undefined }
        : createAdvisor(workload, facts)(node, refusals)
    const shared = { refusals, reasons: reasonsOf(refusals), ...advice }
    return { nodeId: node.id, nodeName: node.name, nodeStatus: node.status, refusals, ...advice, shared }
  })
}

const alone = ({ shared: _shared, ...candidate }: ExplainedCandidate) => candidate

/** The ten cheapest remedies by a full sort, in which equal costs keep the order of the nodes. */
function cheapestTexts(explained: readonly ExplainedCandidate[]): string[] {
  const remedied = explained.flatMap((each) =>
    each.remedy === undefined ? [] : [{ ...each, remedy: each.remedy }],
  )
  remedied.sort((left, right) => compareCosts(left.remedy.cost, right.remedy.cost))
  return [...new Set(remedied.map((each) => textOfSteps(each.remedy.steps, each)))].slice(0, 10)
}

test(`classes explain every node as it is explained alone (seed ${SEED})`, PATIENCE, () => {
  const seen = { nodes: 0, answers: 0, remedies: 0 }
  fc.assert(
    fc.property(arbitraryTenant(1, 0, 24), arbitraryWorkload, (facts, workload) => {
      const each = explainEach(workload, facts)
      const classed = explainNodes(workload, facts)
      expect(JSON.stringify(classed.map(alone))).toBe(JSON.stringify(each.map(alone)))
      const [grouped, expected] = [explainCandidates(classed), explainCandidates(each)]
      expect(JSON.stringify(grouped.candidates)).toBe(JSON.stringify(expected.candidates))
      expect([grouped.summary, grouped.canonical]).toEqual([expected.summary, expected.canonical])
      const texts = cheapestTexts(each)
      if (texts.length > 0) expect(grouped.cure).toEqual(texts)
      seen.nodes += classed.length
      seen.answers += new Set(classed.map(({ shared }) => shared)).size
      seen.remedies += texts.length
    }),
    { numRuns: inRun(1_000, 3_000), seed: SEED },
  )
  expect(seen.answers).toBeLessThan(seen.nodes)
  expect(seen.remedies).toBeGreaterThan(inRun(1_500, 5_000))
})

test(`an explanation in steps shows the moment of the question (seed ${SEED})`, PATIENCE, () => {
  fc.assert(
    fc.property(arbitraryTenant(1, 1), arbitraryWorkload, arbitraryWorkload, (facts, workload, other) => {
      const view = createSchedulingView(facts)
      const { placed, candidates } = view.place(workload, 2)
      const expected = placed.length < 2 ? candidates : view.candidates(workload)
      const { steps } = view.placeInSteps(workload, 2)
      for (const node of facts.nodes) {
        view.applyAssigned(node.id, other.name, other.resources)
        view.setNode({ ...node, status: 'failed', schedulable: false })
      }
      view.setContainers({ used: 7, limit: 7 })
      expect(runToEnd(steps).explained).toEqual(expected)
    }),
    { numRuns: 1_000, seed: SEED },
  )
})

test('filters without a node key read only what classes distinguish in another way', () => {
  expect(PLACEMENT_FILTERS.filter(({ nodeKey }) => nodeKey === undefined).map(({ name }) => name)).toEqual([
    'creation',
    'named_node',
    'residency_country',
    'residency_region',
    'blocked_country',
    'label_constraint',
    'affinity',
    'anti_affinity',
    'resources',
    'volume_primary',
    'network_node',
  ])
})
