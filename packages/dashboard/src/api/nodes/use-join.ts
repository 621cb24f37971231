// Enrolls a machine: a join token, and the node with its name as soon as the machine has joined.

import type { IssuedJoinToken, NodeSummary } from '@holdfast/contract'
import { useQuery } from '@tanstack/react-query'
import { useValueAct, type ValueState } from '../acts/use-value-act.ts'
import { requireValue } from '../failure.ts'
import { keys } from '../keys.ts'
import { useSession } from '../session.tsx'

export interface Machine {
  readonly nodeName: string
  readonly country: string
  readonly region: string
}

export function useJoin(): {
  readonly state: ValueState<IssuedJoinToken>
  issue(machine: Machine): Promise<void>
} {
  const { client } = useSession()
  const { state, run } = useValueAct<IssuedJoinToken>()
  return {
    state,
    issue: ({ nodeName, country, region }) => {
      const residency = { ...(country === '' ? {} : { country }), ...(region === '' ? {} : { region }) }
      const attests = country !== '' || region !== ''
      return run(() => client.nodes.issueJoinToken({ nodeName, ...(attests ? { residency } : {}) }))
    },
  }
}

/** The node of this name; null if there is none. */
export function useNodeNamed(name: string): NodeSummary | null | undefined {
  const { client, tenant } = useSession()
  const { data } = useQuery({
    queryKey: keys.nodes(tenant, `named ${name}`),
    queryFn: async ({ signal }) => {
      const found = requireValue(await client.nodes.summaries({ q: name, limit: 100 }, { signal }))
      return found.items.find((node) => node.name === name) ?? null
    },
  })
  return data
}
