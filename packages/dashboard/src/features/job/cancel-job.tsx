// Cancels a job that has not ended. It cannot be continued, so the effects are shown first.

import type { JobRecord } from '@holdfast/contract'
import { useState } from 'react'
import { keys } from '../../api/keys.ts'
import { usePlanned } from '../../api/resources/use-planned.ts'
import { afterSuccess, useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { PlannedDialog } from '../../parts/dialog/planned-dialog.tsx'
import { jobTexts } from '../../texts/en/jobs.ts'

interface Props {
  readonly job: JobRecord
  onDone(text: string): void
}

const NEEDS = 'jobs:write'

export function CancelJob({ job, onDone }: Props) {
  const { closed } = useWrite(NEEDS, useStale())
  const [opened, setOpened] = useState(false)
  const finish = (text: string): void => {
    setOpened(false)
    onDone(text)
  }
  return (
    <>
      <ActButton label={jobTexts.cancel} closed={closed} running={false} onAct={() => setOpened(true)} />
      {opened ? <Confirm job={job} onDone={finish} onClose={() => setOpened(false)} /> : null}
    </>
  )
}

function Confirm({ job: { id, name, revision }, onDone, onClose }: Props & { onClose(): void }) {
  const { client, tenant } = useSession()
  const { answer, confirm, ...planned } = usePlanned({
    queryKey: keys.plan(tenant, 'cancel-job', id),
    needs: NEEDS,
    stale: useStale(),
    plan: (options) => client.jobs.dryRuns.cancel(id, options),
    ask: () =>
      client.jobs
        .cancel(id, { ifMatch: String(revision) })
        .then(afterSuccess(() => onDone(jobTexts.cancelled(name)))),
  })
  return (
    <PlannedDialog
      {...planned}
      title={jobTexts.cancelTitle(name)}
      label={jobTexts.cancelOf(name)}
      none={jobTexts.cancelNone}
      effects={answer?.plan.effects}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{jobTexts.cancelEffect}</p>
    </PlannedDialog>
  )
}
