// The seeded bugs: each removes a guard from the product, and lists the invariants that should break.

import { type Bug, core, server } from './bug.ts'
import { CANARY_BUGS } from './canary-bugs.ts'
import { CREATION_BUGS } from './creation-bugs.ts'
import { JOB_BUGS } from './job-bugs.ts'
import { NETWORK_BUGS } from './network-bugs.ts'
import { PROMOTION_BUGS } from './promotion-bugs.ts'
import { SCALING_BUGS } from './scaling-bugs.ts'
import { STORE_CUT_BUGS } from './store-cut-bugs.ts'
import { VOLUME_BUGS } from './volume-bugs.ts'

export const BUGS: readonly Bug[] = [
  {
    name: 'desired state moves backward',
    edits: [
      core(
        'rollout/plan-replicas.ts',
        `assignment.desired === 'removed' ? assignment : { ...assignment, desired: 'removed' }`,
        `({ ...assignment, desired: assignment.desired === 'removed' ? 'running' : 'removed' })`,
      ),
    ],
    seenBy: ['forward-only'],
  },
  {
    name: 'assignment dropped before its agent confirmed the removal',
    edits: [
      core(
        'rollout/plan-replicas.ts',
        'facts.seen(id)?.gone === true ||',
        `facts.seen(id)?.state === 'stopping' ||`,
      ),
    ],
    seenBy: ['confirmed-gone', 'one-container'],
  },
  {
    name: 'old replica stopped before its successor serves',
    edits: [
      core(
        'rollout/plan-replicas-number.ts',
        `outgoing: { serving: 'leave', coming: 'stay'`,
        `outgoing: { serving: 'leave', coming: 'leave'`,
      ),
    ],
    seenBy: ['serves-until-replaced'],
  },
  {
    name: 'filter on the capabilities of agents missing',
    edits: [core('scheduling/filters/index.ts', '  agentVersion,\n  creation,', '  creation,')],
    seenBy: ['takes-work'],
  },
  {
    name: 'residency filter missing',
    edits: [
      core(
        'scheduling/filters/residency-country.ts',
        'isInCountry(residency, labels)) return',
        'labels !== undefined) return',
      ),
    ],
    seenBy: ['residency'],
  },
  {
    name: 'unattested labels accepted',
    edits: [
      server(
        'operations/nodes/attest-labels.ts',
        'value === known) labels',
        'value !== known || value === known) labels',
      ),
    ],
    seenBy: ['sessions'],
  },
  {
    name: 'quota off by one',
    edits: [
      core(
        'scheduling/filters/quota.ts',
        'if (containers.used < containers.limit) return',
        'if (containers.used <= containers.limit) return',
      ),
    ],
    seenBy: ['container-quota'],
  },
  {
    name: 'anti-affinity ignored',
    edits: [
      core('scheduling/filters/index.ts', '  antiAffinity,\n', ''),
      core(
        'scheduling/pick-node.ts',
        'const excluded = antiAffinity.flatMap((name) => running.get(name) ?? [])',
        'const excluded = antiAffinity.slice(0, 0).flatMap((name) => running.get(name) ?? [])',
      ),
    ],
    seenBy: ['anti-affinity'],
  },
  {
    name: 'cordon ignored',
    edits: [core('scheduling/filters/index.ts', '  cordon,\n', '')],
    seenBy: ['takes-work'],
  },
  {
    name: 'nodes of other tenants used',
    edits: [
      server(
        'loops/controllers/placement/tenant-view.ts',
        'const listed = store.list(nodes, tenant).map(',
        'const listed = store.list(tenants).flatMap(({ record }) => store.list(nodes, record.id)).map(',
      ),
      server(
        'loops/controllers/placement/tenant-view.ts',
        'const record = store.get(inTenant(tenant, nodes, id))?.record\n  const before',
        'const record = store.list(tenants).map((each) => store.get(inTenant(each.record.id, nodes, id))?.record).find((each) => each !== undefined)\n  const before',
      ),
      server(
        'loops/controllers/placement/tenant-view.ts',
        'import { nodeNames, nodes, placements,',
        'import { tenants, nodeNames, nodes, placements,',
      ),
      server(
        'scheduling/scheduling-facts.ts',
        `if (own?.state !== 'active') return 'releasing'`,
        `if (own?.state !== 'active') return 'sole'`,
      ),
    ],
    seenBy: ['tenant-boundary'],
  },
  {
    name: 'chosen node not compared on write',
    edits: [
      server(
        'loops/controllers/placement/reconcile-deployment.ts',
        'for (const id of plan.nodesToCompare) compareNode(transaction, tenant, id)',
        '',
      ),
    ],
    seenBy: ['takes-work', 'residency', 'fits-node'],
  },
  {
    name: 'records that were read not compared on write',
    edits: [
      server(
        'store/transaction.ts',
        'if (found !== undefined) compare(unchanged(key, found.modRevision))',
        'if (found !== undefined) key.at(0)',
      ),
    ],
    seenBy: [
      'acknowledged',
      'forward-only',
      'sessions',
      'container-quota',
      'slots-in-limits',
      'no-more-than-desired',
    ],
  },
  {
    name: 'unknown outcome treated as committed',
    edits: [
      server(
        'store/commit/settle-unknown.ts',
        `if (succeeded) return { kind: 'refused', revision }`,
        `if (succeeded) return { kind: 'committed', revision }`,
      ),
    ],
    seenBy: ['acknowledged'],
  },
  {
    name: 'gap between list and watch',
    edits: [
      server(
        'store/cache/cache.ts',
        'startRevision: listed.revision + 1',
        'startRevision: listed.revision + 2',
      ),
    ],
    seenBy: ['settled', 'no-crash'],
  },
  {
    name: 'session opened without a new epoch',
    edits: [
      server(
        'gateway/session/open-session.ts',
        'epoch = node.session.epoch + 1',
        'epoch = node.session.epoch',
      ),
    ],
    seenBy: ['sessions'],
  },
  {
    name: 'heartbeats ignored',
    edits: [
      server(
        'gateway/session/connection.ts',
        `message.session !== session.epoch) return\n  session.heardAt = performance.now()`,
        'message.session !== session.epoch) return',
      ),
    ],
    seenBy: ['given-up-late'],
  },
  {
    name: 'rejection reported at every reconciliation',
    edits: [
      core(
        'placement/events/placement-events.ts',
        'before?.reportedRefusals === next.reportedRefusals)\n    return []',
        'next.reportedRefusals.length < 0)\n    return []',
      ),
    ],
    seenBy: ['events-stand'],
  },
  {
    name: 'deployment removed before its containers',
    edits: [
      server(
        'loops/finish-removals.ts',
        'left.assignments.length > 0) return',
        'left.assignments.length < 0) return',
      ),
    ],
    seenBy: ['acknowledged', 'settled', 'confirmed-gone'],
  },
  {
    name: 'dependencies ignored',
    edits: [
      core(
        'rollout/plan-replicas.ts',
        '  if (desired.gated)\n',
        '  if (desired.gated && missing.length < 0)\n',
      ),
    ],
    seenBy: ['waits-for-others'],
  },
  {
    name: 'dependency satisfied by one ready replica',
    edits: [
      core(
        'rollout/dependency-gate.ts',
        'if (numbers.size === other.replicas) return undefined',
        'if (numbers.size > 0) return undefined',
      ),
    ],
    seenBy: ['waits-for-others'],
  },
  {
    name: 'control-plane nodes run tenant workloads',
    edits: [core('scheduling/filters/index.ts', '  controlPlaneNode,\n', '')],
    seenBy: ['takes-work'],
  },
  {
    name: 'watch not relisted after compaction',
    edits: [server('store/cache/cache.ts', 'onCompacted: relist', 'onCompacted: () => {}')],
    seenBy: ['settled', 'one-owner', 'given-up-late'],
  },
  ...JOB_BUGS,
  ...SCALING_BUGS,
  ...CANARY_BUGS,
  ...NETWORK_BUGS,
  ...STORE_CUT_BUGS,
  ...CREATION_BUGS,
  ...VOLUME_BUGS,
  ...PROMOTION_BUGS,
]
