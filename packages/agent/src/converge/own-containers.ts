// Lists Holdfast's containers for this tenant, all of them or those of a few assignments, and tracks the container names
// in use on the machine. A full list takes Docker about as long as a create.

import type { AssignmentId, TenantId } from '@holdfast/contract'
import { ASSIGNMENT_LABEL, type OwnContainer, readOwnLabels } from '@holdfast/core/node'
import type { Engine, ListedContainer } from '../ports/engine.ts'
import { createTakenNames, type TakenNames } from './taken-names.ts'

export interface OwnContainers {
  list(of: 'all' | ReadonlySet<AssignmentId>): Promise<OwnContainer[]>
  /** Whether the container names in use are known: false until the first full list. */
  isKnown(): boolean
  readonly names: TakenNames
}

export function createOwnContainers(
  engine: Pick<Engine, 'listContainers' | 'listLabelled'>,
  tenant: TenantId,
): OwnContainers {
  const names = createTakenNames()
  let known = false
  const listAll = async (): Promise<ListedContainer[]> => {
    const applyNames = names.beginList()
    const listed = await engine.listContainers()
    applyNames(listed.map(({ name }) => name))
    known = true
    return listed
  }
  const listSome = async (ids: readonly AssignmentId[]): Promise<ListedContainer[]> =>
    (await Promise.all(ids.map((id) => engine.listLabelled(ASSIGNMENT_LABEL, id)))).flat()
  return {
    list: async (of) =>
      (of === 'all' ? await listAll() : await listSome([...of])).flatMap((one) => readOwn(one, tenant)),
    isKnown: () => known,
    names,
  }
}

function readOwn(container: ListedContainer, tenant: TenantId): OwnContainer[] {
  const labels = readOwnLabels(container.labels, tenant)
  if (labels === undefined) return []
  const { id, name, state, createdAt } = container
  return [{ id, name, state, createdAt, ...labels }]
}
