// Events and audit entries in one timeline, from any time back: the changes, their time and their author.

import { Button, TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { type TimelineFilter, useTimeline } from '../../api/use-timeline.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useNow } from '../../parts/use-now.ts'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import { formatTime } from '../../texts/format.ts'
import { parseTime } from '../../texts/parse-time.ts'
import { isRead } from './describe-act.ts'
import { mergeTimeline, oldestTime } from './merge-timeline.ts'
import { TimelineList } from './timeline-list.tsx'
import styles from './timeline-page.module.css'

const route = getRouteApi('/t/$tenant/events')
/** A time without seconds means the whole minute. */
const MINUTE_MS = 60_000

export function TimelinePage() {
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const { read, error } = useTimeline(filter)
  const audit = filter.reads === true ? read?.audit : read?.audit.filter((entry) => !isRead(entry))
  const entries = read === undefined || audit === undefined ? undefined : mergeTimeline(read.events, audit)
  const change = (next: TimelineFilter): void =>
    void navigate({ search: withoutEmpty({ ...filter, ...next }) })
  const older = entries === undefined || !read?.hasOlder ? undefined : oldestTime(entries)
  return (
    <div className={styles.page}>
      <PageHead title={texts.pages.events} aside={<Range until={filter.until} />} />
      <Filter filter={filter} onChange={change} />
      {error === null ? null : <Failed {...explainFailure(error)} />}
      {entries === undefined && error === null ? <Loading lines={8} /> : null}
      {entries === undefined ? null : <TimelineList entries={entries} />}
      {older === undefined ? null : (
        <div>
          <Button variant="default" size="compact-sm" onClick={() => change({ until: older })}>
            {texts.timeline.older}
          </Button>
        </div>
      )}
      <CliFoot same={equivalents.events(filter.subject)} />
    </div>
  )
}

const withoutEmpty = ({ subject, until, reads }: TimelineFilter): TimelineFilter => ({
  ...(reads === true ? { reads } : {}),
  ...(subject === undefined || subject === '' ? {} : { subject }),
  ...(until === undefined ? {} : { until }),
})

/** Up to which time the timeline goes. */
function Range({ until }: { readonly until: string | undefined }) {
  const now = useNow()
  return (
    <span className={styles.muted}>
      {until === undefined ? texts.timeline.now : texts.timeline.until(formatTime(until, now))}
    </span>
  )
}

interface FilterProps {
  readonly filter: TimelineFilter
  onChange(filter: TimelineFilter): void
}

function Filter({ filter, onChange }: FilterProps) {
  const [wrong, setWrong] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const typed = String(form.get('at') ?? '').trim()
    const at = typed === '' ? undefined : parseTime(typed, Date.now())
    setWrong(typed !== '' && at === undefined)
    if (typed === '' || at !== undefined)
      onChange({
        subject: String(form.get('subject') ?? '').trim(),
        until: at === undefined ? undefined : endOfMinute(at),
      })
  }
  return (
    <form className={styles.filter} onSubmit={submit}>
      <TextInput
        name="subject"
        aria-label={texts.timeline.subject}
        placeholder={texts.timeline.subject}
        size="xs"
        className={styles.name ?? ''}
        defaultValue={filter.subject ?? ''}
        data-filter
      />
      <TextInput
        name="at"
        aria-label={texts.timeline.at}
        placeholder={texts.timeline.at}
        size="xs"
        autoComplete="off"
        error={wrong ? texts.why.atInvalid : null}
      />
      <Button type="submit" variant="default" size="compact-sm">
        {texts.why.show}
      </Button>
      <Button
        variant={filter.reads === true ? 'light' : 'default'}
        size="compact-sm"
        aria-pressed={filter.reads === true}
        onClick={() => onChange({ ...filter, reads: filter.reads !== true })}
      >
        {texts.timeline.reads}
      </Button>
      {filter.until === undefined ? null : (
        <Button variant="default" size="compact-sm" onClick={() => onChange({ ...filter, until: undefined })}>
          {texts.why.now}
        </Button>
      )}
    </form>
  )
}

const endOfMinute = (iso: string): string => {
  const at = Date.parse(iso)
  return new Date(at % MINUTE_MS === 0 ? at + MINUTE_MS : at).toISOString()
}
