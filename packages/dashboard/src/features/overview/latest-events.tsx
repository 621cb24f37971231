// The latest events of the tenant, newest first.

import type { ListedEvent } from '@holdfast/contract'
import { explainFailure } from '../../api/failure.ts'
import { useLatestEvents } from '../../api/use-overview.ts'
import { EventList } from '../../parts/event-list.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { texts } from '../../texts/en.ts'

export function LatestEvents() {
  const { data, error } = useLatestEvents()
  return (
    <Panel title={texts.overview.recent}>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {data === undefined && error === null ? <Loading lines={5} /> : null}
      {data === undefined ? null : (
        <EventList events={newestFirst(data.items)} none={texts.overview.noEvents} />
      )}
    </Panel>
  )
}

const newestFirst = (items: readonly ListedEvent[]): ListedEvent[] => items.toReversed()
