// Uncordons a node. It can be reversed, so it asks nothing and offers to undo it.

import { explainFailure } from '../../api/failure.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import { type ActState, useAct } from '../../api/use-act.ts'
import { useLive } from '../../live/live-provider.tsx'
import { ActButton, type Outcome } from '../../parts/act-button.tsx'
import { texts } from '../../texts/en.ts'

const NEEDS = 'nodes:write'

interface Props {
  readonly node: { readonly id: string; readonly name: string }
}

export function UncordonButton({ node: { id, name } }: Props) {
  const { client, me } = useSession()
  const { stale } = useLive()
  const { state, run } = useAct()
  const may = mayDo(me, NEEDS)
  const closed = may ? (stale ? texts.live.closed : undefined) : texts.roles.needs(NEEDS, me.token.role)
  const cordon = (): void => run((idempotencyKey) => client.nodes.cordon(id, { idempotencyKey }))
  return (
    <ActButton
      label={texts.why.uncordon(name)}
      closed={closed}
      outcome={outcomeOf(state, texts.why.uncordoned(name), cordon)}
      onAct={() => run((idempotencyKey) => client.nodes.uncordon(id, { idempotencyKey }))}
    />
  )
}

function outcomeOf(state: ActState, text: string, undo: () => void): Outcome {
  switch (state.kind) {
    case 'done':
      return { kind: 'done', text, undo }
    case 'failed':
      return { kind: 'failed', message: explainFailure(state.error).title }
    default:
      return state
  }
}
