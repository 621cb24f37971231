// A drain: its effects from a dry run, the button that names them, and then its progress.

import type { Effects, Node } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keys } from '../../api/keys.ts'
import { afterConflict, matching } from '../../api/matching.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import type { Cordon } from '../../api/use-cordon.ts'
import { useNodeReplicas } from '../../api/use-nodes.ts'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ActOutcome } from '../../parts/act-outcome.tsx'
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

function Planned({ node: { id, name, revision } }: { readonly node: Node }) {
  const { client, tenant } = useSession()
  const queries = useQueryClient()
  const [chosen, setChosen] = useState(false)
  const { answer, failure, closed, outcome, confirm } = usePlanned({
    queryKey: keys.plan(tenant, 'drain', id),
    needs: NEEDS,
    stale: useStale(),
    chosen,
    plan: (options) => client.dryRuns.changeNode(id, 'drain', options),
    ask: (idempotencyKey) =>
      client.nodes
        .drain(id, { idempotencyKey, ...matching(revision) })
        .then(afterConflict(() => void queries.invalidateQueries({ queryKey: keys.nodes(tenant, id) }))),
  })
  const effects = answer?.plan.effects
  if (!chosen)
    return (
      <div className={styles.ask}>
        <Button variant="default" size="compact-sm" onClick={() => setChosen(true)}>
          {texts.nodes.showDrain}
        </Button>
      </div>
    )
  return (
    <>
      {failure === undefined ? null : <Failed {...failure} />}
      {effects === undefined && failure === undefined ? <Loading /> : null}
      {effects === undefined ? null : (
        <>
          <EffectsList effects={effects} none={texts.nodes.drainNothing} />
          <div className={styles.ask}>
            <ActButton
              primary
              label={labelOf(name, effects)}
              closed={closed}
              running={outcome.kind === 'running'}
              onAct={confirm}
            />
            <code className={styles.muted}>{equivalents.drain(name, id).command}</code>
            <ActOutcome outcome={outcome} done={words.done(name)} />
          </div>
        </>
      )}
    </>
  )
}

function labelOf(name: string, { moves, restarts, stops, unplaced }: Effects): string {
  const without = unplaced.reduce((all, { replicas }) => all + replicas, 0)
  return words.act(name, moves.length + restarts.length, without, stops.length)
}
