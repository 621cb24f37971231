// The rotation of a deployment's secrets, the plan of each next step, and the step itself. A step is planned once more before
// it is sent: a plan that has changed is shown, and nothing is done.

import type { SentRotation } from '@holdfast/client'
import type { Effects, Rotation } from '@holdfast/contract'
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'
import { type ActState, useAct } from '../use-act.ts'

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

export type RotateState = ActState | { readonly kind: 'changed' }

export function useRotate(name: string): {
  readonly state: RotateState
  /** `shown`: the plan that the person saw; absent for a step that changes no container. */
  rotate(sent: SentRotation, shown?: Effects): Promise<void>
} {
  const { client, tenant } = useSession()
  const queries = useQueryClient()
  const { state, run } = useAct()
  const [changed, setChanged] = useState(false)
  return {
    state: changed ? { kind: 'changed' } : state,
    async rotate(sent, shown) {
      setChanged(false)
      if (shown !== undefined) {
        const planned = await client.dryRuns.rotate(name, sent)
        if (planned.ok && !isSame(planned.value.plan.effects, shown)) {
          queries.setQueryData(planKey(tenant, name, sent), planned.value.plan.effects)
          return setChanged(true)
        }
      }
      run((idempotencyKey) => client.secrets.rotate(name, sent, { idempotencyKey }))
    },
  }
}

const isSame = (left: Effects, right: Effects): boolean => JSON.stringify(left) === JSON.stringify(right)
