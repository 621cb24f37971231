// The steps of a machine after its join command was created, live until the node is ready.

import { Link } from '@tanstack/react-router'
import { useNodeNamed } from '../../api/nodes/use-join.ts'
import { useSession } from '../../api/session.tsx'
import { Panel } from '../../parts/panel.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { texts } from '../../texts/en.ts'
import styles from './join-page.module.css'

const words = texts.join

export function JoinSteps({ name }: { readonly name: string }) {
  const { tenant } = useSession()
  const node = useNodeNamed(name)
  const status = node?.status
  const ready = status === 'ready' || status === 'degraded'
  return (
    <Panel title={words.steps}>
      <div className={styles.body} role="status">
        <ul className={styles.steps}>
          <Step done text={words.created(name)} />
          <Step
            done={status !== undefined}
            text={status === undefined ? words.waiting(name) : words.enrolled(name)}
          />
          {status === undefined ? null : (
            <Step done={ready} text={ready ? words.ready(name) : words.connecting(name)} />
          )}
        </ul>
        {node === null || node === undefined ? null : (
          <p>
            <Link to="/t/$tenant/nodes/$node" params={{ tenant, node: node.id }}>
              {words.open(name)}
            </Link>
          </p>
        )}
      </div>
    </Panel>
  )
}

const Step = ({ done, text }: { readonly done: boolean; readonly text: string }) => (
  <li>
    <PhaseBadge word={done ? 'ready' : 'pending'} label={text} />
  </li>
)
