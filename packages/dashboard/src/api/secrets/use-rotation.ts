// The rotation of a deployment's secrets, the plan of each next step, and the step itself.

import type { SentRotation } from '@holdfast/client'
import type { Effects, Rotation } from '@holdfast/contract'
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { effectsOf, type PlannedState, usePlannedAct } from '../acts/use-planned-act.ts'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'

export function useRotation(name: string): UseQueryResult<Rotation> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.secrets(tenant, 'rotation', name),
    queryFn: async ({ signal }) => requireValue(await client.secrets.rotation(name, { signal })),
  })
}

const planKey = (tenant: string, name: string, { phase, secret }: SentRotation) =>
  keys.secrets(tenant, 'plan', `${name} ${secret} ${phase}`)

/** The effects of a step, from a dry run. No secret value is needed for them. */
export function useRotationPlan(name: string, sent: SentRotation, enabled: boolean): UseQueryResult<Effects> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: planKey(tenant, name, sent),
    enabled,
    queryFn: async ({ signal }) =>
      requireValue(await client.dryRuns.rotate(name, sent, { signal })).plan.effects,
  })
}

export function useRotate(name: string): {
  readonly state: PlannedState
  /** `shown`: the plan that the person saw; absent for a step that changes no container. */
  rotate(sent: SentRotation, shown?: Effects): void
} {
  const { client, tenant } = useSession()
  const queries = useQueryClient()
  const { state, run } = usePlannedAct()
  return {
    state,
    rotate: (sent, shown) =>
      void run({
        shown,
        plan: async () => effectsOf(await client.dryRuns.rotate(name, sent)),
        onChanged: (effects) => void queries.setQueryData(planKey(tenant, name, sent), effects),
        ask: (idempotencyKey) => client.secrets.rotate(name, sent, { idempotencyKey }),
      }),
  }
}
