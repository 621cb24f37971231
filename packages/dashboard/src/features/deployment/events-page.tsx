// The stored events of a deployment, newest first.

import { getRouteApi } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useStatus } from '../../api/use-deployments.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { EventList } from '../../parts/event-list.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Panel } from '../../parts/panel.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'

const route = getRouteApi('/t/$tenant/deployments/$name/events')

export function EventsPage() {
  const { name } = route.useParams()
  const { data, error } = useStatus(name)
  return (
    <>
      {error === null ? null : <Failed {...explainFailure(error)} />}
      <Panel title={texts.events.timeline}>
        <EventList events={data?.timeline.toReversed() ?? []} none={texts.events.none} ofOne />
      </Panel>
      <CliFoot same={equivalents.events(name)} />
    </>
  )
}
