// Cordons or uncordons a node. It can be reversed, so it asks nothing and offers to undo it.

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { texts } from '../texts/en.ts'
import { keys } from './keys.ts'
import { afterConflict, matching } from './matching.ts'
import { useSession, whyClosed } from './session.tsx'
import { type ActState, useAct } from './use-act.ts'

const NEEDS = 'nodes:write'

interface NodeName {
  readonly id: string
  readonly name: string
  /** The revision that the person sees; absent where none is shown. */
  readonly revision?: number | undefined
}

type CordonOutcome = ActState | { readonly kind: 'done'; readonly text: string; undo(): void }

export interface Cordon {
  /** Why it is closed to this person, or now; absent if it is open. */
  readonly closed: string | undefined
  readonly outcome: CordonOutcome
  run(verb: CordonVerb, node: NodeName): void
}

type CordonVerb = 'cordon' | 'uncordon'

interface Asked {
  readonly verb: CordonVerb
  readonly node: NodeName
}

/** `stale`: whether the shown data may be old, which closes every change. */
export function useCordon(stale: boolean): Cordon {
  const { client, me, tenant } = useSession()
  const queries = useQueryClient()
  const { state, run } = useAct()
  const [asked, setAsked] = useState<Asked>()
  const ask = (verb: CordonVerb, node: NodeName): void => {
    setAsked({ verb, node })
    const readAgain = (): void => void queries.invalidateQueries({ queryKey: keys.nodes(tenant, node.id) })
    run((idempotencyKey) =>
      client.nodes[verb](node.id, { idempotencyKey, ...matching(node.revision) }).then(
        afterConflict(readAgain),
      ),
    )
  }
  return {
    closed: whyClosed(me, NEEDS, stale),
    outcome: asked === undefined ? { kind: 'idle' } : outcomeOf(state, asked, ask),
    run: ask,
  }
}

const OPPOSITES = { cordon: 'uncordon', uncordon: 'cordon' } as const

function outcomeOf(state: ActState, { verb, node }: Asked, ask: Cordon['run']): CordonOutcome {
  if (state.kind !== 'done') return state
  const text = texts.cordon.done[verb](node.name)
  // The change has made another revision, which the response does not have.
  return { kind: 'done', text, undo: () => ask(OPPOSITES[verb], { ...node, revision: undefined }) }
}
