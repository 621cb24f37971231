// Cordons or uncordons a node. It can be reversed, so it asks nothing and offers to undo it.

import { useState } from 'react'
import { texts } from '../texts/en.ts'
import { explainFailure } from './failure.ts'
import { mayDo, useSession } from './session.tsx'
import { type ActState, useAct } from './use-act.ts'

const NEEDS = 'nodes:write'

interface NodeName {
  readonly id: string
  readonly name: string
}

type CordonOutcome =
  | { readonly kind: 'idle' | 'running' }
  | { readonly kind: 'unknown'; again(): void }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'done'; readonly text: string; undo(): void }

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
  const { client, me } = useSession()
  const { state, run } = useAct()
  const [asked, setAsked] = useState<Asked>()
  const ask = (verb: CordonVerb, node: NodeName): void => {
    setAsked({ verb, node })
    run((idempotencyKey) => client.nodes[verb](node.id, { idempotencyKey }))
  }
  const open = stale ? texts.live.closed : undefined
  return {
    closed: mayDo(me, NEEDS) ? open : texts.roles.needs(NEEDS, me.token.role),
    outcome: asked === undefined ? { kind: 'idle' } : outcomeOf(state, asked, ask),
    run: ask,
  }
}

const OPPOSITES = { cordon: 'uncordon', uncordon: 'cordon' } as const

function outcomeOf(state: ActState, { verb, node }: Asked, ask: Cordon['run']): CordonOutcome {
  switch (state.kind) {
    case 'done':
      return {
        kind: 'done',
        text: texts.cordon.done[verb](node.name),
        undo: () => ask(OPPOSITES[verb], node),
      }
    case 'failed':
      return { kind: 'failed', message: explainFailure(state.error).title }
    default:
      return state
  }
}
