// Removes a node. The machine leaves the tenant, so the person types its name after reading the effects.

import type { Node } from '@holdfast/contract'
import { useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { useRemovalEffects, useRemoveNode } from '../../api/nodes/use-node-acts.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ConfirmDialog } from '../../parts/confirm/confirm-dialog.tsx'
import { PlannedOutcome } from '../../parts/confirm/planned-outcome.tsx'
import { EffectsList } from '../../parts/effects-list.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { nodeEquivalents } from '../../texts/commands/nodes.ts'
import { texts } from '../../texts/en.ts'
import styles from './node-page.module.css'

const words = texts.remove
const NEEDS = 'nodes:write'

export function RemovePanel({ node }: { readonly node: Node }) {
  const { me } = useSession()
  const stale = useStale()
  const [opened, setOpened] = useState(false)
  const closed = mayDo(me, NEEDS)
    ? stale
      ? texts.live.closed
      : undefined
    : texts.roles.needs(NEEDS, me.token.role)
  return (
    <Panel title={words.title} aside={words.note}>
      <div className={styles.ask}>
        <p>{words.what}</p>
        <ActButton
          label={words.button(node.name)}
          closed={closed}
          running={false}
          onAct={() => setOpened(true)}
        />
        <code className={styles.muted}>{nodeEquivalents.remove(node.name, node.id).command}</code>
      </div>
      <RemoveDialog node={node} opened={opened} onClose={() => setOpened(false)} />
    </Panel>
  )
}

interface DialogProps {
  readonly node: Node
  readonly opened: boolean
  onClose(): void
}

function RemoveDialog({ node, opened, onClose }: DialogProps) {
  // A machine that answers is emptied first; forcing is for one that will not.
  const [force, setForce] = useState(false)
  const { data: effects, error } = useRemovalEffects(node, force, opened)
  const { state, remove } = useRemoveNode(node)
  return (
    <ConfirmDialog
      opened={opened}
      title={words.question(node.name)}
      name={node.name}
      act={words.act(node.name, force)}
      running={state.kind === 'running' || effects === undefined}
      onAct={() => (effects === undefined ? undefined : remove(force, effects))}
      onClose={onClose}
    >
      <label className={styles.force}>
        <input type="checkbox" checked={force} onChange={() => setForce(!force)} /> {words.force}
      </label>
      {force ? <p>{words.forceNote}</p> : null}
      <strong>{words.effects}</strong>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {effects === undefined && error === null ? <Loading /> : null}
      {effects === undefined ? null : <EffectsList effects={effects} none={words.none} />}
      <PlannedOutcome state={state} done={words.done(node.name)} explain={explainFailure} />
    </ConfirmDialog>
  )
}
