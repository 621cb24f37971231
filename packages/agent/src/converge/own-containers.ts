// Lists Holdfast's containers for this tenant, all of them or those of a few assignments, and tracks the container names
// in use on the machine. A full list takes Docker about as long as a create.

import { type AssignmentId, isVolumeId, type TenantId, type VolumeId } from '@holdfast/contract'
import {
  ASSIGNMENT_LABEL,
  labelledVolumes,
  type OwnContainer,
  readOwnLabels,
  SEED_LABEL,
  TENANT_LABEL,
} from '@holdfast/core/node'
import type { Engine, ListedContainer } from '../ports/engine.ts'
import { createTakenNames, type TakenNames } from './taken-names.ts'

export interface OwnContainers {
  list(of: 'all' | ReadonlySet<AssignmentId>): Promise<OwnContainer[]>
  /** Whether the container names in use are known: false until the first full list. */
  isKnown(): boolean
  readonly names: TakenNames
  /** The volumes that the containers of the last full list write. */
  written(): ReadonlySet<VolumeId>
  /** The containers of the last full list that copy the content of an image into a volume. */
  seeds(): readonly SeedContainer[]
}

export interface SeedContainer {
  readonly id: string
  readonly volume: VolumeId
}

export function createOwnContainers(
  engine: Pick<Engine, 'listContainers' | 'listLabelled'>,
  tenant: TenantId,
): OwnContainers {
  const names = createTakenNames()
  let known = false
  let last: readonly ListedContainer[] = []
  const listAll = async (): Promise<ListedContainer[]> => {
    const applyNames = names.beginList()
    const listed = await engine.listContainers()
    applyNames(listed.map(({ name }) => name))
    known = true
    last = listed
    return listed
  }
  const listSome = async (ids: readonly AssignmentId[]): Promise<ListedContainer[]> =>
    (await Promise.all(ids.map((id) => engine.listLabelled(ASSIGNMENT_LABEL, id)))).flat()
  return {
    list: async (of) =>
      (of === 'all' ? await listAll() : await listSome([...of])).flatMap((one) => readOwn(one, tenant)),
    isKnown: () => known,
    names,
    written: () => new Set(last.flatMap(({ labels }) => labelledVolumes(labels))),
    seeds: () => last.flatMap((one) => readSeed(one, tenant)),
  }
}

function readSeed({ id, labels }: ListedContainer, tenant: TenantId): SeedContainer[] {
  const volume = labels[SEED_LABEL] ?? ''
  return isVolumeId(volume) && labels[TENANT_LABEL] === tenant ? [{ id, volume }] : []
}

function readOwn(container: ListedContainer, tenant: TenantId): OwnContainer[] {
  const labels = readOwnLabels(container.labels, tenant)
  if (labels === undefined) return []
  const { id, name, state, createdAt } = container
  return [{ id, name, state, createdAt, ...labels }]
}
