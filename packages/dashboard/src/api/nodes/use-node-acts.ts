// Drains or removes a node, each after a plan that the person has seen.

import type { Effects, Node } from '@holdfast/contract'
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { effectsOf, type PlannedState, usePlannedAct } from '../acts/use-planned-act.ts'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'

type NodeName = Pick<Node, 'id' | 'name'>

export function useDrain({ id }: NodeName): {
  readonly state: PlannedState
  drain(shown: Effects): void
} {
  const { client, tenant } = useSession()
  const queries = useQueryClient()
  const { state, run } = usePlannedAct()
  return {
    state,
    drain: (shown) =>
      void run({
        shown,
        plan: async () => effectsOf(await client.dryRuns.changeNode(id, 'drain')),
        onChanged: (effects) => void queries.setQueryData(keys.drain(tenant, id), effects),
        ask: (idempotencyKey) => client.nodes.drain(id, { idempotencyKey }),
      }),
  }
}

const removalKey = (tenant: string, id: string, force: boolean) =>
  keys.drain(tenant, `${force ? 'force' : 'remove'} ${id}`)

/** The effects of a removal; read again whenever a deployment or node changes. */
export function useRemovalEffects(
  { id }: NodeName,
  force: boolean,
  enabled: boolean,
): UseQueryResult<Effects> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: removalKey(tenant, id, force),
    enabled,
    queryFn: async ({ signal }) =>
      requireValue(await client.dryRuns.removeNode(id, { force }, { signal })).plan.effects,
  })
}

export function useRemoveNode({ id }: NodeName): {
  readonly state: PlannedState
  remove(force: boolean, shown: Effects): void
} {
  const { client, tenant } = useSession()
  const queries = useQueryClient()
  const { state, run } = usePlannedAct()
  return {
    state,
    remove: (force, shown) =>
      void run({
        shown,
        plan: async () => effectsOf(await client.dryRuns.removeNode(id, { force })),
        onChanged: (effects) => void queries.setQueryData(removalKey(tenant, id, force), effects),
        ask: () => client.nodes.remove(id, { force }),
      }),
  }
}
