// The scaling policy of a deployment, with what it wants now; null if the deployment has none.

import type { Scaling } from '@holdfast/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { CallError, isNotFound } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'

/** Measured usage is no record, so no change is announced for it. It is as old as the samples of the nodes. */
const SAMPLE_MS = 10_000

export function useScaling(name: string): UseQueryResult<Scaling | null> {
  const { client, tenant } = useSession()
  return useQuery({
    queryKey: keys.scaling(tenant, name),
    refetchInterval: SAMPLE_MS,
    queryFn: async ({ signal }) => {
      const read = await client.scaling.read(name, { signal })
      if (read.ok) return read.value
      const error = new CallError(read.failure)
      if (isNotFound(error)) return null
      throw error
    },
  })
}
