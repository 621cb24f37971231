// Counts of the tenant's resources by their state, in one line for each kind. A count of deployments leads to their list.

import type { Overview } from '@holdfast/contract'
import { Link } from '@tanstack/react-router'
import { useSession } from '../../api/session.tsx'
import { Panel } from '../../parts/panel.tsx'
import { PhaseBadge } from '../../parts/phase-badge.tsx'
import { texts } from '../../texts/en.ts'
import { formatNumber } from '../../texts/format.ts'
import styles from './state-panel.module.css'

interface Counted {
  readonly total: number
  readonly counts: { readonly [word: string]: number }
}

export function StatePanel({
  overview: { deployments, nodes, volumes, jobs },
}: {
  readonly overview: Overview
}) {
  const { tenant } = useSession()
  return (
    <Panel title={texts.overview.state}>
      <div className={styles.lines}>
        <Line title={texts.overview.deployments(deployments.total)}>
          {wordsOf(deployments).map(([phase, count]) => (
            <Link
              key={phase}
              to="/t/$tenant/deployments"
              params={{ tenant }}
              search={{ phase }}
              className={styles.link}
            >
              <Count word={phase} count={count} />
            </Link>
          ))}
        </Line>
        <Line title={texts.overview.nodes(nodes.total)}>
          <Counts of={nodes} />
          {nodes.cordoned > 0 ? <span>{texts.overview.cordoned(nodes.cordoned)}</span> : null}
        </Line>
        {volumes.total === 0 ? null : (
          <Line title={texts.overview.volumes(volumes.total)}>
            <Counts of={volumes} />
          </Line>
        )}
        {jobs.total === 0 ? null : (
          <Line title={texts.overview.jobs(jobs.total)}>
            <Counts of={jobs} />
          </Line>
        )}
      </div>
    </Panel>
  )
}

const wordsOf = ({ counts }: Counted): [string, number][] =>
  Object.entries(counts).filter(([, count]) => count > 0)

function Line({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <div className={styles.line}>
      <span className={styles.title}>{title}</span>
      <span className={styles.counts}>{children}</span>
    </div>
  )
}

const Counts = ({ of }: { readonly of: Counted }) =>
  wordsOf(of).map(([word, count]) => <Count key={word} word={word} count={count} />)

const Count = ({ word, count }: { readonly word: string; readonly count: number }) => (
  <PhaseBadge word={word} label={`${formatNumber(count)} ${word}`} />
)
