// The output of a job, while it runs and after its end.

import { explainFailure } from '../../api/failure.ts'
import { useJobLogs } from '../../api/resources/use-jobs.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { LogView } from '../../parts/logs/log-view.tsx'
import { Panel } from '../../parts/panel.tsx'
import { jobTexts } from '../../texts/en/jobs.ts'
import { texts } from '../../texts/en.ts'
import styles from './job-page.module.css'

const NEEDS = 'logs:read'

interface Props {
  readonly id: string
  /** Whether the job has ended, so that its log is complete. */
  readonly ended: boolean
}

export function JobLog(props: Props) {
  const { me } = useSession()
  return (
    <Panel title={jobTexts.log} aside={jobTexts.logNote}>
      {mayDo(me, NEEDS) ? (
        <Lines {...props} />
      ) : (
        <p className={styles.none}>{texts.roles.needs(NEEDS, me.token.role)}</p>
      )}
    </Panel>
  )
}

function Lines({ id, ended: jobEnded }: Props) {
  const { buffer, error, ended } = useJobLogs(id, jobEnded)
  if (error !== undefined) return <Failed {...explainFailure(error)} />
  if (buffer.lines.length === 0)
    return <p className={styles.none}>{ended ? jobTexts.logNone : texts.logs.waiting}</p>
  return (
    <div className={styles.log}>
      <LogView lines={buffer.lines} low />
    </div>
  )
}
