// Containers that fail although their replica has a node: the reason, the output that explains it, and how often.

import type { FailingContainer } from '@holdfast/contract'
import { Panel } from '../../parts/panel.tsx'
import { texts } from '../../texts/en.ts'
import { wordsOf } from '../../texts/show-value.ts'
import styles from './why-page.module.css'

export function FailingContainers({ containers }: { readonly containers: readonly FailingContainer[] }) {
  return (
    <Panel title={texts.why.failing}>
      {containers.map((container) => (
        <div key={`${container.replica}-${container.nodeId}`} className={styles.container}>
          <p>
            <strong>{texts.why.failingAt(container.replica, container.nodeName)}</strong>
            {container.reason === '' ? null : ` ${wordsOf(container.reason)}`}
          </p>
          {container.cause === '' ? null : <pre className={styles.cause}>{container.cause}</pre>}
          <p className={styles.muted}>{factsOf(container).join(', ')}</p>
        </div>
      ))}
    </Panel>
  )
}

function factsOf({ restarts, failedChecks, lastExit }: FailingContainer): string[] {
  return [
    texts.why.restarts(restarts),
    ...(failedChecks === undefined ? [] : [texts.why.checks(failedChecks)]),
    ...(lastExit === undefined ? [] : [texts.why.exit(lastExit.code)]),
  ]
}
