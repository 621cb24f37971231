// The backups of the tenant, the newest first.

import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { useBackups } from '../../api/resources/use-backups.ts'
import { useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import type { Outcome } from '../../parts/act-outcome.tsx'
import { FilteredList } from '../../parts/resource/filtered-list.tsx'
import { ListPage } from '../../parts/resource/list-page.tsx'
import { backupTexts } from '../../texts/en/backups.ts'
import { resourceEquivalents } from '../../texts/resource-commands.ts'
import { backupColumns } from './backup-columns.tsx'
import { CreateBackup } from './create-backup.tsx'

const route = getRouteApi('/t/$tenant/backups')

export function BackupsPage() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const { tenant } = useSession()
  const { items, error, hasMore, readMore } = useBackups()
  const { closed } = useWrite('backups:write', useStale())
  const [creating, setCreating] = useState(false)
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'idle' })
  const columns = useMemo(() => backupColumns(tenant), [tenant])
  const named = items?.map((backup) => ({ ...backup, name: backup.deploymentName })).toReversed()
  const finish = (text: string): void => {
    setCreating(false)
    setOutcome({ kind: 'done', text })
  }
  return (
    <ListPage
      title={backupTexts.title}
      count={items === undefined ? undefined : backupTexts.count(items.length, hasMore)}
      actions={
        <ActButton
          label={backupTexts.create}
          closed={closed}
          running={false}
          onAct={() => setCreating(true)}
        />
      }
      same={resourceEquivalents.backups()}
    >
      <FilteredList
        columns={columns}
        items={named}
        failure={error === null ? undefined : explainFailure(error)}
        hasMore={hasMore}
        q={q}
        outcome={outcome}
        texts={backupTexts}
        onFilter={(search) => void navigate({ search, replace: true })}
        onEnd={readMore}
      />
      {creating ? <CreateBackup onDone={finish} onClose={() => setCreating(false)} /> : null}
    </ListPage>
  )
}
