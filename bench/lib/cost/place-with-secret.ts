// Writes a running replica whose container has one secret, as the other parts of the server would write it, and returns the
// request for its environment.

import {
  type AssignmentId,
  consumerOf,
  type DeploymentUid,
  type NodeId,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import type { EnvironmentAsk } from '@holdfast/server/ports/broker'
import { credentials, deployments } from '@holdfast/server/store/records'
import { aDeployment, aSpec } from '@holdfast/server/store/records.fixture'
import { inTenant, placementAt, type Transaction } from '@holdfast/server/store/transaction'
import { realIds as ids } from '@holdfast/server/system-clock'

const TIME = '2026-01-01T00:00:00.000Z'

export function placeWithSecret(
  transaction: Transaction,
  tenant: TenantId,
  nodeId: NodeId,
  name: string,
): Omit<EnvironmentAsk, 'attempt'> {
  const uid = `dep_${ids.ulid()}` as DeploymentUid
  const assignmentId = `rep_${ids.ulid()}` as AssignmentId
  const owner = ownerOf('deployment', uid)
  const label = `db-${name}`
  transaction.put(inTenant(tenant, credentials, label), {
    ...{ v: 1, label, namespace: 'deployments', consumers: [consumerOf('deployment', name)] },
    versions: [{ version: 1, keys: ['user', 'password'], createdAt: TIME }],
    ...{ initial: 1, slot: 0 },
  })
  transaction.put(inTenant(tenant, deployments, name), aDeployment(name, { uid, spec: aSpec(name) }))
  const template = {
    name,
    image: `registry.example:5000/app@sha256:${'a'.repeat(64)}`,
    environment: { MODE: 'bench' },
    labels: {},
    stopGracePeriod: '10s',
    secrets: [{ name: 'DB', namespace: 'deployments', label, version: null }],
  }
  transaction.put(placementAt(tenant, owner), {
    ...{ v: 1, owner, name, revision: 1, everAssigned: true },
    ...{ reportedRefusals: '', reportedPhase: '', templates: { 'hash-1': template } },
    assignments: [
      {
        ...{ id: assignmentId, replica: 0, nodeId, revision: 1 },
        ...{ templateHash: 'hash-1', desired: 'running', assignedAt: TIME },
      },
    ],
  })
  return { tenant, nodeId, owner, assignmentId }
}
