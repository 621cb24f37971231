// The volumes of the tenant, with what the platform recommends for them.

import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { explainFailure, isNotFound } from '../../api/failure.ts'
import { useVolumes } from '../../api/resources/use-volumes.ts'
import { useWrite } from '../../api/resources/use-write.ts'
import { useSession } from '../../api/session.tsx'
import { useStale } from '../../live/live-provider.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import type { Outcome } from '../../parts/act-outcome.tsx'
import { FilteredList } from '../../parts/resource/filtered-list.tsx'
import { ListPage } from '../../parts/resource/list-page.tsx'
import { volumeTexts } from '../../texts/en/volumes.ts'
import { resourceEquivalents } from '../../texts/resource-commands.ts'
import { CreateVolume } from './create-volume.tsx'
import { volumeColumns } from './volume-columns.tsx'
import { VolumesOff } from './volumes-off.tsx'

const route = getRouteApi('/t/$tenant/volumes')

export function VolumesPage() {
  const { error } = useVolumes()
  // A platform without volumes has none of their endpoints.
  return error !== null && isNotFound(error) ? <VolumesOff /> : <Volumes />
}

function Volumes() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const { tenant } = useSession()
  const { items, error, hasMore, readMore } = useVolumes()
  const { closed } = useWrite('volumes:write', useStale())
  const [creating, setCreating] = useState(false)
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'idle' })
  const columns = useMemo(() => volumeColumns(tenant), [tenant])
  const finish = (text: string): void => {
    setCreating(false)
    setOutcome({ kind: 'done', text })
  }
  return (
    <ListPage
      title={volumeTexts.title}
      count={items === undefined ? undefined : volumeTexts.count(items.length, hasMore)}
      actions={
        <ActButton
          label={volumeTexts.create}
          closed={closed}
          running={false}
          onAct={() => setCreating(true)}
        />
      }
      same={resourceEquivalents.volumes()}
    >
      <FilteredList
        columns={columns}
        items={items}
        failure={error === null ? undefined : explainFailure(error)}
        hasMore={hasMore}
        q={q}
        outcome={outcome}
        texts={volumeTexts}
        onFilter={(search) => void navigate({ search, replace: true })}
        onEnd={readMore}
      />
      {creating ? <CreateVolume onDone={finish} onClose={() => setCreating(false)} /> : null}
    </ListPage>
  )
}
