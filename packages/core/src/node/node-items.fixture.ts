// For tests only: valid desired items, containers and plan inputs, which each test modifies.

import {
  type AssignmentId,
  asOwner,
  type ContainerTemplate,
  type DesiredItem,
  decode,
  desiredItemShape,
  isTenantId,
} from '@holdfast/contract'
import type { MountPlaces } from './container-mounts.ts'
import type { ContainerState, OwnContainer, PlanFacts } from './plan-node.ts'

const TENANT_TEXT = '11111111-2222-4333-8444-555555555555'
export const TENANT = isTenantId(TENANT_TEXT) ? TENANT_TEXT : throwIt()
export const OWNER = asOwner('deployment/dep_01JCPZ0000000000000000000A')
export const PINNED = `registry.example.com/shop/web@sha256:${'a'.repeat(64)}`

export const PLACES: MountPlaces = { volumes: '/state/volumes', cgroup: 'holdfast' }

function throwIt(): never {
  throw new Error('not a tenant id')
}

export function anItem(
  id: string,
  desired: DesiredItem['desired'] = 'running',
  template: Partial<ContainerTemplate> = {},
): DesiredItem {
  return decode(desiredItemShape, {
    assignmentId: `rep_${id}`,
    owner: OWNER,
    generation: 7,
    templateHash: 'f'.repeat(64),
    desired,
    template: {
      name: 'web',
      image: PINNED,
      environment: {},
      labels: {},
      stopGracePeriod: '10s',
      ...template,
    },
  })
}

export const assignmentOf = (id: string): AssignmentId => anItem(id).assignmentId

export function aContainer(
  id: string,
  state: ContainerState = 'running',
  over: Partial<OwnContainer> = {},
): OwnContainer {
  return {
    id: `c-${id}`,
    name: `n-${id}`,
    state,
    createdAt: 1,
    assignmentId: assignmentOf(id),
    generation: 7,
    owner: OWNER,
    ...over,
  }
}

export function planFacts(over: Partial<PlanFacts> = {}): PlanFacts {
  return {
    names: new Set(),
    pendingNames: new Map(),
    skip: new Set(),
    mayCreate: () => true,
    hasRun: () => false,
    startedContainer: () => undefined,
    unsafe: new Set(),
    orphans: [],
    ...over,
  }
}
