// Uncordons a node. It can be reversed, so it asks nothing and offers to undo it. The outcome belongs to the page: the remedy
// disappears as soon as the server explains the deployment again.

import { useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import { type ActState, useAct } from '../../api/use-act.ts'
import { useStale } from '../../live/live-provider.tsx'
import type { Outcome } from '../../parts/act-outcome.tsx'
import { texts } from '../../texts/en.ts'

const NEEDS = 'nodes:write'

interface NodeName {
  readonly id: string
  readonly name: string
}

export interface Uncordon {
  /** Why it is closed to this person, or now; absent if it is open. */
  readonly closed: string | undefined
  readonly outcome: Outcome
  run(node: NodeName): void
}

type Verb = 'cordon' | 'uncordon'

export function useUncordon(): Uncordon {
  const { client, me } = useSession()
  const stale = useStale()
  const { state, run } = useAct()
  const [asked, setAsked] = useState<{ readonly verb: Verb; readonly node: NodeName }>()
  const ask = (verb: Verb, node: NodeName): void => {
    setAsked({ verb, node })
    run((idempotencyKey) => client.nodes[verb](node.id, { idempotencyKey }))
  }
  const open = stale ? texts.live.closed : undefined
  return {
    closed: mayDo(me, NEEDS) ? open : texts.roles.needs(NEEDS, me.token.role),
    outcome:
      asked === undefined ? { kind: 'idle' } : outcomeOf(state, asked, () => ask('cordon', asked.node)),
    run: (node) => ask('uncordon', node),
  }
}

function outcomeOf(
  state: ActState,
  { verb, node }: { readonly verb: Verb; readonly node: NodeName },
  undo: () => void,
): Outcome {
  switch (state.kind) {
    case 'done':
      return verb === 'uncordon'
        ? { kind: 'done', text: texts.why.uncordoned(node.name), undo }
        : { kind: 'done', text: texts.why.cordoned(node.name) }
    case 'failed':
      return { kind: 'failed', message: explainFailure(state.error).title }
    default:
      return state
  }
}
