// The decisions about a deployment: when its phase or its explanation changed, and under which revision.

import type { Decision } from '@holdfast/contract'
import { timeTexts } from '../../texts/en/time.ts'
import { texts } from '../../texts/en.ts'
import { Moment } from '../moment.tsx'
import { Panel } from '../panel.tsx'
import { PhaseBadge } from '../phase-badge.tsx'
import styles from './decision-list.module.css'

interface Props {
  readonly decisions: readonly Decision[]
  /** The one whose time is shown; undefined for now. */
  readonly chosen: Decision | undefined
  onChoose(at: string): void
}

export function DecisionList({ decisions, chosen, onChoose }: Props) {
  return (
    <Panel title={texts.why.decisions} aside={timeTexts.listNote}>
      <ol className={styles.list}>
        {decisions.map((decision) => (
          <li key={decision.at}>
            <button
              type="button"
              className={styles.decision}
              aria-pressed={decision === chosen}
              onClick={() => onChoose(decision.at)}
              data-row
            >
              <Moment iso={decision.at} />
              <PhaseBadge word={decision.phase} reason={decision.reason} />
              <span className={styles.summary}>{decision.summary}</span>
              <span className={styles.revision}>{texts.deployment.revision(decision.revision)}</span>
            </button>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
