// The output of a deployment's containers, as it is printed.

import { Button, TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { explainFailure } from '../../api/failure.ts'
import { matchingLines } from '../../api/log-buffer.ts'
import { mayDo, useSession } from '../../api/session.tsx'
import { usePlacements } from '../../api/use-deployments.ts'
import { type LogFilter, useLogs } from '../../api/use-logs.ts'
import { CliFoot } from '../../parts/cli-foot.tsx'
import { Failed } from '../../parts/failed.tsx'
import { LogView } from '../../parts/logs/log-view.tsx'
import { Notice } from '../../parts/notice.tsx'
import { equivalents } from '../../texts/commands.ts'
import { texts } from '../../texts/en.ts'
import styles from './logs-page.module.css'

const route = getRouteApi('/t/$tenant/deployments/$name/logs')
const NEEDS = 'logs:read'

export function LogsPage() {
  const { name } = route.useParams()
  const filter = route.useSearch()
  const { me } = useSession()
  return (
    <div className={styles.page}>
      {mayDo(me, NEEDS) ? (
        <LogReader key={name} name={name} filter={filter} />
      ) : (
        <Notice severity="warning" title={texts.roles.needs(NEEDS, me.token.role)} />
      )}
      <CliFoot same={equivalents.logs(name, filter)} />
    </div>
  )
}

function LogReader({ name, filter }: { readonly name: string; readonly filter: LogFilter }) {
  const { buffer, error, ended } = useLogs(name, filter)
  const [q, setQ] = useState('')
  const lines = matchingLines(buffer.lines, useDeferredValue(q))
  return (
    <>
      <div className={styles.filter}>
        <TextInput
          aria-label={texts.logs.filter}
          placeholder={texts.logs.filter}
          size="xs"
          data-filter
          onChange={(event) => setQ(event.currentTarget.value)}
        />
        <Replicas name={name} filter={filter} />
        <span className={styles.count} role="status">
          {texts.logs.count(lines.length, buffer.dropped)}
          {ended ? ` ${texts.logs.ended}` : null}
        </span>
      </div>
      {error === undefined ? null : <Failed {...explainFailure(error)} />}
      {lines.length === 0 && error === undefined ? (
        <p className={styles.count}>{ended ? texts.logs.none : texts.logs.waiting}</p>
      ) : (
        <LogView lines={lines} />
      )}
    </>
  )
}

/** The choice of one replica, and of the kept lines of failed containers. */
function Replicas({ name, filter }: { readonly name: string; readonly filter: LogFilter }) {
  const navigate = route.useNavigate()
  const { data = [] } = usePlacements(name)
  const numbers = [...new Set(data.map(({ replica }) => replica))].sort((left, right) => left - right)
  const change = (next: LogFilter): void => void navigate({ search: next, replace: true })
  const { replica, previous } = filter
  return (
    <div className={styles.choices}>
      {[undefined, ...numbers].map((number) => (
        <Button
          key={number ?? 0}
          variant={replica === number ? 'light' : 'default'}
          size="compact-sm"
          aria-pressed={replica === number}
          onClick={() => change({ ...(previous === true ? { previous } : {}), replica: number })}
        >
          {number === undefined ? texts.logs.all : texts.logs.replica(number)}
        </Button>
      ))}
      <Button
        variant={previous === true ? 'light' : 'default'}
        size="compact-sm"
        aria-pressed={previous === true}
        onClick={() => change({ replica, ...(previous === true ? {} : { previous: true }) })}
      >
        {texts.logs.previous}
      </Button>
    </div>
  )
}
