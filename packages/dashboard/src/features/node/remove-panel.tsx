// Removes a node. The machine leaves the tenant, so the person types its name after reading the effects.

import type { Node } from '@holdfast/contract'
import { useState } from 'react'
import { keys } from '../../api/keys.ts'
import { matching } from '../../api/matching.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { afterSuccess } from '../../api/resources/use-write.ts'
import { useSession, whyClosed } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ActOutcome, type Outcome } from '../../parts/act-outcome.tsx'
import { PlannedDialog } from '../../parts/dialog/planned-dialog.tsx'
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
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'idle' })
  const finish = (): void => {
    setOpened(false)
    setOutcome({ kind: 'done', text: words.done(node.name) })
  }
  return (
    <Panel title={words.title} aside={words.note}>
      <div className={styles.ask}>
        <p>{words.what}</p>
        <ActButton
          label={words.button(node.name)}
          closed={whyClosed(me, NEEDS, stale)}
          running={false}
          onAct={() => setOpened(true)}
        />
        <code className={styles.muted}>{nodeEquivalents.remove(node.name, node.id).command}</code>
        <ActOutcome outcome={outcome} />
      </div>
      {opened ? <Confirm node={node} onDone={finish} onClose={() => setOpened(false)} /> : null}
    </Panel>
  )
}

interface DialogProps {
  readonly node: Node
  onDone(): void
  onClose(): void
}

function Confirm({ node: { id, name, revision }, onDone, onClose }: DialogProps) {
  const { client, tenant } = useSession()
  // A machine that answers is emptied first; forcing is for one that will not.
  const [force, setForce] = useState(false)
  const { answer, confirm, ...planned } = usePlanned({
    queryKey: keys.plan(tenant, 'remove-node', id, String(force)),
    needs: NEEDS,
    stale: useStale(),
    plan: (options) => client.dryRuns.removeNode(id, { force }, options),
    ask: () => client.nodes.remove(id, { force }, matching(revision)).then(afterSuccess(onDone)),
  })
  return (
    <PlannedDialog
      {...planned}
      title={words.question(name)}
      label={words.act(name, force)}
      none={words.none}
      effects={answer?.plan.effects}
      typed={name}
      onConfirm={confirm}
      onClose={onClose}
    >
      <label className={styles.force}>
        <input type="checkbox" checked={force} onChange={() => setForce(!force)} /> {words.force}
      </label>
      {force ? <p>{words.forceNote}</p> : null}
      <strong>{words.effects}</strong>
    </PlannedDialog>
  )
}
