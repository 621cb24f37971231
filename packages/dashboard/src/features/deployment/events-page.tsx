// The stored events of a deployment, newest first.

import type { ListedEvent } from '@holdfast/contract'
import { getRouteApi } from '@tanstack/react-router'
import { explainFailure } from '../../api/failure.ts'
import { useStatus } from '../../api/use-deployments.ts'
import { useEventsBefore } from '../../api/use-timeline.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { EventList } from '../../parts/event-list.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { equivalents } from '../../texts/commands.ts'
import { timeTexts } from '../../texts/en/time.ts'
import { texts } from '../../texts/en.ts'

const route = getRouteApi('/t/$tenant/deployments/$name/events')

export function EventsPage() {
  const { name } = route.useParams()
  const { at } = route.useSearch()
  return (
    <>
      {at === undefined ? <EventsNow name={name} /> : <EventsBefore name={name} at={at} />}
      <CliFoot same={equivalents.events(name)} />
    </>
  )
}

function EventsNow({ name }: { readonly name: string }) {
  const { data, error } = useStatus(name)
  return <Events events={data?.timeline} error={error} none={texts.events.none} />
}

function EventsBefore({ name, at }: { readonly name: string; readonly at: string }) {
  const { data, error } = useEventsBefore(name, at)
  return <Events events={data} error={error} none={timeTexts.noEvents} />
}

interface EventsProps {
  /** Newest first; undefined until they have been read. */
  readonly events: readonly ListedEvent[] | undefined
  readonly error: Error | null
  readonly none: string
}

function Events({ events, error, none }: EventsProps) {
  if (events === undefined)
    return error === null ? <Loading lines={6} /> : <Failed {...explainFailure(error)} />
  return (
    <Panel title={texts.events.timeline} aside={texts.events.order}>
      <EventList events={events} none={none} ofOne />
    </Panel>
  )
}
