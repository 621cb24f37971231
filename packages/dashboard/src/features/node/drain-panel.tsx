// A drain: its effects from a dry run, the button that names them, and then its progress.

import type { Effects, Node } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { useDrain } from '../../api/nodes/use-node-acts.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import type { Cordon } from '../../api/use-cordon.ts'
import { useDrainEffects, useNodeReplicas } from '../../api/use-nodes.ts'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { PlannedOutcome } from '../../parts/confirm/planned-outcome.tsx'
import { EffectsList } from '../../parts/effects-list.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import styles from './node-page.module.css'

const words = texts.drain
const NEEDS = 'nodes:write'

export function DrainPanel({ node, cordon }: { readonly node: Node; readonly cordon: Cordon }) {
  const { me } = useSession()
  const progress = node.draining === true
  return (
    <Panel title={texts.nodes.drain} aside={words.note}>
      {mayDo(me, NEEDS) ? null : <p className={styles.none}>{texts.roles.needs(NEEDS, me.token.role)}</p>}
      {progress ? <Progress node={node} cordon={cordon} /> : null}
      {progress || !mayDo(me, NEEDS) ? null : <Planned node={node} />}
    </Panel>
  )
}

/** The replicas that are left during a drain. Opening the node again cancels it. */
function Progress({ node, cordon }: { readonly node: Node; readonly cordon: Cordon }) {
  const { data } = useNodeReplicas(node.id)
  const left = data?.length ?? 0
  return (
    <div className={styles.ask}>
      <p role="status">{left === 0 ? words.last : words.left(left)}</p>
      <ActButton
        label={words.cancel(node.name)}
        closed={cordon.closed}
        running={cordon.outcome.kind === 'running'}
        onAct={() => cordon.run('uncordon', node)}
      />
    </div>
  )
}

function Planned({ node }: { readonly node: Node }) {
  const [asked, setAsked] = useState(false)
  const stale = useStale()
  const { data: effects, error } = useDrainEffects(node.id, asked)
  const { state, drain } = useDrain(node)
  if (!asked)
    return (
      <div className={styles.ask}>
        <Button variant="default" size="compact-sm" onClick={() => setAsked(true)}>
          {texts.nodes.showDrain}
        </Button>
      </div>
    )
  return (
    <>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {effects === undefined && error === null ? <Loading /> : null}
      {effects === undefined ? null : (
        <>
          <EffectsList effects={effects} none={texts.nodes.drainNothing} />
          <div className={styles.ask}>
            <ActButton
              primary
              label={labelOf(node.name, effects)}
              closed={stale ? texts.live.closed : undefined}
              running={state.kind === 'running'}
              onAct={() => drain(effects)}
            />
            <code className={styles.muted}>{equivalents.drain(node.name, node.id).command}</code>
          </div>
        </>
      )}
      <PlannedOutcome state={state} done={words.done(node.name)} explain={explainFailure} />
    </>
  )
}

function labelOf(name: string, { moves, restarts, stops, unplaced }: Effects): string {
  const without = unplaced.reduce((all, { replicas }) => all + replicas, 0)
  return words.act(name, moves.length + restarts.length, without, stops.length)
}
